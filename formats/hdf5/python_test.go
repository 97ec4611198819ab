//go:build cgo

package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func python(t *testing.T, script string, args ...string) string {
	t.Helper()
	return formatcheck.Python(t, "import sys, io, json, h5py, numpy as np\nfrom PIL import Image\n"+script, args...)
}

func TestPythonReadsVaryingImages(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewRGBA(image.Rect(0, 0, 31, 17)), nil); err != nil {
		t.Fatal(err)
	}
	var samples []*formats.Sample
	for i, key := range []string{"cat/ä b", "cat/写真", "dog"} {
		s := bigSample(i)
		s.Key = key
		s.Values[0] = formats.Value{Data: photo.Bytes(), Encoding: formats.JPEG, Shape: []int{17, 31, 3}}
		samples = append(samples, s)
	}
	path := write(t, bigMeta, samples...)
	got := python(t, `
with h5py.File(sys.argv[1]) as f:
    print(sorted(f))
    print([k.decode() for k in f["keys"]], list(f["classes"].asstr()), f["labels"][:], f["labels"].dtype)
    o = f["offsets"]
    print(Image.open(io.BytesIO(f["bytes"][o[1]:o[2]])).size, f["shapes"][:].tolist(), f["bytes"].attrs["encoding"])
    print(f["keys__"].shape, f["keys__"].dtype, sorted(f["bytes_"]), f["bytes_/shapes"][2], f["bytes_/bytes"].attrs["encoding"])
    g = f["keys_"]
    print([len(g["bytes"][g["offsets"][i]:g["offsets"][i+1]]) for i in range(3)])
    m = json.loads(bytes(f["dsconv/dataset.json"][:]))
    print(m["format"], m["count"], bytes(f["dsconv/manifest.parquet"][:4]))
`, path)
	want := `['bytes', 'bytes_', 'classes', 'dsconv', 'keys', 'keys_', 'keys__', 'labels', 'offsets', 'shapes']
['cat/ä b', 'cat/写真', 'dog'] ['a', 'b'] [0 1 0] int64
(31, 17) [[17, 31, 3], [17, 31, 3], [17, 31, 3]] jpeg
(3, 3, 1) float32 ['bytes', 'dtypes', 'encodings', 'offsets', 'shapes'] [  3 100   1] raw
[0, 1, 2]
hdf5 3 b'PAR1'
`
	if got != want {
		t.Errorf("python says\n%s\nwant\n%s", got, want)
	}
}

func TestPythonReadsEqualImages(t *testing.T) {
	m := bigMeta
	m.Schema = formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "tags", Kind: formats.MultiHot, Classes: []string{"x", "y"}}}
	const n, h, w = 700, 8, 6
	var samples []*formats.Sample
	for i := range n {
		pix := make([]byte, h*w*3*2)
		pix[0], pix[1] = byte(i), byte(i>>8)
		samples = append(samples, &formats.Sample{Key: fmt.Sprintf("%05d", i), Values: []formats.Value{
			{Data: pix, Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{h, w, 3}},
			{Data: []byte{1, byte(i % 2)}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{2}},
		}})
	}
	got := python(t, `
with h5py.File(sys.argv[1]) as f:
    x = f["images"]
    print(x.shape, x.dtype, (x[:,0,0,0] == np.arange(700)).all(), int(x[:].sum()) == 699*350, x.chunks, x.attrs["encoding"])
    print(f["labels"].shape, f["labels"].dtype, f["labels"][1], sorted(f))
`, write(t, m, samples...))
	want := "(700, 8, 6, 3) uint16 True True None raw\n(700, 2) uint8 [1 1] ['classes', 'dsconv', 'images', 'keys', 'labels']\n"
	if got != want {
		t.Errorf("python says\n%s\nwant\n%s", got, want)
	}
	if got := python(t, "print(sorted(h5py.File(sys.argv[1])), h5py.File(sys.argv[1])['bytes'].shape)", write(t, m)); got != "['bytes', 'classes', 'dsconv', 'keys', 'labels', 'offsets', 'shapes'] (0,)\n" {
		t.Errorf("without samples python says %s", got)
	}
}

func TestOtherPeoplesFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "theirs.h5")
	python(t, `
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("images", data=np.zeros((10, 4, 4, 3), "u1"), chunks=True, compression="gzip")
`, path)
	if _, err := (Format{}).Open(path); !errors.Is(err, formats.ErrNotDataset) {
		t.Errorf("got %v, want ErrNotDataset", err)
	}
	if _, err := (Format{}).Create(path, bigMeta, formats.CreateOptions{Replace: true}); !errors.Is(err, formats.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	if !(Format{}).Match(path) {
		t.Error("an HDF5 file does not match")
	}
}
