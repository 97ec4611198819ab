package mds_test

import (
	"encoding/hex"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/mds"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// writer writes sets with the library's own MDSWriter, and what is in them.
const writer = `
import importlib.util, json, os, sys, types
# The library's __init__ imports clients of clouds and transformers, which its writer does not need.
root = importlib.util.find_spec("streaming").submodule_search_locations
for name in "streaming", "streaming.base":
    package = types.ModuleType(name)
    package.__path__ = [root[0] + name.replace("streaming", "", 1).replace(".", "/")]
    sys.modules[name] = package
from streaming.base.format.mds.writer import MDSWriter
import numpy
from PIL import Image
folder = sys.argv[1]

def photo(i, mode="RGB"):
    return Image.new(mode, (5 + i % 3, 6), 9 * i if mode == "L" else (9 * i, 200, i))

columns = {
    "img": "jpeg", "depth": "png", "raw": "pil", "y": "int", "name": "str", "more": "json", "blob": "bytes", "small": "int16",
    "real": "float32", "half": "float16", "any": "ndarray", "fixed": "ndarray:float32:2,3", "wide": "ndarray:int32", "double": "float64", "mask": "png",
}
want = []
for split, n in ("train", 12), ("val", 3):
    with MDSWriter(out=os.path.join(folder, "set", split), columns=columns, size_limit=4000) as w:
        for i in range(n):
            boxes = numpy.arange(4 * (i + 1), dtype=numpy.float32).reshape(i + 1, 4)
            w.write({"img": photo(i), "depth": photo(i, "L"), "raw": photo(i, "L" if i % 2 else "RGB"), "y": i % 5, "name": "n%d" % (i % 2), "more": {"i": i},
                     "blob": b"b%d" % i, "small": -i, "real": i / 4, "half": numpy.float16(-i / 8), "any": boxes, "fixed": numpy.full((2, 3), i, numpy.float32),
                     "wide": numpy.array([-i, i], numpy.int32), "double": i / 3, "mask": photo(i, "L")})
            want.append({"key": "%s/%06d" % (split, i), "label": i % 5, "split": split, "raw": photo(i, "L" if i % 2 else "RGB").tobytes().hex(), "any": boxes.tobytes().hex(),
                         "half": numpy.float32(numpy.float16(-i / 8)).tobytes().hex(), "wide": numpy.array([-i, i], numpy.int64).tobytes().hex()})
with MDSWriter(out=os.path.join(folder, "floats"), columns={"img": "png", "age": "float32", "target": "float32"}) as w:
    w.write({"img": photo(1), "age": 7.0, "target": 0.5})
json.dump(want, open(os.path.join(folder, "want.json"), "w"))
for name, options in {
    "plain": {}, "zstd": {"compression": "zstd:9"}, "gz": {"compression": "gz"}, "bz2": {"compression": "bz2:1", "hashes": ["sha1", "xxh64"]},
    "br": {"compression": "br:3"}, "snappy": {"compression": "snappy"}, "hashes": {"hashes": ["md5", "xxh3_64"]},
}.items():
    with MDSWriter(out=os.path.join(folder, name), columns={"img": "png", "y": "int", "text": "str"}, size_limit=700, **options) as w:
        for i in range(20):
            w.write({"img": photo(i), "y": i % 3, "text": "t" * i})
`

func written(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	formatcheck.ForeignPython(t, writer, dir)
	return dir
}

// TestLibraryWrites: what MDSWriter wrote is read as it was.
func TestLibraryWrites(t *testing.T) {
	dir := written(t)
	var want []struct {
		Key, Split, Raw, Any, Half, Wide string
		Label                            int64
	}
	formatcheck.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
	ds, err := dsconv.Open(filepath.Join(dir, "set"))
	must(t, err)
	defer ds.Close()
	m := ds.Meta()
	if m.Format != "mds" || m.Count != len(want) || len(m.Splits) != 2 || len(m.Files) < 3 {
		t.Fatalf("%+v", m)
	}
	wantFields := "image:image label:label any:array/float32[-1 4] blob:bytes depth:image double:bytes fixed:array/float32[2 3] half:array/float32[] " +
		"mask:mask more:json name:text raw:image real:array/float32[] small:array/int64[] wide:array/int64[2]"
	if got := formatcheck.SchemaText(m.Schema); got != wantFields {
		t.Errorf("the fields are %s", got)
	}
	if a := m.Schema[m.Schema.Index("any")]; a.DType != formats.Float32 || !slices.Equal(a.Shape, []int{-1, 4}) {
		t.Errorf("%+v", a)
	}
	var s formats.Sample
	for i, w := range want {
		must(t, ds.Read(i, &s))
		get := func(name string) *formats.Value { return &s.Values[m.Schema.Index(name)] }
		label, _ := get("label").Int64()
		if s.Key != w.Key || s.Split != w.Split || label != w.Label || get("image").Encoding != formats.JPEG {
			t.Errorf("sample %d is %s in %s, %d", i, s.Key, s.Split, label)
		}
		for name, hexed := range map[string]string{"raw": w.Raw, "any": w.Any, "half": w.Half, "wide": w.Wide} {
			if got := hex.EncodeToString(get(name).Data); got != hexed {
				t.Errorf("sample %d: %s is %s, want %s", i, name, got, hexed)
			}
		}
		if small, _ := get("small").Int64(); string(get("more").Data) != `{"i": `+strings.TrimPrefix(string(get("blob").Data), "b")+`}` || small > 0 {
			t.Errorf("sample %d: %s, %d", i, get("more").Data, small)
		}
	}
	sameCompressed(t, dir)
}

// sameCompressed: shards that are compressed as a whole, and those with hashes, have the samples of the plain ones.
func sameCompressed(t *testing.T, dir string) {
	t.Helper()
	describe := func(name string) formatcheck.Description {
		ds, err := formatcheck.OpenForeign(t, mds.Format{}, filepath.Join(dir, name), "")
		must(t, err)
		if len(ds.Meta().Files) < 3 {
			t.Errorf("%s has the files %v", name, ds.Meta().Files)
		}
		formatcheck.EachSample(t, ds, func(formats.Info, *formats.Sample) {})
		d, err := formatcheck.Describe(ds)
		must(t, err)
		return d
	}
	want := describe("plain")
	for _, name := range []string{"zstd", "gz", "bz2", "hashes"} {
		if got := describe(name); len(got.Samples) != 20 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v\nwant %+v", name, got, want)
		}
	}
	for _, name := range []string{"br", "snappy"} {
		if _, err := dsconv.Open(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), "dsconv reads zstd, gz and bz2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMap: a map names the columns; texts are names of classes, floats numbers to predict.
func TestMap(t *testing.T) {
	path := filepath.Join(written(t), "set")
	open := func(m map[string]string) (formats.Dataset, error) {
		return dsconv.Formats().OpenWith(t.Context(), path, formats.ReadOptions{Map: m})
	}
	ds, err := open(map[string]string{"image": "raw", "label": "name"})
	must(t, err)
	defer ds.Close()
	if got := ds.Meta().Classes(); !slices.Equal(got, []string{"n0", "n1"}) {
		t.Errorf("the classes are %v", got)
	}
	info, err := ds.Info(1)
	if err != nil || info.Label != 1 || info.Encoding != formats.Raw || info.Shape != [3]int{6, 6, 1} {
		t.Errorf("%+v, %v", info, err)
	}
	numbers, err := open(map[string]string{"label": "real"})
	must(t, err)
	defer numbers.Close()
	var s formats.Sample
	must(t, numbers.Read(3, &s))
	if x, _ := s.Values[1].Float32(); x != 0.75 || numbers.Meta().Schema[1].Kind != formats.Number {
		t.Errorf("the number is %v", x)
	}
	floats, err := dsconv.Open(filepath.Join(filepath.Dir(path), "floats"))
	must(t, err)
	defer floats.Close()
	must(t, floats.Read(0, &s))
	if x, _ := s.Values[1].Float32(); x != 0.5 || formatcheck.SchemaText(floats.Meta().Schema) != "image:image label:number/float32[] age:array/float32[]" {
		t.Errorf("a float under a usual name: %v in %s", x, formatcheck.SchemaText(floats.Meta().Schema))
	}
	for field, column := range map[string]string{"image": "none", "label": "more", "x": ""} {
		if _, err := open(map[string]string{field: column}); err == nil {
			t.Errorf("%s=%s is accepted", field, column)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
