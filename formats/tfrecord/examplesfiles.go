package tfrecord

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// file is one TFRecord file.
type file struct {
	path  string
	split string
}

var (
	shardOf   = regexp.MustCompile(`-\d+-of-\d+$`)
	recordExt = regexp.MustCompile(`(?i)\.(tfrecords?|tfrec|records?)(\.gz|\.zlib)?$`)
)

// isRecordName reports whether a file's name is one that TFRecords usually have.
func isRecordName(name string) bool {
	return shardOf.MatchString(name) || recordExt.MatchString(name)
}

// isPattern reports whether path names several files.
func isPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// find lists the files at path, in the order of their names: a file, a pattern, a folder of files, or a folder
// with a folder of files for each split.
func find(path string) ([]file, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil && isPattern(path):
		return findPattern(path)
	case err != nil:
		return nil, formats.NotFound(path)
	case !st.IsDir():
		return named([]string{path}), nil
	}
	return findFolder(path)
}

func findPattern(pattern string) ([]file, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	if len(paths) == 0 {
		return nil, formats.NotFound(pattern)
	}
	return named(paths), nil
}

func findFolder(path string) ([]file, error) {
	list, err := recordsIn(path)
	if err != nil || len(list) > 0 {
		return named(list), err
	}
	var files []file
	for _, split := range formats.SplitWords() {
		list, err := recordsIn(filepath.Join(path, split))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, p := range list {
			files = append(files, file{p, split})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no files named like TFRecords (x.tfrecord, x-00000-of-00010)", path, formats.ErrNotDataset)
	}
	return files, nil
}

// recordsIn lists the TFRecord files of a folder.
func recordsIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	own := sidecars(folder, entries)
	var list []string
	for _, e := range entries {
		if isRecordName(e.Name()) && e.Type()&(fs.ModeDir|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) == 0 && !own(e.Name()) {
			list = append(list, filepath.Join(folder, e.Name()))
		}
	}
	return list, nil
}

// sidecars returns a function that reports whether a file of that name in the folder is part of a dataset of
// dsconv's own: one that has a sidecar, or is being published. entries are from one look at the folder, so that a
// publication cannot end between two looks.
func sidecars(folder string, entries []fs.DirEntry) func(name string) bool {
	var datasets []sharded.ShardPath
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".dsconv")
		if !ok {
			name, ok = strings.CutSuffix(e.Name(), sidecar.PartialSuffix)
		}
		if ok {
			if p, err := sharded.ParseShardPath(filepath.Join(folder, name)); err == nil {
				datasets = append(datasets, p)
			}
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(datasets, func(p sharded.ShardPath) bool { return p.SharesSidecar(name) })
	}
}

func named(paths []string) []file {
	var files []file
	for _, p := range paths {
		files = append(files, file{p, splitOf(filepath.Base(p))})
	}
	return files
}

// splitOf returns the split that a file's name has.
func splitOf(name string) string {
	return foreign.SplitOf(recordExt.ReplaceAllString(shardOf.ReplaceAllString(name, ""), ""))
}
