package reader_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
)

// packing is a way to store a corpus.
type packing struct {
	name, file string
	format     formats.WritableFormat
	options    convert.Options
}

func packings() []packing {
	raw := preprocess.Recipe{Color: pixel.ColorKeep, Encode: codec.EncodeOptions{Encoding: formats.Raw}}
	return []packing{
		{"LMDB", "x.lmdb", lmdb.Format{}, convert.Options{}},
		{"HDF5", "x.h5", hdf5.Format{}, convert.Options{}},
		{"shards", "x-%02d.tar", shard.Format{}, convert.Options{Shards: convert.Sharding{Count: 3}}},
		{"zstd shards", "z-%02d.tar.zst", shard.Format{}, convert.Options{Shards: convert.Sharding{Count: 2}, Create: formats.CreateOptions{Zstd: 3}}},
		{"TFRecord", "x-%02d.tfrecord", tfrecord.Format{}, convert.Options{Shards: convert.Sharding{Count: 2}}},
		{"raw HDF5", "raw.h5", hdf5.Format{}, convert.Options{Recipe: raw}},
		{"raw LMDB", "raw.lmdb", lmdb.Format{}, convert.Options{Recipe: raw}},
	}
}

// corpus is one set of samples as a folder and packed.
type corpus struct {
	root    string
	samples int
	stored  []stored // the folder is the first
}

type stored struct{ name, path string }

// newCorpus makes pictures of differing sizes, JPEG and PNG, a few of them gray or of a palette,
// of three classes that are not equally frequent, and packs them.
func newCorpus(t testing.TB, n int, ways []packing) *corpus {
	t.Helper()
	c := &corpus{root: t.TempDir(), samples: n}
	folder := filepath.Join(c.root, "images")
	for i := range n {
		class := []string{"cat", "cat", "cat", "dog", "owl"}[i%5]
		must(t, os.MkdirAll(filepath.Join(folder, class), 0o755))
		must(t, writePicture(filepath.Join(folder, class, fmt.Sprintf("%03d", i)), i))
	}
	c.stored = []stored{{"folder", folder}}
	for _, p := range ways {
		c.pack(t, p)
	}
	return c
}

func (c *corpus) pack(t testing.TB, p packing) {
	t.Helper()
	path := filepath.Join(c.root, p.file)
	report, err := convert.Run(t.Context(), c.open(t, c.stored[0]), p.format, path, p.options)
	if errors.Is(err, formats.ErrNotBuilt) {
		t.Logf("without %s: %v", p.name, err)
		return
	}
	must(t, err)
	if report.Written != c.samples {
		t.Fatalf("%s: %d of %d samples were written", p.name, report.Written, c.samples)
	}
	c.stored = append(c.stored, stored{p.name, path})
}

// open opens the corpus, the folder with extra fields, until the test ends.
func (c *corpus) open(t testing.TB, s stored) formats.Dataset {
	t.Helper()
	ds, err := dsconv.Formats().Open(s.path)
	must(t, err)
	t.Cleanup(func() { must(t, ds.Close()) })
	if s.name == "folder" {
		return annotate(ds)
	}
	return ds
}

// datasets opens all that is stored.
func (c *corpus) datasets(t testing.TB) []formats.Dataset {
	t.Helper()
	var open []formats.Dataset
	for _, s := range c.stored {
		open = append(open, c.open(t, s))
	}
	return open
}

func sizeOf(i int) (w, h int) { return 40 + i%17, 30 + i%23 }

func writePicture(path string, i int) error {
	encode, ext := func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }, ".jpg"
	if i%2 == 1 {
		encode, ext = png.Encode, ".png"
	}
	f, err := os.Create(path + ext)
	if err != nil {
		return err
	}
	return errors.Join(encode(f, picture(i)), f.Close())
}

// picture has colours that change from place to place.
func picture(i int) image.Image {
	w, h := sizeOf(i)
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x*5 + i*7), uint8(y*6 + i), uint8(x*y + i*3), 255})
		}
	}
	switch i % 20 {
	case 9:
		return redraw(image.NewGray(m.Rect), m)
	case 15:
		return redraw(image.NewPaletted(m.Rect, color.Palette{color.Black, color.White, color.NRGBA{200, 30, 60, 255}}), m)
	}
	return m
}

func redraw(dst interface {
	image.Image
	Set(x, y int, c color.Color)
}, src image.Image,
) image.Image {
	for y := range src.Bounds().Dy() {
		for x := range src.Bounds().Dx() {
			dst.Set(x, y, src.At(x, y))
		}
	}
	return dst
}

// annotated is a folder's dataset with an extra field of each kind.
type annotated struct {
	formats.Dataset
	meta formats.Meta
}

// extraFields are the names of the fields that annotate adds.
var extraFields = []string{"mask", "boxes", "depth", "caption", "points", "quality", "tags"}

func annotate(ds formats.Dataset) annotated {
	d := annotated{ds, *ds.Meta()}
	d.meta.Schema = append(d.meta.Schema[:len(d.meta.Schema):len(d.meta.Schema)],
		formats.Field{Name: "mask", Kind: formats.Mask},
		formats.Field{Name: "boxes", Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
		formats.Field{Name: "depth", Kind: formats.Image, DType: formats.Uint8},
		formats.Field{Name: "caption", Kind: formats.Text},
		formats.Field{Name: "points", Kind: formats.Array, DType: formats.Uint16, Shape: []int{3}},
		formats.Field{Name: "quality", Kind: formats.Label, Classes: []string{"low", "high"}},
		formats.Field{Name: "tags", Kind: formats.MultiHot, DType: formats.Uint8, Shape: []int{3}, Classes: []string{"a", "b", "c"}},
	)
	return d
}

func (d annotated) Meta() *formats.Meta { return &d.meta }

func (d annotated) Read(i int, s *formats.Sample) error {
	if err := d.Dataset.Read(i, s); err != nil {
		return err
	}
	number := 0
	if _, err := fmt.Sscanf(filepath.Base(s.Key), "%d", &number); err != nil {
		return err
	}
	w, h := sizeOf(number)
	s.Resize(len(d.meta.Schema))
	extra := s.Values[len(s.Values)-len(extraFields):]
	pixels := func(channels int) formats.Value {
		v := formats.Value{Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{h, w, channels}}
		for k := range h * w * channels {
			v.Data = append(v.Data, byte(k/7+number+channels))
		}
		return v
	}
	boxes := formats.Value{Encoding: formats.Raw, DType: formats.Float32, Shape: []int{number % 3, 4}}
	for k := range 4 * (number % 3) {
		boxes.Data = binary.LittleEndian.AppendUint32(boxes.Data, math.Float32bits(float32(k*7+number%9)))
	}
	points := formats.Value{Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{3}}
	for k := range 3 {
		points.Data = binary.LittleEndian.AppendUint16(points.Data, uint16(number*1000+k))
	}
	extra[0].Set(pixels(1))
	extra[1].Set(boxes)
	extra[2].Set(pixels(3))
	extra[3].Set(formats.Value{Encoding: formats.Plain, Data: fmt.Appendf(nil, "picture %d", number*number)})
	extra[4].Set(points)
	extra[5].SetInt64(int64(number % 2))
	extra[6].Set(formats.Value{Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{3}, Data: []byte{1, byte(number & 1), byte(number >> 1 & 1)}})
	return nil
}

// entry is one sample of a batch; Sum is of all there is of it, pixels, labels and fields.
type entry struct {
	Index int
	Label int64
	Sum   uint64
}

// step is a batch.
type step struct {
	End     int
	Entries []entry
}

func stepOf(b *reader.Batch) step {
	s := step{End: b.End}
	var buf []byte
	for i := range b.N {
		buf = appendEntry(buf[:0], b, i)
		s.Entries = append(s.Entries, entry{b.Indices[i], b.Label(i), xxh3.Hash(buf)})
	}
	return s
}

// appendEntry appends all there is of entry i but its index.
func appendEntry(buf []byte, b *reader.Batch, i int) []byte {
	buf = fmt.Append(buf, b.Shape[1:], b.Label(i), row(b.MultiHot, b.N, i))
	buf = append(buf, row(b.ImageBytes(), b.N, i)...)
	for _, x := range row(b.Soft, b.N, i) {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	for k := range b.Fields {
		f := &b.Fields[k]
		shape := f.Shape
		if shape == nil {
			shape = f.Shapes[i]
		}
		buf = fmt.Append(buf, f.Name, f.Kind, f.DType, shape)
		buf = append(buf, f.Value(i)...)
	}
	return buf
}

// row is row i of n.
func row[T any](s []T, n, i int) []T {
	size := len(s) / n
	return s[i*size:][:size]
}

// collect is all that a range gives.
func collect(t testing.TB, batches iter.Seq2[*reader.Batch, error]) []step {
	t.Helper()
	var steps []step
	for b, err := range batches {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, stepOf(b))
	}
	return steps
}

// newLoader makes a Loader that is closed at the test's end.
func newLoader(t testing.TB, ds formats.Dataset, c reader.Config) *reader.Loader {
	t.Helper()
	l, err := reader.New(ds, c)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// synchronous is c without goroutines.
func synchronous(c reader.Config) reader.Config {
	c.Workers, c.Prefetch, c.Synchronous = 0, 0, true
	return c
}

// randomList is a list of n samples among so many, of which some come twice.
func randomList(r *rand.Rand, among, n int) []int32 {
	list := make([]int32, n)
	for k := range list {
		list[k] = int32(r.IntN(among))
	}
	return list
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
