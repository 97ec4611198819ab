package folder_test

import (
	"bytes"
	"context"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// packed packs a dataset and returns the bytes of its tar.
func packed(t *testing.T, d *folder.Dataset, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dst := filepath.Join(t.TempDir(), "d.tar")
	if _, err := dsconv.PackDataset(context.Background(), d, dst, dsconv.Options{}); err != nil {
		t.Fatal(err)
	}
	var all []byte
	shards, _ := filepath.Glob(filepath.Join(filepath.Dir(dst), "*.tar"))
	for _, shard := range shards {
		b, err := os.ReadFile(shard)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	if len(all) == 0 {
		t.Fatal("nothing was written")
	}
	return all
}

// The same files give the same pack, whether they lie on the disk or in an fs.FS.
func TestPackOfFileSystemsIsEqual(t *testing.T) {
	var file bytes.Buffer
	if err := codec.EncodeImage(&file, image.NewGray(image.Rect(0, 0, 30, 20)), codec.EncodeOptions{Encoding: formats.PNG}); err != nil {
		t.Fatal(err)
	}
	root, m, when := t.TempDir(), fstest.MapFS{}, time.Date(2024, 5, 6, 7, 8, 10, 0, time.UTC)
	for _, name := range []string{"cat/1.png", "cat/2.png", "dog/3.png"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		m[name] = &fstest.MapFile{Data: file.Bytes(), ModTime: when}
	}
	ctx := context.Background()
	d, err := folder.Open(ctx, root, folder.Config{})
	want := packed(t, d, err)
	for name, fsys := range map[string]fs.FS{"DirFS": os.DirFS(root), "MapFS": m} {
		d, err := folder.OpenTree(ctx, foldertest.AsTree(fsys), folder.Config{})
		if !bytes.Equal(packed(t, d, err), want) {
			t.Errorf("%s: another pack", name)
		}
	}
}
