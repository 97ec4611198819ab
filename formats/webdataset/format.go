package webdataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Format is the format "webdataset". The zero value is ready for use.
type Format struct{}

var (
	_ formats.Format        = Format{}
	_ formats.OptionsOpener = Format{}
)

// Name is "webdataset".
func (Format) Name() string { return "webdataset" }

// Match reports whether path has tars of another program, among whose first members are an image and a value
// of the same sample, such as a.jpg and a.cls.
func (Format) Match(path string) bool {
	if strings.HasSuffix(path, partialSuffix) {
		return false
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() && !isFolderOfTars(path) {
		return false
	}
	parts, err := find(path)
	return err == nil && len(parts) > 0 && looksLikeSamples(parts[0].Path) && !hasLost(filepath.Dir(path))
}

// hasLost reports whether the folder has a description of dsconv's without its tars: perhaps the tar that was asked for
// is one of them under another name, and opening it as dsconv's says so.
func hasLost(dir string) bool {
	f, err := unblocked.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	entries, _ := f.ReadDir(1024)
	for _, side := range entries {
		stem, ok := strings.CutSuffix(side.Name(), sidecarSuffix)
		if !ok || !side.IsDir() || !isTar(stem) {
			continue
		}
		p, err := sharded.ParseShardPath(filepath.Join(dir, stem))
		if err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() && p.SharesSidecar(e.Name()) }) {
			return true
		}
	}
	return false
}

// isFolderOfTars reports whether the folder has tars and neither images nor folders, or folders of splits that
// have. It goes by the first entries, since a folder of images may have a million.
func isFolderOfTars(dir string) bool {
	tars, others, folders := count(dir)
	if tars > 0 || others > 0 {
		return tars > 0 && others == 0 && len(folders) == 0
	}
	for _, name := range folders {
		if !slices.Contains(splitNames, name) {
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

// partialSuffix is that of a folder that dsconv has not finished writing.
const partialSuffix = ".partial"

// Open opens the tars at path.
func (f Format) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith opens the tars at path. A map gives the extension of a field's members, several of which are
// separated by semicolons, and for the label also a place in their JSON: label=json.meta.class.
func (Format) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if ctx == nil {
		return nil, errors.New("webdataset.OpenWith: the context is nil: give context.Background()")
	}
	parts, err := find(path)
	if err != nil {
		return nil, err
	}
	wanted, err := parseFields(o.Map)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &foreign.Source{Format: Format{}.Name(), Path: path, Version: 1, Options: o, Decode: decode, Layout: func(f *foreign.Found) (*foreign.Layout, error) {
		l, err := wanted.layout(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return l, nil
	}}
	for _, p := range parts {
		s.Files = append(s.Files, p.File)
	}
	s.Scan = func(ctx context.Context, scan *foreign.Scan) error { return wanted.scan(ctx, scan, parts) }
	ds, err := foreign.Open(ctx, s)
	if err != nil {
		return nil, err // not ds: a nil *foreign.Dataset is not a nil Dataset
	}
	return ds, nil
}

// part is a tar and the split that its samples are in.
type part struct {
	foreign.File
	split string
}

// splitNames are those of folders that are splits.
var splitNames = formats.SplitFolders()

// find lists the tars that path stands for. It is an error if dsconv's own description is beside them: then
// they are shards of its own.
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
		return nil, fmt.Errorf("%s: %w: its name does not end in .tar; unpack what is compressed", path, formats.ErrNotDataset)
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
	for i := lo; i <= hi; i++ {
		one := tarAt(p.Dir, p.Name(i), "")
		if _, err := os.Stat(one.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w, but the pattern names it", formats.NotFound(one.Path))
		}
		parts = append(parts, one)
	}
	return parts, nil
}

func tarAt(dir, name, split string) part {
	stem, _, _ := strings.Cut(name, ".")
	return part{foreign.File{Path: filepath.Join(dir, name), Name: filepath.ToSlash(filepath.Join(split, name)), Stem: stem}, split}
}

// findInFolder lists the tars in the folder, or in those of its folders that are named as splits.
func findInFolder(dir string) ([]part, error) {
	parts, err := tarsIn(dir, "")
	if err != nil || len(parts) > 0 {
		return parts, err
	}
	for _, name := range splitNames {
		of, err := tarsIn(filepath.Join(dir, name), name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, of...)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no tars, nor has a folder in it that is named train, val, valid, validation or test", dir, formats.ErrNotDataset)
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

func isTar(path string) bool { return strings.EqualFold(filepath.Ext(path), ".tar") }
