package dsconv_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/trainer"
)

// writeArrays writes datasets in the byte formats that their publishers chose, reads them with torchvision (those
// of NumPy with NumPy), and saves what it read: pixels, labels and classes.
const writeArrays = `
import gzip, json, os, pickle, struct, sys
import numpy as np
from torchvision.datasets import CIFAR10, CIFAR100, MNIST, cifar
from torchvision.datasets.mnist import read_image_file, read_label_file
os.chdir(sys.argv[1])
rng = np.random.default_rng(0)
read = []

def idx(path, array, zipped=False):
    content = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    (gzip.open if zipped else open)(path + (".gz" if zipped else ""), "wb").write(content)

def note(path, split, images, **labels):
    name = f"{len(read)}.bin"
    np.ascontiguousarray(images).tofile(name)
    classes = labels.pop("classes", None)
    read.append({"path": path, "split": split, "file": name, "shape": np.shape(images), "labels": {k: np.asarray(v).ravel().tolist() for k, v in labels.items()}, "classes": classes})

for root, zipped in ("mnist", False), ("mnistgz", True):
    for prefix, n in ("train", 130), ("t10k", 20):
        idx(f"{root}/MNIST/raw/{prefix}-images-idx3-ubyte", rng.integers(0, 256, (n, 28, 28), dtype=np.uint8), zipped)
        idx(f"{root}/MNIST/raw/{prefix}-labels-idx1-ubyte", rng.integers(0, 10, n, dtype=np.uint8), zipped)
for split in "train", "test":
    data = MNIST("mnist", train=split == "train")
    note("mnist", split, data.data.numpy()[..., None], label=data.targets)
for prefix, split in ("train", "train"), ("t10k", "test"):
    raw = "mnistgz/MNIST/raw/" + prefix
    for kind in "images-idx3", "labels-idx1":
        open(f"{raw}.tmp-{kind}", "wb").write(gzip.open(f"{raw}-{kind}-ubyte.gz").read())
    note("mnistgz/MNIST/raw", split, read_image_file(f"{raw}.tmp-images-idx3").numpy()[..., None], label=read_label_file(f"{raw}.tmp-labels-idx1"))

cifar.check_integrity = lambda path, *a: True  # the published files' checksums

def batch(n, coarse):
    b = {"data": rng.integers(0, 256, (n, 3072), dtype=np.uint8), "filenames": [f"image_{rng.integers(1 << 30)}.png" for _ in range(n)]}
    if coarse:
        return {**b, "fine_labels": rng.integers(0, 100, n).tolist(), "coarse_labels": rng.integers(0, 20, n).tolist()}
    return {**b, "labels": rng.integers(0, 10, n).tolist()}

def binary(path, b):
    keys = [k for k in ("coarse_labels", "fine_labels", "labels") if k in b]
    rows = [np.array(b[k], np.uint8)[:, None] for k in keys] + [b["data"]]
    np.hstack(rows).astype(np.uint8).tofile(path)

for d in "c/cifar-10-batches-py", "c/cifar-10-batches-bin", "h/cifar-100-python", "h/cifar-100-binary":
    os.makedirs(d)
ten = [f"class{i}" for i in range(10)]
fine, coarse = [f"fine{i}" for i in range(100)], [f"coarse{i}" for i in range(20)]
for i, name in enumerate([f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]):
    b = batch(11 + i, False)
    pickle.dump(b, open(f"c/cifar-10-batches-py/{name}", "wb"), protocol=i % 6)
    binary(f"c/cifar-10-batches-bin/{name}.bin", b)
pickle.dump({"label_names": ten, "num_vis": 3072}, open("c/cifar-10-batches-py/batches.meta", "wb"), protocol=2)
open("c/cifar-10-batches-bin/batches.meta.txt", "w").write("\n".join(ten) + "\n\n")
coarse_of = {}
for name in "train", "test":
    b = batch(40, True)
    pickle.dump(b, open(f"h/cifar-100-python/{name}", "wb"), protocol=2)
    binary(f"h/cifar-100-binary/{name}.bin", b)
    coarse_of[name] = b["coarse_labels"]
pickle.dump({"fine_label_names": fine, "coarse_label_names": coarse}, open("h/cifar-100-python/meta", "wb"), protocol=2)
for kind, names in ("fine", fine), ("coarse", coarse):
    open(f"h/cifar-100-binary/{kind}_label_names.txt", "w").write("\n".join(names) + "\n")
CIFAR10.meta, CIFAR100.meta = dict(CIFAR10.meta, md5=None), dict(CIFAR100.meta, md5=None)
for split in "train", "test":
    data = CIFAR10("c", train=split == "train")
    for path in "c/cifar-10-batches-py", "c/cifar-10-batches-bin":
        note(path, split, data.data, label=data.targets, classes=data.classes)
    data = CIFAR100("h", train=split == "train")
    for path in "h/cifar-100-python", "h/cifar-100-binary":
        note(path, split, data.data, label=data.targets, classes=data.classes, coarse=coarse_of[split])

# The archives that are downloaded, which have the folder, and MNIST's files in archives of other forms.
import shutil, tarfile
for archive, folder in ("cifar-10-python.tar.gz", "c/cifar-10-batches-py"), ("cifar-10-binary.tar.gz", "c/cifar-10-batches-bin"), ("cifar-100-python.tar.gz", "h/cifar-100-python"), ("cifar-100-binary.tar.gz", "h/cifar-100-binary"):
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, os.path.basename(folder))
    read += [{**r, "path": archive} for r in read if r["path"] == folder]
for archive, kind, folder in ("raw", "zip", "mnistgz/MNIST/raw"), ("root", "gztar", "mnist"), ("plain", "tar", "mnist"):
    path = shutil.make_archive(archive, kind, folder)
    read += [{**r, "path": os.path.basename(path)} for r in read if r["path"] == folder]
with tarfile.open("fashion.tar", "w") as tar:
    tar.add("mnistgz/MNIST/raw", "FashionMNIST/raw")
read += [{**r, "path": "fashion.tar"} for r in read if r["path"] == "mnistgz/MNIST/raw"]

x, y = rng.integers(0, 256, (30, 9, 7), dtype=np.uint8), rng.integers(0, 10, 30, dtype=np.uint8)
xt, yt = rng.integers(0, 256, (12, 9, 7), dtype=np.uint8), rng.integers(0, 10, 12, dtype=np.uint8)
np.savez("keras.npz", x_train=x, y_train=y, x_test=xt, y_test=yt)
np.savez_compressed("packed.npz", train_images=x, train_labels=y[:, None].astype(np.int64), test_images=xt, test_labels=yt[:, None].astype(np.int64))
for path in "keras.npz", "packed.npz":
    loaded = np.load(path)
    for split in "train", "test":
        images = loaded[f"x_{split}" if path == "keras.npz" else f"{split}_images"]
        note(path, split, images[..., None], label=loaded[f"y_{split}" if path == "keras.npz" else f"{split}_labels"])
wide = rng.integers(0, 65536, (5, 3, 8, 6), dtype=np.uint16)
np.save("wide.npy", wide)
np.save("wide_labels.npy", np.array([0, 4, -1, 2, 2], np.int32))
note("wide.npy", "", wide.transpose(0, 2, 3, 1), label=[0, 4, -1, 2, 2])
os.mkdir("folder")
np.save("folder/images_train.npy", x)
np.save("folder/labels_train.npy", y.astype(">i2"))
note("folder", "train", x[..., None], label=y)
json.dump(read, open("read.json", "w"))
`

// arraysRead is one split as the other program read it.
type arraysRead struct {
	Path, Split, File string
	Shape             []int
	Labels            map[string][]int64
	Classes           []string
}

// torchWrote runs a script with the interpreter that has torchvision, in a new folder.
func torchWrote(t *testing.T, script string) (dir string, read []arraysRead) {
	t.Helper()
	dir = t.TempDir()
	formatcheck.TorchPython(t, script, dir)
	formatcheck.ReadJSON(t, filepath.Join(dir, "read.json"), &read)
	return dir, read
}

// TestArraysOfOtherPrograms: the same samples in the same order, with the same pixels and labels, as torchvision and
// NumPy read.
func TestArraysOfOtherPrograms(t *testing.T) {
	dir, read := torchWrote(t, writeArrays)
	for _, r := range read {
		t.Run(r.Path+"/"+r.Split, func(t *testing.T) { sameArrays(t, dir, r) })
	}
}

// TestArraysInArchives: what holds for folders alone is refused, a map is not, and what is packed is the same dataset.
func TestArraysInArchives(t *testing.T) {
	dir := idxFolder(t, 12, 4)
	file, err := os.Create(filepath.Join(t.TempDir(), "digits.zip"))
	must(t, err)
	w := zip.NewWriter(file)
	must(t, errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), file.Close()))
	packed := filepath.Join(t.TempDir(), "digits.tfrecord")
	if _, err := dsconv.Pack(t.Context(), file.Name(), packed, dsconv.Options{}); err != nil {
		t.Fatal(err)
	}
	sameDatasets(t, dir, file.Name(), packed)
	for want, c := range map[string]struct {
		cfg folder.Config
		m   map[string]string
	}{
		"a table of labels":          {cfg: folder.Config{Labels: "labels.csv"}},
		"are for folders":            {cfg: folder.Config{Boxes: []string{"{key}.xml"}}},
		"begin with \"letters\"":     {m: map[string]string{"image": "letters"}},
		"have no field label to map": {m: map[string]string{"label": "x"}},
	} {
		if _, err := dsconv.OpenSourceWith(t.Context(), file.Name(), c.cfg, formats.ReadOptions{Map: c.m}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func sameArrays(t *testing.T, dir string, r arraysRead) {
	ds, err := dsconv.Open(filepath.Join(dir, r.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	want, err := os.ReadFile(filepath.Join(dir, r.File))
	if err != nil {
		t.Fatal(err)
	}
	n, size := 0, len(want)/r.Shape[0]
	var s formats.Sample
	for i := range ds.Len() {
		if err := ds.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		if s.Split != r.Split {
			continue
		}
		if n >= r.Shape[0] || !bytes.Equal(s.Values[0].Data, want[n*size:][:size]) || len(s.Values) != 1+len(r.Labels) {
			t.Fatalf("%s: sample %d of %v differs", s.Key, n, r.Shape)
		}
		for k, v := range s.Values[1:] {
			name := ds.Meta().Schema[k+1].Name
			if x, ok := v.Int64(); !ok || x != r.Labels[name][n] {
				t.Fatalf("%s: %s is %d, want %d", s.Key, name, x, r.Labels[name][n])
			}
		}
		sameAsInfo(t, ds, i, &s)
		n++
	}
	if n != r.Shape[0] {
		t.Errorf("%d samples of the split %s, want %d", n, r.Split, r.Shape[0])
	}
	for i, name := range r.Classes {
		if got := ds.Meta().Classes()[i]; got != name {
			t.Errorf("class %d is %s, want %s", i, got, name)
		}
	}
}

// sameAsInfo checks that View and Info give what Read gave.
func sameAsInfo(t *testing.T, ds formats.Dataset, i int, s *formats.Sample) {
	t.Helper()
	var lent formats.Sample
	if err := ds.(formats.Viewer).View(i, &lent); err != nil || !bytes.Equal(lent.Values[0].Data, s.Values[0].Data) {
		t.Fatalf("%s: View differs from Read, error %v", s.Key, err)
	}
	in, err := ds.Info(i)
	label, _ := s.Values[1].Int64()
	if err != nil || in.Key != s.Key || in.Split != s.Split || in.Label != label || in.Shape != [3]int(s.Values[0].Shape) || formats.CheckKey(in.Key) != nil {
		t.Fatalf("Info of %s is %+v, error %v", s.Key, in, err)
	}
	if at, err := formats.Find(ds, s.Key); err != nil || at != i {
		t.Fatalf("Find(%s) is %s, error %v", s.Key, strconv.Itoa(at), err)
	}
}

// idxFolder is a small MNIST: each class is another grey.
func idxFolder(t *testing.T, train, test int) string {
	t.Helper()
	dir := t.TempDir()
	for name, n := range map[string]int{"train": train, "t10k": test} {
		images, labels := []byte{0, 0, 8, 3, 0, 0, 0, byte(n), 0, 0, 0, 28, 0, 0, 0, 28}, []byte{0, 0, 8, 1, 0, 0, 0, byte(n)}
		for i := range n {
			labels = append(labels, byte(i%10))
			images = append(images, bytes.Repeat([]byte{byte(i % 10 * 28)}, 28*28)...)
		}
		for kind, b := range map[string][]byte{"images-idx3": images, "labels-idx1": labels} {
			if err := os.WriteFile(filepath.Join(dir, name+"-"+kind+"-ubyte"), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestTrainOnIDX: MNIST's files are trained on where they lie, and what is packed from them is the same dataset.
func TestTrainOnIDX(t *testing.T) {
	dir := idxFolder(t, 100, 20)
	packed := filepath.Join(t.TempDir(), "digits.lmdb")
	report, err := dsconv.Pack(t.Context(), dir, packed, dsconv.Options{})
	if err != nil || report.Written != 120 {
		t.Fatalf("%+v, %v", report, err)
	}
	sameDatasets(t, dir, packed)
	var losses []float64
	for _, path := range []string{dir, packed} {
		config := reader.Config{BatchSize: 20, Split: "train", Shuffle: true, Color: pixel.ColorGray, DType: formats.Float32}
		train, err := dsconv.NewLoader(path, config)
		if err != nil {
			t.Fatal(err)
		}
		defer train.Close()
		result, err := trainer.Run(t.Context(), train, nil, trainer.Config{Model: trainer.ModelMLP, Epochs: 1, LearningRate: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, result.Epochs[0].Train.Loss)
	}
	if losses[0] != losses[1] {
		t.Errorf("losses %v differ", losses)
	}
}

func sameDatasets(t *testing.T, paths ...string) {
	t.Helper()
	var open []formats.Dataset
	for _, path := range paths {
		ds, err := dsconv.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer ds.Close()
		open = append(open, ds)
	}
	for _, other := range open[1:] {
		report, err := diff.Run(t.Context(), open[0], other, diff.Options{})
		if err != nil || !report.Same() {
			t.Errorf("%+v, %v", report, err)
		}
	}
}
