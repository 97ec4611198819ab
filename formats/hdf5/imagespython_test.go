package hdf5_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func openImages(t *testing.T, path, entries string) (formats.Dataset, error) {
	t.Helper()
	return formatcheck.OpenForeign(t, hdf5.Images{}, path, entries)
}

// describe lists the samples; of images there is the CRC-32 that zlib.crc32 gives.
func describe(t *testing.T, ds formats.Dataset) string {
	t.Helper()
	var b strings.Builder
	m := ds.Meta()
	fmt.Fprintln(&b, m.Schema.Names(), m.Classes())
	formatcheck.EachSample(t, ds, func(in formats.Info, s *formats.Sample) {
		image := &s.Values[0]
		fmt.Fprintf(&b, "%s|%s|%d|%s %08x", in.Key, in.Split, in.Label, image.Encoding, crc32.ChecksumIEEE(image.Data))
		for k := 1; k < len(s.Values); k++ {
			if m.Schema[k].Kind != formats.Label {
				fmt.Fprintf(&b, "|%s", formatcheck.ValueText(&s.Values[k]))
			}
		}
		fmt.Fprintln(&b)
	})
	return b.String()
}

// TestPython: what h5py writes, in every layout, has the values that h5py reads.
func TestPython(t *testing.T) {
	dir := t.TempDir()
	got := formatcheck.Python(t, `
import os, sys, zlib
import h5py, numpy as np
os.chdir(sys.argv[1])
n = 7
lab = np.arange(n) % 3
pix = np.random.default_rng(1).integers(0, 50, (n, 5, 6), dtype=np.uint8)
pose = np.arange(12 * n, dtype=np.int32).reshape(n, 3, 4)
jpeg = [np.frombuffer(b"\xff\xd8\xff\xe0" + bytes([i]) * (i * 2000), np.uint8) for i in range(n)]
crc = lambda i: "%08x" % zlib.crc32(jpeg[i].tobytes())
array = lambda a: "int64%s%s" % (str(list(a.shape)).replace(",", ""), a.astype(np.int64).tobytes().hex())
out = []
def expect(name, lines): out.append((name, lines))
def put(f, name="images", part=range(n), **options):
    d = f.create_dataset(name, (len(part),), dtype=h5py.vlen_dtype(np.uint8), **options)
    for k, i in enumerate(part): d[k] = jpeg[i]
def simple(name, images={}, **options):
    opts = {k: options.pop(k) for k in list(options) if k in ("libver", "userblock_size")}
    with h5py.File(name, "w", **opts) as f:
        put(f, **images)
        f["labels"] = lab
        f.create_dataset("pose", data=pose, **options)
    expect(name, ["[image label pose] [0 1 2]"] + ["%08d||%d|jpeg %s|%s" % (i, lab[i], crc(i), array(pose[i])) for i in range(n)])
simple("contiguous.h5")
simple("latest.h5", libver="latest")
simple("v108.h5", libver=("earliest", "v108"))
simple("userblock.h5", userblock_size=1024)
simple("chunked.h5", {"chunks": (3,)}, chunks=(3, 2, 4))
simple("auto.h5", {"chunks": True}, chunks=True)
simple("rows.h5", {"chunks": (1,), "compression": "gzip"}, chunks=(1, 3, 4), compression="gzip")
simple("gzip.h5", {"chunks": (2,), "compression": "gzip", "shuffle": True}, chunks=(2, 3, 4), compression="gzip", shuffle=True, fletcher32=True)
simple("lzf.h5", chunks=(4, 3, 4), compression="lzf")
simple("shuffle.h5", chunks=(4, 3, 2), shuffle=True, compression="lzf")
simple("single.h5", libver="latest", chunks=pose.shape, compression="gzip")
simple("grown.h5", {"maxshape": (None,), "chunks": (2,)}, maxshape=(None, 3, 4), chunks=(2, 3, 4))
with h5py.File("deep.h5", "w") as f: # a B-tree of several levels
    d = f.create_dataset("images", (300,), dtype=h5py.vlen_dtype(np.uint8), chunks=(1,))
    for i in range(300): d[i] = jpeg[i % n]
expect("deep.h5", ["[image] []"] + ["%08d||-1|jpeg %s" % (i, crc(i % n)) for i in range(300)])
with h5py.File("vlen.h5", "w") as f:
    put(f)
    f["labels"] = [["owl", "bat"][i % 2] for i in range(n)]
    f["caption"] = ["wörd %d" % i for i in range(n)]
    f["fixed"] = np.array([b"ab", b"c"] * 3 + [b""])
    f["score"] = np.arange(n) / 4
    f["pose"] = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
    f["mask"] = pix
    f["unrelated"] = np.zeros(3)
expect("vlen.h5", ["[image label caption fixed mask pose score] [bat owl]"] + ["%08d||%d|jpeg %s|wörd %d|%s|uint8[5 6 1]%s|int64[2]%s|%g" % (
    i, 1 - i % 2, crc(i), i, ["ab", "c", ""][i % 2 if i < 6 else 2], pix[i].tobytes().hex(),
    np.array([2 * i, 2 * i + 1]).tobytes().hex(), i / 4) for i in range(n)])
for name, key in ("groups.h5", "%s/images %s/labels"), ("names.h5", "%s_set_x %s_set_y"):
    with h5py.File(name, "w") as f:
        for split, part in ("train", range(4)), ("test", range(4, 7)):
            x, y = (key % (split, split)).split()
            put(f, x, part)
            f[y] = lab[part.start:part.stop].astype(">i2")
        f["list_classes"] = [b"c", b"a", b"b"]
    expect(name, ["[image label] [%s]" % ("c a b" if name == "names.h5" else "0 1 2")] + ["%s/%08d|%s|%d|jpeg %s" % (s, j, s, lab[i], crc(i))
        for s, j, i in [("test", i - 4, i) for i in range(4, 7)] + [("train", i, i) for i in range(4)]])
with h5py.File("map.h5", "w") as f:
    put(f, "deep/down/files")
    f["deep/truth"] = lab.astype(np.float32) / 2
expect("map.h5", ["[image label] []"] + ["%08d||-1|jpeg %s|%g" % (i, crc(i), lab[i] / 2) for i in range(n)])
hot = np.eye(4, dtype=np.uint8)[lab]
with h5py.File("hot.h5", "w") as f: put(f); f["labels"] = hot
expect("hot.h5", ["[image label] [0 1 2 3]"] + ["%08d||-1|jpeg %s|uint8[4]%s" % (i, crc(i), hot[i].tobytes().hex()) for i in range(n)])
with h5py.File("alone.h5", "w") as f: put(f); f["age"] = np.arange(n) / 2 # not the label
expect("alone.h5", ["[image age] []"] + ["%08d||-1|jpeg %s|%g" % (i, crc(i), i / 2) for i in range(n)])
# What is refused.
with h5py.File("sevens.h5", "w") as f: put(f); f["labels"] = hot * 7
with h5py.File("names4.h5", "w") as f: put(f); f["labels"], f["classes"] = hot, [b"a", b"b"]
with h5py.File("matlab.mat", "w", userblock_size=512) as f: f["images"] = pix
with open("matlab.mat", "r+b") as f: f.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
with h5py.File("pergroup.h5", "w") as f: f["cat/1.jpg"], f["dog/2.jpg"] = jpeg[1], jpeg[2]
for version in "earliest", "latest":
    with h5py.File("soft-%s.h5" % version, "w", libver=version) as f: put(f, "g/files"); f["images"] = h5py.SoftLink("/g/files")
with h5py.File("external.h5", "w") as f: f["images"] = h5py.ExternalLink("vlen.h5", "/images")
with h5py.File("pixels.h5", "w") as f: f["images"] = pix
with h5py.File("short.h5", "w") as f: put(f); f["labels"] = lab[:3]
with h5py.File("none.h5", "w") as f: f["a"], f["b"] = pix, pix
with h5py.File("unwritten.h5", "w") as f: f.create_dataset("images", (4,), h5py.vlen_dtype(np.uint8), chunks=(1,))[0] = jpeg[1]
with h5py.File("array.h5", "w", libver="latest") as f: put(f, chunks=(2,))
with h5py.File("szip.h5", "w") as f: put(f); f.create_dataset("labels", data=lab, chunks=(2,), scaleoffset=0)
with h5py.File("dense.h5", "w", libver="latest") as f:
    for i in range(20): f["a%d" % i] = i
for name, lines in out: print(name); print("\n".join(lines)); print("--")
`, dir)
	for part := range strings.SplitSeq(strings.TrimSuffix(got, "--\n"), "--\n") {
		name, want, _ := strings.Cut(part, "\n")
		entries := map[string]string{"map.h5": "image=/deep/down/files,label=deep/truth"}[name]
		ds, err := openImages(t, filepath.Join(dir, name), entries)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := describe(t, ds); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
		if m := ds.Meta(); name == "alone.h5" && m.Schema.LabelIndex() >= 0 {
			t.Errorf("%s: the label is %v", name, m.Schema)
		}
		if skips := ds.(formats.Skipper).Skips(); name == "vlen.h5" && (len(skips) != 1 || skips[0].Path != "/unrelated") {
			t.Errorf("%s: left out %v", name, skips)
		}
	}
	for name, want := range map[string]string{
		"pixels.h5": "images are read from rows of uint8 of variable length that are image files; pack it from Python", "short.h5": "it has 3 rows, the images 7",
		"none.h5": "--map image=", "array.h5": "libver", "szip.h5": "scaleoffset", "sevens.h5": "label 0: bad schema: it has 7 for the class 0",
		"names4.h5": "the labels have 4 classes, but there are 2 names", "matlab.mat": "dsconv.pack(dataset, ...)", "pergroup.h5": "dsconv.pack(dataset, ...)",
		"soft-earliest.h5": "it has links (images)", "soft-latest.h5": "it has links (images)", "external.h5": "it has links (images)",
	} {
		if _, err := openImages(t, filepath.Join(dir, name), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (hdf5.Images{}).Open(filepath.Join(dir, "dense.h5")); err == nil || !strings.Contains(err.Error(), "libver") {
		t.Errorf("dense: %v", err)
	}
	ds, err := openImages(t, filepath.Join(dir, "unwritten.h5"), "")
	if err != nil {
		t.Fatal(err)
	}
	var s formats.Sample
	if err := ds.Read(0, &s); err != nil {
		t.Error(err)
	}
	if err := ds.Read(1, &s); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), "never written") {
		t.Errorf("a row that was never written: %v", err)
	}
}
