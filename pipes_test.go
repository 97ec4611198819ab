package dsconv_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv"
)

// A pipe that nobody writes to is an error and is not waited for, whatever it is called, also as a file of a dataset.
func TestPipesAreNotWaitedFor(t *testing.T) {
	for _, name := range []string{
		"x.zip", "x.tar", "x.tar.gz", "x.tar.zst", "x.parquet", "x.npz", "x.npy", "x.h5", "x.lmdb", "data.mdb", "x.tfrecord", "x.csv",
		"t10k-images-idx3-ubyte", "train-images-idx3-ubyte.gz", "index.json", "data_batch_1.bin", "data_batch_1", "batches.meta",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{path, dir} {
				if d, err := dsconv.Open(path); err == nil {
					t.Errorf("%s: a dataset of %d samples", path, d.Len())
					_ = d.Close()
				}
			}
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
}
