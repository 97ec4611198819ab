package lmdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Images is LMDBs of images of other programs, "image-lmdb". The zero value is ready for use.
type Images struct{}

var (
	_ formats.Format        = Images{}
	_ formats.OptionsOpener = Images{}
)

// Name implements formats.Format.
func (Images) Name() string { return "image-lmdb" }

// Match implements formats.Format: it matches a folder with data.mdb, and a file that begins like one, unless
// dsconv wrote it.
func (Images) Match(path string) bool {
	file, own := dataFile(path)
	return !own && begins(file)
}

// dataFile returns the file with the data of the LMDB at path, and whether dsconv wrote, or writes, it.
func dataFile(path string) (file string, own bool) {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return path, false
	}
	for _, name := range []string{manifest.MetaName, sidecar.ManifestName} {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			own = true
		}
	}
	own = own || sidecar.HasPartial(filepath.Clean(path)) || durable.Exists(filepath.Join(path, manifest.MetaName)) // published between the looks
	return filepath.Join(path, dataName), own || strings.HasSuffix(filepath.Clean(path), sidecar.PartialSuffix)
}

// begins reports whether a file begins with a meta page of LMDB.
func begins(path string) bool {
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, lmdbfile.MetaLength)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	_, err = lmdbfile.ParseMetaPage(head, 0)
	return err == nil
}

// Open implements formats.Format.
func (f Images) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith implements formats.OptionsOpener; see the package's documentation for what the map names.
func (Images) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	return openImages(ctx, path, o)
}

// layout is how samples are stored.
type layout struct {
	folders bool   // the class is the key's folder
	above   string // what keys that are absolute paths begin with: the folders that say nothing
	texts   bool   // keys are image-N, and label-N has a text
	schema  formats.Schema
}

const (
	imagePrefix = "image-"
	labelPrefix = "label-"
)

// counts are the keys that say how many samples there are; others that begin with "__" are no samples either.
var counts = []string{"__len__", "length", "num-samples", "num_samples"}

// isSample reports whether a key is that of a sample.
func (l *layout) isSample(key []byte) bool {
	k := string(key)
	if strings.HasPrefix(k, "__") || slices.Contains(counts, k) {
		return false
	}
	return !l.texts || strings.HasPrefix(k, imagePrefix)
}

// example is one of the first samples.
type example struct{ key, value []byte }

var errNoImage = errors.New("the bytes are not an image file that dsconv reads")

// newLayout judges by the first samples. It is an error if half of them are no images; the scan skips fewer.
func newLayout(list []example) (*layout, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: it has no samples", formats.ErrNotDataset)
	}
	bad := slices.DeleteFunc(slices.Clone(list), func(e example) bool { return formats.Sniff(e.value) != "" })
	switch {
	case len(bad) == len(list):
		return nil, fmt.Errorf("the value of key %q: %w: %s; %s", bad[0].key, formats.ErrNotDataset, whatIs(bad[0].value), foreign.FromPython)
	case 2*len(bad) >= len(list):
		return nil, fmt.Errorf("the value of key %q: %w", bad[0].key, errNoImage)
	}
	l := &layout{schema: formats.Schema{{Name: "image", Kind: formats.Image}}}
	l.folders = !slices.ContainsFunc(list, func(e example) bool { return !bytes.Contains(e.key, []byte("/")) })
	if l.folders {
		l.schema = append(l.schema, formats.Field{Name: "label", Kind: formats.Label})
	}
	return l, nil
}

// whatIs says what a value is that is no image file.
func whatIs(value []byte) string {
	switch {
	case len(value) > 2 && value[0] == 0x80 && value[1] >= 2 && value[1] <= 5:
		return "it is a pickle of Python, and no image file"
	case bytes.HasPrefix(value, []byte("\x93NUMPY")):
		return "it is an array of NumPy, and no image file"
	}
	return "it is no image file, but perhaps pixels or a Datum of Caffe"
}

// withTexts makes the layout that of images and texts in pairs of keys.
func (l *layout) withTexts() {
	l.texts = true
	l.schema = append(l.schema, formats.Field{Name: "text", Kind: formats.Text})
}

// named returns the sample of a key, with its split and class where they are in the key, without its value.
func (l *layout) named(stored []byte) foreign.Sample {
	one := foreign.Sample{Label: formats.NoLabel, Path: strings.ToValidUTF8(string(stored), "\ufffd")}
	k := strings.TrimPrefix(strings.TrimPrefix(string(stored), l.above), imagePrefix)
	if isNumber(k) && len(k) <= 8 {
		one.Key, one.Unique = strings.Repeat("0", 8-len(k))+k, k
		return one
	}
	stem := strings.TrimSuffix(k, path.Ext(k))
	if formats.CheckKey(stem) != nil {
		one.Key = fmt.Sprintf("%x", stored)
		one.Unique = one.Key
		return one
	}
	one.Key, one.Unique = stem, k // where two differ only in the extension, it stays
	if !l.folders {
		return one
	}
	dir := path.Dir(k)
	folders := strings.Split(dir, "/")
	for _, name := range folders[:len(folders)-1] {
		if formats.IsSplitWord(name) {
			one.Split = name
			break
		}
	}
	if one.Class = path.Base(dir); dir == "." {
		one.Class = ""
	}
	return one
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// findAbove finds what keys that are absolute paths begin with. Others stay as they are.
func (c *scanner) findAbove(ctx context.Context) error {
	common, shortest, first := "", 0, true
	err := c.each(ctx, func(n *lmdbfile.Node) (bool, error) {
		if !c.layout.isSample(n.Key()) {
			return true, nil
		}
		dir := path.Dir(string(n.Key())) + "/"
		if first {
			common, shortest, first = dir, len(dir), false
		}
		common, shortest = commonFolder(common, dir), min(shortest, len(dir))
		return strings.HasPrefix(common, "/"), nil
	})
	if strings.HasPrefix(common, "/") {
		c.layout.above = above(common, shortest == len(common))
	}
	return err
}

// commonFolder returns the folder that both are in or below. Folders end in a slash.
func commonFolder(a, b string) string {
	for !strings.HasPrefix(b, a) {
		a = a[:strings.LastIndexByte(strings.TrimSuffix(a, "/"), '/')+1]
	}
	return a
}

// above returns the part of a common folder that is no split and, if it has images, no class.
func above(common string, hasImages bool) string {
	folders := strings.Split(strings.Trim(common, "/"), "/")
	if hasImages {
		folders = folders[:len(folders)-1]
	}
	kept := "/"
	for _, name := range folders {
		if name == "" || formats.IsSplitWord(name) {
			break
		}
		kept += name + "/"
	}
	return kept
}
