package dsconv_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/reader"
)

// pets writes a folder with n images of each class, in the splits if there are any.
func pets(t testing.TB, n int, splits ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pets")
	if splits == nil {
		splits = []string{""}
	}
	for _, split := range splits {
		for _, class := range []string{"cat", "dog"} {
			in := filepath.Join(dir, split, class)
			must(t, os.MkdirAll(in, 0o755))
			for i := range n {
				img := image.NewGray(image.Rect(0, 0, 16, 8))
				img.SetGray(i%16, 0, color.Gray{Y: 200})
				var b bytes.Buffer
				must(t, jpeg.Encode(&b, img, nil))
				must(t, os.WriteFile(filepath.Join(in, string(rune('a'+i))+".jpg"), b.Bytes(), 0o644))
			}
		}
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPackOpenIterateLoad: the way of a dataset through the package.
func TestPackOpenIterateLoad(t *testing.T) {
	src := pets(t, 5)
	for _, name := range []string{"x.tar", "x.tfrecord"} {
		dst := filepath.Join(t.TempDir(), name)
		r, err := dsconv.Pack(t.Context(), src, dst, dsconv.Options{})
		if err != nil || r.Found != 10 || r.Written != 10 || len(r.Datasets) != 1 || r.Table != "" || durable.Exists(dst+".report.csv") {
			t.Fatalf("%v: %+v", err, r)
		}
		ds, err := dsconv.Open(dst)
		must(t, err)
		var keys []string
		for s, err := range dsconv.Samples(ds) {
			must(t, err)
			if len(s.Values) != 2 || len(s.Values[0].Data) == 0 {
				t.Errorf("%s: %d values", s.Key, len(s.Values))
			}
			if keys = append(keys, strings.Clone(s.Key)); len(keys) == 7 {
				break
			}
		}
		must(t, ds.Close())
		if len(keys) != 7 || !slices.IsSorted(keys) {
			t.Errorf("keys: %q", keys)
		}
		l, err := dsconv.NewLoader(dst, reader.Config{BatchSize: 4})
		must(t, err)
		n := 0
		for b, err := range l.Epoch(t.Context(), 0) {
			must(t, err)
			n += b.N
		}
		must(t, l.Close())
		if n < 10 {
			t.Errorf("%d images are loaded", n)
		}
	}
}

// TestSamplesOfABadDataset: each bad sample is one step; a closed dataset ends the loop.
func TestSamplesOfABadDataset(t *testing.T) {
	src := pets(t, 3)
	ds, err := dsconv.Open(src)
	must(t, err)
	must(t, os.Remove(filepath.Join(src, "cat", "b.jpg")))
	good, bad := 0, 0
	for s, err := range dsconv.Samples(ds) {
		if err == nil && s != nil {
			good++
		} else if s == nil && strings.Contains(err.Error(), "cat/b") {
			bad++
		}
	}
	if good != 5 || bad != 1 {
		t.Errorf("%d samples, %d errors", good, bad)
	}
	steps := 0
	for _, err := range dsconv.Samples(closed{ds}) {
		if steps++; !errors.Is(err, formats.ErrClosed) {
			t.Errorf("a closed dataset: %v", err)
		}
	}
	if steps != 1 {
		t.Errorf("%d steps", steps)
	}
}

// closed is a dataset that was closed.
type closed struct{ formats.Dataset }

func (closed) Read(int, *formats.Sample) error { return formats.ErrClosed }

// TestPackASplitEach: a format and a folder give a dataset for each split, in a folder that is created.
func TestPackASplitEach(t *testing.T) {
	src, out := pets(t, 4, "train", "val"), filepath.Join(t.TempDir(), "out")
	o := dsconv.Options{Format: "tfrecord"}
	r, err := dsconv.Pack(t.Context(), src, out, o)
	if err != nil || len(r.Datasets) != 2 || r.Written != 16 || r.Datasets[0].Path != filepath.Join(out, "train-%06d.tfrecord") {
		t.Fatalf("%v: %+v", err, r)
	}
	if _, err := dsconv.Pack(t.Context(), src, filepath.Join(t.TempDir(), "no", "out"), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder above is missing: %v", err)
	}
	o.Only = []string{"val"}
	p, err := dsconv.PlanPack(t.Context(), []string{src}, filepath.Join(t.TempDir(), "out"), o)
	must(t, err)
	if len(p.Datasets) != 1 || p.Report.Found != 8 {
		t.Errorf("only val: %d datasets, %d found", len(p.Datasets), p.Report.Found)
	}
	must(t, p.Close())
	o.Only = []string{"test"}
	if _, err := dsconv.PlanPack(t.Context(), []string{src}, out, o); !errors.Is(err, convert.ErrOptions) || !strings.Contains(err.Error(), `"test"`) {
		t.Errorf("an unknown split: %v", err)
	}
}

// TestCancelledPackIsResumed: what was not reached is counted over all datasets, and the next Pack does
// that alone.
func TestCancelledPackIsResumed(t *testing.T) {
	src, out := pets(t, 8, "train", "val"), filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := dsconv.Options{Format: "tfrecord"}
	o.Workers, o.IOWorkers = 1, 1
	o.Progress = func(convert.Progress) { cancel() }
	r, err := dsconv.Pack(ctx, src, out, o)
	if !errors.Is(err, context.Canceled) || len(r.Datasets) != 1 || r.Found != 32 || r.NotReached < 16 || r.Written+r.NotReached != 32 || r.Failed != 0 {
		t.Fatalf("in the first dataset: %v: %+v", err, r)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p convert.Progress) {
		if strings.Contains(p.Path, "val") {
			cancel()
		}
	}
	r, err = dsconv.Pack(ctx, src, out, o)
	if !errors.Is(err, context.Canceled) || len(r.Datasets) != 2 || r.Found != 32 || r.Written < 16 || r.Written+r.NotReached != 32 || r.Failed != 0 {
		t.Fatalf("in the second dataset: %v: %+v", err, r)
	}
	o.Progress = func(p convert.Progress) {
		if strings.Contains(p.Path, "train") {
			t.Error("a finished dataset is written again")
		}
	}
	if r, err = dsconv.Pack(t.Context(), src, out, o); err != nil || r.Written != 32 || r.NotReached != 0 {
		t.Errorf("resumed: %v: %+v", err, r)
	}
}

// TestMisuse: errors that name what is wrong, and nothing is written.
func TestMisuse(t *testing.T) {
	src, dir := pets(t, 2), t.TempDir()
	tar := filepath.Join(dir, "x.tar")
	ds, err := dsconv.Open(src)
	must(t, err)
	pack := func(ctx context.Context, src, dst string, o dsconv.Options) error {
		r, err := dsconv.Pack(ctx, src, dst, o)
		if r == nil {
			t.Error("there is no report")
		}
		return err
	}
	var bad dsconv.Options
	bad.Workers = -3
	open := func(path string) error { _, err := dsconv.Open(path); return err }
	source := func(ctx context.Context, path string, c folder.Config) error {
		_, err := dsconv.OpenSource(ctx, path, c)
		return err
	}
	load := func(path string, c reader.Config) error { _, err := dsconv.NewLoader(path, c); return err }
	dataset := func(ctx context.Context, src formats.Dataset, dst string) error {
		_, err := dsconv.PackDataset(ctx, src, dst, dsconv.Options{})
		return err
	}
	both := dsconv.Options{Source: folder.Config{Patterns: formats.Patterns{Include: []string{"a"}}}}
	both.Patterns.Include = []string{"b"}
	missing := filepath.Join(dir, "missing")
	_, table := dsconv.TablePath("", "")
	new(dsconv.Report).Add(nil)
	for i, c := range []struct {
		err  error
		want string
		is   error
	}{
		{open(""), "path is empty", convert.ErrOptions},
		{open(missing), missing, fs.ErrNotExist},
		{open("s3://bucket/x.tar"), "s3://", formats.ErrRemote},
		{source(nil, src, folder.Config{}), "context is nil", convert.ErrOptions},
		{source(t.Context(), "", folder.Config{}), "path is empty", convert.ErrOptions},
		{source(t.Context(), missing, folder.Config{}), missing, fs.ErrNotExist},
		{source(t.Context(), filepath.Join(dir, "x.lmdb"), folder.Config{Labels: "x.csv"}), "are for folders", convert.ErrOptions},
		{load("", reader.Config{}), "path is empty", convert.ErrOptions},
		{load(missing, reader.Config{}), missing, fs.ErrNotExist},
		{load(src, reader.Config{BatchSize: -1}), "-1", nil},
		{pack(nil, src, tar, dsconv.Options{}), "context is nil", convert.ErrOptions},
		{pack(t.Context(), "", tar, dsconv.Options{}), "path is empty", convert.ErrOptions},
		{pack(t.Context(), src, "", dsconv.Options{}), "output is empty", convert.ErrOptions},
		{pack(t.Context(), missing, tar, dsconv.Options{}), missing, fs.ErrNotExist},
		{pack(t.Context(), src, filepath.Join(dir, "x"), dsconv.Options{}), "suffixes", convert.ErrOptions},
		{pack(t.Context(), src, tar, dsconv.Options{Format: "zip"}), `"zip"`, convert.ErrOptions},
		{pack(t.Context(), src, tar, dsconv.Options{Format: "folder"}), "dsconv unpack", convert.ErrOptions},
		{pack(t.Context(), src, filepath.Join(dir, "x.zip"), dsconv.Options{Format: "shard"}), "does not match the format shard", convert.ErrOptions},
		{pack(t.Context(), src, filepath.Join(src, "x.tar"), dsconv.Options{}), "inside SRC", convert.ErrOptions},
		{pack(t.Context(), src, src, dsconv.Options{Format: "shard"}), "inside SRC", convert.ErrOptions},
		{pack(t.Context(), src, filepath.Join(missing, "x.tar"), dsconv.Options{}), missing, fs.ErrNotExist},
		{pack(t.Context(), src, tar, bad), "Options.Workers is -3", convert.ErrOptions},
		{pack(t.Context(), src, tar, both), "Source.Patterns", convert.ErrOptions},
		{dataset(nil, ds, tar), "the context or", convert.ErrOptions},
		{dataset(t.Context(), nil, tar), "the source is nil", convert.ErrOptions},
		{table, "path of the table", convert.ErrOptions},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("%d: %v, want %q", i, c.err, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
}

// TestClosedPlan: it says so, and may be closed again.
func TestClosedPlan(t *testing.T) {
	p, err := dsconv.PlanPack(t.Context(), []string{pets(t, 2)}, filepath.Join(t.TempDir(), "x.tar"), dsconv.Options{})
	must(t, err)
	must(t, errors.Join(p.Close(), p.Close()))
	if _, err := p.Run(t.Context()); !errors.Is(err, formats.ErrClosed) || !strings.Contains(err.Error(), "the plan is closed") {
		t.Error(err)
	}
}

// TestPackOntoItsSource: a dataset does not replace itself, under any of its names.
func TestPackOntoItsSource(t *testing.T) {
	tar := filepath.Join(t.TempDir(), "x.tar")
	_, err := dsconv.Pack(t.Context(), pets(t, 2), tar, dsconv.Options{})
	must(t, err)
	link := filepath.Join(t.TempDir(), "link.tar")
	must(t, os.Symlink(tar, link))
	var o dsconv.Options
	o.Create.Replace = true
	for _, dst := range []string{tar, filepath.Dir(tar) + "/./x.tar", link} {
		if _, err := dsconv.Pack(t.Context(), tar, dst, o); !errors.Is(err, convert.ErrOptions) || !strings.Contains(err.Error(), "is SRC itself") {
			t.Errorf("%s: %v", dst, err)
		}
	}
	// What is open is read to its end, whatever replaces it.
	ds, err := dsconv.Open(tar)
	must(t, err)
	r, err := dsconv.PackDataset(t.Context(), ds, tar, o)
	if err != nil || r.Written != 4 {
		t.Errorf("an open dataset: %v, %+v", err, r)
	}
	must(t, ds.Close())
	if ds, err = dsconv.Open(tar); err != nil || ds.Len() != 4 {
		t.Errorf("afterwards: %v", err)
	}
}
