package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// outHelp explains a folder of datasets in help texts.
const outHelp = `DATASET may be a folder with a dataset for each split, such as dsconv pack --format lmdb writes: OUT/
stands for OUT/train.lmdb and OUT/val.lmdb.`

// datasetPaths returns the datasets that path stands for: itself, or if it is a folder with a dataset for each
// split, as dsconv pack --format writes it, the datasets in it. Other files in that folder are ignored.
func datasetPaths(ctx context.Context, path string) (paths []string, isFolder bool, err error) {
	paths, err = lifetime.Call(ctx, func() ([]string, error) {
		f, err := dsconv.Formats().ByPath(path)
		if err != nil || f.Name() != "folder" || !durable.IsDir(path) {
			return nil, nil //nolint:nilerr // opening path reports it
		}
		return sharded.DatasetsIn(path), nil
	}, nil)
	if err != nil || len(paths) == 0 {
		return []string{path}, false, err
	}
	if err := checkOnlyDatasets(ctx, path, paths); err != nil {
		return nil, false, err
	}
	return paths, true, nil
}

// allDatasets returns the datasets that paths stand for.
func allDatasets(ctx context.Context, paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		list, _, err := datasetPaths(ctx, path)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// checkOnlyDatasets returns an error if the folder, which has the datasets at paths, has something that makes it
// unclear what is meant: images too, two datasets of one name, or one that is not finished.
func checkOnlyDatasets(ctx context.Context, dir string, paths []string) error {
	list := shortList(fileNames(paths), 5)
	images, err := folder.Open(ctx, dir, folder.Config{})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		n := images.Len()
		if err := images.Close(); err != nil {
			return err
		}
		if n > 0 {
			return usageErrorf("%s: it has datasets (%s) and %d images: give one of the datasets, or move them out of the folder of images", dir, list, n)
		}
	}
	names := map[string]string{}
	for _, path := range paths {
		name := datasetName(path)
		if other := names[name]; other != "" {
			return usageErrorf("%s: it has two datasets of the name %s, %s and %s: give one of them", dir, name, other, filepath.Base(path))
		}
		names[name] = filepath.Base(path)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), sidecar.PartialSuffix); ok && e.IsDir() && !slices.Contains(fileNames(paths), name) {
			return fmt.Errorf("%s: %s is not finished: repeat the command that writes it, or give the datasets that are there: %s", dir, name, list)
		}
	}
	return nil
}

func fileNames(paths []string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = filepath.Base(path)
	}
	return names
}

// datasetName returns the name of a dataset in a folder of several: that of its split. train.lmdb and
// train-%06d.tar are both train.
func datasetName(path string) string {
	name := filepath.Base(path)
	for _, ext := range []string{".zst", ".lmdb", ".h5", ".hdf5", ".tar", ".tfrecord", ".tfrecords"} {
		if cut := len(name) - len(ext); cut > 0 && strings.EqualFold(name[cut:], ext) {
			name = name[:cut]
		}
	}
	if at := strings.LastIndexByte(name, '%'); at > 0 {
		name = strings.TrimRight(name[:at], "-_.")
	}
	return name
}

// openedDatasets are the datasets that one argument stands for.
type openedDatasets struct {
	paths    []string
	datasets []formats.Dataset
	folder   bool // the argument is a folder of datasets
}

func openSeveral(cc *cli.Context, path string) (*openedDatasets, error) {
	paths, isFolder, err := datasetPaths(cc.Context, path)
	if err != nil {
		return nil, err
	}
	o := &openedDatasets{paths: paths, folder: isFolder}
	for _, path := range paths {
		ds, err := openSource(cc, path, folder.Config{})
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		o.datasets = append(o.datasets, ds)
	}
	return o, nil
}

func (o *openedDatasets) close() error {
	var err error
	for _, ds := range o.datasets {
		err = errors.Join(err, ds.Close())
	}
	return err
}

// diffPair are two datasets to compare. a is empty, or b "", if only the other side has a dataset of that name.
type diffPair struct {
	name string
	a    []string // several are read as one folder
	b    string
}

// diffPairs returns the datasets to compare: a and b themselves, or if both are folders of datasets, those of one
// name.
func diffPairs(ctx context.Context, a []string, b string) (pairs []diffPair, several bool, err error) {
	inA, folderA := a, false
	if len(a) == 1 {
		if inA, folderA, err = datasetPaths(ctx, a[0]); err != nil {
			return nil, false, err
		}
	}
	inB, folderB, err := datasetPaths(ctx, b)
	switch {
	case err != nil:
		return nil, false, err
	case !folderA && !folderB:
		return []diffPair{{a: a, b: b}}, false, nil
	case folderA != folderB:
		name, in := a[0], inA
		if folderB {
			name, in = b, inB
		}
		return nil, false, usageErrorf("%s: it has several datasets (%s), which are compared with those of a folder like it: give one of them", name, shortList(fileNames(in), 5))
	}
	byName := map[string]*diffPair{}
	for _, path := range inA {
		byName[datasetName(path)] = &diffPair{name: datasetName(path), a: []string{path}}
	}
	for _, path := range inB {
		name := datasetName(path)
		if byName[name] == nil {
			byName[name] = &diffPair{name: name}
		}
		byName[name].b = path
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		pairs = append(pairs, *byName[name])
	}
	return pairs, true, nil
}
