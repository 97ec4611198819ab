package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/all"
	"github.com/dsconv/dsconv/formats/folder"
)

// output is one dataset that pack writes.
type output struct {
	format formats.WritableFormat
	path   string
	only   []string // splits; all if empty
}

// names of datasets in a folder OUT/, by format.
var outputSuffixes = map[string]string{"lmdb": ".lmdb", "hdf5": ".h5", "shard": "-%06d.tar", "tfrecord": "-%06d.tfrecord"}

// outputs finds what DST means: one dataset by its name, or with a format and a folder one
// for each split.
func outputs(dst, format string, splits []string) ([]output, error) {
	if err := formats.CheckLocal(dst); err != nil {
		return nil, err
	}
	f, err := writableFormat(dst, format)
	if err != nil {
		return nil, err
	}
	if f.Match(dst) {
		return []output{{format: f, path: filepath.Clean(dst)}}, nil
	}
	if format == "" || filepath.Ext(dst) != "" && !isDir(dst) && !strings.HasSuffix(dst, "/") {
		return nil, usageErrorf("%s: the name does not fit the format %s; such as %s", dst, f.Name(), "data"+outputSuffixes[f.Name()])
	}
	outs := make([]output, 0, len(splits))
	for _, split := range splits {
		if err := formats.CheckSplit(split); err != nil {
			return nil, usageError{err}
		}
		name := split
		if name == "" {
			name = "data"
		}
		outs = append(outs, output{format: f, path: filepath.Join(dst, name+outputSuffixes[f.Name()]), only: []string{split}})
	}
	return outs, nil
}

func writableFormat(dst, format string) (formats.WritableFormat, error) {
	var f formats.Format
	var err error
	if format != "" {
		f, err = all.Formats().ByName(format)
	} else {
		f, err = all.Formats().ByPath(dst)
	}
	if err != nil {
		return nil, usageError{fmt.Errorf("%w; give DST one of the suffixes .lmdb, .h5, .tar, .tfrecord, or --format", err)}
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return nil, usageErrorf("%s: give DST one of the suffixes .lmdb, .h5, .tar, .tfrecord, or --format (unpack writes folders)", dst)
	}
	return w, nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// openSource opens a folder with its options or any dataset.
func openSource(ctx context.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	if err := formats.CheckLocal(path); err != nil {
		return nil, err
	}
	if f, err := all.Formats().ByPath(path); err == nil && f.Name() != "folder" {
		if cfg.Labels != "" || cfg.ClassOrder != "" {
			return nil, usageErrorf("%s is a dataset and has its labels: --labels and --class-order are for folders", path)
		}
		return f.Open(path)
	}
	return folder.Open(ctx, path, cfg)
}

// notInside refuses a DST in the folder that is being read: the next run would read it.
func checkOutside(dst, src string) error {
	from, err := filepath.EvalSymlinks(src)
	if err != nil || !isDir(from) {
		return nil //nolint:nilerr // a pattern of shards is no folder
	}
	if from, err = filepath.Abs(from); err != nil {
		return err
	}
	to, err := filepath.Abs(dst)
	if err != nil {
		return err
	}
	// The nearest folder above DST that is there tells where DST will really lie.
	for up := to; ; up = filepath.Dir(up) {
		if real, err := filepath.EvalSymlinks(up); err == nil {
			to = filepath.Join(real, strings.TrimPrefix(to, up))
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	if to == from || strings.HasPrefix(to, from+string(filepath.Separator)) {
		return usageErrorf("DST %s lies inside SRC %s: choose a place outside", dst, src)
	}
	return nil
}
