package edit_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats/folder"
)

// New images of a folder are added to the dataset that it was packed to.
func ExampleAdd() {
	dir := packedPets()
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "pets.tar")
	putImages(dir, "dog/bo.jpg")

	meta, err := edit.Describe(ctx, dsconv.Formats(), path)
	check(err)
	src, err := folder.Open(ctx, filepath.Join(dir, "images"), folder.Config{Like: meta.Schema})
	check(err)
	defer src.Close()
	report, err := edit.Add(ctx, dsconv.Formats(), path, src, edit.AddOptions{})
	check(err)
	fmt.Println(report.New, "new,", report.Unchanged, "unchanged;", report.Samples, "samples now")
	// Output: 1 new, 3 unchanged; 4 samples now
}

// Samples are removed by key.
func ExampleRemove() {
	dir := packedPets()
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "pets.tar")

	report, err := edit.Remove(ctx, dsconv.Formats(), path, []string{"cat/tom"}, edit.Options{})
	check(err)
	fmt.Println(report.Removed, "removed;", report.Samples, "are left")
	// Output: 1 removed; 2 are left
}

// An image gets another class. A dry run says what would be done.
func ExampleRelabel() {
	dir := packedPets()
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "pets.tar")

	table := edit.Labels{Columns: []string{"label"}, Rows: map[string][]string{"cat/tom": {"tiger"}}}
	for _, dry := range []bool{true, false} {
		report, err := edit.Relabel(ctx, dsconv.Formats(), path, table, edit.Options{DryRun: dry})
		check(err)
		fmt.Println("dry run:", report.DryRun, "- changed:", report.Changed, "- new classes:", report.NewClasses)
	}
	// Output:
	// dry run: true - changed: 1 - new classes: [tiger]
	// dry run: false - changed: 1 - new classes: [tiger]
}

// packedPets makes a folder of images and packs it; both are in dir.
func packedPets() (dir string) {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	putImages(dir, "cat/tom.jpg", "cat/kit.jpg", "dog/rex.jpg")
	_, err = dsconv.Pack(context.Background(), filepath.Join(dir, "images"), filepath.Join(dir, "pets.tar"), dsconv.Options{})
	check(err)
	return dir
}

func putImages(dir string, names ...string) {
	var photo bytes.Buffer
	check(jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8)), nil))
	for _, name := range names {
		file := filepath.Join(dir, "images", name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, photo.Bytes(), 0o644))
	}
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
