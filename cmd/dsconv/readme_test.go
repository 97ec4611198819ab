package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dsconv/dsconv/internal/formatcheck"
)

// The README's Python examples, unchanged, read what pack writes.
func TestREADMEPythonReadsWhatPackWrites(t *testing.T) {
	const imports = "import lmdb, h5py, webdataset\nfrom io import BytesIO\nfrom PIL import Image\nfrom tfrecord import tfrecord_loader\n"
	formatcheck.Python(t, imports) // skips before anything is packed
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	c := &console{out: os.Stderr, err: os.Stderr}
	names := []string{"out.tar", "out.tfrecord"}
	if cgo {
		names = append(names, "out.lmdb", "out.h5")
	}
	commands := [][]string{{"synth", "images", "--n", "20", "--classes", "2", "--size", "64x48", "--quiet"}}
	for _, name := range names {
		commands = append(commands, []string{"pack", "images", name, "--quiet"})
	}
	for _, args := range commands {
		if code := run(context.Background(), append([]string{"dsconv"}, args...), c); code != exitDone {
			t.Fatalf("%v: exit code %d", args, code)
		}
	}
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of Python in the README, want 4", len(blocks))
	}
	for _, b := range blocks {
		name := string(regexp.MustCompile(`out\.\w+`).Find(b[1]))
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Skipf("%s is not built in", name)
			}
			// The last image that a block gave must be a whole photo.
			formatcheck.Python(t, imports+string(b[1])+`
image = image if "image" in dir() else images["banded_disc/000000"]
assert image.convert("RGB").size == (64, 48), image
assert "images" not in dir() or len(images) == 20
assert "label" not in dir() or label in (0, 1, b"banded_disc", b"barred_cross"), label
`)
		})
	}
}
