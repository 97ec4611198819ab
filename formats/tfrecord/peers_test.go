package tfrecord

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// peerSet writes samples into files of eight and gives their true values for Python.
func peerSet(t *testing.T, path string) (want []map[string]any) {
	t.Helper()
	w, err := Format{}.Create(path, testMeta, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 20 {
		var photo bytes.Buffer
		if err := jpeg.Encode(&photo, image.NewRGBA(image.Rect(0, 0, 9, 8+i)), nil); err != nil {
			t.Fatal(err)
		}
		s := testSample()
		s.Key = fmt.Sprintf("a b/é.%d", i)
		s.Source.Path = s.Key + ".jpg"
		s.Values[0].Data, s.Values[0].Shape = photo.Bytes(), []int{8 + i, 9, 3}
		s.Values[2].SetInt64(int64(i%3 - 1))
		s.Values[3].Data, s.Values[3].Shape = make([]byte, 16*(i%3)), []int{i % 3, 4}
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
		if c, ok := w.(formats.ShardEnder); ok && i%8 == 7 {
			if err := c.EndShard(); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, map[string]any{
			"filename": s.Source.Path, "h": 8 + i, "label": i%3 - 1, "text": []string{"", "ant", "bee"}[i%3], "boxes": i % 3, "jpeg": s.Values[0].Data,
		})
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return want
}

const peerScript = `
import base64, glob, io, json, os, struct, sys, warnings
warnings.simplefilter("ignore")
import crc32c, numpy
from PIL import Image
from tfrecord.reader import example_loader
from tfrecord.tools.tfrecord2idx import create_index
folder = sys.argv[1]
want = json.load(open(os.path.join(folder, "want.json")))
files = sorted(glob.glob(os.path.join(folder, "x-*.tfrecord")))
side = os.path.join(folder, "x.tfrecord.dsconv")

def masked(data):
    crc = crc32c.crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xa282ead8) & 0xffffffff

def check(g, w):
    assert bytes(g["image/encoded"]) == base64.b64decode(w["jpeg"])
    assert Image.open(io.BytesIO(bytes(g["image/encoded"]))).size == (9, w["h"])
    assert bytes(g["image/format"]) == b"jpeg"
    assert bytes(g["image/filename"]).decode() == w["filename"]
    assert (g["image/height"], g["image/width"], g["image/channels"]) == (w["h"], 9, 3)
    if w["label"] >= 0:
        assert g["image/class/label"].dtype == numpy.int64 and g["image/class/label"] == w["label"]
        assert bytes(g["image/class/text"]).decode() == w["text"]
    else:
        assert "image/class/label" not in g and "image/class/text" not in g
    assert g["field/boxes"].dtype == numpy.float32 and len(g["field/boxes"]) == 4 * w["boxes"]
    assert list(g["field/tags"]) == [0, 1, 255]
    assert list(g["field/pose"]) == [-1, -1] and list(g["field/pose/shape"]) == [2]
    pixels = numpy.frombuffer(bytes(g["field/right"]), bytes(g["field/right/dtype"]).decode())
    assert pixels.reshape(g["field/right/shape"]).shape == (2, 3, 1) and pixels.dtype == numpy.uint16
    assert bytes(g["field/caption"]) == b"two bees" and bytes(g["column/by"]) == b"Ann" and bytes(g["column/zoom"]) == b""
    assert bytes(g["split"]) == b"train"

i = 0
for path in files:
    index = os.path.join(side, os.path.basename(path).replace(".tfrecord", ".tfindex"))
    create_index(path, path + ".theirs")
    assert open(index).read() == open(path + ".theirs").read()
    data = open(path, "rb").read()
    for line in open(index):
        at, size = map(int, line.split())
        n, crc = struct.unpack("<QI", data[at:at + 12])
        assert n == size - 16 and crc == masked(data[at:at + 8])
        assert struct.unpack("<I", data[at + size - 4:at + size])[0] == masked(data[at + 12:at + size - 4])
    whole = list(example_loader(path, None))
    parts = list(example_loader(path, index, shard=(0, 2))) + list(example_loader(path, index, shard=(1, 2)))
    assert len(whole) == len(parts)
    for g, h in zip(whole, parts):
        check(g, want[i])
        check(h, want[i])
        i += 1
assert i == len(want)
print("ok", i)
`

func TestPythonReaders(t *testing.T) {
	dir := t.TempDir()
	formatcheck.PythonAgrees(t, peerScript, dir, peerSet(t, filepath.Join(dir, "x-%05d.tfrecord")))
}
