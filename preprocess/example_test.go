//go:build cgo

package preprocess_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// A recipe prepares a sample for training: scaled to cover 224 by 224 pixels, and stored raw.
func ExampleProcessor() {
	recipe := preprocess.Recipe{
		Resize: preprocess.Resize{Mode: preprocess.ResizeCover, W: 224, H: 224},
		Encode: codec.EncodeOptions{Encoding: formats.Raw},
	}
	schema := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}
	p, err := preprocess.NewProcessor(recipe, schema)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	var in, out formats.Sample
	in.Key = "cat/1"
	in.Resize(2)
	in.Values[0] = formats.Value{Data: jpegFile(500, 375), Encoding: formats.JPEG}
	in.Values[1].SetInt64(3)
	if err := p.Process(&in, &out); err != nil {
		fmt.Println(in.Key, err)
		return
	}
	fmt.Println(out.Key, out.Values[0].Encoding, out.Values[0].DType, out.Values[0].Shape, len(out.Values[0].Data))
	fmt.Println(p.OutputSchema()[0].Shape)
	// Output:
	// cat/1 raw uint8 [224 224 3] 150528
	// [224 224 3]
}

// The options of a recipe have the texts of the command line's flags.
func ExampleRecipe() {
	var r preprocess.Recipe
	if err := r.Resize.UnmarshalText([]byte("shorter:256")); err != nil {
		log.Fatal(err)
	}
	if err := r.Encode.UnmarshalText([]byte("jpeg:85")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Resize, r.Encode, r.Validate())
	fmt.Println(r.Map()["filter"], r.Map()["exif"])
	// Output:
	// shorter:256 jpeg:85 <nil>
	// bilinear keep
}

func ExampleThumbnail() {
	file := bytes.NewReader(jpegFile(500, 375)) // or an *os.File, or the body of a request
	img, err := preprocess.Thumbnail(file, preprocess.ThumbnailOptions{W: 100, H: 100})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(img.Bounds().Size())
	// Output: (100,75)
}

// A file's thumbnail is written to another file, over white where it is transparent.
func ExampleThumbnail_file() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	if err := writeThumbnail(filepath.Join(dir, "thumbnail.jpg"), filepath.Join(dir, "1.jpg")); err != nil {
		log.Panic(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "thumbnail.jpg"))
	if err != nil {
		log.Panic(err)
	}
	encoding, header, err := codec.Inspect(data)
	fmt.Println(encoding, header.W, header.H, err)
	// Output: jpeg 120 79 <nil>
}

func writeThumbnail(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	img, err := preprocess.Thumbnail(in, preprocess.ThumbnailOptions{W: 120, Background: color.White})
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	err = codec.EncodeImage(out, img, codec.EncodeOptions{Encoding: formats.JPEG})
	return errors.Join(err, out.Close())
}

// A square picture of a person, of a file that a stranger sent.
func ExampleThumbnail_fill() {
	img, err := preprocess.Thumbnail(bytes.NewReader(jpegFile(300, 400)), preprocess.ThumbnailOptions{
		W: 64, H: 64, Mode: preprocess.ThumbnailFill, Anchor: preprocess.AnchorTop, // heads are at the top
		MaxPixels: 20_000_000, MaxBytes: 10_000_000,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(img.Bounds().Size())
	// Output: (64,64)
}

// The thumbnails of a folder, on four goroutines.
func ExampleThumbnail_folder() {
	src, dst := exampleFolder(), exampleFolder()
	defer os.RemoveAll(src)
	defer os.RemoveAll(dst)

	var pool errgroup.Group
	pool.SetLimit(4)
	err := filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		pool.Go(func() error {
			in, err := os.Open(path)
			if err != nil {
				return err
			}
			defer in.Close()
			img, err := preprocess.Thumbnail(in, preprocess.ThumbnailOptions{W: 64, H: 64, Mode: preprocess.ThumbnailFill, Sharpen: 0.5})
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			out, err := os.Create(filepath.Join(dst, e.Name()+".png"))
			if err != nil {
				return err
			}
			defer out.Close()
			return png.Encode(out, img)
		})
		return nil
	})
	if err == nil {
		err = pool.Wait()
	}
	made, _ := filepath.Glob(filepath.Join(dst, "*.png"))
	fmt.Println(len(made), err)
	// Output: 3 <nil>
}

// exampleFolder returns a new folder with three JPEGs.
func exampleFolder() string {
	dir, err := os.MkdirTemp("", "thumbnails")
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jpg", i)), jpegFile(300+i, 200), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

func jpegFile(w, h int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{200, 100, 50, 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := codec.EncodeImage(&b, img, codec.EncodeOptions{Encoding: formats.JPEG}); err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}
