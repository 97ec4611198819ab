package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
)

// Beam's dataset has the bytes of dsconv pack's. The dsconv is DSCONV_UNDER_TEST; without it the test is skipped.
func TestRealDsconv(t *testing.T) {
	dsconv := os.Getenv("DSCONV_UNDER_TEST")
	if dsconv == "" {
		t.Skip("DSCONV_UNDER_TEST, the path of the command dsconv, is not set")
	}
	forgetOptions(t)
	folder := t.TempDir()
	images := filepath.Join(folder, "images")
	writeImages(t, images, 40)
	expected, packed := filepath.Join(folder, "expected"), filepath.Join(folder, "packed")
	plan := filepath.Join(folder, "plan.json")
	command(t, dsconv, "pack", images, filepath.Join(expected, "x-%06d.tar"), "--shard-count=5")
	command(t, dsconv, "shards", "plan", images, filepath.Join(packed, "x-%06d.tar"), "--shards=5", "-o", plan)
	command(t, dsconv, "shards", "pack", plan, "3")

	unit := packShard{Dsconv: dsconv, Plan: plan, Threads: 1}
	if err := (&job{unit: unit, runner: "prism"}).launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want, got := contents(t, expected), contents(t, packed); !reflect.DeepEqual(want, got) {
		t.Errorf("%d files differ from dsconv pack's %d", len(got), len(want))
	}
}

func command(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}

// writeImages writes that many images, each of another colour, in two class folders.
func writeImages(t *testing.T, folder string, n int) {
	t.Helper()
	for i := range n {
		img := image.NewGray(image.Rect(0, 0, 8+i, 8))
		img.SetGray(i%8, i%8, color.Gray{Y: uint8(i + 1)})
		path := filepath.Join(folder, fmt.Sprintf("class-%d", i%2), fmt.Sprintf("%d.png", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(file, img); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// contents returns every file below a folder, by its path there.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
