package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	goparquet "github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/parquet"
)

type image struct {
	Bytes []byte `parquet:"bytes,optional,plain"`
	Path  string `parquet:"path,optional,plain"`
}

type row struct {
	Image image  `parquet:"image,optional"`
	Label int64  `parquet:"label,plain"`
	Place string `parquet:"place,optional,dict"`
}

// file is a Parquet file with these rows.
func file(t testing.TB, rows []row, options ...goparquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := goparquet.Write(&out, rows, options...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// small is a file of three rows, the last one without an image.
func small(t testing.TB) []byte {
	return file(t, []row{
		{image{[]byte("\xff\xd8\xff one"), "1.jpg"}, 0, "here"}, {image{[]byte("\xff\xd8\xff two"), "2.jpg"}, 1, ""}, {image{nil, ""}, 2, "there"},
	}, goparquet.Compression(&goparquet.Snappy))
}

func write(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.parquet")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// readAll reads what can be read of a file, and returns the first error.
func readAll(path string) error {
	ds, err := parquet.Format{}.Open(path)
	if err != nil {
		return err
	}
	defer ds.Close()
	var s formats.Sample
	for i := range min(ds.Len(), 10) {
		if _, failed := ds.Info(i); failed != nil && err == nil {
			err = failed
		}
		if failed := ds.Read(i, &s); failed != nil && err == nil {
			err = failed
		}
	}
	return err
}

func TestRowsWithoutImages(t *testing.T) {
	path := write(t, small(t))
	ds, err := parquet.Format{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	var s formats.Sample
	if err := ds.Read(1, &s); err != nil || string(s.Values[0].Data) != "\xff\xd8\xff two" || strings.Join(s.Columns, ",") != ",2.jpg" {
		t.Errorf("sample 1: %q %q, %v", s.Values[0].Data, s.Columns, err)
	}
	if err := ds.Read(2, &s); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), "neither an image nor its path") || !strings.Contains(err.Error(), path) {
		t.Errorf("a row without an image: %v", err)
	}
	if err := ds.Read(3, &s); err == nil {
		t.Error("a row that is not there")
	}
}

// TestUpperCase: the case of the extension does not matter, for one file and in a folder.
func TestUpperCase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Train-00000-of-00001.Parquet")
	if err := os.WriteFile(path, small(t), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		if !(parquet.Format{}).Match(p) {
			t.Errorf("%s does not match", p)
			continue
		}
		ds, err := parquet.Format{}.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		if splits := ds.Meta().Splits; len(splits) != 1 || splits[0].Name != "Train" {
			t.Errorf("%s: splits %v", p, splits)
		}
		if err := ds.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTruncated: no part of a file is read as if it were the whole one.
func TestTruncated(t *testing.T) {
	b := small(t)
	for n := 0; n < len(b); n += 7 {
		if _, err := (parquet.Format{}).Open(write(t, b[:n])); !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", n, len(b), err)
		}
	}
}

// TestFlippedBits: a damaged file gives errors or other values; nothing panics.
func TestFlippedBits(t *testing.T) {
	b := small(t)
	path := write(t, b)
	for i := range b {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(b)
			damaged[i] ^= flip
			_ = os.Remove(path) // truncating a file makes some file systems write it to the disk
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			_ = readAll(path)
		}
	}
}

// TestBombs: pages that claim far more than they have are refused before memory is taken.
func TestBombs(t *testing.T) {
	zeros := image{append([]byte("\xff\xd8\xff"), make([]byte, 20<<20)...), ""}
	many := make([]row, 50_000)
	for name, c := range map[string]struct {
		file []byte
		why  string
	}{
		"zeros":        {file(t, []row{{Image: zeros}}, goparquet.Compression(&goparquet.Zstd)), "before compression"},
		"many nothing": {file(t, many), "neither an image"},
		"no rows":      {file(t, nil), "no rows"},
		"no image":     {file0(t), "--map image=COLUMN"},
	} {
		path := write(t, c.file)
		if err := readAll(path); err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.why)
		}
	}
}

// file0 is a file without images, such as a table of labels.
func file0(t *testing.T) []byte {
	var out bytes.Buffer
	if err := goparquet.Write(&out, []struct {
		Path  string
		Label int64
	}{{"a.jpg", 1}}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestOtherParquet: tables of labels are not datasets of images, and names decide the splits.
func TestOtherParquet(t *testing.T) {
	if (parquet.Format{}).Match(write(t, file0(t))) {
		t.Error("a table of labels matches")
	}
	if _, err := (parquet.Format{}).Open(filepath.Join(t.TempDir(), "none.parquet")); !errors.Is(err, formats.ErrNotDataset) {
		t.Errorf("nothing there: %v", err)
	}
	dir := t.TempDir()
	for i, name := range []string{"train-00000-of-00001-0123456789abcdef.parquet", "other.parquet"} {
		if err := os.WriteFile(filepath.Join(dir, name), small(t), 0o644); err != nil {
			t.Fatal(err)
		}
		ds, err := parquet.Format{}.Open(dir)
		if i == 1 {
			if err == nil || !strings.Contains(err.Error(), "has none") {
				t.Errorf("some files without a split: %v", err)
			}
			continue
		}
		if err != nil || fmt.Sprint(ds.Meta().Splits) != "[{train 3}]" {
			t.Fatalf("%v, %v", ds.Meta(), err)
		}
		_ = ds.Close()
	}
}

func FuzzFile(f *testing.F) {
	f.Add(small(f))
	f.Add(file(f, []row{{Image: image{[]byte("x"), "y"}, Label: 5}}, goparquet.DataPageVersion(2), goparquet.Compression(&goparquet.Zstd)))
	f.Add(file(f, []row{{Image: image{[]byte("x"), "y"}, Place: "z"}}, goparquet.Compression(&goparquet.Gzip)))
	f.Fuzz(func(t *testing.T, b []byte) { _ = readAll(write(t, b)) })
}
