package edit_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// images is a folder of images that the tests change.
type images struct {
	t    *testing.T
	root string
}

// put writes the image for seed, with a time one hour ago.
func (f images) put(name string, seed int) {
	f.t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 24+seed%5, 16+seed%7))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * (seed + 3) / 2)
	}
	m.Set(0, 0, color.White)
	var b bytes.Buffer
	f.must(jpeg.Encode(&b, m, nil))
	path := filepath.Join(f.root, name)
	f.must(os.MkdirAll(filepath.Dir(path), 0o755))
	f.must(os.WriteFile(path, b.Bytes(), 0o644))
	f.touch(name, time.Unix(1_700_000_000+int64(seed), 0))
}

func (f images) touch(name string, at time.Time) {
	f.t.Helper()
	f.must(os.Chtimes(filepath.Join(f.root, name), at, at))
}

func (f images) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// pets makes a folder of two classes with n images each.
func pets(t *testing.T, n int) images {
	f := images{t, t.TempDir()}
	for i := range n {
		f.put(fmt.Sprintf("cat/%03d.jpg", i), i)
		f.put(fmt.Sprintf("dog/%03d.jpg", i), 1000+i)
	}
	return f
}

// variant is a kind of dataset that is edited.
type variant struct {
	name   string // of DST
	recipe preprocess.Recipe
	shards int
}

func variants(t *testing.T) []variant {
	small, err := preprocess.ParseResize("exact:12x10")
	if err != nil {
		t.Fatal(err)
	}
	raw := preprocess.Recipe{Resize: small, Encode: codec.Encode{Encoding: formats.Raw}}
	q := preprocess.Recipe{Resize: small, Encode: codec.Encode{Encoding: formats.JPEG, Quality: 80}}
	list := []variant{
		{name: "x.tar"},
		{name: "x.tar.zst", recipe: q},
		{name: "x-%03d.tar", shards: 4},
		{name: "x-%03d.tfrecord", recipe: q, shards: 4},
		{name: "y-%03d.tar", recipe: raw, shards: 3},
	}
	if writable("x.lmdb") {
		list = append(list, variant{name: "x.lmdb"}, variant{name: "y.lmdb", recipe: raw},
			variant{name: "x.h5", recipe: raw}, variant{name: "y.h5", recipe: q})
	}
	return list
}

// writable reports whether this build writes the format of that name.
func writable(name string) bool {
	f, err := dsconv.Formats().ByPath(name)
	if err != nil {
		return false
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return false
	}
	dir, err := os.MkdirTemp("", "dsconv")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	m := formats.Meta{Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}
	x, err := w.Create(filepath.Join(dir, name), m, formats.CreateOptions{})
	return err == nil && x.Close() == nil
}

func forEach(t *testing.T, test func(t *testing.T, v variant)) {
	for _, v := range variants(t) {
		t.Run(v.name+" "+v.recipe.Encode.String(), func(t *testing.T) { test(t, v) })
	}
}

func formatOf(t *testing.T, path string) formats.WritableFormat {
	t.Helper()
	f, err := dsconv.Formats().ByPath(path)
	if err != nil {
		t.Fatal(err)
	}
	return f.(formats.WritableFormat)
}

// pack packs the folder with the variant's options and returns the dataset's path.
func (v variant) pack(t *testing.T, root string, cfg folder.Config) string {
	t.Helper()
	src := openFolder(t, root, cfg)
	path := filepath.Join(t.TempDir(), v.name)
	o := convert.Options{Recipe: v.recipe}
	o.Shards.Count = v.shards
	p, err := convert.New(t.Context(), src, formatOf(t, path), path, o)
	if err != nil {
		t.Fatal(err)
	}
	run(t, p)
	return path
}

func openFolder(t *testing.T, root string, cfg folder.Config) formats.Dataset {
	t.Helper()
	src, err := folder.Open(context.Background(), root, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func run(t *testing.T, p *convert.Plan) {
	t.Helper()
	r, err := p.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Skipped) > 0 {
		t.Fatalf("skipped: %+v", r.Skipped)
	}
}

// dataset is an open dataset and its path.
type dataset struct {
	path string
	formats.Dataset
}

func open(t *testing.T, path string) dataset {
	t.Helper()
	ds, err := formatOf(t, path).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ds.Close() })
	return dataset{path, ds}
}

// wrote checks that an edit ran to its end and skipped nothing.
func wrote(t *testing.T, r edit.Report, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !r.UpToDate && (r.Run == nil || len(r.Run.Skipped) > 0 || !r.Published) {
		t.Fatalf("not written, or not all: %+v", r.Run)
	}
}

func add(t *testing.T, path, root string, cfg folder.Config) *edit.AddReport {
	t.Helper()
	r, err := edit.Add(context.Background(), dsconv.Formats(), path, openFolder(t, root, cfg), edit.AddOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wrote(t, r.Report, err)
	return r
}

// same checks that two datasets do not differ, and that the first is sound.
func same(t *testing.T, path, other string) {
	t.Helper()
	a, b := open(t, path), open(t, other)
	var lines []string
	s, err := diff.Run(context.Background(), a, b, diff.Options{OnChange: func(c diff.Change) { lines = append(lines, fmt.Sprintf("%+v", c)) }})
	if err != nil {
		t.Fatal(err)
	}
	if s.Added+s.Removed+s.Changed > 0 {
		t.Errorf("%s differs from %s:\n%s", path, other, strings.Join(lines, "\n"))
	}
	sound(t, a)
}

// sound checks every block and every sample, and the order of keys.
func sound(t *testing.T, d dataset) {
	t.Helper()
	report := func(x formats.Damage) { t.Errorf("%s: %+v", d.path, x) }
	if err := d.Dataset.(formats.Checker).Check(context.Background(), formats.Portion{}, 2, report); err != nil {
		t.Error(err)
	}
	if err := d.Dataset.(formats.Checker).CheckQuick(context.Background(), report); err != nil {
		t.Error(err)
	}
	before := ""
	var s formats.Sample
	for i := range d.Len() {
		if err := d.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		if s.Key <= before {
			t.Errorf("key %q after %q", s.Key, before)
		}
		before = s.Key
	}
	if _, err := os.Stat(d.path + ".partial"); err == nil {
		t.Errorf("%s.partial is left", d.path)
	}
}
