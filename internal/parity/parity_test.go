package parity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/parity"
	"github.com/dsconv/dsconv/preprocess"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// python is the one of DSCONV_PYTHON; without it the test is skipped.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DSCONV_PYTHON")
	if path == "" {
		t.Skip("DSCONV_PYTHON is not set")
	}
	if jpeg.DecoderName != "libjpeg-turbo" {
		t.Skipf("%s is not exact", jpeg.DecoderName)
	}
	return path
}

// memory is a packed dataset.
type memory struct {
	meta    formats.Meta
	samples []formats.Sample
}

func (m *memory) Meta() *formats.Meta { return &m.meta }
func (m *memory) Len() int            { return len(m.samples) }
func (m *memory) Close() error        { return nil }

func (m *memory) Info(i int) (formats.Info, error) {
	return formats.Info{Key: m.samples[i].Key, Source: m.samples[i].Source, Checksum: [16]byte{1}}, nil
}

func (m *memory) Read(i int, s *formats.Sample) error {
	s.Key = m.samples[i].Key
	s.Resize(1)
	s.Values[0].Set(m.samples[i].Values[0])
	return nil
}

// pack makes a dataset of src by a recipe; what cannot be packed is left out.
func pack(t *testing.T, src formats.Dataset, recipe map[string]string) *memory {
	t.Helper()
	r, err := preprocess.ParseRecipe(recipe)
	if err != nil {
		t.Fatal(err)
	}
	schema := formats.Schema{src.Meta().Schema[src.Meta().Schema.ImageIndex()]}
	p, err := preprocess.NewProcessor(r, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m := &memory{meta: formats.Meta{Schema: schema, Recipe: r.Map()}}
	for i := range src.Len() {
		var in, out formats.Sample
		if err := src.Read(i, &in); err != nil {
			t.Fatal(err)
		}
		in.Values = in.Values[src.Meta().Schema.ImageIndex():][:1]
		if p.Process(&in, &out) == nil {
			m.samples = append(m.samples, out)
		}
	}
	return m
}

// corpus is a folder of images of every kind and of irregular sizes.
func corpus(t *testing.T) formats.Dataset {
	t.Helper()
	dir := t.TempDir()
	for _, of := range []string{"sound", "region"} {
		if err := os.CopyFS(filepath.Join(dir, of), os.DirFS(filepath.Join("..", "..", "preprocess", "testdata", of))); err != nil {
			t.Fatal(err)
		}
	}
	// The inverted fax is read otherwise than by libtiff.
	if err := os.Remove(filepath.Join(dir, "sound", "bit.tif")); err != nil {
		t.Fatal(err)
	}
	for _, size := range []image.Point{{1, 1}, {1, 40}, {33, 1}, {301, 250}, {90, 800}, {640, 77}} {
		m := image.NewNRGBA(image.Rectangle{Max: size})
		for i := range size.X * size.Y {
			x, y := float64(i%size.X), float64(i/size.X)
			m.Set(i%size.X, i/size.X, color.NRGBA{
				uint8(127 + 120*math.Sin(x/3)*math.Cos(y/5)), uint8(i * 7), uint8(127 + 120*math.Sin(x*y/500)), uint8(255 - i%97),
			})
		}
		write(t, dir, fmt.Sprintf("%dx%d.png", size.X, size.Y), func(b *bytes.Buffer) error { return png.Encode(b, m) })
		write(t, dir, fmt.Sprintf("%dx%d.jpg", size.X, size.Y), func(b *bytes.Buffer) error { return stdjpeg.Encode(b, m, nil) })
	}
	return open(t, dir)
}

func write(t *testing.T, dir, name string, encode func(*bytes.Buffer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) formats.Dataset {
	t.Helper()
	src, err := folder.Open(context.Background(), dir, folder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// certificate is what the tests read of one.
type certificate struct {
	Equal                   bool
	Paths                   []*path
	Missing, Changed, Notes []string
	text                    string
}

// verdict is what the text says is wrong with a path.
func (c *certificate) verdict(p *path) string {
	for line := range strings.Lines(c.text) {
		if strings.HasPrefix(line, "differs: "+p.Name+": ") {
			return line
		}
	}
	return ""
}

type path struct {
	Name, Allowed, Worst, Cause string
	Images, Differ, Largest     int
	PSNR                        *float64
	Refused                     []struct {
		Key     string
		Excused bool
	}
}

func run(t *testing.T, src, dst formats.Dataset, o parity.Options) *parity.Result {
	t.Helper()
	o.Python = python(t)
	found, err := parity.Run(context.Background(), src, dst, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func certify(t *testing.T, src, dst formats.Dataset, o parity.Options) *certificate {
	t.Helper()
	found := run(t, src, dst, o)
	c := &certificate{text: found.Text}
	if err := json.Unmarshal(found.Certificate, c); err != nil {
		t.Fatal(err)
	}
	if c.Equal != found.Equal {
		t.Errorf("the certificate says %v, and Python %v", c.Equal, found.Equal)
	}
	return c
}

func pathOf(t *testing.T, c *certificate, name string) *path {
	t.Helper()
	i := slices.IndexFunc(c.Paths, func(p *path) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no path %s in %+v", name, c)
	}
	return c.Paths[i]
}

func TestDefaultPathsAreEqual(t *testing.T) {
	python(t)
	src := corpus(t)
	for i, recipe := range []map[string]string{
		{"encode": "jpeg-tiled:4"},
		{"encode": "raw", "color": "gray", "exif": "apply", "resize": "fit:60x50", "filter": "box", "upscale": "true"},
		{"encode": "raw", "color": "keep", "resize": "exact:37x61", "filter": "lanczos", "compress": "zstd:3"},
		{"encode": "png", "color": "keep", "resize": "longer:45", "filter": "hamming"},
		{"encode": "png", "resize": "cover:40x40", "filter": "bicubic"},
		{"encode": "raw", "resize": "shorter:30", "filter": "nearest"},
		{"encode": "jpeg:90", "resize": "shorter:48"},
		{"encode": "keep"},
	} {
		if testing.Short() && i == 2 {
			break
		}
		name := strings.Join(slices.Sorted(maps.Values(recipe)), " ")
		t.Run(name, func(t *testing.T) {
			dst := pack(t, src, recipe)
			c := certify(t, src, dst, parity.Options{})
			for _, p := range c.Paths {
				if wrong := c.verdict(p); wrong != "" {
					t.Error(wrong)
				}
				if p.Images == 0 {
					t.Errorf("%s compares nothing", p.Name)
				}
			}
			if !c.Equal || len(c.Missing)+len(c.Changed)+len(c.Notes) > 0 {
				t.Errorf("equal %v, missing %v, changed %v, notes %v", c.Equal, c.Missing, c.Changed, c.Notes)
			}
			lossy := strings.HasPrefix(recipe["encode"], "jpeg:")
			if p := pathOf(t, c, "packed"); lossy != (p.Differ > 0) || lossy != (p.Allowed != "") || p.Images < 50 {
				t.Errorf("packed: %+v", p)
			}
		})
	}
}

// What does not depend on the number of workers, and what a certificate holds.
func TestCertificate(t *testing.T) {
	python(t)
	src := corpus(t)
	dst := pack(t, src, map[string]string{"encode": "jpeg:80", "resize": "shorter:40"})
	var texts [2]string
	for i := range texts {
		found := run(t, src, dst, parity.Options{Sample: 12, Workers: 1 + i})
		texts[i] = string(found.Certificate) + found.Text
	}
	if texts[0] != texts[1] {
		t.Errorf("workers change what is found:\n%s\n%s", texts[0], texts[1])
	}
	for _, want := range []string{`"pillow": "13.`, `"jpeg": "libjpeg-turbo`, `"resampler": "pillow-13"`, `"chosen": 12`, `"resize": "shorter:40"`, `"psnr": null`} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("%s is not in %s", want, texts[0])
		}
	}
}

func TestAlteredPixelIsFound(t *testing.T) {
	src := corpus(t)
	dst := pack(t, src, map[string]string{"encode": "raw", "resize": "exact:32x24"})
	dst.samples[7].Values[0].Data[100] ^= 3
	c := certify(t, src, dst, parity.Options{})
	p := pathOf(t, c, "packed")
	if c.Equal || p.Differ != 1 || p.Worst != dst.samples[7].Key || p.Largest < 1 || p.Largest > 3 || p.PSNR == nil {
		t.Errorf("%v %+v", c.Equal, p)
	}
	if !strings.Contains(c.verdict(p), p.Worst) {
		t.Error(c.verdict(p))
	}
	for _, q := range c.Paths {
		if wrong := c.verdict(q); q != p && wrong != "" {
			t.Error(wrong)
		}
	}
}

func TestOtherFilterThanTheRecipeSaysIsFound(t *testing.T) {
	src := corpus(t)
	dst := pack(t, src, map[string]string{"encode": "png", "resize": "exact:32x24", "filter": "bicubic"})
	dst.meta.Recipe["filter"] = "bilinear"
	c := certify(t, src, dst, parity.Options{})
	if p := pathOf(t, c, "packed"); c.Equal || p.Differ < 30 {
		t.Errorf("%+v", p)
	}
	dst.meta.Recipe["resize"] = "exact:32x25"
	c = certify(t, src, dst, parity.Options{Sample: 8, Workers: 1})
	if p := pathOf(t, c, "packed"); c.Equal || p.Differ != p.Images || p.Cause == "" || p.Largest != 255 {
		t.Errorf("%+v", p)
	}
}

// What the recipe asks for by name may differ, and the exact paths are compared nevertheless.
func TestFastRecipeMayDiffer(t *testing.T) {
	if !jpeg.HasLibjpegTurbo {
		t.Skip("this build knows no fast way to decode")
	}
	src := corpus(t)
	dst := pack(t, src, map[string]string{"encode": "raw", "resize": "shorter:30", "decode": "fast"})
	c := certify(t, src, dst, parity.Options{})
	packed, fast, resize := pathOf(t, c, "packed"), pathOf(t, c, "fast"), pathOf(t, c, "resize")
	if !c.Equal || packed.Differ == 0 || !strings.Contains(packed.Allowed, "fast") || resize.Differ > 0 {
		t.Errorf("packed %+v, resize %+v", packed, resize)
	}
	if packed.Differ != fast.Differ || packed.Largest != fast.Largest || packed.Worst != fast.Worst {
		t.Errorf("packed %+v and fast %+v are not of the same pixels", packed, fast)
	}
}

// A file that is another one than when it was packed is said to be.
func TestChangedAndMissingSources(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		m := image.NewGray(image.Rect(0, 0, 9+i, 7))
		write(t, dir, fmt.Sprintf("%d.png", i), func(b *bytes.Buffer) error { return png.Encode(b, m) })
	}
	dst := pack(t, open(t, dir), map[string]string{"encode": "raw"})
	for i := range dst.samples {
		dst.samples[i].Source.Hash = [16]byte{byte(i)} // that of sample 0 is not known
	}
	os.Remove(filepath.Join(dir, "3.png"))
	c := certify(t, open(t, dir), dst, parity.Options{})
	if !slices.Equal(c.Missing, []string{"3"}) || !slices.Equal(c.Changed, []string{"1", "2"}) || pathOf(t, c, "packed").Images != 1 {
		t.Errorf("%+v", c)
	}
	strangers := &memory{meta: dst.meta, samples: []formats.Sample{{Key: "other", Values: dst.samples[0].Values}}}
	_, err := parity.Run(context.Background(), strangers, dst, parity.Options{Python: "never started"})
	if !errors.Is(err, parity.ErrUnmatched) {
		t.Error(err)
	}
}

// Images that Pillow does not read either agree with it.
func TestUndecodable(t *testing.T) {
	dir := t.TempDir()
	m := image.NewGray(image.Rect(0, 0, 30, 20))
	for i := range m.Pix {
		m.Pix[i] = byte(i * i)
	}
	write(t, dir, "whole.png", func(b *bytes.Buffer) error { return png.Encode(b, m) })
	write(t, dir, "cut.png", func(b *bytes.Buffer) error {
		err := png.Encode(b, m)
		b.Truncate(b.Len() / 2)
		return err
	})
	src := open(t, dir)
	dst := pack(t, src, map[string]string{"encode": "keep"})
	if len(dst.samples) == 1 {
		cut := dst.samples[0]
		data, err := os.ReadFile(filepath.Join(dir, "cut.png"))
		if err != nil {
			t.Fatal(err)
		}
		cut.Key, cut.Source = "cut", formats.Source{Path: "cut.png"}
		cut.Values = []formats.Value{{Data: data, Encoding: formats.PNG}}
		dst.samples = []formats.Sample{cut, dst.samples[0]}
	}
	c := certify(t, src, dst, parity.Options{})
	p := pathOf(t, c, "decode")
	if !c.Equal || p.Images != 1 || len(p.Refused) != 1 || p.Refused[0].Key != "cut" || !p.Refused[0].Excused {
		t.Errorf("%v %+v", c.Equal, p)
	}
}
