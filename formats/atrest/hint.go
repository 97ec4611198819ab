package atrest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// What an error about a path that does not open says of what lies there.

// notOpen explains why the dataset at path does not open, where err says that there is none.
func (p ShardPath) explainOpen(path string, err error) error {
	switch {
	case !errors.Is(err, formats.ErrNotDataset):
		return err
	case hasPartial(p.writePath(path)):
		return unfinishedError(path)
	case exists(p.Sidecar()):
		return err
	}
	if pattern, ok := patternOf(path); ok {
		if !p.hasAnyFile() {
			return fmt.Errorf("%w; the dataset %s lies there", formats.NotFound(path), pattern)
		}
		return fmt.Errorf("%s: %w: it is one file of the dataset %s: give that name", path, formats.ErrNotDataset, pattern)
	}
	if !p.hasAnyFile() {
		return formats.NotFound(path)
	}
	side := filepath.Base(p.Sidecar())
	hint := "copy or rename it together with the data"
	if lone := p.loneSidecar(); lone != "" {
		hint = fmt.Sprintf("%s lies there without its data: if it belongs to them, rename it to %s", lone, side)
	}
	return fmt.Errorf("%s: %w: the folder %s, in which dsconv describes the data, is not beside it; %s", path, formats.ErrNotDataset, side, hint)
}

// unfinished is the error of a dataset that is still written, or whose writer was stopped.
func unfinishedError(path string) error {
	return fmt.Errorf("%s: %w: it is an unfinished pack; the command that began it goes on with it, with --discard it begins anew", path, formats.ErrNotDataset)
}

// NoDataset explains why there is no dataset at path, of a format that is one file or folder;
// nil if there is something.
func ExplainMissing(path string) error {
	switch {
	case hasPartial(path) && !exists(path):
		return unfinishedError(path)
	case !exists(path):
		return formats.NotFound(path)
	}
	return nil
}

// anyThere reports whether there is a file of the path's.
func (p ShardPath) hasAnyFile() bool {
	if !p.IsPattern() {
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
		pattern := dir + base[:at[0]] + numberVerb(at[1]-at[0], base[at[0]:at[1]]) + base[at[1]:]
		p, err := ParseShardPath(pattern)
		if err == nil && exists(filepath.Join(p.Sidecar(), MetaName)) {
			return pattern, true
		}
	}
	return "", false
}

// verb stands for a shard's number of so many digits.
func numberVerb(width int, number string) string {
	if width == 1 || number[0] != '0' {
		return "%d"
	}
	return fmt.Sprintf("%%0%dd", width)
}

// called lists the paths under which files lie that share p's sidecar.
func (p ShardPath) datasetsSharingSidecar() []string {
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
		case described && e.IsDir() && exists(filepath.Join(path, MetaName)):
			p, err := ParseShardPath(filepath.Join(dir, data))
			if err == nil {
				paths = append(paths, p.datasetsSharingSidecar()...)
			}
		case ext == ".lmdb" && e.IsDir(), (ext == ".h5" || ext == ".hdf5") && e.Type().IsRegular():
			paths = append(paths, path)
		}
	}
	return paths
}

// Among says which datasets lie in a folder that was given in the place of one, "" if there are
// none.
func SuggestDatasets(dir string) string {
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
func (p ShardPath) otherNameError(path string, d *sidecar) error {
	side := filepath.Base(p.Sidecar())
	paths := slices.DeleteFunc(p.datasetsSharingSidecar(), func(other string) bool { return other == filepath.Clean(path) })
	if len(paths) == 0 {
		return fmt.Errorf("%s: %w: %s describes %d files, which have a number in their names: give a pattern such as %s",
			path, formats.ErrNotDataset, side, len(d.originalNames), "x-%06d"+p.after)
	}
	return fmt.Errorf("%s: %w: the files that %s describes have other names: give %s", path, formats.ErrNotDataset, side, strings.Join(paths, " or "))
}

// withoutData is the name of a sidecar in the folder of which no data file is there, "" if
// there is none, or more than one.
func (p ShardPath) loneSidecar() string {
	sidecars, _ := filepath.Glob(filepath.Join(escapeGlob(p.Dir), "*"+filepath.Ext(p.before+p.after)+sidecarSuffix))
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
func escapeGlob(dir string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`)
}
