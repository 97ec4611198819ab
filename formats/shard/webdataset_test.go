package shard_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// tarWriter writes sets with the webdataset library, and says what is in them.
const tarWriter = `
import io, json, os, sys
import numpy, webdataset
from PIL import Image
folder = sys.argv[1]
os.chdir(folder)

def photo(i):
    return numpy.full((6, 5 + i % 3, 3), 9 * i, numpy.uint8)

want = []
with webdataset.ShardWriter("many-%06d.tar", maxcount=7, verbose=0) as w:
    for i in range(20):
        mask = numpy.full((6, 5), i, numpy.uint8)
        boxes = numpy.arange(4 * i, dtype=numpy.float32).reshape(i, 4)
        w.write({"__key__": "d/%04d" % i, "jpg": photo(i), "mask.png": mask, "cls": i % 3, "json": {"name": "n%d" % (i % 2), "i": i},
                 "txt": "caption %d" % i, "boxes.npy": boxes, "point.npy": numpy.array([i, 2], numpy.int64), "extra.bin": b"x%d" % i})
        want.append({"key": "d/%04d" % i, "label": i % 3, "txt": "caption %d" % i, "name": "n%d" % (i % 2), "boxes": boxes.tobytes().hex()})
json.dump(want, open("want.json", "w"))

# numbers begin again in each shard, some samples have no label, and one no image
for shard in range(2):
    with webdataset.TarWriter("again-%d.tar" % shard) as w:
        for i in range(3):
            sample = {"__key__": "%03d" % i, ("png" if i == 1 else "jpg"): photo(i), "cls": ["cat", "dog"][shard].encode()}
            if i == 2:
                del sample["cls"]
            w.write(sample)
        w.write({"__key__": "none", "cls": b"cat"})
os.makedirs("splits/train"); os.makedirs("splits/val")
for split, n in ("train", 3), ("val", 2):
    with webdataset.TarWriter("splits/%s/x.tar" % split) as w:
        for i in range(n):
            w.write({"__key__": "%s%d" % (split, i), "jpg": photo(i), "cls": i})
# what the library itself reads, for comparison
seen = [(s["__key__"], sorted(k for k in s if k[0] != "_")) for s in webdataset.WebDataset("many-{000000..000002}.tar", shardshuffle=False)]
json.dump(seen, open("seen.json", "w"))
`

func writtenTars(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	formatcheck.Python(t, tarWriter, dir)
	return dir
}

func open(t *testing.T, path string, o formats.ReadOptions) formats.Dataset {
	t.Helper()
	ds, err := dsconv.Formats().OpenWith(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ds.Close() })
	if ds.Meta().Format != "webdataset" {
		t.Fatalf("%s was opened as %s", path, ds.Meta().Format)
	}
	return ds
}

func readTars(t *testing.T, ds formats.Dataset, i int) *formats.Sample {
	t.Helper()
	var s formats.Sample
	if err := ds.Read(i, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

func value(ds formats.Dataset, s *formats.Sample, name string) *formats.Value {
	return &s.Values[ds.Meta().Schema.Index(name)]
}

// TestLibraryWrites: what the webdataset library wrote is read as it was, from each kind of path.
func TestLibraryWrites(t *testing.T) {
	dir := writtenTars(t)
	var want []struct {
		Key, Txt, Name, Boxes string
		Label                 int64
	}
	formatcheck.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
	var seen [][2]json.RawMessage
	formatcheck.ReadJSON(t, filepath.Join(dir, "seen.json"), &seen)
	if len(seen) != len(want) {
		t.Fatalf("the library reads %d samples", len(seen))
	}
	if err := os.Mkdir(filepath.Join(dir, "tars"), 0o755); err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		name := "many-00000" + string(rune('0'+k)) + ".tar"
		if err := os.Link(filepath.Join(dir, name), filepath.Join(dir, "tars", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"many-%06d.tar", "many-{000000..000002}.tar", "tars"} {
		ds := open(t, filepath.Join(dir, path), formats.ReadOptions{})
		if ds.Len() != len(want) {
			t.Fatalf("%s: %d samples", path, ds.Len())
		}
		if got := formatcheck.SchemaText(ds.Meta().Schema); got != "image:image label:label boxes:array/float32[-1 4] extra:bytes json:json mask:mask point:array/int64[2] txt:text" {
			t.Errorf("%s: the fields are %s", path, got)
		}
		for i, w := range want {
			s := readTars(t, ds, i)
			x, _ := value(ds, s, "label").Int64()
			info, err := ds.Info(i)
			if s.Key != w.Key || x != w.Label || info.Label != w.Label || err != nil || string(value(ds, s, "txt").Data) != w.Txt || s.Source.Path != w.Key+".jpg" {
				t.Errorf("%s: sample %d is %+v", path, i, s)
			}
			if b := value(ds, s, "boxes"); hex.EncodeToString(b.Data) != w.Boxes || !slices.Equal(b.Shape, []int{i, 4}) {
				t.Errorf("%s: the boxes of %d are %v", path, i, b)
			}
			if v := value(ds, s, "image"); v.Encoding != formats.JPEG || !strings.HasSuffix(string(value(ds, s, "extra").Data), s.Key[len(s.Key)-1:]) {
				t.Errorf("%s: the image of %d is %s", path, i, v.Encoding)
			}
		}
	}
}

// TestMap: a map names the fields, and the label may be in the JSON.
func TestMap(t *testing.T) {
	path := filepath.Join(writtenTars(t), "many-%06d.tar")
	ds := open(t, path, formats.ReadOptions{Map: map[string]string{"image": "mask.png", "photo": "jpg", "label": "json.name", "caption": "txt"}})
	if got := formatcheck.SchemaText(ds.Meta().Schema); got != "image:image label:label caption:text photo:image boxes:array/float32[-1 4] cls:text extra:bytes json:json point:array/int64[2]" {
		t.Errorf("the fields are %s", got)
	}
	if !slices.Equal(ds.Meta().Classes(), []string{"n0", "n1"}) || ds.Meta().Recipe["map"] != "caption=txt,image=mask.png,label=json.name,photo=jpg" {
		t.Errorf("%v %v", ds.Meta().Classes(), ds.Meta().Recipe)
	}
	if s := readTars(t, ds, 5); value(ds, s, "image").Encoding != formats.PNG || value(ds, s, "photo").Encoding != formats.JPEG {
		t.Error("the images are not those of the map")
	}
	for m, want := range map[string]string{"image": "there are ", "label": "no sample has that", "x": "gives nothing to the field x"} {
		_, err := dsconv.Formats().OpenWith(t.Context(), path, formats.ReadOptions{Map: map[string]string{m: "nothing"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// TestIncomplete: keys that several shards have get the shard's name; samples without a label stay, one
// without an image is named.
func TestIncomplete(t *testing.T) {
	dir := writtenTars(t)
	ds := open(t, filepath.Join(dir, "again-%d.tar"), formats.ReadOptions{})
	var got []string
	for i := range ds.Len() {
		info, err := ds.Info(i)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.Key+" "+string(info.Encoding)+" "+string(rune('1'+info.Label)))
	}
	want := []string{"again-0/000 jpeg 1", "again-0/001 png 1", "again-0/002 jpeg 0", "again-1/000 jpeg 2", "again-1/001 png 2", "again-1/002 jpeg 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	skips := ds.(formats.Skipper).Skips()
	if len(skips) != 2 || skips[0] != (formats.Skip{Path: "again-0/none", Cause: "it has no image"}) {
		t.Errorf("%v", skips)
	}
	ds = open(t, filepath.Join(dir, "splits"), formats.ReadOptions{})
	if s := ds.Meta().Splits; len(s) != 2 || s[0] != (formats.Split{Name: "train", Count: 3}) || s[1] != (formats.Split{Name: "val", Count: 2}) {
		t.Errorf("the splits are %v", s)
	}
}

// TestMatch: a tar of folders, dsconv's own shards and files that are not there are not WebDataset's.
func TestMatch(t *testing.T) {
	dir := writtenTars(t)
	for _, name := range []string{"", "/again-0.tar", "/again-1.tar"} {
		if name == "" {
			must(t, os.Mkdir(filepath.Join(dir, "tars"), 0o755))
			continue
		}
		must(t, os.Link(filepath.Join(dir, name), filepath.Join(dir, "tars", name)))
	}
	for path, want := range map[string]bool{
		"many-%06d.tar": true, "many-000000.tar": true, "splits": true, "again-{0..1}.tar": true, "again-{0..2}.tar": true, "again-*.tar": true,
		"none.tar": false, "none-%d.tar": false, ".": false, "tars": true, "want.json": false, "": false,
	} {
		if got := (shard.WebDataset{}).Match(filepath.Join(dir, path)); got != want && path != "" {
			t.Errorf("%s: %v", path, got)
		}
	}
	own := filepath.Join(dir, "own.tar")
	if _, err := dsconv.Pack(t.Context(), filepath.Join(dir, "many-%06d.tar"), own, dsconv.Options{}); err != nil {
		t.Fatal(err)
	}
	if (shard.WebDataset{}).Match(own) {
		t.Error("dsconv's own shard is taken for another program's")
	}
	if err := os.RemoveAll(own + ".dsconv"); err != nil {
		t.Fatal(err)
	}
	ds := open(t, own, formats.ReadOptions{})
	if ds.Len() != 20 || len(ds.Meta().Classes()) != 3 {
		t.Errorf("without its sidecar it has %d samples of the classes %v", ds.Len(), ds.Meta().Classes())
	}
	if _, err := dsconv.Pack(t.Context(), filepath.Join(dir, "splits"), own, dsconv.Options{}); err == nil || !strings.Contains(err.Error(), "not written by dsconv") {
		t.Errorf("another program's tar as the destination: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
