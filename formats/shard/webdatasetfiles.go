package shard

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// part is a tar and the split that its samples are in.
type part struct {
	foreign.File
	split string
}

// find lists the tars that path stands for. It is an error if dsconv's own description is beside them: then
// they are shards of its own. If a tar that a pattern names is missing, it returns the others with the error.
func find(path string) ([]part, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return findInFolder(path)
	}
	p, err := sharded.ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	if !isTar(path) {
		return nil, fmt.Errorf("%s: %w: its name does not end in .tar", path, formats.ErrNotDataset)
	}
	if strings.ContainsAny(path, "*?") && !durable.Exists(path) {
		return findPattern(path)
	}
	if sharded.IsOwn(path) {
		return nil, fmt.Errorf("%s: dsconv wrote it, see %s: leave out the format", path, p.Sidecar())
	}
	if lo, hi, ok := p.Braces(); ok {
		return inRange(p, lo, hi)
	}
	if !p.IsPattern() {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, formats.NotFound(path)
		}
		return []part{tarAt(p.Dir, p.Before, "")}, nil
	}
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return nil, formats.NotFound(path)
	}
	var parts []part
	for _, e := range entries {
		if _, ok := p.ShardNumber(e.Name()); ok {
			parts = append(parts, tarAt(p.Dir, e.Name(), ""))
		}
	}
	if len(parts) == 0 {
		return nil, formats.NotFound(path)
	}
	return parts, nil
}

// maxFiles is the most tars of a dataset.
const maxFiles = 100_000

// inRange lists the tars of a pattern with braces, which must all be there.
func inRange(p sharded.ShardPath, lo, hi int) (parts []part, err error) {
	if hi-lo >= maxFiles {
		return nil, fmt.Errorf("%s: a pattern of %d files, the limit is %d", filepath.Join(p.Dir, p.Before), hi-lo+1, maxFiles)
	}
	var missing error
	for i := lo; i <= hi; i++ {
		one := tarAt(p.Dir, p.Name(i), "")
		if _, err := os.Stat(one.Path); errors.Is(err, fs.ErrNotExist) {
			missing = cmp.Or(missing, fmt.Errorf("%w, but the pattern names it: copy or download it, or give a pattern of those that are there", formats.NotFound(one.Path)))
			continue
		}
		parts = append(parts, one)
	}
	return parts, missing
}

// findPattern lists the tars of a pattern with wildcards. Those without a split in their names have that of their folder.
func findPattern(pattern string) (parts []part, err error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	for _, name := range paths {
		dir, split := filepath.Dir(name), ""
		if word := filepath.Base(dir); formats.IsSplitWord(word) && strings.ContainsAny(filepath.Dir(pattern), "*?") {
			split = word
		}
		parts = append(parts, tarAt(dir, filepath.Base(name), split))
	}
	if len(parts) == 0 {
		return nil, formats.NotFound(pattern)
	}
	return parts, nil
}

// tarAt is the tar of that name. Its split is that of the folder, as the caller says, else that of the name.
func tarAt(dir, name, folder string) part {
	stem, _, _ := strings.Cut(name, ".")
	file := foreign.File{Path: filepath.Join(dir, name), Name: path.Join(folder, name), Stem: path.Join(folder, stem)}
	return part{file, cmp.Or(strings.ToLower(folder), foreign.SplitOf(name))}
}

// check returns an error if a tar is compressed, or if some have a split and others have none.
func check(path string, parts []part) error {
	for i := range parts {
		p, first := &parts[i], &parts[0]
		switch {
		case isPacked(p.Path):
			return fmt.Errorf("%s: %w: its samples have partners (.cls), and a compressed tar is read only as a folder, without them: decompress it (gunzip), or give --source-format archive",
				p.Path, formats.ErrNotDataset)
		case (p.split == "") != (first.split == ""):
			with, without := p, first
			if p.split == "" {
				with, without = first, p
			}
			return fmt.Errorf("%s: %w: the name of %s has a split (%s), that of %s has none: give a pattern of those that belong together, or rename them",
				path, formats.ErrSchema, with.Name, with.split, without.Name)
		}
	}
	return nil
}

// findInFolder lists the tars in the folder, or in those of its folders that are named as splits.
func findInFolder(dir string) ([]part, error) {
	parts, err := tarsIn(dir, "")
	if err != nil || len(parts) > 0 {
		return parts, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !formats.IsSplitWord(e.Name()) || !durable.IsDir(filepath.Join(dir, e.Name())) {
			continue
		}
		of, err := tarsIn(filepath.Join(dir, e.Name()), e.Name())
		if err != nil {
			return nil, err
		}
		parts = append(parts, of...)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no tars, nor has a folder in it that is named as a split: %s", dir, formats.ErrNotDataset, strings.Join(formats.SplitWords(), ", "))
	}
	return parts, nil
}

func tarsIn(dir, split string) (parts []part, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, sidecarSuffix) && e.IsDir():
			return nil, fmt.Errorf("%s: dsconv wrote datasets in it, such as that of %s: give the path of one", dir, name)
		case isTar(name) && !e.IsDir() && name[0] != '.':
			parts = append(parts, tarAt(dir, name, split))
		}
	}
	if len(parts) > maxFiles {
		return nil, fmt.Errorf("%s: it has %d tars, the limit is %d", dir, len(parts), maxFiles)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.Name, b.Name) })
	return parts, nil
}

// sidecarSuffix is that of the folder that describes shards of dsconv's.
const sidecarSuffix = ".dsconv"

// isTar reports whether the path has the name of a tar. A compressed one is refused when it is opened.
func isTar(path string) bool {
	return strings.EqualFold(filepath.Ext(path), ".tar") || isPacked(path)
}

func isPacked(path string) bool {
	path = strings.ToLower(path)
	return strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
}
