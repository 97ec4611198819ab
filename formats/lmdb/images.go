package lmdb

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
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
