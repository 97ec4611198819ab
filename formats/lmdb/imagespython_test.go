package lmdb_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func openImages(t *testing.T, path, entries string) (formats.Dataset, error) {
	t.Helper()
	return formatcheck.OpenForeign(t, lmdb.Images{}, path, entries)
}

// describe lists the samples: key, split, label, path, image, other fields.
func describe(t *testing.T, ds formats.Dataset) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, ds.Meta().Schema.Names(), ds.Meta().Classes())
	formatcheck.EachSample(t, ds, func(in formats.Info, s *formats.Sample) {
		image := &s.Values[0]
		data := image.Data
		if image.Encoding != formats.Raw {
			data = data[len(data)-1:]
		}
		fmt.Fprintf(&b, "%s|%s|%d|%s|%s%v %x", in.Key, in.Split, in.Label, in.Source.Path, image.Encoding, image.Shape, data)
		for k := 1; k < len(s.Values); k++ {
			if s.Values[k].Encoding == formats.Plain {
				fmt.Fprintf(&b, "|%s", s.Values[k].Data)
			} else if x, ok := s.Values[k].Float32(); ok {
				fmt.Fprintf(&b, "|%g", x)
			}
		}
		fmt.Fprintln(&b)
	})
	for _, skip := range ds.(formats.Skipper).Skips() {
		fmt.Fprintf(&b, "skipped %s: %s\n", skip.Path, skip.Cause)
	}
	return b.String()
}

// TestPython: LMDBs as the usual scripts write them.
func TestPython(t *testing.T) {
	dir := t.TempDir()
	formatcheck.Python(t, `
import io, os, pickle, sys
import lmdb, numpy as np
os.chdir(sys.argv[1])
def jpeg(i, n=0): return b"\xff\xd8\xff\xe0" + b"\x01" * n + bytes([i])
def write(path, items, **options):
    env = lmdb.open(path, map_size=1 << 28, **options)
    with env.begin(write=True) as txn:
        for k, v in items: txn.put(k.encode(), v)
    env.close()

# Key to image, with classes and splits as folders; values in the page and in overflow pages.
write("flat", [("train/cat/%d.jpg" % i, jpeg(i, i * 3000)) for i in range(3)] + [("val/dog/x.jpg", jpeg(9))])
# One file instead of a folder.
write("single.lmdb", [("b", jpeg(1)), ("a", jpeg(2))], subdir=False)
# Scene text recognition: image-N, label-N, num-samples.
write("ocr", [("image-%09d" % i, jpeg(i)) for i in (1, 2)] + [("label-%09d" % i, ("wörd%d" % i).encode()) for i in (1, 2)] + [("num-samples", b"2")])
# Absolute paths, with splits or one class; two names that differ in their extension alone.
write("absolute", [("/data/set/%s/%d.jpg" % (s, i), jpeg(i)) for i, s in enumerate(["train/cat", "train/dog", "val/cat"])])
write("one", [("/data/train/cat/%d.%s" % (i // 2, ["jpg", "png", "jpg"][i]), jpeg(i)) for i in range(3)])
write("deep", [("set/train/cat/1.jpg", jpeg(1)), ("set/val/dog/1.jpg", jpeg(2))])
# One value that is no image.
write("bad", [("%d" % i, jpeg(i) if i else b"") for i in range(4)])
write("half", [("%d" % i, jpeg(i) if i % 2 else b"xx") for i in range(4)])

# What is refused.
write("short", [("0", jpeg(1)), ("__len__", b"2")])
write("pickles", [("%d" % i, pickle.dumps((jpeg(i), i))) for i in range(4)])
saved = io.BytesIO(); np.save(saved, np.zeros((1, 2), np.uint8))
write("arrays", [("0", saved.getvalue())])
write("datum", [("0", b"\x08\x01\x10\x01\x18\x02\x22\x02ab\x28\x07")])
env = lmdb.open("named", map_size=1 << 24, max_dbs=2)
with env.begin(write=True) as txn: txn.put(b"0", jpeg(1), db=env.open_db(b"images", txn=txn))
env.close()
write("other", [("0", b"hello world")])
write("empty", [])
`, dir)
	for _, c := range []struct{ name, entries, want string }{
		{"flat", "", "[image label] [cat dog]\ntrain/cat/0|train|0|train/cat/0.jpg|jpeg[] 00\ntrain/cat/1|train|0|train/cat/1.jpg|jpeg[] 01\n" +
			"train/cat/2|train|0|train/cat/2.jpg|jpeg[] 02\nval/dog/x|val|1|val/dog/x.jpg|jpeg[] 09\n"},
		{"single.lmdb", "", "[image] []\na||-1|a|jpeg[] 02\nb||-1|b|jpeg[] 01\n"},
		{"ocr", "", "[image text] []\n000000001||-1|image-000000001|jpeg[] 01|wörd1\n000000002||-1|image-000000002|jpeg[] 02|wörd2\n"},
		{"absolute", "", "[image label] [cat dog]\ntrain/cat/0|train|0|/data/set/train/cat/0.jpg|jpeg[] 00\n" +
			"train/dog/1|train|1|/data/set/train/dog/1.jpg|jpeg[] 01\nval/cat/2|val|0|/data/set/val/cat/2.jpg|jpeg[] 02\n"},
		{"one", "", "[image label] [cat]\ntrain/cat/0.jpg|train|0|train/cat/0.jpg|jpeg[] 00\ntrain/cat/0.png|train|0|train/cat/0.png|jpeg[] 01\n" +
			"train/cat/1|train|0|/data/train/cat/1.jpg|jpeg[] 02\n"},
		{"deep", "", "[image label] [cat dog]\nset/train/cat/1|train|0|set/train/cat/1.jpg|jpeg[] 01\nset/val/dog/1|val|1|set/val/dog/1.jpg|jpeg[] 02\n"},
		{"bad", "", "[image] []\n00000001||-1|1|jpeg[] 01\n00000002||-1|2|jpeg[] 02\n00000003||-1|3|jpeg[] 03\nskipped 0: the bytes are not an image file that dsconv reads\n"},
	} {
		ds, err := openImages(t, filepath.Join(dir, c.name), c.entries)
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.entries, err)
			continue
		}
		if got := describe(t, ds); got != c.want {
			t.Errorf("%s %s: got\n%swant\n%s", c.name, c.entries, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"short": "it says that it has 2 samples, but there are 1", "named": "named databases", "other": "no image file", "half": "not an image file", "empty": "no samples",
		"pickles": "it is a pickle of Python, and no image file; pack it from Python", "arrays": "it is an array of NumPy, and no image file; pack it from Python",
		"datum": "a Datum of Caffe; pack it from Python",
	} {
		if _, err := openImages(t, filepath.Join(dir, name), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWriter: while another program writes, samples are those of the transaction that was opened or an error.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	script := `
import sys, lmdb
env = lmdb.open(sys.argv[1], map_size=1 << 24, writemap=True, map_async=True)
for i in range(int(sys.argv[2])):
    with env.begin(write=True) as txn:
        for k in range(4): txn.put(b"%d" % k, b"\xff\xd8\xff\xe0" + bytes([i]) * 9000)
env.close()
`
	formatcheck.Python(t, script, path, "1")
	ds, err := openImages(t, path, "")
	if err != nil {
		t.Fatal(err)
	}
	var s formats.Sample
	if err := ds.Read(0, &s); err != nil || s.Values[0].Data[5] != 0 {
		t.Fatal(err)
	}
	formatcheck.Python(t, script, path, "3")
	for _, read := range []func(int, *formats.Sample) error{ds.Read, ds.(formats.Viewer).View} {
		if err := read(0, &s); !errors.Is(err, formats.ErrChanged) {
			t.Errorf("after another program has written: %v", err)
		}
	}
	again, err := openImages(t, path, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Read(0, &s); err != nil || s.Values[0].Data[5] != 2 {
		t.Errorf("opened again: %v", err)
	}
}
