package h5arrays_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/h5arrays"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func open(t *testing.T, path, entries string) (formats.Dataset, error) {
	t.Helper()
	return formatcheck.OpenForeign(t, h5arrays.Format{}, path, entries)
}

// describe lists the samples; pixels are the CRC-32 that zlib.crc32 gives.
func describe(t *testing.T, ds formats.Dataset) string {
	t.Helper()
	var b strings.Builder
	m := ds.Meta()
	fmt.Fprintln(&b, m.Schema.Names(), m.Classes())
	formatcheck.EachSample(t, ds, func(in formats.Info, s *formats.Sample) {
		image := &s.Values[0]
		fmt.Fprintf(&b, "%s|%s|%d|%s%v%s %08x", in.Key, in.Split, in.Label, image.Encoding, image.Shape, image.DType, crc32.ChecksumIEEE(image.Data))
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
rng = np.random.default_rng(1)
n = 7
pix = rng.integers(0, 50, (n, 5, 6, 3), dtype=np.uint8)
lab = np.arange(n) % 3
crc = lambda a: "%08x" % zlib.crc32(np.ascontiguousarray(a).tobytes())
out = []
def expect(name, lines): out.append((name, lines))
def simple(name, images=pix, **options):
    opts = {k: options.pop(k) for k in list(options) if k in ("libver", "userblock_size")}
    with h5py.File(name, "w", **opts) as f:
        f.create_dataset("images", data=images, **options)
        f["labels"] = lab
    h = images.shape[1:] + ((1,) if images.ndim == 3 else ())
    expect(name, ["[image label] [0 1 2]"] + ["%08d||%d|raw[%d %d %d]%s %s" % (i, lab[i], *h, images.dtype, crc(images[i])) for i in range(n)])
simple("contiguous.h5")
simple("latest.h5", libver="latest")
simple("v108.h5", libver=("earliest", "v108"))
simple("userblock.h5", userblock_size=1024)
simple("chunked.h5", chunks=(3, 2, 4, 3))
simple("auto.h5", chunks=True)
simple("rows.h5", chunks=(1, 5, 6, 3), compression="gzip")
simple("gzip.h5", chunks=(2, 5, 6, 3), compression="gzip", shuffle=True, fletcher32=True)
simple("lzf.h5", np.repeat(pix[..., :1], 3, -1), chunks=(4, 5, 6, 3), compression="lzf")
simple("shuffle.h5", pix.astype(np.uint16), chunks=(4, 3, 6, 3), shuffle=True, compression="lzf")
simple("grey.h5", pix[..., 0])
simple("single.h5", libver="latest", chunks=pix.shape, compression="gzip")
simple("grown.h5", maxshape=(None, 5, 6, 3), chunks=(2, 5, 6, 3))
many = rng.integers(0, 255, (300, 2, 2, 1), dtype=np.uint8)
n, lab = 300, np.arange(300) % 3
simple("deep.h5", many, chunks=(1, 2, 2, 1)) # a B-tree of several levels
n, lab = 7, np.arange(7) % 3
with h5py.File("planar.h5", "w") as f:
    f["x"], f["y"] = pix.transpose(0, 3, 1, 2), lab[:, None, None].astype(">i2")
expect("planar.h5", ["[image label] [0 1 2]"] + ["%08d||%d|raw[5 6 3]uint8 %s" % (i, lab[i], crc(pix[i])) for i in range(n)])
jpeg = [b"\xff\xd8\xff\xe0" + bytes([i]) * (i * 2000) for i in range(n)]
with h5py.File("vlen.h5", "w") as f:
    d = f.create_dataset("images", (n,), dtype=h5py.vlen_dtype(np.uint8))
    for i in range(n): d[i] = np.frombuffer(jpeg[i], np.uint8)
    f["labels"] = [["owl", "bat"][i % 2] for i in range(n)]
    f["caption"] = ["wörd %d" % i for i in range(n)]
    f["fixed"] = np.array([b"ab", b"c"] * 3 + [b""])
    f["score"] = np.arange(n) / 4
    f["pose"] = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
    f["mask"] = pix[..., 0]
    f["unrelated"] = np.zeros(3)
expect("vlen.h5", ["[image label caption fixed mask pose score] [bat owl]"] + ["%08d||%d|jpeg[] %s|wörd %d|%s|uint8[5 6 1]%s|int64[2]%s|%g" % (
    i, 1 - i % 2, crc(np.frombuffer(jpeg[i], np.uint8)), i, ["ab", "c", ""][i % 2 if i < 6 else 2], pix[i, ..., 0].tobytes().hex(),
    np.array([2 * i, 2 * i + 1]).tobytes().hex(), i / 4) for i in range(n)])
for name, key in ("groups.h5", "%s/images %s/labels"), ("names.h5", "%s_set_x %s_set_y"):
    with h5py.File(name, "w") as f:
        for split, part in ("train", slice(0, 4)), ("test", slice(4, 7)):
            x, y = (key % (split, split)).split()
            f[x], f[y] = pix[part], lab[part]
        f["list_classes"] = [b"c", b"a", b"b"]
    expect(name, ["[image label] [%s]" % ("c a b" if name == "names.h5" else "0 1 2")] + ["%s/%08d|%s|%d|raw[5 6 3]uint8 %s" % (s, j, s, lab[i], crc(pix[i]))
        for s, j, i in [("test", i - 4, i) for i in range(4, 7)] + [("train", i, i) for i in range(4)]])
with h5py.File("map.h5", "w") as f:
    f["deep/down/pixels"], f["deep/truth"] = pix, lab.astype(np.float32) / 2
expect("map.h5", ["[image label] []"] + ["%08d||-1|raw[5 6 3]uint8 %s|%g" % (i, crc(pix[i]), lab[i] / 2) for i in range(n)])
hot = np.eye(4, dtype=np.uint8)[lab]
with h5py.File("hot.h5", "w") as f: f["images"], f["labels"] = pix, hot
expect("hot.h5", ["[image label] [0 1 2 3]"] + ["%08d||-1|raw[5 6 3]uint8 %s|uint8[4]%s" % (i, crc(pix[i]), hot[i].tobytes().hex()) for i in range(n)])
with h5py.File("pcam_split_valid_x.h5", "w") as f: f["x"] = pix
with h5py.File("pcam_split_valid_y.h5", "w") as f: f["y"] = lab.reshape(-1, 1, 1, 1).astype(np.uint8)
expect("pcam_split_valid_x.h5", ["[image label] [0 1 2]"] + ["valid/%08d|valid|%d|raw[5 6 3]uint8 %s" % (i, lab[i], crc(pix[i])) for i in range(n)])
with h5py.File("alone.h5", "w") as f: f["images"], f["age"] = pix, np.arange(n) / 2 # not the label
expect("alone.h5", ["[image age] []"] + ["%08d||-1|raw[5 6 3]uint8 %s|%g" % (i, crc(pix[i]), i / 2) for i in range(n)])
# What is refused.
with h5py.File("few_x.h5", "w") as f: f["x"] = pix
with h5py.File("few_y.h5", "w") as f: f["y"] = lab[:3]
with h5py.File("sevens.h5", "w") as f: f["images"], f["labels"] = pix, hot * 7
with h5py.File("names4.h5", "w") as f: f["images"], f["labels"], f["classes"] = pix, hot, [b"a", b"b"]
with h5py.File("matlab.mat", "w", userblock_size=512) as f: f["images"] = pix
with open("matlab.mat", "r+b") as f: f.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
with h5py.File("pergroup.h5", "w") as f: f["cat/1.jpg"], f["dog/2.jpg"] = np.frombuffer(jpeg[1], np.uint8), np.frombuffer(jpeg[2], np.uint8)
with h5py.File("perimage.h5", "w") as f: f["one"], f["two"] = pix[0], pix[1]
for version in "earliest", "latest":
    with h5py.File("soft-%s.h5" % version, "w", libver=version) as f: f["g/pixels"], f["images"] = pix, h5py.SoftLink("/g/pixels")
with h5py.File("external.h5", "w") as f: f["images"] = h5py.ExternalLink("planar.h5", "/x")
with h5py.File("float.h5", "w") as f: f["images"] = pix / 255
with h5py.File("short.h5", "w") as f: f["images"], f["labels"] = pix, lab[:3]
with h5py.File("none.h5", "w") as f: f["a"], f["b"] = pix, pix
with h5py.File("unwritten.h5", "w") as f: f.create_dataset("images", (4, 2, 2, 3), np.uint8, chunks=(1, 2, 2, 3))[0] = 1
with h5py.File("array.h5", "w", libver="latest") as f: f.create_dataset("images", data=pix, chunks=(2, 5, 6, 3))
with h5py.File("szip.h5", "w") as f: f.create_dataset("images", data=pix, chunks=(2, 5, 6, 3), scaleoffset=0)
with h5py.File("dense.h5", "w", libver="latest") as f:
    for i in range(20): f["a%d" % i] = i
for name, lines in out: print(name); print("\n".join(lines)); print("--")
`, dir)
	for part := range strings.SplitSeq(strings.TrimSuffix(got, "--\n"), "--\n") {
		name, want, _ := strings.Cut(part, "\n")
		entries := map[string]string{"map.h5": "image=/deep/down/pixels,label=deep/truth"}[name]
		ds, err := open(t, filepath.Join(dir, name), entries)
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
		"float.h5": "images are uint8 or uint16", "short.h5": "it has 3 rows, the images 7", "none.h5": "--map image=",
		"array.h5": "libver", "szip.h5": "scaleoffset", "few_x.h5": "few_y.h5: bad schema: the array y has the shape [3]; for 7 images",
		"sevens.h5": "label 0: bad schema: it has 7 for the class 0", "names4.h5": "the labels have 4 classes, but there are 2 names", "matlab.mat": "file of MATLAB's (v7.3)",
		"pergroup.h5": "groups (cat, dog) with an array for each image, such as cat/1.jpg", "perimage.h5": "an array for each image (one, two)",
		"soft-earliest.h5": "it has links (images)", "soft-latest.h5": "it has links (images)", "external.h5": "it has links (images)",
	} {
		if _, err := open(t, filepath.Join(dir, name), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (h5arrays.Format{}).Open(filepath.Join(dir, "dense.h5")); err == nil || !strings.Contains(err.Error(), "libver") {
		t.Errorf("dense: %v", err)
	}
	ds, err := open(t, filepath.Join(dir, "unwritten.h5"), "")
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
