package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// TestWritten reads, verifies, edits, repairs and unpacks the datasets that earlier versions wrote,
// and resumes their unfinished packs: testdata/written/README.md.
func TestWritten(t *testing.T) {
	archives, err := filepath.Glob("../../testdata/written/*.tar.zst")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives of earlier versions: %v", err)
	}
	for i, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.zst"), func(t *testing.T) {
			newWritten(t, archive).test(t, testing.Short() && i < len(archives)-1)
		})
	}
}

// written is an unpacked archive.
type written struct {
	dir      string
	expected map[string]formatcheck.Description // by the dataset's path in dir
}

func newWritten(t *testing.T, archive string) *written {
	t.Helper()
	w := &written{dir: t.TempDir()}
	extract(t, archive, w.dir)
	if err := json.Unmarshal(read(t, w.path("expected.json")), &w.expected); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *written) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *written) test(t *testing.T, short bool) {
	t.Run("read", func(t *testing.T) { w.each(t, w.reads) })
	t.Run("load", func(t *testing.T) { w.each(t, w.loads) })
	if short {
		return
	}
	t.Run("unpack", func(t *testing.T) { w.each(t, w.unpacks) })
	if !cgo {
		return // LMDB and HDF5 are read, not written
	}
	t.Run("edit", func(t *testing.T) { w.each(t, w.edits) })
	t.Run("repair", func(t *testing.T) { w.each(t, w.repairs) })
	t.Run("resume", w.resumes)
	t.Run("pack again", w.packsAgain)
}

// each runs a test for each dataset.
func (w *written) each(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(w.expected)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

// succeeds runs a command that must succeed, and returns its output.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	c := &console{in: strings.NewReader(""), out: &out, err: &out}
	if code := run(context.Background(), append([]string{"dsconv"}, args...), c); code != exitDone && code != exitSkipped {
		t.Fatalf("%s: exit code %d: %s", strings.Join(args, " "), code, out.String())
	}
	return out.String()
}

func described(t *testing.T, path string) formatcheck.Description {
	t.Helper()
	ds, err := dsconv.Formats().Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := formatcheck.Describe(ds)
	if err := errors.Join(err, ds.Close()); err != nil {
		t.Fatal(err)
	}
	return throughJSON(t, d)
}

// throughJSON converts d to JSON and back, as expected.json is.
func throughJSON(t *testing.T, d formatcheck.Description) (same formatcheck.Description) {
	t.Helper()
	b, err := json.Marshal(d)
	if err := errors.Join(err, json.Unmarshal(b, &same)); err != nil {
		t.Fatal(err)
	}
	return same
}

func (w *written) reads(t *testing.T, name string) {
	if got := described(t, w.path(name)); !reflect.DeepEqual(got, w.expected[name]) {
		t.Errorf("it reads as\n%+v\nwanted\n%+v", got, w.expected[name])
	}
	succeeds(t, "verify", w.path(name))
	succeeds(t, "verify", "--quick", w.path(name))
	succeeds(t, "info", w.path(name))
	succeeds(t, "ls", "--long", w.path(name))
}

// loads loads an epoch of the images.
func (w *written) loads(t *testing.T, name string) {
	transforms, err := augment.Parse("resize:16,centercrop:8")
	if err != nil {
		t.Fatal(err)
	}
	l, err := reader.Open(dsconv.Formats(), w.path(name), reader.Config{BatchSize: 7, Shuffle: true, Transforms: transforms, OnError: reader.Skip})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := 0
	for b, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n += b.N
	}
	if want := len(w.expected[name].Samples); n < want-5 { // a few irregular images are not RGB
		t.Errorf("%d of %d samples were loaded", n, want)
	}
}

// unpacks compares the unpacked files with the packed ones, if their bytes were kept.
func (w *written) unpacks(t *testing.T, name string) {
	out := t.TempDir()
	succeeds(t, "unpack", w.path(name), out)
	var source string
	switch variant, _, _ := strings.Cut(name, "/"); variant {
	case "keep", "zstd":
		source = "images"
	case "multi", "two", "unlabelled", "numbers":
		source = "flat"
	default:
		return
	}
	for file, want := range formatcheck.Tree(t, w.path(source)) {
		got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(file)))
		if err != nil || string(got) != want {
			t.Errorf("%s is not as it was packed: %v", file, err)
		}
	}
}

// copyOf copies a dataset with its sidecar, so that it can be changed.
func (w *written) copyOf(t *testing.T, name string) (path string) {
	t.Helper()
	folder, base, _ := strings.Cut(name, "/")
	dir := t.TempDir()
	copyTree(t, dir, w.path(folder))
	return filepath.Join(dir, base)
}

// edits removes a sample, relabels one and adds one; all others stay unchanged.
func (w *written) edits(t *testing.T, name string) {
	path, before := w.copyOf(t, name), w.expected[name]
	gone := before.Samples[1].Key
	succeeds(t, "rm", path, "--key", gone, "--quiet")

	want := without(before.Samples, gone)
	if name := before.Schema; name.LabelIndex() >= 0 && before.Samples[3].Label >= 0 {
		table := filepath.Join(t.TempDir(), "labels.csv")
		row := "key," + before.Schema[before.Schema.LabelIndex()].Name + "\n\"" + before.Samples[3].Key + "\",new class\n"
		if err := os.WriteFile(table, []byte(row), 0o644); err != nil {
			t.Fatal(err)
		}
		succeeds(t, "relabel", path, table, "--quiet", "--new-class")
		want = without(want, before.Samples[3].Key)
	}
	added := 0
	if folder, _, _ := strings.Cut(name, "/"); !slices.Contains([]string{"fields", "multi", "two", "numbers"}, folder) {
		source := t.TempDir()
		added = w.oneMore(t, source, folder == "unlabelled")
		succeeds(t, "add", path, source, "--quiet", "--report", filepath.Join(t.TempDir(), "report.csv"))
	}
	succeeds(t, "verify", path)
	after := described(t, path)
	if n := len(before.Samples) - 1 + added; len(after.Samples) != n {
		t.Errorf("%d samples after the edits, want %d", len(after.Samples), n)
	}
	for _, s := range want {
		i := slices.IndexFunc(after.Samples, func(a formatcheck.DescribedSample) bool { return a.Key == s.Key })
		if i < 0 || !reflect.DeepEqual(after.Samples[i], s) {
			t.Errorf("sample %q was changed", s.Key)
		}
	}
}

// oneMore makes source a folder of one new image.
func (w *written) oneMore(t *testing.T, source string, flat bool) int {
	t.Helper()
	dir := filepath.Join(source, "train", "ant")
	if flat {
		dir = source
	}
	if err := errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "one-more.jpg"), read(t, w.path("flat/rgb-jpg.jpg")), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	return 1
}

func without(samples []formatcheck.DescribedSample, key string) []formatcheck.DescribedSample {
	return slices.DeleteFunc(slices.Clone(samples), func(s formatcheck.DescribedSample) bool { return s.Key == key })
}

// repairs damages one data file and restores it from the source.
func (w *written) repairs(t *testing.T, name string) {
	variant, _, _ := strings.Cut(name, "/")
	if !slices.Contains([]string{"keep", "tiled", "raw-equal", "zstd"}, variant) {
		t.Skip("repaired for some variants only")
	}
	path := w.copyOf(t, name)
	file := filepath.Join(filepath.Dir(path), strings.Replace(filepath.Base(path), "%03d", "001", 1))
	if strings.HasSuffix(file, ".lmdb") {
		file = filepath.Join(file, "data.mdb")
	}
	b := read(t, file)
	poke(t, file, len(b)/2, ^b[len(b)/2])
	succeeds(t, "verify", path, "--repair", w.path("images"))
	succeeds(t, "verify", path)
	if got := described(t, path); !reflect.DeepEqual(got, w.expected[name]) {
		t.Error("the repaired dataset is another one")
	}
}

// resumes finishes the unfinished packs of the variant "keep".
func (w *written) resumes(t *testing.T) {
	partials, err := filepath.Glob(w.path("unfinished/*.partial"))
	if err != nil || len(partials) == 0 {
		t.Fatalf("no unfinished packs: %v", err)
	}
	for _, partial := range partials {
		path := strings.TrimSuffix(partial, ".partial")
		name := filepath.Base(path)
		args := []string{"pack", w.path("images"), path, "--checkpoint", "4KB"}
		if strings.HasPrefix(name, "three") {
			args = append(args, "--shard-count", "3")
		}
		if said := succeeds(t, args...); !strings.Contains(said, "done before") {
			t.Errorf("%s: the pack began from the start: %s", name, said)
		}
		if got, want := described(t, path), w.expected["keep/"+name]; !reflect.DeepEqual(got.Samples, want.Samples) {
			t.Errorf("%s: the samples are not those of a pack in one go", name)
		}
	}
}

// packsAgain packs a folder that unpack wrote.
func (w *written) packsAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lmdb")
	succeeds(t, "pack", w.path("unpacked"), path, "--labels", w.path("unpacked/labels.json"))
	got, want := described(t, path), w.expected["multi/x.lmdb"]
	if !reflect.DeepEqual(got.Schema, want.Schema) || !reflect.DeepEqual(got.Samples, want.Samples) {
		t.Errorf("it reads as\n%+v\nwanted\n%+v", got, want)
	}
}

// extract unpacks a .tar.zst of regular files.
func extract(t *testing.T, archive, dir string) {
	t.Helper()
	d, err := zstd.NewReader(bytes.NewReader(read(t, archive)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for r := tar.NewReader(d); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil || !filepath.IsLocal(h.Name) {
			t.Fatalf("%s: %s: %v", archive, h.Name, err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var b []byte
			if b, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, b, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
