package imagelmdb_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/imagelmdb"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func open(t *testing.T, path, entries string) (formats.Dataset, error) {
	t.Helper()
	return formatcheck.OpenForeign(t, imagelmdb.Format{}, path, entries)
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
import os, sys, io, pickle
import lmdb, numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
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
# Efficient-PyTorch's folder2lmdb with pickle in place of pyarrow.
keys = [str(k).encode() for k in range(12)]
for protocol in 2, 5:
    write("folder2lmdb%d" % protocol, [(str(i), pickle.dumps((jpeg(i, i * 1000), i % 3), protocol)) for i in range(12)] +
          [("__keys__", pickle.dumps(keys)), ("__len__", pickle.dumps(12))])
write("dicts", [("%08d" % i, pickle.dumps({"pic": jpeg(i), "image": np.full((1, 2, 3), i, np.uint8), "target": np.int64(4), "species": "owl" if i else "bat"})) for i in range(2)])
write("numpy", [(str(i), pickle.dumps((np.arange(6, dtype=np.uint8).reshape(1, 2, 3) + i, np.int64(i)))) for i in range(2)])
# Scene text recognition: image-N, label-N, num-samples.
write("ocr", [("image-%09d" % i, jpeg(i)) for i in (1, 2)] + [("label-%09d" % i, ("wörd%d" % i).encode()) for i in (1, 2)] + [("num-samples", b"2")])
# numpy.save
def saved(a):
    b = io.BytesIO(); np.save(b, a); return b.getvalue()
write("arrays", [("k%d" % i, saved(np.full((1, 2), i, np.uint16))) for i in range(2)])
# Caffe's Datum, by protobuf's own library.
d = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
m = d.message_type.add(name="Datum")
for name, no, kind in ("channels", 1, 5), ("height", 2, 5), ("width", 3, 5), ("data", 4, 12), ("label", 5, 5), ("encoded", 7, 8):
    m.field.add(name=name, number=no, type=kind, label=1)
pool = descriptor_pool.DescriptorPool(); pool.Add(d)
Datum = message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))
bgr = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
write("datum", [("%08d_a.jpg" % i, Datum(channels=3, height=2, width=2, data=bgr.tobytes(), label=i).SerializeToString()) for i in range(2)])
write("grey", [("%08d" % i, Datum(channels=1, height=1, width=2, data=bytes([i, 7]), label=7 + i).SerializeToString()) for i in range(2)])
write("encoded", [("%08d" % i, Datum(data=jpeg(i), label=i, encoded=True).SerializeToString()) for i in range(2)])

# Labels that are floats, plain or NumPy's, and one that cannot be read.
write("floats", [(str(i), pickle.dumps((jpeg(i), [0.5, np.float32(1.5), 2][i]))) for i in range(3)])
write("objects", [("0", pickle.dumps((jpeg(1), [1, 2]))), ("1", pickle.dumps((jpeg(2), 7)))])
# Absolute paths, with splits or one class; two names that differ in their extension alone.
write("absolute", [("/data/set/%s/%d.jpg" % (s, i), jpeg(i)) for i, s in enumerate(["train/cat", "train/dog", "val/cat"])])
write("one", [("/data/train/cat/%d.%s" % (i // 2, ["jpg", "png", "jpg"][i]), jpeg(i)) for i in range(3)])
write("deep", [("set/train/cat/1.jpg", jpeg(1)), ("set/val/dog/1.jpg", jpeg(2))])
# One value that is no image.
write("bad", [("%d" % i, pickle.dumps((jpeg(i) if i else b"xx", i))) for i in range(4)])
write("bad images", [("%d" % i, jpeg(i) if i else b"") for i in range(4)])
write("half", [("%d" % i, jpeg(i) if i % 2 else b"xx") for i in range(4)])

# What is refused.
write("short", [("0", pickle.dumps((jpeg(1), 0))), ("__len__", pickle.dumps(2))])
class Evil:
    def __reduce__(self): return (os.system, ("touch evil-was-here",))
write("evil", [("0", pickle.dumps((jpeg(1), Evil())))])
import pyarrow as pa
old = np.array([0, 0, 0, 0, 1], np.int32).tobytes()
s = io.BytesIO(); w = pa.ipc.new_stream(s, pa.schema([("x", pa.int8())])); w.close()
write("arrow", [("0", old + s.getvalue())])
env = lmdb.open("named", map_size=1 << 24, max_dbs=2)
with env.begin(write=True) as txn: txn.put(b"0", jpeg(1), db=env.open_db(b"images", txn=txn))
env.close()
write("other", [("0", b"hello world")])
write("empty", [])
print(os.path.exists("evil-was-here"))
`, dir)
	var folder2lmdb strings.Builder
	folder2lmdb.WriteString("[image label] [0 1 2]\n")
	for i := range 12 {
		fmt.Fprintf(&folder2lmdb, "%08d||%d|%d|jpeg[] %02x\n", i, i%3, i, i)
	}
	for _, c := range []struct{ name, entries, want string }{
		{"flat", "", "[image label] [cat dog]\ntrain/cat/0|train|0|train/cat/0.jpg|jpeg[] 00\ntrain/cat/1|train|0|train/cat/1.jpg|jpeg[] 01\n" +
			"train/cat/2|train|0|train/cat/2.jpg|jpeg[] 02\nval/dog/x|val|1|val/dog/x.jpg|jpeg[] 09\n"},
		{"single.lmdb", "", "[image] []\na||-1|a|jpeg[] 02\nb||-1|b|jpeg[] 01\n"},
		{"folder2lmdb2", "", folder2lmdb.String()},
		{"folder2lmdb5", "", folder2lmdb.String()},
		{"folder2lmdb5", "image=0,label=1", folder2lmdb.String()},
		{"dicts", "", "[image label] [0 1 2 3 4]\n00000000||4|00000000|raw[1 2 3] 000000000000\n00000001||4|00000001|raw[1 2 3] 010101010101\n"},
		{"dicts", "image=pic,label=species", "[image label] [bat owl]\n00000000||0|00000000|jpeg[] 00\n00000001||1|00000001|jpeg[] 01\n"},
		{"numpy", "", "[image label] [0 1]\n00000000||0|0|raw[1 2 3] 000102030405\n00000001||1|1|raw[1 2 3] 010203040506\n"},
		{"ocr", "", "[image text] []\n000000001||-1|image-000000001|jpeg[] 01|wörd1\n000000002||-1|image-000000002|jpeg[] 02|wörd2\n"},
		{"arrays", "", "[image] []\nk0||-1|k0|raw[1 2 1] 00000000\nk1||-1|k1|raw[1 2 1] 01000100\n"},
		{"datum", "image=bgr", "[image label] [0 1]\n00000000_a||0|00000000_a.jpg|raw[2 2 3] 0804000905010a06020b0703\n00000001_a||1|00000001_a.jpg|raw[2 2 3] 0804000905010a06020b0703\n"},
		{"datum", "image=rgb", "[image label] [0 1]\n00000000_a||0|00000000_a.jpg|raw[2 2 3] 00040801050902060a03070b\n00000001_a||1|00000001_a.jpg|raw[2 2 3] 00040801050902060a03070b\n"},
		{"grey", "", "[image label] [0 1 2 3 4 5 6 7 8]\n00000000||7|00000000|raw[1 2 1] 0007\n00000001||8|00000001|raw[1 2 1] 0107\n"},
		{"encoded", "", "[image label] [0 1]\n00000000||0|00000000|jpeg[] 00\n00000001||1|00000001|jpeg[] 01\n"},
		{"floats", "", "[image label] []\n00000000||-1|0|jpeg[] 00|0.5\n00000001||-1|1|jpeg[] 01|1.5\n00000002||-1|2|jpeg[] 02|2\n"},
		{"floats", "image=0", "[image] []\n00000000||-1|0|jpeg[] 00\n00000001||-1|1|jpeg[] 01\n00000002||-1|2|jpeg[] 02\n"},
		{"objects", "image=0", "[image] []\n00000000||-1|0|jpeg[] 01\n00000001||-1|1|jpeg[] 02\n"},
		{"absolute", "", "[image label] [cat dog]\ntrain/cat/0|train|0|/data/set/train/cat/0.jpg|jpeg[] 00\n" +
			"train/dog/1|train|1|/data/set/train/dog/1.jpg|jpeg[] 01\nval/cat/2|val|0|/data/set/val/cat/2.jpg|jpeg[] 02\n"},
		{"one", "", "[image label] [cat]\ntrain/cat/0.jpg|train|0|train/cat/0.jpg|jpeg[] 00\ntrain/cat/0.png|train|0|train/cat/0.png|jpeg[] 01\n" +
			"train/cat/1|train|0|/data/train/cat/1.jpg|jpeg[] 02\n"},
		{"deep", "", "[image label] [cat dog]\nset/train/cat/1|train|0|set/train/cat/1.jpg|jpeg[] 01\nset/val/dog/1|val|1|set/val/dog/1.jpg|jpeg[] 02\n"},
		{"bad", "", "[image label] [0 1 2 3]\n00000001||1|1|jpeg[] 01\n00000002||2|2|jpeg[] 02\n00000003||3|3|jpeg[] 03\nskipped 0: the bytes are not an image file that dsconv reads\n"},
		{"bad images", "", "[image] []\n00000001||-1|1|jpeg[] 01\n00000002||-1|2|jpeg[] 02\n00000003||-1|3|jpeg[] 03\nskipped 0: the bytes are not an image file that dsconv reads\n"},
	} {
		ds, err := open(t, filepath.Join(dir, c.name), c.entries)
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.entries, err)
			continue
		}
		if got := describe(t, ds); got != c.want {
			t.Errorf("%s %s: got\n%swant\n%s", c.name, c.entries, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"short": "it says that it has 2 samples, but there are 1", "evil": "posix", "arrow": "pyarrow.serialize", "named": "named databases",
		"other": "no image file", "half": "not an image file", "objects": "name another one by --map", "empty": "no samples", "datum": "image=bgr or image=rgb",
	} {
		if _, err := open(t, filepath.Join(dir, name), ""); err == nil || !strings.Contains(err.Error(), want) {
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
	ds, err := open(t, path, "")
	if err != nil {
		t.Fatal(err)
	}
	var s formats.Sample
	if err := ds.Read(0, &s); err != nil || s.Values[0].Data[5] != 0 {
		t.Fatal(err)
	}
	formatcheck.Python(t, script, path, "3")
	for _, read := range []func(int, *formats.Sample) error{ds.Read, ds.(formats.Viewer).View} {
		if err := read(0, &s); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("after another program has written: %v", err)
		}
	}
	again, err := open(t, path, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Read(0, &s); err != nil || s.Values[0].Data[5] != 2 {
		t.Errorf("opened again: %v", err)
	}
}
