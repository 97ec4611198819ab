package dsconv_test

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

const readNumbers = `
import io, sys, tarfile, warnings
warnings.simplefilter("ignore")
import h5py, lmdb, numpy as np, webdataset
from tfrecord.reader import example_loader
path = sys.argv[1]
def of_lmdb(name):
    env = lmdb.open(path + "/fields", readonly=True, lock=False, max_dbs=8)
    with env.begin(db=env.open_db(name.encode(), create=False)) as txn:
        return np.stack([np.load(io.BytesIO(v)) for _, v in txn.cursor()])
def of_hdf5(name):
    with h5py.File(path) as f:
        return f["labels" if name == "age" else name][:]
def of_tar(name):
    return np.stack([s[name + ".npy"] for s in webdataset.WebDataset([path], shardshuffle=False, empty_check=False).decode()])
def of_tfrecord(name):
    return np.stack([s["field/" + name] for s in example_loader(path, None)])
read = {"lmdb": of_lmdb, "h5": of_hdf5, "tar": of_tar, "tfrecord": of_tfrecord}[path.rsplit(".")[-1]]
for name in "age", "height":
    x = read(name)
    print(x.dtype, x.reshape(-1).tolist(), x.ndim)
`

// Labels that are numbers are read by the formats' own libraries, as what they are.
func TestPythonReadsNumbers(t *testing.T) {
	schema := formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "age", Kind: formats.Number, DType: formats.Float32},
		{Name: "height", Kind: formats.Number, DType: formats.Float32},
	}
	for _, name := range []string{"x.lmdb", "x.h5", "x.tar", "x.tfrecord"} {
		path := filepath.Join(t.TempDir(), name)
		f, err := dsconv.Formats().ByPath(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.(formats.WritableFormat).Create(path, formats.Meta{Format: f.Name(), Schema: schema}, formats.CreateOptions{})
		if errors.Is(err, formats.ErrNotBuilt) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range []float32{0.5, math.Float32frombits(0x7fc00000), -3} {
			s := formats.Sample{Key: string(rune('a' + i))}
			s.Resize(3)
			s.Values[0] = formats.Value{Data: []byte("\xff\xd8\xff\xe0 and so on"), Encoding: formats.JPEG, Shape: []int{2, 2, 3}}
			s.Values[1].SetFloat32(x)
			s.Values[2].SetFloat32(float32(i))
			if err := w.Write(&s); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		want := "float32 [0.5, nan, -3.0] 1\nfloat32 [0.0, 1.0, 2.0] 1\n"
		if name == "x.tfrecord" {
			want = "float32 [0.5, nan, -3.0] 2\nfloat32 [0.0, 1.0, 2.0] 2\n" // a feature is a list
		}
		if got := formatcheck.Python(t, readNumbers, path); got != want {
			t.Errorf("%s: python says\n%s\nwant\n%s", name, got, want)
		}
		ds, err := f.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := ds.Meta(); m.Version != 2 || m.RequiredVersion() != 2 {
			t.Errorf("%s: version %d", name, m.Version)
		}
		if err := ds.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
