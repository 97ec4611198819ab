// Package lending holds the tests that whoever reads a dataset of one's own leaves its memory alone.
package lending

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

const side, count = 24, 30

var schema = formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "label", Kind: formats.Label, Classes: []string{"a", "b", "c"}},
	{Name: "boxes", Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
	{Name: "mask", Kind: formats.Mask},
	{Name: "caption", Kind: formats.Text},
}

// dataset gives away its items: give sets s to item i. Their data is read-only memory, so that
// writing there ends the process.
type dataset struct {
	meta  formats.Meta
	items []formats.Sample
	give  func(s, item *formats.Sample)
}

// gives are the ways in which a dataset of one's own may set a sample.
var gives = map[string]func(s, item *formats.Sample){
	"data": func(s, item *formats.Sample) {
		s.Resize(len(item.Values))
		for k, v := range item.Values {
			to := &s.Values[k]
			to.Data, to.Encoding, to.DType, to.Shape = v.Data, v.Encoding, v.DType, v.Shape
		}
		s.Key, s.Split, s.Columns, s.Source = item.Key, item.Split, item.Columns, item.Source
	},
	"value": func(s, item *formats.Sample) {
		s.Resize(len(item.Values))
		copy(s.Values, item.Values)
		s.Key, s.Split, s.Columns, s.Source = item.Key, item.Split, item.Columns, item.Source
	},
	"values": func(s, item *formats.Sample) {
		s.Key, s.Split, s.Values, s.Columns, s.Source = item.Key, item.Split, item.Values, item.Columns, item.Source
	},
	"sample": func(s, item *formats.Sample) { *s = *item },
}

func (d *dataset) Meta() *formats.Meta { return &d.meta }
func (d *dataset) Len() int            { return len(d.items) }
func (d *dataset) Close() error        { return nil }

func (d *dataset) Info(i int) (formats.Info, error) {
	item := &d.items[i]
	label, _ := item.Values[1].Int64()
	return formats.Info{
		Key: item.Key, Label: label, Size: int64(len(item.Values[0].Data)), Encoding: item.Values[0].Encoding,
		Columns: item.Columns, Source: item.Source,
	}, nil
}

func (d *dataset) Read(i int, s *formats.Sample) error {
	d.give(s, &d.items[i])
	return nil
}

// viewer is a dataset that lends.
type viewer struct{ *dataset }

func (d viewer) View(i int, s *formats.Sample) error { return d.Read(i, s) }
func (d viewer) Lease() (release func(), err error)  { return func() {}, nil }
func newDataset(t *testing.T, give func(s, item *formats.Sample)) *dataset {
	d := &dataset{give: give, meta: formats.Meta{Format: "own", Version: 1, Schema: schema, Columns: []string{"note"}, Count: count}}
	for i := range count {
		s := formats.Sample{Key: fmt.Sprintf("%03d", i), Columns: []string{fmt.Sprint("note ", i)}}
		s.Source.Path = s.Key + ".jpg"
		s.Resize(len(schema))
		s.Values[0] = formats.Value{Data: photo(t, i), Encoding: formats.JPEG}
		s.Values[1].SetInt64(int64(i % 3))
		s.Values[2].Set(formats.Value{Data: make([]byte, 16*(i%3)), Encoding: formats.Raw, DType: formats.Float32, Shape: []int{i % 3, 4}})
		s.Values[3].Set(formats.Value{Data: bytes.Repeat([]byte{byte(i)}, side*side), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{side, side, 1}})
		s.Values[4].Set(formats.Value{Data: fmt.Append(nil, "caption ", i), Encoding: formats.Plain})
		for k := range s.Values {
			s.Values[k].Data = readOnly(t, s.Values[k].Data)
		}
		d.items = append(d.items, s)
	}
	return d
}

func photo(t *testing.T, i int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	for x := range side {
		m.Set(x, x, color.RGBA{uint8(9 * x), uint8(7 * i), 100, 255})
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readOnly returns a copy of b that ends the process when it is written to.
func readOnly(t *testing.T, b []byte) []byte {
	m, err := unix.Mmap(-1, 0, len(b)+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	copy(m, b)
	if err := unix.Mprotect(m, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	return m[:len(b):len(b)]
}

// unchanged compares the items with those of a dataset that nobody read.
func (d *dataset) unchanged(t *testing.T, by string, untouched *dataset) {
	t.Helper()
	for i := range d.items {
		got, want := &d.items[i], &untouched.items[i]
		same := got.Key == want.Key && got.Split == want.Split && slices.Equal(got.Columns, want.Columns) && got.Source == want.Source && len(got.Values) == len(want.Values)
		for k := 0; same && k < len(got.Values); k++ {
			g, w := &got.Values[k], &want.Values[k]
			same = bytes.Equal(g.Data, w.Data) && g.Encoding == w.Encoding && g.DType == w.DType && slices.Equal(g.Shape, w.Shape)
		}
		if !same {
			t.Fatalf("%s changed item %d: %+v, was %+v", by, i, got, want)
		}
	}
}

// TestItemsStayAsTheyAre whoever reads them, in whichever way the dataset gives them away.
func TestItemsStayAsTheyAre(t *testing.T) {
	for name, give := range gives {
		t.Run(name, func(t *testing.T) {
			d, untouched := newDataset(t, give), newDataset(t, give)
			for by, use := range users() {
				use(t, d)
				d.unchanged(t, by, untouched)
			}
		})
	}
}

// users are those that read datasets.
func users() map[string]func(t *testing.T, d *dataset) {
	all := map[string]func(t *testing.T, d *dataset){
		"load":         func(t *testing.T, d *dataset) { load(t, d, reader.Cache{}) },
		"load views":   func(t *testing.T, d *dataset) { load(t, viewer{d}, reader.Cache{}) },
		"cache":        func(t *testing.T, d *dataset) { load(t, d, reader.Cache{Kind: reader.Encoded, Dir: t.TempDir()}) },
		"cache pixels": func(t *testing.T, d *dataset) { load(t, d, reader.Cache{Kind: reader.Decoded, Dir: t.TempDir()}) },
		"cache pixels of views": func(t *testing.T, d *dataset) {
			load(t, viewer{d}, reader.Cache{Kind: reader.Decoded, Dir: t.TempDir()})
		},
	}
	all["load with another"] = func(t *testing.T, d *dataset) {
		other, err := shard.Format{}.Open(pack(t, d, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		epochs(t, func(c reader.Config) (*reader.Loader, error) {
			return reader.NewConcat([]reader.Part{{Dataset: d}, {Dataset: other}}, c)
		}, reader.Cache{})
	}
	all["compare"] = func(t *testing.T, d *dataset) {
		other, err := shard.Format{}.Open(pack(t, d, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		for _, pair := range [][2]formats.Dataset{{d, other}, {other, d}, {d, d}} {
			r, err := diff.Run(t.Context(), pair[0], pair[1], diff.Options{})
			if err != nil || r.Common != count {
				t.Fatalf("diff: %v %+v", err, r)
			}
		}
	}
	all["edit"] = func(t *testing.T, d *dataset) {
		path := pack(t, d, nil)
		older := *d
		d = &older // with half of the labels and notes changed
		d.items = slices.Clone(d.items)
		for i := range d.items {
			if i%2 == 0 {
				item := &d.items[i]
				item.Values = slices.Clone(item.Values)
				item.Values[1].SetInt64(int64(i+1) % 3)
				item.Columns = []string{"another note"}
			}
		}
		if _, err := edit.Add(t.Context(), formats.Registry{shard.Format{}}, path, d, edit.AddOptions{Hash: true}); err != nil {
			t.Fatal(err)
		}
	}
	for name, recipe := range map[string]map[string]string{
		"keep": nil, "tile": {"encode": "jpeg-tiled"}, "resize": {"encode": "raw", "resize": "exact:16x16"},
	} {
		all["convert "+name] = func(t *testing.T, d *dataset) { pack(t, d, recipe) }
	}
	return all
}

func pack(t *testing.T, d *dataset, options map[string]string) string {
	t.Helper()
	recipe, err := preprocess.ParseRecipe(options)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.tar")
	r, err := convert.Run(t.Context(), d, shard.Format{}, path, convert.Options{Recipe: recipe})
	if err != nil || r.Written != count {
		t.Fatalf("convert: %v, %d written", err, r.Written)
	}
	return path
}

func load(t *testing.T, d formats.Dataset, c reader.Cache) {
	t.Helper()
	epochs(t, func(c reader.Config) (*reader.Loader, error) { return reader.New(d, c) }, c)
}

func epochs(t *testing.T, load func(reader.Config) (*reader.Loader, error), c reader.Cache) {
	t.Helper()
	l, err := load(reader.Config{
		BatchSize: 4, Workers: 3, Shuffle: true, Cache: c, Fields: []string{"boxes", "mask", "caption"},
		Transforms: augment.Ops{augment.Resize{H: 12, W: 12}, augment.RandomHorizontalFlip{P: 0.5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for epoch := range 2 {
		for _, err := range l.Epoch(t.Context(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
