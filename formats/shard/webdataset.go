package shard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// WebDataset is the format "webdataset". The zero value is ready for use.
type WebDataset struct{}

var (
	_ formats.Format        = WebDataset{}
	_ formats.OptionsOpener = WebDataset{}
)

// Name is "webdataset".
func (WebDataset) Name() string { return "webdataset" }

// Match reports whether path has tars of another program, among whose first members are an image and a value
// of the same sample, such as a.jpg and a.cls.
func (WebDataset) Match(path string) bool {
	if strings.HasSuffix(path, sidecar.PartialSuffix) {
		return false
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() && !isFolderOfTars(path) {
		return false
	}
	parts, _ := find(path) // opening says what is missing
	return slices.ContainsFunc(some(parts), func(p part) bool { return looksLikeSamples(p.Path) })
}

// some returns at most a few of the tars, spread over all: the first ones may be archives of classes.
func some(parts []part) (list []part) {
	const most = 16
	step := max(1, (len(parts)+most-1)/most)
	for i := 0; i < len(parts); i += step {
		list = append(list, parts[i])
	}
	return list
}

// isFolderOfTars reports whether the folder has tars and neither images nor folders, or folders of splits that
// have. It goes by the first entries, since a folder of images may have a million.
func isFolderOfTars(dir string) bool {
	tars, others, folders := count(dir)
	if tars > 0 || others > 0 {
		return tars > 0 && others == 0 && len(folders) == 0
	}
	for _, name := range folders {
		if !formats.IsSplitWord(name) {
			return false
		}
		if tars, others, inside := count(filepath.Join(dir, name)); tars == 0 || others > 0 || len(inside) > 0 {
			return false
		}
	}
	return len(folders) > 0
}

// count counts the tars, images and folders among the first entries of a folder.
func count(dir string) (tars, images int, folders []string) {
	f, err := unblocked.Open(dir)
	if err != nil {
		return 0, 0, nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(1024) // what cannot be read has no tars
	for _, e := range entries {
		switch name := e.Name(); {
		case name[0] == '.':
		case e.IsDir():
			folders = append(folders, name)
		case isTar(name):
			tars++
		case isImage(strings.ToLower(filepath.Ext(name))):
			images++
		}
	}
	return tars, images, folders
}

// Open opens the tars at path.
func (f WebDataset) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith opens the tars at path. A map gives the extension of a field's members, several of which are
// separated by semicolons, and for the label also a place in their JSON: label=json.meta.class.
func (WebDataset) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	parts, err := find(path)
	if err == nil {
		err = check(path, parts)
	}
	if err != nil {
		return nil, err
	}
	wanted, err := parseFields(o.Map)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &foreign.Source{Format: WebDataset{}.Name(), Path: path, Version: 3, Options: o, Decode: decodeMember, Layout: wanted.layout}
	for _, p := range parts {
		s.Files = append(s.Files, p.File)
	}
	s.Scan = func(ctx context.Context, scan *foreign.Scan) error { return wanted.scan(ctx, scan, parts) }
	return foreign.Open(ctx, s)
}
