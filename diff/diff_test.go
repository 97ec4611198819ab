package diff_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a dataset in memory; without sums it is like a folder.
type memory struct {
	meta    formats.Meta
	samples []formats.Sample
	sums    bool
	reads   atomic.Int64
	fails   string // the key that cannot be read
	panics  string // the key where reading panics
}

func (m *memory) Meta() *formats.Meta { return &m.meta }
func (m *memory) Len() int            { return len(m.samples) }
func (m *memory) Close() error        { return nil }

func (m *memory) Info(i int) (formats.Info, error) {
	s := &m.samples[i]
	img := &s.Values[m.meta.Schema.ImageIndex()]
	in := formats.Info{Key: s.Key, Split: s.Split, Label: formats.NoLabel, Columns: s.Columns, Size: int64(len(img.Data)), Encoding: img.Encoding}
	if len(img.Shape) == 3 {
		in.Shape = [3]int(img.Shape)
	}
	if l := m.meta.Schema.LabelIndex(); l >= 0 {
		if x, ok := s.Values[l].Int64(); ok {
			in.Label = x
		}
	}
	if m.sums {
		in.Checksum = checksum.SampleChecksum(m.meta.Schema, s)
	}
	return in, nil
}

func (m *memory) Read(i int, s *formats.Sample) error {
	m.reads.Add(1)
	if m.samples[i].Key == m.panics {
		panic("a bug")
	}
	if m.samples[i].Key == m.fails {
		return fmt.Errorf("key %q: %w", m.fails, formats.ErrDamaged)
	}
	s.Key = m.samples[i].Key
	s.Resize(len(m.meta.Schema))
	for k := range s.Values {
		s.Values[k].Set(m.samples[i].Values[k])
	}
	return nil
}

var (
	imageField = formats.Field{Name: "image", Kind: formats.Image}
	labelField = formats.Field{Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}}
)

func dataset(fields ...formats.Field) *memory {
	return &memory{meta: formats.Meta{Schema: fields}, sums: true}
}

func (m *memory) add(key string, values ...formats.Value) *memory {
	m.samples = append(m.samples, formats.Sample{Key: key, Values: values})
	return m
}

func (m *memory) describe(split string, columns ...string) *memory {
	s := &m.samples[len(m.samples)-1]
	s.Split, s.Columns = split, columns
	return m
}

func encoded(data []byte) formats.Value {
	return formats.Value{Data: data, Encoding: formats.Sniff(data)}
}

func text(s string) formats.Value {
	return formats.Value{Data: []byte(s), Encoding: formats.Plain}
}

func label(x int64) (v formats.Value) {
	v.SetInt64(x)
	return v
}

func hot(b ...byte) formats.Value {
	return formats.Value{Data: b, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{len(b)}}
}

// pixels is a PNG of one grey, and the same as raw pixels.
func pixels(t *testing.T, h, w int, grey uint8, level png.CompressionLevel) (asPNG, asRaw formats.Value) {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = grey
	}
	m.SetGray(0, 0, color.Gray{7})
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: level}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return encoded(b.Bytes()), formats.Value{Data: m.Pix, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{h, w, 1}}
}

// found compares and gives what was reported, as "key: aspect field from>to; ...".
func found(t *testing.T, a, b formats.Dataset) []string {
	t.Helper()
	var list []string
	sum, err := diff.Run(context.Background(), a, b, diff.Options{Workers: 3, OnChange: func(c diff.Change) {
		line := string(c.Kind) + " " + c.Key
		for _, d := range c.What {
			line += fmt.Sprintf("; %s", d.Aspect)
			if d.Field != "" {
				line += " " + d.Field
			}
			if d.From != nil || d.To != nil {
				line += fmt.Sprintf(" %v>%v", d.From, d.To)
			}
		}
		list = append(list, line)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Added+sum.Removed+sum.Changed != len(list) || sum.Common+sum.Removed != a.Len() || sum.Common+sum.Added != b.Len() {
		t.Errorf("%+v of %d changes", sum, len(list))
	}
	return list
}

func TestWhatDiffers(t *testing.T) {
	grey, raw := pixels(t, 4, 6, 100, png.DefaultCompression)
	plain, _ := pixels(t, 4, 6, 100, png.NoCompression)
	other, turned := pixels(t, 6, 4, 100, png.DefaultCompression)
	turned.Data = raw.Data // the same bytes in another shape
	broken, broken2 := encoded([]byte("\x89PNG\r\n\x1a\nbroken")), encoded([]byte("\x89PNG\r\n\x1a\nbroken too"))
	mask := formats.Field{Name: "mask", Kind: formats.Mask}
	tags := func(classes ...string) formats.Field {
		return formats.Field{Name: "tags", Kind: formats.MultiHot, Classes: classes}
	}
	one := func(fields ...formats.Field) func(...formats.Value) *memory {
		return func(v ...formats.Value) *memory { return dataset(fields...).add("k", v...) }
	}
	img, pair := one(imageField), one(imageField, labelField)
	swapped := one(imageField, formats.Field{Name: "class", Kind: formats.Label, Classes: []string{"dog", "new", "cat"}})
	unnamed := one(imageField, formats.Field{Name: "label", Kind: formats.Label})
	for name, c := range map[string]struct {
		a, b *memory
		want string
	}{
		"nothing":                      {pair(grey, label(1)), pair(grey, label(1)), ""},
		"another encoding":             {img(grey), img(raw), "bytes"},
		"another compression":          {img(grey), img(plain), "bytes"},
		"another size":                 {img(grey), img(other), "bytes; pixels"},
		"raw of another shape":         {img(raw), img(turned), "pixels"},
		"one is broken":                {img(grey), img(broken), "bytes; pixels"},
		"both are broken":              {img(broken), img(broken2), "bytes"},
		"broken and the same":          {img(broken), img(broken), ""},
		"label":                        {pair(grey, label(0)), pair(grey, label(1)), "label [cat]>[dog]"},
		"no label":                     {pair(grey, label(0)), pair(grey, label(-1)), "label [cat]>[]"},
		"other indices, another field": {pair(grey, label(0)), swapped(grey, label(2)), ""},
		"the same index":               {pair(grey, label(0)), swapped(grey, label(0)), "label [cat]>[dog]"},
		"without names":                {pair(grey, label(1)), unnamed(grey, label(0)), "label [1]>[0]"},
		"out of range":                 {pair(grey, label(1)), pair(grey, label(9)), "label [dog]>[9]"},
		"several labels": {
			one(imageField, tags("a", "b", "c"))(grey, hot(1, 0, 1)), one(imageField, tags("c", "a", "b"))(grey, hot(1, 1, 0)), "",
		},
		"several labels differ": {
			one(imageField, tags("a", "b", "c"))(grey, hot(1, 0, 1)), one(imageField, tags("c", "b", "a"))(grey, hot(1, 1, 0)),
			"label [a c]>[b c]",
		},
		"one of several": {pair(grey, label(1)), one(imageField, tags("dog", "cat"))(grey, hot(1, 0)), ""},
		"a second label": {
			one(imageField, labelField, formats.Field{Name: "sky", Kind: formats.Label, Classes: []string{"sun", "rain"}})(grey, label(0), label(0)),
			one(imageField, labelField, formats.Field{Name: "sky", Kind: formats.Label, Classes: []string{"rain", "sun"}})(grey, label(0), label(0)),
			"label sky [sun]>[rain]",
		},
		"mask and text": {
			one(imageField, mask, formats.Field{Name: "say", Kind: formats.Text})(grey, grey, text("a")),
			one(imageField, mask, formats.Field{Name: "say", Kind: formats.Text})(grey, other, text("b")),
			"bytes mask; pixels mask; bytes say",
		},
		"a field more": {one(imageField, mask)(grey, grey), img(grey), ""},
		"fields in another order": {
			one(imageField, labelField, mask)(grey, label(1), plain), one(mask, imageField, labelField)(grey, grey, label(0)),
			"bytes mask; label [dog]>[cat]",
		},
		"split and columns": {
			pair(grey, label(1)).describe("train", "x", "1"), pair(grey, label(1)).describe("", "2"), "split [train]>[]; column n [1]>[2]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "columns") {
				c.a.meta.Columns, c.b.meta.Columns = []string{"m", "n"}, []string{"n"}
			}
			var want []string
			if c.want != "" {
				want = []string{"changed k; " + c.want}
			}
			for sums := range 4 { // with and without checksums on either side
				c.a.sums, c.b.sums = sums&1 != 0, sums&2 != 0
				if got := found(t, c.a, c.b); !reflect.DeepEqual(got, want) {
					t.Errorf("sums %02b: got %q, want %q", sums, got, want)
				}
			}
		})
	}
}

func TestKeysInOrder(t *testing.T) {
	grey, _ := pixels(t, 2, 2, 1, png.DefaultCompression)
	a, b := dataset(imageField), dataset(imageField)
	var want []string
	for i := range 1000 {
		key := fmt.Sprintf("k%04d", i)
		other := encoded(append(bytes.Clone(grey.Data), 0))
		switch i % 7 {
		case 0:
			a.add(key, grey)
			want = append(want, "removed "+key)
		case 3:
			b.add(key, grey)
			want = append(want, "added "+key)
		case 5:
			a.add(key, grey)
			b.add(key, other)
			want = append(want, "changed "+key+"; bytes")
		default:
			a.add(key, grey)
			b.add(key, grey)
		}
	}
	if got := found(t, a, b); !reflect.DeepEqual(got, want) {
		t.Errorf("got %d lines, want %d", len(got), len(want))
	}
}

func TestEqualSumsAreNotRead(t *testing.T) {
	grey, _ := pixels(t, 2, 2, 1, png.DefaultCompression)
	a, b := dataset(imageField, labelField), dataset(imageField, labelField)
	for i := range 50 {
		a.add(fmt.Sprintf("%02d", i), grey, label(0))
		b.add(fmt.Sprintf("%02d", i), grey, label(int64(i%2)))
	}
	if got := found(t, a, b); len(got) != 25 || a.reads.Load()+b.reads.Load() != 0 {
		t.Errorf("%d changes, %d and %d reads", len(got), a.reads.Load(), b.reads.Load())
	}
	a.sums = false
	if found(t, a, b); a.reads.Load() == 0 || b.reads.Load() != 0 {
		t.Errorf("without sums in A: %d and %d reads", a.reads.Load(), b.reads.Load())
	}
}

func TestErrors(t *testing.T) {
	grey, raw := pixels(t, 2, 2, 1, png.DefaultCompression)
	fill := func(v formats.Value, n int) *memory {
		m := dataset(imageField)
		for i := range n {
			m.add(fmt.Sprintf("%03d", i), v)
		}
		return m
	}
	bad := fill(raw, 200)
	bad.fails = "120"
	_, err := diff.Run(context.Background(), fill(grey, 200), bad, diff.Options{Workers: 4})
	if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), `the second dataset: key "120"`) {
		t.Errorf("%v", err)
	}
	bad.fails, bad.panics = "", "121"
	_, err = diff.Run(context.Background(), fill(grey, 200), bad, diff.Options{Workers: 4})
	if err == nil || !strings.Contains(err.Error(), `key "121"`) || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("a panic: %v", err)
	}
	mixed := dataset(imageField).add("b", grey).add("a", grey)
	if _, err := diff.Run(context.Background(), mixed, fill(grey, 2), diff.Options{Workers: 1}); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), `the key "a" comes after "b"`) {
		t.Errorf("keys out of order: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	_, err = diff.Run(ctx, fill(grey, 5000), fill(raw, 5000), diff.Options{Workers: 2, OnChange: func(diff.Change) {
		if n++; n == 10 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || n > 100 {
		t.Errorf("cancelled: %v after %d changes", err, n)
	}
}

func TestOneSided(t *testing.T) {
	a := dataset(imageField, labelField, formats.Field{Name: "x", Kind: formats.Text}, formats.Field{Name: "m", Kind: formats.Mask})
	b := dataset(formats.Field{Name: "photo", Kind: formats.Image}, formats.Field{Name: "x", Kind: formats.Image})
	a.meta.Columns, b.meta.Columns = []string{"c", "d"}, []string{"d", "e"}
	var started [2]diff.OneSided
	r, err := diff.Run(context.Background(), a, b, diff.Options{OnStart: func(onlyA, onlyB diff.OneSided) { started = [2]diff.OneSided{onlyA, onlyB} }})
	if err != nil {
		t.Fatal(err)
	}
	want := [2]diff.OneSided{{Fields: []string{"label", "x", "m"}, Columns: []string{"c"}}, {Fields: []string{"x"}, Columns: []string{"e"}}}
	if got := [2]diff.OneSided{r.OnlyA, r.OnlyB}; !reflect.DeepEqual(got, want) || !reflect.DeepEqual(started, want) || r.Same() {
		t.Errorf("%+v, first %+v", got, started)
	}
}

// Arguments that make no sense are errors that name them.
func TestMisuse(t *testing.T) {
	grey, raw := pixels(t, 2, 2, 1, png.DefaultCompression)
	a, ctx := dataset(imageField).add("a", grey), context.Background()
	var none context.Context
	for says, run := range map[string]func() (*diff.Report, error){
		"the context or":        func() (*diff.Report, error) { return diff.Run(none, a, a, diff.Options{}) },
		"a dataset is nil":      func() (*diff.Report, error) { return diff.Run(ctx, a, nil, diff.Options{}) },
		"Options.Workers is -3": func() (*diff.Report, error) { return diff.Run(ctx, a, a, diff.Options{Workers: -3}) },
	} {
		if r, err := run(); err == nil || r != nil || !strings.Contains(err.Error(), "diff.Run: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	if r, err := diff.Run(ctx, a, a, diff.Options{}); err != nil || !r.Same() || r.Common != 1 {
		t.Errorf("a dataset and itself: %+v, %v", r, err)
	}
	// A callback that panics leaves no goroutine; TestMain looks for them.
	b := dataset(imageField)
	for i := range 1000 {
		b.add(fmt.Sprintf("%04d", i), raw)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the callback's panic is lost")
			}
		}()
		_, _ = diff.Run(ctx, a, b, diff.Options{OnChange: func(diff.Change) { panic("of the callback") }})
	}()
}

// The progress comes in order and ends with all samples of both datasets, also if none differs.
func TestProgress(t *testing.T) {
	a := dataset(imageField)
	for i := range 300 {
		a.add(fmt.Sprintf("k%03d", i), encoded([]byte("x")))
	}
	last := -1
	_, err := diff.Run(t.Context(), a, a, diff.Options{Progress: func(done, total int) {
		if done < last || total != 600 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}})
	if err != nil || last != 600 {
		t.Errorf("%v: %d", err, last)
	}
}
