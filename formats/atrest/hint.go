package atrest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/durable"

	"github.com/dsconv/dsconv/formats"
)

// What an error about a path that does not open says of what lies there.

// notOpen explains why the dataset at path does not open, where err says that there is none.
func (p ShardPath) notOpen(path string, err error) error {
	switch {
	case !errors.Is(err, formats.ErrNotDataset):
		return err
	case growsAt(p.growing(path)):
		return unfinished(path)
	case durable.Exists(p.Sidecar()):
		return err
	}
	if pattern, ok := patternOf(path); ok {
		if !p.anyThere() {
			return fmt.Errorf("%w; the dataset %s lies there", formats.NotThere(path), pattern)
		}
		return fmt.Errorf("%s: %w: it is one file of the dataset %s: give that name", path, formats.ErrNotDataset, pattern)
	}
	if !p.anyThere() {
		return formats.NotThere(path)
	}
	side := filepath.Base(p.Sidecar())
	hint := "copy or rename it together with the data"
	if lone := p.withoutData(); lone != "" {
		hint = fmt.Sprintf("%s lies there without its data: if it belongs to them, rename it to %s", lone, side)
	}
	return fmt.Errorf("%s: %w: the folder %s, in which dsconv describes the data, is not beside it; %s", path, formats.ErrNotDataset, side, hint)
}

// anyThere reports whether there is a file of the path's.
func (p ShardPath) anyThere() bool {
	if !p.Many() {
		return p.has(p.before)
	}
	entries, err := os.ReadDir(p.Dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return p.isShard(e.Name()) })
}

var digits = regexp.MustCompile(`\d+`)

// patternOf finds the pattern of a dataset that has a file of that name: "c-%03d.tar" of
// "c-000.tar".
func patternOf(path string) (string, bool) {
	dir, base := filepath.Split(path)
	runs := digits.FindAllStringIndex(base, -1)
	slices.Reverse(runs)
	for _, at := range runs {
		pattern := dir + base[:at[0]] + verb(at[1]-at[0], base[at[0]:at[1]]) + base[at[1]:]
		p, err := ParseShardPath(pattern)
		if err == nil && durable.Exists(filepath.Join(p.Sidecar(), MetaName)) {
			return pattern, true
		}
	}
	return "", false
}

// verb stands for a shard's number of so many digits.
func verb(width int, number string) string {
	if width == 1 || number[0] != '0' {
		return "%d"
	}
	return fmt.Sprintf("%%0%dd", width)
}

// called lists the paths under which files lie that share p's sidecar.
func (p ShardPath) called() []string {
	var paths []string
	entries, _ := os.ReadDir(p.Dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !p.sharesSidecar(e.Name()) {
			continue
		}
		path := filepath.Join(p.Dir, e.Name())
		if pattern, ok := patternOf(path); ok {
			path = pattern
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// datasetsIn lists the datasets that lie in a folder, by the paths under which they are opened.
func datasetsIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var paths []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, described := strings.CutSuffix(e.Name(), sidecarSuffix)
		switch ext := filepath.Ext(e.Name()); {
		case described && e.IsDir() && durable.Exists(filepath.Join(path, MetaName)):
			p, err := ParseShardPath(filepath.Join(dir, data))
			if err == nil {
				paths = append(paths, p.called()...)
			}
		case ext == ".lmdb" && e.IsDir(), (ext == ".h5" || ext == ".hdf5") && e.Type().IsRegular():
			paths = append(paths, path)
		}
	}
	return paths
}

// Among says which datasets lie in a folder that was given in the place of one, "" if there are
// none.
func Among(dir string) string {
	const most = 5
	paths := datasetsIn(dir)
	switch {
	case len(paths) == 0:
		return ""
	case len(paths) > most:
		return fmt.Sprintf("; %d datasets lie in it, such as %s: give one of them", len(paths), strings.Join(paths[:most], ", "))
	}
	return "; give a dataset in it: " + strings.Join(paths, ", ")
}

// otherName is the error of a dataset whose files have other names than path gives them.
func (p ShardPath) otherName(path string, d *described) error {
	side := filepath.Base(p.Sidecar())
	paths := slices.DeleteFunc(p.called(), func(other string) bool { return other == filepath.Clean(path) })
	if len(paths) == 0 {
		return fmt.Errorf("%s: %w: %s describes %d files, which have a number in their names: give a pattern such as %s",
			path, formats.ErrNotDataset, side, len(d.asWritten), "x-%06d"+p.after)
	}
	return fmt.Errorf("%s: %w: the files that %s describes have other names: give %s", path, formats.ErrNotDataset, side, strings.Join(paths, " or "))
}

// withoutData is the name of a sidecar in the folder of which no data file is there, "" if
// there is none, or more than one.
func (p ShardPath) withoutData() string {
	sidecars, _ := filepath.Glob(filepath.Join(glob(p.Dir), "*"+filepath.Ext(p.before+p.after)+sidecarSuffix))
	lone := ""
	for _, side := range sidecars {
		b, err := os.ReadFile(filepath.Join(side, MetaName))
		if err != nil {
			continue
		}
		m, err := DecodeMeta(b)
		if err != nil || slices.ContainsFunc(m.Files, p.has) {
			continue
		}
		if lone != "" {
			return ""
		}
		lone = filepath.Base(side)
	}
	return lone
}

// glob is a pattern for the folder itself.
func glob(dir string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`)
}
