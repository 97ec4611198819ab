package synth

import (
	"context"
	"fmt"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readTree returns the files below dir by their slash-separated paths.
func readTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(filepath.Join(dir, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, o Options) map[string][]byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "photos")
	if err := Write(t.Context(), dir, o, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + ".partial"); err == nil {
		t.Error("photos.partial is left")
	}
	return readTree(t, dir)
}

func TestWriteStratifiedSplits(t *testing.T) {
	files := write(t, Options{N: 61, Classes: 3, Width: 64, Height: 48, Splits: []Split{{"train", 0.8}, {"val", 0.2}}})
	folders, stems := map[string]int{}, map[string]bool{}
	for path, data := range files {
		folders[filepath.Dir(path)]++
		stems[filepath.Base(path)] = true
		c, err := jpeg.DecodeConfig(strings.NewReader(string(data)))
		if err != nil || c.Width != 64 || c.Height != 48 {
			t.Errorf("%s: %dx%d, %v", path, c.Width, c.Height, err)
		}
	}
	want := map[string]int{ // 21, 20 and 20 images
		"train/banded_disc": 17, "train/barred_cross": 16, "train/checked_triangle": 16,
		"val/banded_disc": 4, "val/barred_cross": 4, "val/checked_triangle": 4,
	}
	if d := cmp.Diff(want, folders); d != "" {
		t.Error(d)
	}
	if len(stems) != 61 || !stems["000000.jpg"] || !stems["000060.jpg"] {
		t.Errorf("%d file names, want 000000.jpg to 000060.jpg", len(stems))
	}
}

func TestWriteSameBytesForAnyWorkers(t *testing.T) {
	o := Options{N: 24, Classes: 12, Width: 64, Height: 48, Seed: 7, Workers: 1}
	one := write(t, o)
	o.Workers = 5
	if five := write(t, o); !cmp.Equal(one, five) {
		t.Error("five workers write other bytes than one")
	}
	o.Seed = 8
	for path, data := range write(t, o) {
		if string(one[path]) == string(data) {
			t.Errorf("%s is the same for another seed", path)
		}
	}
}

func TestWriteReportsProgress(t *testing.T) {
	var calls []int
	o := Options{N: 9, Classes: 2, Width: 32, Height: 32, Workers: 3}
	err := Write(t.Context(), filepath.Join(t.TempDir(), "d"), o, func(done int) { calls = append(calls, done) })
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}; err != nil || !slices.Equal(calls, want) {
		t.Errorf("progress %v, %v", calls, err)
	}
}

func TestWriteCancelledLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	err := Write(ctx, filepath.Join(parent, "d"), Options{N: 10_000, Width: 32, Height: 32}, func(done int) {
		if done == 3 {
			cancel()
		}
	})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("error %v", err)
	}
	if left := readTree(t, parent); len(left) > 0 {
		t.Errorf("%d files left", len(left))
	}
}

func TestWriteTarget(t *testing.T) {
	o := Options{N: 2, Classes: 2, Width: 32, Height: 32}
	dir := t.TempDir()
	empty, full, file, stale := filepath.Join(dir, "empty"), filepath.Join(dir, "full"), filepath.Join(dir, "file"), filepath.Join(dir, "stale")
	for _, d := range []string{empty, full, stale + ".partial"} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{file, filepath.Join(full, "mine.txt")} {
		if err := os.WriteFile(f, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(t.Context(), empty, o, nil); err != nil {
		t.Errorf("an empty folder is refused: %v", err)
	}
	for target, want := range map[string]string{full: "mine.txt", file: "not an empty folder", stale: "stale.partial", "": "no folder"} {
		if err := Write(t.Context(), target, o, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", target, err, want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(full, "mine.txt")); err != nil || string(data) != "mine" {
		t.Errorf("mine.txt: %q, %v", data, err)
	}
}

func TestWriteRefusesOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"classes":     {Classes: maxClasses + 1},
		"cannot fill": {N: 3, Classes: 4},
		"size":        {Width: 16385},
		"size 500x8":  {Height: 8},
		"empty":       {N: 10, Classes: 5, Splits: []Split{{"train", 0.9}, {"val", 0.1}}},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := Write(t.Context(), dir, o, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", o, err, want)
		}
	}
}

// TestWritePhotoSize checks the size in bytes, on which decode time depends: photos of
// 500x375 in datasets from the web have about 100 KB.
func TestWritePhotoSize(t *testing.T) {
	files := write(t, Options{N: 12})
	total := 0
	for path, data := range files {
		total += len(data)
		if len(data) < 40_000 || len(data) > 200_000 {
			t.Errorf("%s has %d bytes", path, len(data))
		}
	}
	if mean := total / len(files); mean < 90_000 || mean > 115_000 {
		t.Errorf("mean size %d bytes, want 90 to 115 KB", mean)
	}
}

func ExampleParseSplits() {
	splits, err := ParseSplits("val=0.2")
	fmt.Println(splits, err)
	// Output: [{train 0.8} {val 0.2}] <nil>
}

func BenchmarkImage(b *testing.B) {
	root := b.TempDir()
	p := newPainter(defaultWidth, defaultHeight)
	o := Options{Classes: DefaultClasses, Width: defaultWidth, Height: defaultHeight}
	i := 0
	for b.Loop() {
		if err := p.write(filepath.Join(root, "a.jpg"), newScene(o, i)); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
