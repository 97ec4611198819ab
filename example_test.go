package dsconv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader"
)

// A folder of images becomes a dataset.
func ExamplePack() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	report, err := dsconv.Pack(context.Background(), filepath.Join(dir, "images"), filepath.Join(dir, "pets.tar"), dsconv.Options{})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(report.Found, "found,", report.Written, "written")
	// Output: 4 found, 4 written
}

// The shards of one dataset are packed apart, as by processes on several machines, and become the dataset that Pack writes.
func ExamplePlanShards() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	ctx, file := context.Background(), filepath.Join(dir, "plan.json")
	var o dsconv.Options
	o.Shards.Count = 2
	plan, err := dsconv.PlanShards(ctx, []string{filepath.Join(dir, "images")}, filepath.Join(dir, "pets-%d.tar"), file, o, dsconv.ShardPlanOptions{})
	if err != nil {
		log.Panic(err)
	}
	for shard := range plan.Shards {
		if _, err := dsconv.PackShard(ctx, file, shard, dsconv.ShardOptions{}); err != nil {
			log.Panic(err)
		}
	}
	done, err := dsconv.CommitShards(ctx, file, dsconv.CommitOptions{})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(done.Written, "written in", done.Datasets[0].Shards, "shards")
	// Output: 4 written in 2 shards
}

// A pack shows its progress and is cancelled. The same call goes on from the last checkpoint; here, with
// less than Options.Checkpoint bytes, from the start.
func ExamplePack_progress() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	var o dsconv.Options
	o.Recipe.Resize = preprocess.Resize{Mode: preprocess.ResizeShorter, W: 8}
	o.Recipe.Encode.Encoding = formats.PNG
	var last convert.Progress
	o.Progress = func(p convert.Progress) {
		last = p
		cancel() // as if the user had pressed Ctrl-C
	}
	images, dst := filepath.Join(dir, "images"), filepath.Join(dir, "pets.tar")
	report, err := dsconv.Pack(ctx, images, dst, o)
	fmt.Println("cancelled:", errors.Is(err, context.Canceled), report.Found == report.Written+report.NotReached)
	fmt.Println("images:", last.Total, "- what was written is kept:", report.Datasets[0].Resumable == report.Written)
	report, err = dsconv.Pack(context.Background(), images, dst, o)
	fmt.Println(report.Written, "written,", err)
	// Output:
	// cancelled: true true
	// images: 4 - what was written is kept: true
	// 4 written, <nil>
}

// The samples of any dataset, here of a folder, are read one after another.
func ExampleSamples() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	ds, err := dsconv.Open(filepath.Join(dir, "images"))
	if err != nil {
		log.Panic(err)
	}
	defer ds.Close()
	image, label := ds.Meta().Schema.ImageIndex(), ds.Meta().Schema.LabelIndex()
	for sample, err := range dsconv.Samples(ds) {
		if err != nil {
			log.Panic(err)
		}
		class, _ := sample.Values[label].Int64()
		fmt.Println(sample.Key, sample.Values[image].Encoding, ds.Meta().Classes()[class])
	}
	// Output:
	// cat/kit png cat
	// cat/tom png cat
	// dog/pup png dog
	// dog/rex png dog
}

// A dataset is loaded in shuffled batches.
func ExampleNewLoader() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	loader, err := dsconv.NewLoader(filepath.Join(dir, "images"), reader.Config{BatchSize: 2, Shuffle: true, Seed: 1})
	if err != nil {
		log.Panic(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Panic(err)
		}
		fmt.Println(batch.N, "images of", batch.Shape)
	}
	// Output:
	// 2 images of [2 16 16 3]
	// 2 images of [2 16 16 3]
}

// squares is a Dataset of one's own: pictures that are drawn when they are read.
type squares struct{ meta formats.Meta }

func newSquares(n int) squares {
	return squares{formats.Meta{Format: "squares", Count: n, Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"even", "odd"}},
	}}}
}

func (d squares) Meta() *formats.Meta { return &d.meta }
func (d squares) Len() int            { return d.meta.Count }
func (d squares) Close() error        { return nil }

func (d squares) Info(i int) (formats.Info, error) {
	return formats.Info{Key: fmt.Sprintf("%04d", i), Label: int64(i % 2)}, nil
}

func (d squares) Read(i int, s *formats.Sample) error {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8+i, 8+i))); err != nil {
		return err
	}
	s.Key = fmt.Sprintf("%04d", i)
	s.Resize(2)
	s.Values[0].Set(formats.Value{Data: b.Bytes(), Encoding: formats.PNG})
	s.Values[1].SetInt64(int64(i % 2))
	return nil
}

// A Dataset of one's own is packed like any other.
func ExamplePackDataset() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	o := dsconv.Options{Options: convert.Options{Split: "train=0.8,val=0.2"}}
	report, err := dsconv.PackDataset(context.Background(), newSquares(10), filepath.Join(dir, "squares.tar"), o)
	if err != nil {
		log.Panic(err)
	}
	ds, err := dsconv.Open(report.Datasets[0].Path)
	if err != nil {
		log.Panic(err)
	}
	defer ds.Close()
	fmt.Println(report.Written, "written", ds.Meta().Splits)
	// Output: 10 written [{train 8} {val 2}]
}

// Samples that a program makes one after another are written as they come. After a crash NewWriter goes on from the last
// checkpoint, and Resumed says where that is.
func ExampleNewWriter() {
	dir := exampleFolder()
	defer os.RemoveAll(dir)
	pictures := newSquares(10)
	w, err := dsconv.NewWriter(context.Background(), filepath.Join(dir, "squares.tar"), pictures.Meta().Schema, dsconv.Options{})
	if err != nil {
		log.Panic(err)
	}
	defer w.Close()
	var s formats.Sample
	for i := w.Resumed(); i < pictures.Len(); i++ {
		if err := errors.Join(pictures.Read(i, &s), w.Write(&s)); err != nil {
			log.Panic(err)
		}
	}
	if err := w.Checkpoint(); err != nil { // now and then: what is older survives a crash
		log.Panic(err)
	}
	report, err := w.Commit()
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(report.Written, "written")
	// Output: 10 written
}

// exampleFolder writes a folder of four small images in two classes.
func exampleFolder() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Panic(err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 16, 16))); err != nil {
		log.Panic(err)
	}
	for _, name := range []string{"cat/tom.png", "cat/kit.png", "dog/rex.png", "dog/pup.png"} {
		path := filepath.Join(dir, "images", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
			log.Panic(err)
		}
	}
	return dir
}
