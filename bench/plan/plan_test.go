package plan

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/synth"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// photos writes a folder of n painted photos and returns its path.
func folderOf(t *testing.T, n, w, h int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "images")
	if err := synth.Write(t.Context(), dir, synth.Options{N: n, Classes: 2, Width: w, Height: h, Seed: 1}, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quick are options with which a plan takes a moment.
func quick(dir string) Options {
	return Options{
		Bench: bench.Options{Size: 32, Config: reader.Config{BatchSize: 8, Workers: 2}}, Rounds: 1, Dir: dir,
		effort: effort{1000, 256 << 20, 10, 10 * time.Millisecond},
	}
}

func (p *Plan) row(t *testing.T, flags string) *Row {
	t.Helper()
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Flags == flags {
			return r
		}
	}
	t.Fatalf("no row %q", flags)
	return nil
}

// The bytes of a plan of some of the images are those of packing all of them, nearly.
func TestSizesAreThoseOfAPack(t *testing.T) {
	src := folderOf(t, 60, 144, 108)
	for _, f := range dsconv.Formats() {
		if w, ok := f.(formats.WritableFormat); ok && formats.CheckBuilt(w) == nil {
			t.Run(f.Name(), func(t *testing.T) { compareSizes(t, src, f.Name()) })
		}
	}
}

func compareSizes(t *testing.T, src, format string) {
	o := quick(t.TempDir())
	o.Sample, o.Bench.Size, o.Format = 40, 64, format
	if format != "lmdb" { // what a format takes besides images does not depend on them
		o.Encodings = []codec.EncodeOptions{{}}
	}
	p, err := Run(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Source.Images != 60 || p.Source.Sampled != 40 || p.Source.EpochSeconds <= 0 || p.Source.Costs.Samples != p.Source.Loaded {
		t.Errorf("source %+v", p.Source)
	}
	recipes := map[string]preprocess.Recipe{
		"":             {},
		"--encode raw": {Encode: codec.EncodeOptions{Encoding: formats.Raw}},
		"--resize shorter:73 --encode raw": {
			Resize: preprocess.Resize{Mode: preprocess.ResizeShorter, W: 73, H: 73}, Encode: codec.EncodeOptions{Encoding: formats.Raw},
		},
	}
	if jpeg.HasLibjpegTurbo {
		recipes["--encode jpeg-tiled"] = preprocess.Recipe{Encode: tiled()}
		recipes["--resize shorter:73 --encode jpeg:90"] = preprocess.Recipe{
			Resize: preprocess.Resize{Mode: preprocess.ResizeShorter, W: 73, H: 73}, Encode: photos(90),
		}
	}
	if len(o.Encodings) > 0 {
		recipes = map[string]preprocess.Recipe{"": {}}
	}
	for text, recipe := range recipes {
		row := p.row(t, text)
		want := packedSize(t, src, format, recipe)
		if off := float64(row.Disk)/float64(want) - 1; math.Abs(off) > 0.1 || row.Format != format {
			t.Errorf("%s in %s: %d bytes, %.0f %% off %d", text, row.Format, row.Disk, 100*off, want)
		}
		if row.EpochSeconds <= 0 || row.PackSeconds <= 0 || row.Unfit != "" || row.Sampled <= 0 || row.Sampled > 40 { // a slow machine packs fewer
			t.Errorf("%s: %+v", text, row)
		}
		if row.Lossless == strings.Contains(text, "resize") {
			t.Errorf("%s: lossless %v", text, row.Lossless)
		}
	}
}

// packedSize packs all of src and returns the bytes of the dataset.
func packedSize(t *testing.T, src, format string, r preprocess.Recipe) int64 {
	t.Helper()
	dir := t.TempDir()
	o := dsconv.Options{Format: format, Table: filepath.Join(t.TempDir(), "report.csv"), Options: convert.Options{Recipe: r}}
	if _, err := dsconv.Pack(t.Context(), src, filepath.Join(dir, "all"+suffixes[format]), o); err != nil {
		t.Fatal(err)
	}
	n, err := sharded.SizeOfFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Whenever a plan is cancelled, its folder of samples is gone afterwards.
func TestCancelledPlanLeavesNothing(t *testing.T) {
	src := folderOf(t, 8, 32, 24)
	for at := 1; ; at++ {
		dir := t.TempDir()
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		o, steps := quick(dir), 0
		o.Encodings = []codec.EncodeOptions{{}, {Encoding: formats.Raw}}
		o.Format = "shard"
		o.Progress = func(p Progress) {
			if p.Done > p.Total || p.Step == "" {
				t.Errorf("progress %+v", p)
			}
			if steps++; steps == at {
				cancel(enough)
			}
		}
		p, err := Run(ctx, src, o)
		cancel(nil)
		if left, readErr := os.ReadDir(dir); readErr != nil || len(left) > 0 {
			t.Fatalf("cancelled at step %d: %v, %v is left", at, readErr, left)
		}
		if steps < at { // it had ended before
			if err != nil || len(p.Rows) != 2 {
				t.Fatalf("%+v, %v", p, err) // p is nil with an error
			}
			return
		}
		if !errors.Is(err, context.Canceled) && !errors.Is(err, enough) {
			t.Fatalf("cancelled at step %d: %v", at, err)
		}
	}
}

// Images that cannot be read are left out; there must be one that can.
func TestBadImages(t *testing.T) {
	src := folderOf(t, 20, 64, 48)
	files, err := filepath.Glob(filepath.Join(src, "*", "*.jpg"))
	if err != nil || len(files) != 20 {
		t.Fatal(files, err)
	}
	for _, file := range files[3:6] {
		if err := os.WriteFile(file, []byte("no image"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := quick(t.TempDir())
	o.Encodings, o.Format = []codec.EncodeOptions{{Encoding: formats.Raw}}, "shard"
	p, err := Run(t.Context(), src, o)
	if err != nil || p.row(t, "--encode raw").EpochSeconds <= 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("no image"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Run(t.Context(), src, o); err == nil {
		t.Error("a plan of images of which none can be read")
	}
}

// A dataset is planned for as well as a folder, with the images of its training split.
func TestPlanOfADataset(t *testing.T) {
	src := folderOf(t, 40, 64, 48)
	tar := filepath.Join(t.TempDir(), "all.tar")
	if _, err := dsconv.Pack(t.Context(), src, tar, dsconv.Options{Options: convert.Options{Split: "train=0.75,val=0.25"}}); err != nil {
		t.Fatal(err)
	}
	o := quick(t.TempDir())
	o.Sample, o.Encodings, o.Format = 20, []codec.EncodeOptions{{}}, "shard"
	p, err := Run(t.Context(), tar, o)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Source; s.Split != "train" || s.Loaded >= s.Images || s.Images != 40 || s.Sampled != 20 || s.Format != "shard" {
		t.Errorf("source %+v", s)
	}
	var table bytes.Buffer
	if err := p.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(as it is)", "(same bytes)", "40 images", "loader alone"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, &table)
		}
	}
}

func TestMisuse(t *testing.T) {
	for says, change := range map[string]func(*Options){
		"sample -1":     func(o *Options) { o.Sample = -1 },
		"batch size -1": func(o *Options) { o.Bench.BatchSize = -1 },
		"folder":        func(o *Options) { o.Format = "folder" },
		"parquet":       func(o *Options) { o.Format = "parquet" },
		"longest":       func(o *Options) { o.Resizes = []preprocess.Resize{{Mode: "longest", W: 3}} },
	} {
		o := quick("")
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
		if _, err := Run(t.Context(), "nowhere", o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Run with %s: %v", says, err)
		}
	}
	if _, err := Run(t.Context(), "", Options{}); err == nil {
		t.Error("a plan of no path")
	}
	if _, err := Run(t.Context(), filepath.Join(t.TempDir(), "none"), Options{}); err == nil {
		t.Error("a plan of nothing")
	}
}

// What would not fit on the disk or, as pixels, in memory is named and not measured.
func TestWhatDoesNotFit(t *testing.T) {
	e := &exploration{src: &source{bytes: 10}, here: Machine{Memory: 100, Free: 1000}}
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	for _, c := range []struct {
		images int64
		encode codec.EncodeOptions
		fits   bool
	}{
		{1001, codec.EncodeOptions{}, false}, {999, codec.EncodeOptions{}, true}, {101, raw, false}, {99, raw, true},
	} {
		why := e.misfit(&trial{images: c.images, recipe: preprocess.Recipe{Encode: c.encode}})
		if (why == "") != c.fits {
			t.Errorf("%d bytes as %s: %q", c.images, c.encode, why)
		}
	}
	e.src.bytes = 200 // pixels already, or as large
	if why := e.misfit(&trial{images: 150, recipe: preprocess.Recipe{Encode: raw}}); why != "" {
		t.Error(why)
	}
}

// No recipe enlarges an image, and small ones are not resized.
func TestSuitedRecipes(t *testing.T) {
	list := func(s source, side int) (texts []string) {
		slices.Sort(s.shorter)
		for _, r := range s.recipes(&Options{}, side) {
			texts = append(texts, flags(r))
		}
		return texts
	}
	large := source{jpegs: true, shorter: []int{300, 400, 500}}
	mixed := source{jpegs: true, shorter: []int{100, 400, 500}}
	small := source{jpegs: true, shorter: []int{32, 32}}
	deep := source{deep: true, shorter: []int{500}}
	lossless := []string{"", "--encode raw"}
	if jpeg.HasLibjpegTurbo {
		lossless = []string{"", "--encode jpeg-tiled", "--encode raw"}
	}
	shorter := []string{"--resize shorter:256 --encode jpeg:90", "--resize shorter:256 --encode raw"}
	cover := "--resize cover:256x256 --encode raw"
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"large", list(large, 224), slices.Concat(lossless, shorter, []string{cover})},
		{"mixed", list(mixed, 224), slices.Concat(lossless, shorter)},
		{"small", list(small, 224), lossless},
		{"deep", list(deep, 224), []string{"", "--encode raw", shorter[1], cover}},
		{"pixels", list(source{raw: true, shorter: []int{100}}, 224), []string{""}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// Of small images more are tried, so many that caches do not hold them, if the caller gives no number.
func TestSmallImagesAreMany(t *testing.T) {
	for _, c := range []struct {
		count, bytes int64
		sample, want int
	}{
		{60_000, 60_000 << 10, 0, 16384}, {60_000, 60_000 << 12, 0, 4096}, {60_000, 60_000 << 17, 0, 1000}, {60_000, 0, 0, 16384}, {60_000, 60_000 << 10, 50, 50},
	} {
		o, err := Options{Sample: c.sample}.withDefaults(ofPlan)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&source{count: c.count, bytes: c.bytes}).enough(&o); got != c.want {
			t.Errorf("%d images of %d bytes: %d, want %d", c.count, c.bytes, got, c.want)
		}
	}
}

// The grid that a caller gives leaves out what pack refuses, and what comes twice.
func TestGivenGrid(t *testing.T) {
	shorter := preprocess.Resize{Mode: preprocess.ResizeShorter, W: 64}
	got := combine([]preprocess.Resize{{}, shorter, shorter}, []codec.EncodeOptions{{}, {Encoding: formats.PNG}, {Encoding: formats.PNG}})
	var texts []string
	for _, r := range got {
		texts = append(texts, flags(r))
	}
	want := []string{"", "--encode png", "--resize shorter:64 --encode png"}
	if !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}

func TestQuote(t *testing.T) {
	for path, want := range map[string]string{
		"a/b-c.d": "a/b-c.d", "a b": "'a b'", "it's": `'it'\''s'`, "-x": "'./-x'", "$HOME": "'$HOME'", "ä": "'ä'",
	} {
		if got := quote(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
