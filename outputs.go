package dsconv

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
)

// outputList is what the destination of a pack stands for.
type outputList struct {
	format formats.WritableFormat
	folder string // in which there is a dataset for each split; "" if there is one dataset
	list   []output
}

// output is one dataset that a pack writes.
type output struct{ path, split string }

// outputSuffixes are the suffixes of datasets in a folder, by format.
var outputSuffixes = map[string]string{"lmdb": ".lmdb", "hdf5": ".h5", "shard": "-%06d.tar", "tfrecord": "-%06d.tfrecord"}

// outputs returns the datasets that dst stands for: one by its name, or with a format and a folder one
// for each split of src that o wants.
func outputs(src formats.Dataset, dst string, o *Options) (*outputList, error) {
	if dst == "" {
		return nil, wrongOptions{errors.New("dsconv: the path of the output is empty")}
	}
	if err := formats.CheckPath(dst); err != nil {
		return nil, err
	}
	f, err := writableFormat(dst, o.Format)
	if err != nil {
		return nil, err
	}
	if f.Match(dst) {
		return &outputList{format: f, list: []output{{path: filepath.Clean(dst)}}}, nil
	}
	file := filepath.Ext(dst) != "" && !durable.IsDir(dst) && !strings.HasSuffix(dst, "/")
	// The path of a dataset of another format is no folder for datasets, though an LMDB is a folder too.
	if _, unknown := Formats().Writable().ByPath(dst); o.Format == "" || file || unknown == nil {
		return nil, wrongOptions{fmt.Errorf("%s: the name does not match the format %s; use for example %s", dst, f.Name(), "data"+outputSuffixes[f.Name()])}
	}
	outs := &outputList{format: f, folder: filepath.Clean(dst)}
	splits, err := selectedSplits(src, o)
	if err != nil {
		return nil, wrongOptions{err}
	}
	for _, split := range splits {
		outs.list = append(outs.list, output{filepath.Join(dst, cmp.Or(split, "data")+outputSuffixes[f.Name()]), split})
	}
	return outs, nil
}

// selectedSplits returns the splits of src that o wants: at least one.
func selectedSplits(src formats.Dataset, o *Options) ([]string, error) {
	all, err := o.Split.Assign(src)
	if err != nil {
		return nil, err
	}
	names := all.Names()
	for _, name := range o.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("dsconv: Options.Only: no sample has the split %q; the splits are %q", name, names)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the source has no samples")
	}
	if len(o.Only) > 0 {
		return o.Only, nil
	}
	return names, nil
}

// writableFormat returns the format to write dst in: the one of that name, or if that is "" the one of
// dst's suffix.
func writableFormat(dst, name string) (formats.WritableFormat, error) {
	var f formats.Format
	var err error
	if name != "" {
		f, err = append(Formats().Writable(), folder.Format{}).ByName(name)
	} else if f, err = Formats().Writable().ByPath(dst); err != nil {
		if other, known := Formats().ByPath(dst); known == nil {
			f, err = other, nil // a folder, or what another program wrote
		}
	}
	if err != nil {
		return nil, wrongOptions{fmt.Errorf("%w: use one of the suffixes .lmdb, .h5, .tar, .tfrecord, or name the format", err)}
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return nil, wrongOptions{fmt.Errorf("%s: use one of the suffixes .lmdb, .h5, .tar, .tfrecord, or name the format (dsconv unpack writes a folder)", dst)}
	}
	return w, nil
}

// createFolder creates the folder, but not the folder that it is in.
func createFolder(path string) error {
	err := os.Mkdir(path, 0o755)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // if it is no folder, writing into it returns an error
	case errors.Is(err, fs.ErrNotExist):
		return cmp.Or(durable.CheckParent(path), err)
	}
	return err
}
