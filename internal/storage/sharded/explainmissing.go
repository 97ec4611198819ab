package sharded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Errors about a path that cannot be opened, which name the datasets found there.

// explainOpen explains why the dataset at path cannot be opened if err is ErrNotDataset.
func (p ShardPath) explainOpen(path string, err error) error {
	switch {
	case !errors.Is(err, formats.ErrNotDataset):
		return err
	case sidecar.HasPartial(p.writePath(path)):
		return sidecar.UnfinishedError(path)
	case durable.Exists(p.Sidecar()):
		return err
	}
	if pattern, ok := patternOf(path); ok {
		if !p.hasAnyFile() {
			return fmt.Errorf("%w; that folder has the dataset %s", formats.NotFound(path), pattern)
		}
		return fmt.Errorf("%s: %w: it is one file of the dataset %s; give that name", path, formats.ErrNotDataset, pattern)
	}
	if !p.hasAnyFile() {
		return formats.NotFound(path)
	}
	side := filepath.Base(p.Sidecar())
	hint := "copy or rename it together with the data"
	if lone := p.loneSidecar(); lone != "" {
		hint = fmt.Sprintf("there is a %s without data: if it belongs to this file, rename it to %s", lone, side)
	}
	return fmt.Errorf("%s: %w: the folder %s, which describes the data, is missing beside it; %s", path, formats.ErrNotDataset, side, hint)
}

// IsOwn reports whether the tar at path, or the tars of a pattern, are shards that dsconv wrote: their sidecar is there, or
// they are being published, or there is a sidecar whose data may have been renamed. Other programs' formats leave those.
func IsOwn(path string) bool {
	p, err := ParseShardPath(path)
	if err != nil {
		return false
	}
	// The sidecar again: between the first two looks the publication may have ended.
	if durable.Exists(p.Sidecar()) || sidecar.HasPartial(p.writePath(path)) || durable.Exists(p.Sidecar()) {
		return true
	}
	_, isShard := patternOf(path)
	return isShard || p.loneSidecar() != ""
}

// HasSidecar reports whether the folder that describes the dataset at path is there.
func HasSidecar(path string) bool {
	p, err := ParseShardPath(path)
	return err == nil && durable.Exists(p.Sidecar())
}

// hasAnyFile reports whether any of the path's data files exists.
func (p ShardPath) hasAnyFile() bool {
	if !p.IsPattern() {
		return p.has(p.Before)
	}
	entries, err := os.ReadDir(p.Dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return p.isShard(e.Name()) })
}

var digits = regexp.MustCompile(`\d+`)

// patternOf finds the pattern of a dataset that has a file of that name: "c-%03d.tar" for
// "c-000.tar".
func patternOf(path string) (string, bool) {
	dir, base := filepath.Split(path)
	runs := digits.FindAllStringIndex(base, -1)
	slices.Reverse(runs)
	for _, at := range runs {
		pattern := dir + base[:at[0]] + numberVerb(at[1]-at[0], base[at[0]:at[1]]) + base[at[1]:]
		p, err := ParseShardPath(pattern)
		if err == nil && durable.Exists(filepath.Join(p.Sidecar(), manifest.MetaName)) {
			return pattern, true
		}
	}
	return "", false
}

// numberVerb returns the verb for a shard number of that many digits.
func numberVerb(width int, number string) string {
	if width == 1 || number[0] != '0' {
		return "%d"
	}
	return fmt.Sprintf("%%0%dd", width)
}

// datasetsSharingSidecar lists the paths of the files and patterns that share p's sidecar.
func (p ShardPath) datasetsSharingSidecar() []string {
	var paths []string
	entries, _ := os.ReadDir(p.Dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !p.SharesSidecar(e.Name()) {
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

// datasetsIn lists the datasets that lie directly in a folder, by the paths that open them: files and folders by
// their names, shards as a pattern. It opens none of them.
func datasetsIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var paths []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, described := strings.CutSuffix(e.Name(), sidecarSuffix)
		switch ext := strings.ToLower(filepath.Ext(e.Name())); {
		case described && e.IsDir() && durable.Exists(filepath.Join(path, manifest.MetaName)):
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

// SuggestDatasets returns the end of an error about a folder that was given instead of a
// dataset: the datasets in it, "" if there are none.
func SuggestDatasets(dir string) string {
	const maxNamed = 5
	paths := datasetsIn(dir)
	switch {
	case len(paths) == 0:
		return ""
	case len(paths) > maxNamed:
		return fmt.Sprintf("; it has %d datasets, such as %s: give one of them", len(paths), strings.Join(paths[:maxNamed], ", "))
	}
	return "; give a dataset in it: " + strings.Join(paths, ", ")
}

// otherNameError is the error about a dataset whose files have other names than path gives them.
func (p ShardPath) otherNameError(path string, d *Contents) error {
	side := filepath.Base(p.Sidecar())
	paths := slices.DeleteFunc(p.datasetsSharingSidecar(), func(other string) bool { return other == filepath.Clean(path) })
	if len(paths) == 0 {
		return fmt.Errorf("%s: %w: %s describes %d numbered files; give a pattern such as %s",
			path, formats.ErrNotDataset, side, len(d.OriginalFiles), "x-%06d"+p.after)
	}
	return fmt.Errorf("%s: %w: the files that %s describes have other names; give %s", path, formats.ErrNotDataset, side, strings.Join(paths, " or "))
}

// loneSidecar returns the name of the sidecar in the folder whose data files are all missing; ""
// if there is none, or more than one.
func (p ShardPath) loneSidecar() string {
	sidecars, _ := filepath.Glob(filepath.Join(escapeGlob(p.Dir), "*"+filepath.Ext(p.Before+p.after)+sidecarSuffix))
	lone := ""
	for _, side := range sidecars {
		b, err := unblocked.ReadFile(filepath.Join(side, manifest.MetaName))
		if err != nil {
			continue
		}
		m, err := manifest.DecodeMeta(b)
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

// escapeGlob returns the pattern that matches only dir itself.
func escapeGlob(dir string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`)
}
