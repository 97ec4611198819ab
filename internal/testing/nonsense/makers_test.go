package nonsense_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"path/filepath"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/trainer"
)

// makers make what is neither a number nor a text: the first whose result fits is taken.
var makers = []any{
	func(w *world) context.Context { return w.t.Context() },
	func(w *world) formats.Registry { return dsconv.Formats() },
	func(w *world) formats.Dataset { return w.open(w.tar) },
	func(*world) formats.WritableFormat { return shard.Format{} },
	func(w *world) *formats.Meta { return w.open(w.tar).Meta() },
	func(*world) *formats.Field { return &formats.Field{Name: "label", Kind: formats.Label} },
	func(w *world) formats.Schema { return w.open(w.tar).Meta().Schema },
	func(w *world) *formats.Sample { return w.sample() },
	func(w *world) *formats.Value { return &w.sample().Values[0] },
	func(w *world) *folder.Dataset { return w.open(w.images).(*folder.Dataset) },

	func(w *world) *archive.FS {
		files := made(archive.Open(w.t.Context(), w.tar))(w)
		w.t.Cleanup(func() { _ = files.Close() })
		return files
	},

	func(*world) reader.Config { return usualConfig },
	func(w *world) *reader.Loader { return w.loader() },
	func(w *world) *reader.Run { return w.run() },
	func(w *world) *reader.Batch { return made(w.run().Next(w.t.Context()))(w) },
	func(*world) formats.DType { return formats.Uint8 },
	func(*world) pixel.Layout { return pixel.NHWC },
	func(*world) pixel.Color { return pixel.ColorRGB },
	func(*world) pixel.Filter { return pixel.Bilinear },
	func(*world) augment.Op { return augment.Resize{H: 8, W: 8} },
	func(w *world) *augment.Pipeline {
		return made(augment.Compile(usualConfig.Transforms, 16, 24, 3, formats.Uint8, pixel.NHWC))(w)
	},

	// A dataset that opens would be packed and loaded for each of hundreds of values.
	func(*world) plan.Options { return plan.Options{Open: closed, Dir: "nowhere"} },

	func(*world) *pixel.Image { return usualImage() },
	func(*world) image.Image { return image.NewRGBA(image.Rect(0, 0, 4, 4)) },
	func(w *world) *preprocess.Processor {
		return made(preprocess.NewProcessor(preprocess.Recipe{}, w.open(w.tar).Meta().Schema))(w)
	},

	func(w *world) *convert.Plan {
		return made(convert.New(w.t.Context(), w.open(w.images), shard.Format{}, filepath.Join(w.t.TempDir(), "new.tar"), convert.Options{}))(w)
	},
	func(w *world) *convert.Stitching {
		return &convert.Stitching{Meta: *w.open(w.tar).Meta(), Parts: []string{w.tar}, Reports: []*convert.ShardReport{{Report: convert.Report{Results: convert.Results{Written: 6}}}}}
	},
	func(w *world) *folder.ListedDataset {
		rows := []folder.Listed{{Key: "train/blue/0", Path: "train/blue/0.jpg", Size: int64(len(w.image)), Labels: []int64{0}}}
		return made(folder.OpenListed(w.images, *w.open(w.images).Meta(), rows))(w)
	},
	func(w *world) *trainer.Trainer {
		training := made(trainer.New(trainer.Config{}, [3]int{8, 8, 3}, 2))(w)
		w.t.Cleanup(func() { _ = training.Close() })
		return training
	},

	func(w *world) *dsconv.Writer {
		writer := made(dsconv.NewWriter(w.t.Context(), filepath.Join(w.t.TempDir(), "new.tar"), w.open(w.tar).Meta().Schema, dsconv.Options{}))(w)
		w.t.Cleanup(func() { _ = writer.Close() })
		return writer
	},

	func(w *world) io.Reader { return bytes.NewReader(w.image) },
	func(*world) io.Writer { return io.Discard },
	func(*world) error { return errors.New("damaged") },
	func(w *world) []byte { return w.image },
}

var usualConfig = reader.Config{BatchSize: 2, Transforms: augment.Ops{augment.Resize{H: 8, W: 8}}}

func closed(context.Context, string) (formats.Dataset, error) {
	return nil, errors.New("it does not open")
}

func usualImage() *pixel.Image {
	m := new(pixel.Image)
	m.Reset(4, 4, 3, formats.Uint8)
	return m
}

// made returns a function that fails the test if the constructor failed.
func made[T any](v T, err error) func(*world) T {
	return func(w *world) T {
		w.t.Helper()
		w.must(err)
		return v
	}
}

func (w *world) open(path string) formats.Dataset {
	ds := made(dsconv.Formats().Open(path))(w)
	w.t.Cleanup(func() { _ = ds.Close() })
	return ds
}

func (w *world) sample() *formats.Sample {
	s := new(formats.Sample)
	w.must(w.open(w.tar).Read(0, s))
	return s
}

func (w *world) loader() *reader.Loader {
	l := made(reader.New(w.open(w.tar), usualConfig))(w)
	w.t.Cleanup(func() { _ = l.Close() })
	return l
}

func (w *world) run() *reader.Run {
	l := w.loader()
	run := made(l.Start(w.t.Context(), 0))(w)
	w.t.Cleanup(run.Stop)
	return run
}

// pack writes the tar.
func (w *world) pack() {
	images := w.open(w.images)
	out := made(shard.Format{}.Create(w.tar, *images.Meta(), formats.CreateOptions{}))(w)
	defer out.Close()
	for i := range images.Len() {
		s := new(formats.Sample)
		w.must(images.Read(i, s))
		w.must(out.Write(s))
	}
	w.must(out.Commit())
}
