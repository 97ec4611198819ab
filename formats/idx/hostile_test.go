package idx_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/idx"
)

// array is an IDX file of that type and shape.
func array(code byte, content string, dims ...uint32) []byte {
	b := []byte{0, 0, code, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, content...)
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func write(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	imagesName = "train-images-idx3-ubyte"
	labelsName = "train-labels-idx1-ubyte"
)

var labels3 = array(8, "\x00\x01\x02", 3)

// TestHostileFiles: each pair of files is an error that says why, and takes no memory for what it claims.
func TestHostileFiles(t *testing.T) {
	images := array(8, "abcdefghijkl", 3, 2, 2)
	for name, c := range map[string]struct {
		images, labels []byte
		zip            bool
		why            string
	}{
		"truncated":           {images[:20], labels3, false, "truncated"},
		"too long":            {append(bytes.Clone(images), 'x'), labels3, false, "1 bytes follow"},
		"header only":         {images[:4], labels3, false, "truncated in its header"},
		"floats":              {array(13, "", 3, 2, 2), labels3, false, "float32"},
		"labels of int32":     {images, array(12, "\x00\x00\x00\x01", 1), false, "int32"},
		"more labels":         {images, array(8, "\x00\x01\x02\x03", 4), false, "3 images and 4 labels"},
		"labels of 2 axes":    {images, array(8, "\x00\x01\x02", 3, 1), false, "1 dimension"},
		"overflow":            {array(8, "", 1<<31, 1<<31, 1<<31, 1<<31), labels3, false, "truncated"},
		"5 dimensions":        {array(8, "a", 1, 1, 1, 1, 1), labels3, false, "5 dimensions"},
		"no pixels":           {array(8, "", 3, 0, 2), labels3, false, "shape"},
		"no images":           {array(8, "", 0, 2, 2), array(8, "", 0), false, "0 images"},
		"zip, truncated":      {zipped(images)[:30], labels3, true, "truncated"},
		"zip, bomb's claim":   {zipped(array(8, "", 1<<20, 512, 1)), labels3, true, "cannot contain"},
		"zip, beyond 1 GiB":   {zipped(array(8, "", 1<<30, 2, 2)), labels3, true, "gunzip"},
		"zip, bytes follow":   {zipped(append(bytes.Clone(images), 'x')), labels3, true, "bytes follow"},
		"zip, fewer bytes":    {zipped(images[:len(images)-1]), labels3, true, "truncated"},
		"zip, wrong checksum": {flipped(zipped(images)), labels3, true, "decompressed"},
		"zip of small claim":  {zipped(array(8, "abcdefghij", 1, 1, 1)), labels3, true, "bytes follow"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			end := ""
			if c.zip {
				end = ".gz"
			}
			write(t, dir, imagesName+end, c.images)
			write(t, dir, labelsName, c.labels)
			ds, err := idx.Format{}.Open(dir)
			if err == nil {
				_ = ds.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want one with %q", err, c.why)
			}
		})
	}
}

// flipped is b, a gzip file, with another checksum.
func flipped(b []byte) []byte {
	b[len(b)-8] ^= 1
	return b
}

// TestFoldersOfFiles: which files of a folder are a dataset.
func TestFoldersOfFiles(t *testing.T) {
	images := array(8, "abcdefghijkl", 3, 2, 2)
	dir := t.TempDir()
	if (idx.Format{}).Match(dir) {
		t.Error("an empty folder matches")
	}
	write(t, dir, "emnist-letters-train-images.idx3-ubyte", images)
	write(t, dir, "emnist-letters-train-labels.idx1-ubyte", labels3)
	write(t, dir, "emnist-digits-test-images-idx3-ubyte", images)
	if !(idx.Format{}).Match(dir) {
		t.Error("EMNIST does not match")
	}
	if _, err := (idx.Format{}).Open(dir); err == nil || !strings.Contains(err.Error(), "emnist-digits, emnist-letters") {
		t.Errorf("two datasets: error %v", err)
	}
	ds, err := idx.Format{}.OpenWith(t.Context(), dir, formats.ReadOptions{Map: map[string]string{"image": "emnist-letters"}})
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	if got := ds.Meta(); got.Count != 3 || got.Splits[0].Name != "train" || len(got.Classes()) != 3 {
		t.Errorf("letters: %+v", got)
	}
	if _, err := (idx.Format{}).OpenWith(t.Context(), dir, formats.ReadOptions{Map: map[string]string{"label": "x"}}); !errors.Is(err, formats.ErrSchema) {
		t.Errorf("a map of labels: %v", err)
	}
	digits, err := idx.Format{}.Open(filepath.Join(dir, "emnist-digits-test-images-idx3-ubyte"))
	if err != nil || len(digits.Meta().Schema) != 1 {
		t.Fatalf("images without labels: %v", err)
	}
	_ = digits.Close()
}

// TestTruncatedWhileOpen: a file that loses its end is an error, not other pixels.
func TestTruncatedWhileOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, imagesName, array(8, strings.Repeat("x", 100*32*32), 100, 32, 32))
	ds, err := idx.Format{}.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	if err := os.Truncate(filepath.Join(dir, imagesName), 50*32*32); err != nil {
		t.Fatal(err)
	}
	var s formats.Sample
	if err := ds.(formats.Viewer).View(10, &s); err != nil {
		t.Errorf("a sample that is there: %v", err)
	}
	for _, i := range []int{10, 49, 50, 99} {
		if err := ds.Read(i, &s); !errors.Is(err, formats.ErrChanged) || !strings.Contains(err.Error(), imagesName) {
			t.Errorf("sample %d: error %v", i, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(array(8, "abcdefghijkl", 3, 2, 2), labels3, false)
	f.Add(zipped(array(8, "abcdefghijkl", 3, 2, 2)), labels3, true)
	f.Add(array(8, "", 1<<31, 1<<31, 1<<31), labels3, false)
	f.Fuzz(func(t *testing.T, images, labels []byte, zip bool) {
		dir, end := t.TempDir(), ""
		if zip {
			end = ".gz"
		}
		write(t, dir, imagesName+end, images)
		write(t, dir, labelsName, labels)
		ds, err := idx.Format{}.Open(dir)
		if err != nil {
			return
		}
		defer ds.Close()
		var s formats.Sample
		for i := range ds.Len() {
			if err := ds.Read(i, &s); err != nil {
				t.Fatal(err)
			}
		}
	})
}
