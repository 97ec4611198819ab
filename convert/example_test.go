package convert_test

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

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// A dataset, here one of the caller's own, becomes a WebDataset tar.
func ExampleRun() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	report, err := convert.Run(context.Background(), tiles{10}, shard.Format{}, filepath.Join(dir, "out.tar"), convert.Options{})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(report.Found, "found,", report.Written, "written,", len(report.Skipped), "skipped")
	// Output: 10 found, 10 written, 0 skipped
}

// A conversion shows its progress and is cancelled; the same call goes on from the last checkpoint, or
// from the start.
func ExampleRun_cancel() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	var last convert.Progress
	o := convert.Options{Progress: func(p convert.Progress) {
		last = p
		cancel() // as if the user had pressed Ctrl-C
	}}
	out := filepath.Join(dir, "out.tfrecord")
	report, err := convert.Run(ctx, tiles{10}, tfrecord.Format{}, out, o)
	fmt.Println("cancelled:", errors.Is(err, context.Canceled), report.Written+report.NotReached, last.Total)

	o.Progress = nil
	report, err = convert.Run(context.Background(), tiles{10}, tfrecord.Format{}, out, o)
	fmt.Println(report.Written, "written,", err)
	// Output:
	// cancelled: true 10 10
	// 10 written, <nil>
}

// Bad images are left out; the report names them.
func ExampleReport() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	o := convert.Options{Order: convert.KeyOrder, Split: convert.NoSplits}
	report, err := convert.Run(context.Background(), cut{tiles{10}}, shard.Format{}, filepath.Join(dir, "out.tar"), o)
	if err != nil {
		log.Panic(err)
	}
	for _, problem := range report.Table() {
		fmt.Println(problem.Path, problem.Action)
	}
	fmt.Println(report.Written, "written")
	// Output:
	// 0003 skipped
	// 9 written
}

// cut is tiles with a file that is cut off.
type cut struct{ tiles }

func (d cut) Read(i int, s *formats.Sample) error {
	err := d.tiles.Read(i, s)
	if i == 3 {
		s.Values[0].Data = s.Values[0].Data[:20]
	}
	return err
}

// A plan says what a conversion would write.
func ExampleNew() {
	o := convert.Options{
		Split: "train=0.8,val=0.2", Only: []string{"train"},
		Order: convert.Shuffled(7), Shards: convert.Sharding{Count: 3},
	}
	plan, err := convert.New(context.Background(), tiles{10}, shard.Format{}, "out-%02d.tar", o)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(plan.Len(), "samples in", plan.Shards, "files:", plan.Meta.Recipe["order"])
	// Output: 8 samples in 3 files: shuffle:7
}

// tiles is a Dataset of n gray images that are drawn when they are read.
type tiles struct{ n int }

func (d tiles) Meta() *formats.Meta {
	return &formats.Meta{Format: "tiles", Count: d.n, Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}
}

func (d tiles) Len() int     { return d.n }
func (d tiles) Close() error { return nil }

func (d tiles) Info(i int) (formats.Info, error) {
	return formats.Info{Key: fmt.Sprintf("%04d", i)}, nil
}

func (d tiles) Read(i int, s *formats.Sample) error {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8+i, 8))); err != nil {
		return err
	}
	s.Key = fmt.Sprintf("%04d", i)
	s.Resize(1)
	s.Values[0].Set(formats.Value{Data: b.Bytes(), Encoding: formats.PNG})
	return nil
}

func tempDir() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Panic(err)
	}
	return dir
}
