package formats_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/lmdb"
)

func TestCheckKey(t *testing.T) {
	for _, key := range []string{"a", "a/b.c", "日本/x y\n", "..a/b..", strings.Repeat("k", formats.MaxKey), "a\\b", "-x"} {
		if err := formats.CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/..", "a/./b", "a\x00", "\xff", strings.Repeat("k", formats.MaxKey+1)} {
		if err := formats.CheckKey(key); !errors.Is(err, formats.ErrKey) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestSchema(t *testing.T) {
	image := formats.Field{Name: "image", Kind: formats.Image}
	for name, s := range map[string]formats.Schema{
		"no image": {{Name: "label", Kind: formats.Label}}, "empty name": {image, {Kind: formats.Mask}}, "slash": {image, {Name: "a/b", Kind: formats.Mask}},
		"twice": {image, image}, "unknown kind": {image, {Name: "x", Kind: "video"}}, "unknown type": {{Name: "image", Kind: formats.Image, DType: "complex"}},
	} {
		if err := s.Validate(); !errors.Is(err, formats.ErrSchema) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := formats.Schema{{Name: "caption", Kind: formats.Text}, image, {Name: "right", Kind: formats.Image}, {Name: "tags", Kind: formats.MultiHot}, {Name: "label", Kind: formats.Label}}
	if err := s.Validate(); err != nil || s.ImageIndex() != 1 || s.LabelIndex() != 3 || s.Index("right") != 2 || s.Index("left") != -1 {
		t.Errorf("%v %d %d", err, s.ImageIndex(), s.LabelIndex())
	}
}

func TestValues(t *testing.T) {
	var v formats.Value
	v.SetInt64(-7)
	if x, ok := v.Int64(); !ok || x != -7 {
		t.Errorf("%d %v", x, ok)
	}
	w := formats.Value{Data: []byte{1, 2}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{2}}
	v.Set(w)
	w.Data[0], w.Shape[0] = 9, 9
	if string(v.Data) != "\x01\x02" || v.Encoding != formats.Raw || v.DType != formats.Uint8 || !slices.Equal(v.Shape, []int{2}) {
		t.Errorf("Set keeps the other's memory: %v", v)
	}
	if _, ok := v.Int64(); ok {
		t.Error("two bytes are an int64")
	}
}

// theirs claims every path, as another program's format would that looks into the data only.
type theirs struct{ formats.Format }

func (theirs) Name() string      { return "theirs" }
func (theirs) Match(string) bool { return true }

// TestDescribedIsAskedFirst checks that dsconv's own description decides before other formats look at the data.
func TestDescribedIsAskedFirst(t *testing.T) {
	r := append(formats.Registry{theirs{}}, dsconv.Formats()...)
	dir := t.TempDir()
	for path, description := range map[string]string{
		"a.lmdb": "a.lmdb/dataset.json", "b.tar": "b.tar.dsconv", "c-%03d.tar": "c.tar.dsconv", "d.tfrecord": "d.tfrecord.dsconv",
	} {
		path, description = filepath.Join(dir, path), filepath.Join(dir, description)
		if f, err := r.ByPath(path); err != nil || f.Name() != "theirs" {
			t.Errorf("%s without a description: %v %v", path, f, err)
		}
		if err := os.MkdirAll(description, 0o755); err != nil {
			t.Fatal(err)
		}
		if f, err := r.ByPath(path); err != nil || f.Name() == "theirs" {
			t.Errorf("%s with its description: %v %v", path, f, err)
		}
	}
}

func TestRegistry(t *testing.T) {
	r := dsconv.Formats()
	for path, want := range map[string]string{
		"a.lmdb": "lmdb", "a.h5": "hdf5", "a.hdf5": "hdf5", "a.tar": "shard", "d/t-%06d.tar": "shard", "t-{000..007}.tar.zst": "shard",
		"a.tfrecord": "tfrecord", "A.LMDB": "lmdb", "A.H5": "hdf5", "A.TAR": "shard", "A.Tar.ZST": "shard", "A.TFRecords": "tfrecord", t.TempDir(): "folder",
	} {
		f, err := r.ByPath(path)
		if err != nil || f.Name() != want {
			t.Errorf("%s: %v %v", path, f, err)
		}
	}
	for name, want := range map[string]string{
		"lmdb": "lmdb", "LMDB": "lmdb", "h5": "hdf5", "HDF5": "hdf5", "shard": "shard", "tar": "shard", "WebDataset": "webdataset", "tfrecords": "tfrecord",
	} {
		if f, err := r.ByName(name); err != nil || f.Name() != want {
			t.Errorf("ByName(%q): %v, %v", name, f, err)
		}
	}
	if _, err := r.ByName("rar"); !errors.Is(err, formats.ErrUnknownFormat) || !strings.Contains(err.Error(), "lmdb, hdf5, shard, tfrecord, list, folder") {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"s3://bucket/x", "gs://bucket/x.lmdb", "https://host/x.tar"} {
		if _, err := r.Open(path); !errors.Is(err, formats.ErrRemote) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := r.Open("/no/such.thing"); err == nil || !strings.Contains(err.Error(), "there is nothing at that path") {
		t.Errorf("%v", err)
	}
}

// Shapes that nothing can have are no schema: their sizes are multiplied.
func TestShapesThatNothingHas(t *testing.T) {
	for _, c := range []struct {
		shape []int
		ok    bool
	}{
		{nil, true},
		{[]int{}, true},
		{[]int{-1, 4}, true},
		{[]int{0, 1 << 30}, true},
		{[]int{1 << 40}, true},
		{[]int{1 << 58}, false},
		{[]int{1 << 20, 1 << 21}, false},
		{[]int{1 << 32, 1 << 32}, false},
		{[]int{-2}, false},
	} {
		s := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "vector", Kind: formats.Array, Shape: c.shape}}
		if err := s.Validate(); errors.Is(err, formats.ErrSchema) == c.ok {
			t.Errorf("%v: %v", c.shape, err)
		}
	}
}

// Classes that have no names get their numbers, and no label makes a list of a billion.
func TestNumberClasses(t *testing.T) {
	memory := []string{"a", "b", "kept"}
	f := formats.Field{Name: "label", Classes: memory[:2]}
	if err := f.NumberClasses(3); err != nil || !slices.Equal(f.Classes, []string{"a", "b", "2", "3"}) || memory[2] != "kept" {
		t.Errorf("%q, %v", f.Classes, err)
	}
	for _, largest := range []int64{-1, 0, 3} {
		if err := f.NumberClasses(largest); err != nil || len(f.Classes) != 4 {
			t.Errorf("up to %d: %q, %v", largest, f.Classes, err)
		}
	}
	for _, largest := range []int64{formats.MaxClasses, 1e9, math.MaxInt64} {
		if err := f.NumberClasses(largest); !errors.Is(err, formats.ErrSchema) || len(f.Classes) != 4 {
			t.Errorf("up to %d: %d classes, %v", largest, len(f.Classes), err)
		}
	}
	if err := f.NumberClasses(formats.MaxClasses - 1); err != nil || len(f.Classes) != formats.MaxClasses {
		t.Errorf("%d classes, %v", len(f.Classes), err)
	}
}

// strange is a format whose functions panic.
type strange struct{ lmdb.Format }

func (strange) Name() string                         { return "strange" }
func (strange) Match(string) bool                    { panic("Match") }
func (strange) Open(string) (formats.Dataset, error) { panic("Open") }

// A file that makes a format panic is an error that names both, or is another format's.
func TestPanicsAreContained(t *testing.T) {
	path := t.TempDir()
	both := formats.Registry{strange{}, folder.Format{}}
	if f, err := both.ByPath(path); err != nil || f.Name() != "folder" {
		t.Errorf("the folder: %v, %v", f, err)
	}
	one := both[:1]
	for name, open := range map[string]func() (formats.Dataset, error){
		"Match": func() (formats.Dataset, error) { return one.Open(path) },
		"Open": func() (formats.Dataset, error) {
			return one.OpenWith(t.Context(), path, formats.ReadOptions{Format: "strange"})
		},
	} {
		ds, err := open()
		if ds != nil || err == nil {
			t.Fatalf("%s: %v, %v", name, ds, err)
		}
		for _, part := range []string{path, "strange", "panic: " + name, "formats_test.strange." + name} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v does not say %q", err, part)
			}
		}
	}
}
