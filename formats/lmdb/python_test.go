//go:build cgo

package lmdb

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/jpeg"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// TestPythonReads: the tutorial's LMDBDataset and numpy read what is written.
func TestPythonReads(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewRGBA(image.Rect(0, 0, 31, 17)), nil); err != nil {
		t.Fatal(err)
	}
	raw := formats.Value{Data: []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}, Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{2, 1, 3}}
	m := bigMeta
	m.Schema = formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "boxes", Kind: formats.Boxes}, {Name: "caption", Kind: formats.Text}}
	path := filepath.Join(t.TempDir(), "x.lmdb")
	w, err := Format{}.Create(path, m, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"cat/ä b", "cat/写真", "dog"} {
		s := formats.Sample{Key: key, Values: []formats.Value{
			{Data: photo.Bytes(), Encoding: formats.JPEG, Shape: []int{17, 31, 3}},
			{Data: make([]byte, 16*i), Encoding: formats.Raw, DType: formats.Float32, Shape: []int{i, 4}},
			{Data: []byte(key + "!"), Encoding: formats.Plain},
		}}
		if key == "dog" {
			s.Values[0] = raw
		}
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	got := formatcheck.Python(t, `
import sys, io, hashlib, lmdb, numpy as np
from PIL import Image
env = lmdb.open(sys.argv[1], readonly=True, lock=False)
with env.begin() as txn:
    keys = [k for k, _ in txn.cursor()]
    print(*[k.decode() for k in keys], sep=",")
    print(hashlib.sha256(txn.get(keys[0])).hexdigest(), Image.open(io.BytesIO(txn.get(keys[1]))).size)
    a = np.load(io.BytesIO(txn.get(b"dog")))
    print(a.dtype, a.shape, a.ravel().tolist())
fields = lmdb.open(sys.argv[1] + "/fields", readonly=True, lock=False, max_dbs=8)
with fields.begin(db=fields.open_db(b"boxes", create=False)) as txn:
    print(*[np.load(io.BytesIO(v)).shape for _, v in txn.cursor()])
with fields.begin(db=fields.open_db(b"caption", create=False)) as txn:
    print(txn.get(keys[1]).decode())
`, path)
	sum := sha256.Sum256(photo.Bytes())
	want := fmt.Sprintf("cat/ä b,cat/写真,dog\n%s (31, 17)\nuint16 (2, 1, 3) [1, 2, 3, 4, 5, 6]\n(0, 4) (1, 4) (2, 4)\ncat/写真!\n", hex.EncodeToString(sum[:]))
	if got != want {
		t.Errorf("python says\n%s\nwant\n%s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(path, "lock.mdb")); len(left) > 0 {
		t.Error("there is a lock file")
	}
}
