package shard

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// peerKeys are keys that other people's readers might group wrongly.
var peerKeys = []string{
	"cat/img.v1", "cat/img.v2", "cat/img", "cat.dog/a", "two words/of a path", "new\nline", "a.b\n/c.d", "__meta__/x", "__key__", "100%", ".hidden", "日本語/写真",
	strings.Repeat("deep/", 40) + "x", strings.Repeat("é", 100), "-rf", "A/x", "a/x", "tab\t", "x.jpg", "x.tar.gz", "back\\slash",
}

// peerSet writes a set of photos with boxes, a mask, raw pixels and columns; it gives
// each sample's file name without extensions with the true values for Python to compare.
func peerSet(t *testing.T, path string) []map[string]any {
	t.Helper()
	m := formats.Meta{Columns: []string{"by"}, Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"a", "b", "c"}},
		{Name: "depth", Kind: formats.Mask},
		{Name: "raw", Kind: formats.Image},
		{Name: "boxes", Kind: formats.Boxes},
		{Name: "caption", Kind: formats.Text},
		{Name: "second", Kind: formats.Label},
	}}
	w, err := Format{}.Create(path, m, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var want []map[string]any
	for i, key := range peerKeys {
		s := peerSample(t, m.Schema, key, i)
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
		if c, ok := w.(formats.ShardEnder); ok && strings.Contains(path, "%") && i%8 == 7 {
			if err := c.EndShard(); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, map[string]any{
			"name": string(appendName(nil, key)), "label": i%4 - 1, "h": 8 + i, "w": 9, "caption": "caption " + key, "by": key, "jpg": s.Values[0].Data,
			"boxes": i % 3, "second": i,
		})
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return want
}

func peerSample(t *testing.T, schema formats.Schema, key string, i int) *formats.Sample {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 9, 8+i))
	img.SetGray(1, 1, color.Gray{200})
	var photo, depth bytes.Buffer
	if err := jpeg.Encode(&photo, img, nil); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&depth, image.NewGray16(img.Rect)); err != nil {
		t.Fatal(err)
	}
	s := &formats.Sample{Key: key, Columns: []string{key}}
	s.Resize(len(schema))
	s.Values[0] = formats.Value{Data: photo.Bytes(), Encoding: formats.JPEG, Shape: []int{8 + i, 9, 1}}
	s.Values[1].SetInt64(int64(i%4 - 1))
	s.Values[2] = formats.Value{Data: depth.Bytes(), Encoding: formats.PNG}
	s.Values[3] = formats.Value{Data: bytes.Repeat([]byte{byte(i)}, 24), Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{2, 2, 3}}
	s.Values[4] = formats.Value{Data: make([]byte, 16*(i%3)), Encoding: formats.Raw, DType: formats.Float32, Shape: []int{i % 3, 4}}
	s.Values[5] = formats.Value{Data: []byte("caption " + key), Encoding: formats.Plain}
	s.Values[6].SetInt64(int64(i))
	s.Checksum = checksum.SampleChecksum(schema, s)
	return s
}

const peerScript = `
import base64, glob, json, os, sys, tarfile
import numpy, webdataset
folder = sys.argv[1]
want = json.load(open(os.path.join(folder, "want.json")))
tars = sorted(glob.glob(os.path.join(folder, "x-*.tar")))
side = os.path.join(folder, "x.tar.dsconv")

# tarfile: the members' order, names and bytes
names = []
for path in tars:
    with tarfile.open(path) as tar:
        for m in tar:
            assert m.isreg() and m.mode == 0o644 and m.mtime == 0 and m.uid == 0, m
            names.append(m.name)
expected = []
for w in want:
    exts = ["jpg"] + (["cls"] if w["label"] >= 0 else []) + ["json", "depth.png", "raw.npy", "boxes.npy", "caption.txt", "second.cls"]
    expected += [w["name"] + "." + e for e in exts]
assert names == expected, (names, expected)

# webdataset: its default grouping and decoders
got = list(webdataset.WebDataset(tars, shardshuffle=False, empty_check=False).decode("pil"))
assert len(got) == len(want), (len(got), len(want))
for i, (g, w) in enumerate(zip(got, want)):
    assert g["__key__"] == w["name"], (g["__key__"], w["name"])
    assert g["jpg"].size == (w["w"], w["h"])
    assert g.get("cls", -1) == w["label"], g.get("cls")
    assert g["json"] == {"by": w["by"]}
    assert g["caption.txt"] == w["caption"]
    assert g["second.cls"] == w["second"]
    assert g["boxes.npy"].shape == (w["boxes"], 4) and g["boxes.npy"].dtype == numpy.float32
    assert g["raw.npy"].shape == (2, 2, 3) and g["raw.npy"].dtype == numpy.uint16
    assert set(g) - {"__key__", "__url__", "__local_path__"} == {e for e in "jpg cls json depth.png raw.npy boxes.npy caption.txt second.cls".split() if e != "cls" or w["label"] >= 0}

# DALI's index: parsed as DALI does, each extension at its place
i = 0
for path in tars:
    raw = open(path, "rb").read()
    lines = open(os.path.join(side, os.path.basename(path)[:-4] + ".idx")).read().split("\n")
    version, n = lines[0].split(" ")
    assert version == "v1.2" and lines[-1] == "" and int(n) == len(lines) - 2
    with tarfile.open(path) as tar:
        members = {m.name: m for m in tar}
    for line in lines[1:-1]:
        words = line.split(" ")
        assert len(words) % 4 == 0
        for ext, at, size, name in zip(words[::4], words[1::4], words[2::4], words[3::4]):
            m = members[name.replace("%20", " ")]
            assert m.offset_data == int(at) and m.size == int(size) and m.name == want[i]["name"] + "." + ext
            if ext == "jpg":
                assert raw[int(at):int(at) + int(size)] == base64.b64decode(want[i]["jpg"])
        i += 1
assert i == len(want)

# wids
desc = json.load(open(os.path.join(side, "wids.json")))
assert desc["wids_version"] == 1 and sum(s["nsamples"] for s in desc["shardlist"]) == len(want)
for s, path in zip(desc["shardlist"], tars):
    at = os.path.join(side, s["url"])
    assert os.path.samefile(at, path) and os.path.getsize(at) == s["filesize"]
print("ok", len(got))
`

func TestPythonReaders(t *testing.T) {
	dir := t.TempDir()
	formatcheck.PythonAgrees(t, peerScript, dir, peerSet(t, filepath.Join(dir, "x-%03d.tar")))
}

func TestTarAndZstdTools(t *testing.T) {
	for _, tool := range []string{"tar", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	plain, compressed := t.TempDir(), t.TempDir()
	want := peerSet(t, filepath.Join(plain, "x.tar"))
	peerSet(t, filepath.Join(compressed, "x.tar.zst"))
	script := `set -eu
zstd -dc "$2/x.tar.zst" | cmp - "$1/x.tar"
mkdir "$1/out" && tar -C "$1/out" -xf "$1/x.tar"
zstd -dc "$2/x.tar.zst" | tar tf - | wc -l`
	cmd := exec.Command("sh", "-c", script, "sh", plain, compressed)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	files := 0
	for _, w := range want {
		name := w["name"].(string)
		exts := []string{".jpg", ".json", ".depth.png", ".raw.npy", ".boxes.npy", ".caption.txt", ".second.cls"}
		if w["label"].(int) >= 0 {
			exts = append(exts, ".cls")
		}
		for _, ext := range exts {
			b, err := os.ReadFile(filepath.Join(plain, "out", name+ext))
			if err != nil {
				t.Fatal(err)
			}
			if ext == ".jpg" && !slices.Equal(b, w["jpg"].([]byte)) {
				t.Errorf("%s differs after tar", name)
			}
			files++
		}
	}
	if got := strings.TrimSpace(string(out)); got != fmt.Sprint(files) {
		t.Errorf("tar lists %s members, want %d", got, files)
	}
}
