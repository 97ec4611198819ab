package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// The program in docs/formats.md reads the index that pack writes: the locations lead to the images, and
// everything else is what the manifest says.
func TestTheDocumentedProgramReadsAnIndex(t *testing.T) {
	formatcheck.Python(t, "import lmdb, h5py, pyarrow.parquet") // skips before anything is packed
	document, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```python\n(.*?def read_index.*?)\nfor key, .*?```").FindSubmatch(document)
	if blocks == nil {
		t.Fatal("docs/formats.md has no read_index")
	}
	t.Chdir(t.TempDir())
	c := &console{out: os.Stderr, err: os.Stderr}
	do := func(args ...string) {
		t.Helper()
		if code := run(context.Background(), append([]string{"dsconv"}, args...), c); code != exitDone {
			t.Fatalf("%v: exit code %d", args, code)
		}
	}
	do("synth", "images", "--n", "20", "--classes", "2", "--size", "64x48", "--split", "val=0.5", "--quiet")
	table := []byte("path,age,place\n")
	files, err := filepath.Glob("images/*/*/*.jpg")
	if err != nil || len(files) == 0 {
		t.Fatalf("no images: %v", err)
	}
	for i, file := range files {
		name, err := filepath.Rel("images", file)
		if err != nil {
			t.Fatal(err)
		}
		table = append(table, name+","+[]string{"1", "-1", "0"}[i%3]+","+[]string{"", "Köln"}[i%2]+"\n"...)
	}
	if err := os.WriteFile("table.csv", table, 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"x.tar", "two-%d.tar", "x.tfrecord"}
	if cgo {
		names = append(names, "x.lmdb", "x.h5")
	}
	var paths []string
	for _, name := range names {
		options := []string{"--quiet"}
		if name == "two-%d.tar" {
			options = append(options, "--shard-count", "2")
		}
		do(append([]string{"pack", "images", "plain-" + name}, options...)...)
		do(append([]string{"pack", "images", "table-" + name, "--labels", "table.csv", "--label-columns", "age", "--encode", "raw"}, options...)...)
		paths = append(paths, "plain-"+name, "table-"+name)
	}
	formatcheck.Python(t, string(blocks[1])+compareIndex, paths...)
}

// compareIndex compares what read_index gives with the dataset.
const compareIndex = `
import io, sys, h5py, lmdb
import pyarrow.parquet as pq


def check(path):
    folder = path if path.endswith(".lmdb") else path.replace("-%d", "") + ".dsconv"
    if path.endswith(".h5"):
        file = h5py.File(path)
        manifest, index = io.BytesIO(file["dsconv/manifest.parquet"][:].tobytes()), file["dsconv/index"][:]
    else:
        manifest, index = folder + "/manifest.parquet", np.fromfile(folder + "/index", np.uint8)
    if path.endswith(".lmdb"):
        with lmdb.open(path, readonly=True, lock=False).begin() as txn:
            images = dict(txn.cursor())
    rows, samples = pq.read_table(manifest).to_pylist(), list(read_index(index))
    assert len(rows) == len(samples) == 20, (len(rows), len(samples))
    for row, (key, label, split, (shard, offset, length), checksum) in zip(rows, samples):
        assert (key, label, split, checksum) == (row["key"], row["label"], row["split"], row["checksum"]), (key, label, split, row)
        if path.endswith(".h5"):
            i, name = row["rank"], "bytes" if "bytes" in file else "images"
            image = file["images"][i].ravel() if name == "images" else file["bytes"][slice(*file["offsets"][i : i + 2])]
            assert np.array_equal(file[name][:].ravel()[offset : offset + length], image), key
        elif path.endswith(".lmdb"):
            assert open(path + "/data.mdb", "rb").read()[offset : offset + length] == images[key.encode()], key
        else:
            assert (shard, offset, length) == (row["shard"], row["offset"], row["length"]), (key, shard, offset, length)

for path in sys.argv[1:]:
    check(path)
`
