package dsconv_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tarOf is a tar of four images, each followed by the member that other makes of its name, if it makes one.
func tarOf(t *testing.T, folder, picture string, other func(stem string) (name, text string)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name, data string) {
		check(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}))
		_, err := w.Write([]byte(data))
		check(t, err)
	}
	for i := range 4 {
		add(fmt.Sprintf("%s%d.png", folder, i), picture)
		if name, text := other(fmt.Sprintf("%s%d", folder, i)); name != "" {
			add(name, text)
		}
	}
	check(t, w.Close())
	return b.Bytes()
}

func alone(string) (name, text string) { return "", "" }

// shared are sources of several samples in one file: what each is called, and its bytes.
func shared(t *testing.T) map[string][]byte {
	t.Helper()
	var b bytes.Buffer
	noise := image.NewGray(image.Rect(0, 0, 96, 96))
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i >> 3)
	}
	check(t, png.Encode(&b, noise))
	picture, images := b.String(), map[string]string{}
	for i := range 4 {
		images[fmt.Sprintf("a/%d.png", i)] = picture
	}
	zipped, err := os.ReadFile(zipOf(t, filepath.Join(t.TempDir(), "x.zip"), images))
	check(t, err)
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, err = w.Write(tarOf(t, "a/", picture, alone))
	check(t, errors.Join(err, w.Close()))
	type cell struct {
		Bytes []byte `parquet:"bytes,plain"`
		Path  string `parquet:"path,plain"`
	}
	type row struct {
		Image cell  `parquet:"image"`
		Label int64 `parquet:"label,plain"`
	}
	rows := make([]row, 4)
	for i := range rows {
		rows[i] = row{cell{[]byte(picture), fmt.Sprint(i)}, int64(i)}
	}
	var table bytes.Buffer
	check(t, parquet.Write(&table, rows))
	return map[string][]byte{
		"x.zip": zipped, "x.tar": tarOf(t, "a/", picture, alone), "x.tar.gz": gz.Bytes(), "train.parquet": table.Bytes(),
		"web.tar": tarOf(t, "", picture, func(stem string) (string, string) { return stem + ".cls", "1" }),
	}
}

// A file of several samples that is written to while it is read ends a pack, whatever becomes of bad images, with an error that
// names it. One that was replaced or removed is read on: it is what was opened.
func TestSharedFilesThatChange(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, data := range shared(t) {
		for _, c := range []struct {
			what    string
			do      func(path string) error
			changed bool
		}{
			{"written to", func(path string) error { return os.WriteFile(path, make([]byte, len(data)), 0o644) }, true},
			{"longer", func(path string) error { return os.Truncate(path, int64(2*len(data))) }, true},
			{"truncated", func(path string) error { return os.Truncate(path, int64(len(data)/2)) }, true},
			{"replaced", func(path string) error {
				return errors.Join(os.WriteFile(path+".new", data[:len(data)/2], 0o644), os.Rename(path+".new", path))
			}, false},
			{"removed", os.Remove, false},
		} {
			path := filepath.Join(t.TempDir(), name)
			check(t, os.WriteFile(path, data, 0o644))
			long := time.Now().Add(-time.Hour)
			check(t, os.Chtimes(path, long, long))
			src, err := dsconv.Open(path)
			check(t, err)
			check(t, c.do(path))
			dst := filepath.Join(t.TempDir(), "x.tfrecord")
			r, err := dsconv.PackDataset(t.Context(), src, dst, dsconv.Options{Options: convert.Options{OnError: convert.Skip}})
			switch {
			case !c.changed && (err != nil || r.Written != src.Len()):
				t.Errorf("%s, %s: %v, %d written", name, c.what, err, r.Written)
			case c.changed && (!errors.Is(err, formats.ErrChanged) || !strings.Contains(err.Error(), path)):
				t.Errorf("%s, %s: %v", name, c.what, err)
			}
			if _, err := os.Stat(dst); c.changed != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s: the dataset: %v", name, c.what, err)
			}
			check(t, src.Close())
		}
	}
}
