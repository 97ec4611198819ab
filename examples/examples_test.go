package examples_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// programs are the examples with their arguments, IMAGES being a folder of images and WORK an empty one.
var programs = map[string]string{
	"owndataset": "WORK/out.tar",
	"ownop":      "-seed 2 IMAGES",
	"pack":       "IMAGES WORK/out.tar",
	"train":      "IMAGES WORK/state.json 0 1",
	"trainloop":  "IMAGES",
	"writer":     "WORK/out.tar",
}

// Each example runs from beginning to end on a folder of images, and says something.
func TestExamplesRun(t *testing.T) {
	if got, want := exampleFolders(t), len(programs); len(got) != want {
		t.Fatalf("%d examples in the folder (%s), %d in the table: give each its arguments", len(got), strings.Join(got, ", "), want)
	}
	images := writeImages(t)
	for name, arguments := range programs {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			program := filepath.Join(work, "program")
			if out, err := exec.Command("go", "build", "-o", program, "./"+name).CombinedOutput(); err != nil {
				t.Fatalf("go build ./%s: %v\n%s", name, err, out)
			}
			arguments := strings.NewReplacer("IMAGES", images, "WORK", work).Replace(arguments)
			out, err := exec.Command(program, strings.Fields(arguments)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%s %s: %v\n%s", name, arguments, err, out)
			}
			if len(bytes.TrimSpace(out)) == 0 {
				t.Errorf("%s %s says nothing of what it did", name, arguments)
			}
		})
	}
}

func exampleFolders(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// writeImages writes train and val with two classes of 40 JPEGs each.
func writeImages(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for i := range 160 {
		split, class := []string{"train", "val"}[i%2], []string{"blue", "red"}[i/2%2]
		dir := filepath.Join(root, split, class)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := jpeg.Encode(&file, gradient(i), nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.jpg", i)), file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func gradient(i int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 96+i%7, 64+i%5))
	for y := range img.Rect.Max.Y {
		for x := range img.Rect.Max.X {
			img.SetRGBA(x, y, color.RGBA{uint8(x + i), uint8(2 * y), uint8(80 * (i / 2 % 2)), 255})
		}
	}
	return img
}
