package dsconv_test

// The snippets with which the comments of the packages begin; package_docs_test.go compares. They are compiled, not run:
// each package has examples that run.

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/parquet"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
	"github.com/dsconv/dsconv/trainer"
	"github.com/dsconv/dsconv/verify"
)

func snippetOfRoot(ctx context.Context) error {
	report, err := dsconv.Pack(ctx, "images", "train.lmdb", dsconv.Options{})
	if err != nil {
		return err
	}
	fmt.Println(report.Written)

	loader, err := dsconv.NewLoader("train.lmdb", reader.Config{BatchSize: 64, Shuffle: true})
	if err != nil {
		return err
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(ctx, 0) {
		if err != nil {
			return err
		}
		fmt.Println(batch.Shape, reader.Labels[int64](batch))
	}

	ds, err := dsconv.Open("train.lmdb")
	if err != nil {
		return err
	}
	defer ds.Close()
	for sample, err := range dsconv.Samples(ds) {
		if err != nil {
			return err
		}
		fmt.Println(sample.Key)
	}
	return nil
}

func snippetOfFormats() error {
	ds, err := dsconv.Formats().Open("out.lmdb") // or of another formats.Registry
	if err != nil {
		return err
	}
	defer ds.Close()
	var s formats.Sample
	for i := range ds.Len() {
		if err := ds.Read(i, &s); err != nil {
			return err
		}
		fmt.Println(s.Key, len(s.Values[ds.Meta().Schema.ImageIndex()].Data))
	}
	return nil
}

func snippetOfFolder(ctx context.Context, archive folder.Tree) error {
	ds, err := folder.Open(ctx, "photos", folder.Config{})
	if err != nil {
		return err
	}
	defer ds.Close()
	fmt.Println(ds.Len(), "images", ds.Meta().Classes())

	other, err := folder.OpenTree(ctx, archive, folder.Config{Labels: "labels.csv"})
	if err != nil {
		return err
	}
	return other.Close()
}

func snippetOfLMDB(ctx context.Context, src formats.Dataset) error {
	report, err := convert.Run(ctx, src, lmdb.Format{}, "out.lmdb", convert.Options{})
	if err != nil {
		return err
	}
	fmt.Println(report.Written)
	ds, err := lmdb.Format{}.Open("out.lmdb")
	if err != nil {
		return err
	}
	return ds.Close()
}

func snippetOfHDF5(ctx context.Context, src formats.Dataset) error {
	report, err := convert.Run(ctx, src, hdf5.Format{}, "out.h5", convert.Options{})
	if err != nil {
		return err
	}
	fmt.Println(report.Written)
	ds, err := hdf5.Format{}.Open("out.h5")
	if err != nil {
		return err
	}
	return ds.Close()
}

func snippetOfShard(ctx context.Context, src formats.Dataset) error {
	o := convert.Options{Shards: convert.Sharding{Size: 1 << 30}}
	report, err := convert.Run(ctx, src, shard.Format{}, "out-%06d.tar", o)
	if err != nil {
		return err
	}
	fmt.Println(report.Written)
	ds, err := shard.Format{}.Open("out-%06d.tar")
	if err != nil {
		return err
	}
	return ds.Close()
}

func snippetOfTFRecord(ctx context.Context, src formats.Dataset) error {
	o := convert.Options{Shards: convert.Sharding{Count: 16}}
	report, err := convert.Run(ctx, src, tfrecord.Format{}, "out-%05d.tfrecord", o)
	if err != nil {
		return err
	}
	fmt.Println(report.Written)
	ds, err := tfrecord.Format{}.Open("out-%05d.tfrecord")
	if err != nil {
		return err
	}
	return ds.Close()
}

// The snippet of a format that is only read.
func snippetOfParquet() (formats.Dataset, error) {
	ds, err := parquet.Format{}.Open("my-dataset") // with data/train-00000-of-00003.parquet and so on
	return ds, err
}

func snippetOfLabels(cells []string) error {
	source := labels.Source{
		Column: "class", Cells: cells, // such as "cat", "dog", "cat"
		Where: func(i int) string { return fmt.Sprintf("line %d", i+2) },
	}
	column, err := source.Read()
	if err != nil {
		return err // names the column, the line and the cell
	}
	fmt.Println(column.Indices("dog"))
	return nil
}

func snippetOfConvert(ctx context.Context) error {
	src, err := folder.Open(ctx, "images", folder.Config{})
	if err != nil {
		return err
	}
	defer src.Close()
	report, err := convert.Run(ctx, src, shard.Format{}, "out.tar", convert.Options{})
	if err != nil {
		return err
	}
	fmt.Println(report.Written, "of", report.Found)
	return nil
}

func snippetOfEdit(ctx context.Context) error {
	report, err := edit.Remove(ctx, dsconv.Formats(), "out.lmdb", []string{"cat/12"}, edit.Options{})
	if err != nil {
		return err
	}
	fmt.Println(report.Removed, "removed;", report.Samples, "are left")
	return nil
}

func snippetOfDiff(ctx context.Context) error {
	a, err := dsconv.Open("monday.lmdb")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := dsconv.Open("images") // a folder, too
	if err != nil {
		return err
	}
	defer b.Close()
	report, err := diff.Run(ctx, a, b, diff.Options{OnChange: func(c diff.Change) {
		fmt.Println(c.Kind, c.Key, c.What)
	}})
	if err != nil {
		return err
	}
	fmt.Println(report.Added, report.Removed, report.Changed, report.Same())
	return nil
}

func snippetOfVerify(ctx context.Context) error {
	report, err := verify.Run(ctx, dsconv.Formats(), "out.lmdb", verify.Options{})
	if err != nil {
		return err
	}
	if !report.Sound() {
		fmt.Println(report.Dataset, report.Blocks, report.Samples)
	}
	return nil
}

func snippetOfPreprocess(schema formats.Schema, in, out *formats.Sample, file io.Reader) error {
	recipe := preprocess.Recipe{
		Resize: preprocess.Resize{Mode: preprocess.ResizeShorter, W: 256},
		Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90},
	}
	p, err := preprocess.NewProcessor(recipe, schema)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Process(in, out); err != nil {
		return err
	}
	return nil
}

func snippetOfCodec(file io.Reader, data []byte, out *bytes.Buffer) error {
	img, err := codec.DecodeImage(file, codec.DecodeOptions{EXIF: pixel.EXIFApply}) // an image.Image
	if err != nil {
		return err
	}
	fmt.Println(img.Bounds())

	m, err := codec.Decode(data, codec.DecodeOptions{Region: pixel.Rect{X: 10, Y: 10, W: 64, H: 64}})
	if err != nil {
		return err
	}
	err = codec.Encode(out, m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90})
	return err
}

func snippetOfPixel(img image.Image) error {
	m, err := pixel.FromImage(img) // of any type of the standard library
	if err != nil {
		return err
	}
	err = m.Crop(m, pixel.Rect{X: 10, Y: 10, W: 64, H: 64}) // in place
	if err != nil {
		return err
	}
	out := m.ToImage() // a copy
	fmt.Println(out.Bounds())
	return nil
}

func snippetOfAugment(darken func(*pixel.Image, *random.Rand) error) error {
	ops, err := augment.Parse("rrc:224,flip,jitter:0.4,normalize") // or augment.Train(224)
	if err != nil {
		return err
	}
	config := reader.Config{BatchSize: 64, Transforms: ops, DType: formats.Float32}
	config.Transforms = append(config.Transforms, augment.Func{Name: "darken", Apply: darken})
	fmt.Println(config.Transforms)
	return nil
}

func snippetOfOrder() error {
	spec, err := order.Parse("block:256:64")
	if err != nil {
		return err
	}
	loader, err := dsconv.NewLoader("out.lmdb", reader.Config{BatchSize: 64, Order: spec, Tail: order.Drop})
	if err != nil {
		return err
	}
	return loader.Close()
}

// Tilt rotates by up to Degrees.
type Tilt struct{ Degrees float64 }

func (o Tilt) AddTo(s *augment.Steps, r *random.Rand) {
	s.Rotate(r.Uniform(-o.Degrees, o.Degrees), pixel.Bilinear, false, nil, nil)
}

func snippetOfTrainer(ctx context.Context, train, val *reader.Loader) error {
	result, err := trainer.Run(ctx, train, val, trainer.Config{Model: trainer.ModelCNN, Epochs: 3})
	if err != nil {
		return err
	}
	for _, e := range result.Epochs {
		fmt.Println(e.Number, e.Val.Accuracy, "waited", e.WaitSeconds, "of", e.Seconds)
	}
	return nil
}

func snippetOfBench(ctx context.Context) error {
	report, err := bench.Run(ctx, []string{"images", "out.lmdb"}, bench.Options{})
	if err != nil {
		return err
	}
	for _, d := range report.Datasets {
		fmt.Println(d.Path, d.ImagesPerSecond, d.Ratio, d.Diagnosis)
	}
	return nil
}

var _ = []any{
	snippetOfRoot, snippetOfFormats, snippetOfFolder, snippetOfArchive, snippetOfSources, snippetOfLMDB, snippetOfHDF5,
	snippetOfShard, snippetOfTFRecord, snippetOfParquet, snippetOfLabels, snippetOfConvert, snippetOfEdit, snippetOfDiff, snippetOfVerify,
	snippetOfPreprocess, snippetOfCodec, snippetOfPixel, snippetOfAugment, snippetOfOrder, Tilt.AddTo, snippetOfTrainer,
	snippetOfBench,
}

func snippetOfSources(ctx context.Context) (formats.Dataset, error) {
	ds, err := dsconv.OpenSources(ctx, []string{"train=train.tar", "val=val.zip"}, folder.Config{}, formats.ReadOptions{})
	return ds, err
}

func snippetOfArchive(ctx context.Context) error {
	files, err := archive.Open(ctx, "CUB_200_2011.tgz")
	if err != nil {
		return err
	}
	d, err := folder.OpenTree(ctx, files, folder.Config{}) // which closes files too
	if err != nil {
		return err
	}
	return d.Close()
}
