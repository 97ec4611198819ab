package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// stageErrors: ErrNoPartial, ErrLocked, ErrPartial and ErrExists are returned when they should be.
func (s suite) stageErrors(t *testing.T) {
	c := photos(5)
	path := s.path(t.TempDir())
	create := func() error {
		w, err := s.format.Create(path, c.meta(s.format.Name()), formats.CreateOptions{})
		if err == nil {
			_ = w.Close()
		}
		return err
	}
	resume := func() error {
		w, _, _, err := s.format.Resume(path, formats.CreateOptions{})
		if err == nil {
			_ = w.Close()
		}
		return err
	}
	wants(t, "Resume of nothing", resume(), formats.ErrNoPartial)
	w := s.create(t, path, c, formats.CreateOptions{})
	wants(t, "Create while it is written", create(), formats.ErrLocked)
	wants(t, "Resume while it is written", resume(), formats.ErrLocked)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wants(t, "Create over an unfinished one", create(), formats.ErrPartial)
	w = s.resumeAt(t, path, c, 0)
	s.add(t, w, c, 0, 5)
	commit(t, w)
	wants(t, "Create over a finished one", create(), formats.ErrExists)
	wants(t, "Resume of a finished one", resume(), formats.ErrNoPartial)
	same(t, s.open(t, path), c)
}

func wants(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want: %v", what, got, want)
	}
}

// replace: the old dataset exists until Commit, and nothing of it afterwards.
func (s suite) replace(t *testing.T) {
	before, after := photos(50), everyKind(20)
	path := s.write(t, before)
	w := s.create(t, path, after, formats.CreateOptions{Replace: true})
	s.add(t, w, after, 0, 10)
	checkpoint(t, w, 10)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, s.open(t, path), before)
	w, _, _, err := s.format.Resume(path, formats.CreateOptions{Replace: true})
	if err != nil {
		t.Fatal(err)
	}
	s.add(t, w, after, 10, 20)
	same(t, s.open(t, path), before)
	commit(t, w)
	same(t, s.open(t, path), after)

	fresh := s.path(t.TempDir())
	w = s.create(t, fresh, after, formats.CreateOptions{})
	s.add(t, w, after, 0, 10)
	checkpoint(t, w, 10)
	s.add(t, w, after, 10, 20)
	commit(t, w)
	sameFolders(t, filepath.Dir(path), filepath.Dir(fresh))
}

// foreign: what dsconv did not write is never replaced.
func (s suite) foreign(t *testing.T) {
	c := photos(1)
	path := s.path(t.TempDir())
	file := path
	if s.isPattern() {
		file = filepath.Join(filepath.Dir(path), fmt.Sprintf(s.name, 0))
	}
	if err := os.WriteFile(file, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, o := range []formats.CreateOptions{{}, {Replace: true}} {
		if w, err := s.format.Create(path, c.meta(s.format.Name()), o); err == nil {
			t.Errorf("Create over a foreign file with %+v", o)
			_ = w.Close()
		}
		if b, err := unblocked.ReadFile(file); err != nil || string(b) != "precious" {
			t.Fatalf("the foreign file is now %q, %v", b, err)
		}
	}
	if ds, err := s.format.Open(path); err == nil {
		t.Error("a foreign file opens")
		_ = ds.Close()
	}
}

// badKeys: keys that CheckKey rejects, keys out of order and duplicate keys are
// rejected, and the samples before and after are kept.
func (s suite) badKeys(t *testing.T) {
	c := photos(4)
	path := s.path(t.TempDir())
	w := s.create(t, path, c, formats.CreateOptions{})
	s.add(t, w, c, 0, 2)
	bad := c.samples[0]
	for _, key := range badKeys {
		bad.Key = key
		wants(t, "key "+key, w.Write(&bad), formats.ErrKey)
	}
	order := c.order(s.format.Traits().Ordered)
	if s.format.Traits().Ordered {
		wants(t, "the key of the last sample", w.Write(&c.samples[order[1]]), formats.ErrOrder)
		wants(t, "a smaller key", w.Write(&c.samples[order[0]]), formats.ErrOrder)
	}
	s.add(t, w, c, 2, 4)
	commit(t, w)
	same(t, s.open(t, path), c)
	if s.format.Traits().Ordered {
		return
	}
	path = s.path(t.TempDir())
	w = s.create(t, path, c, formats.CreateOptions{})
	s.add(t, w, c, 0, 4)
	err := w.Write(&c.samples[order[1]])
	if err == nil {
		err = w.Commit()
	}
	wants(t, "a key that comes twice", err, formats.ErrKey)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if ds, err := s.format.Open(path); err == nil {
		t.Error("a dataset with a key that comes twice opens")
		_ = ds.Close()
	}
}

// badSchemas: Create rejects invalid schemas, Write rejects samples that do not match the schema,
// and the samples before and after are kept.
func (s suite) badSchemas(t *testing.T) {
	image := formats.Field{Name: "image", Kind: formats.Image}
	for name, schema := range map[string]formats.Schema{
		"empty": {}, "no image": {{Name: "label", Kind: formats.Label}}, "two of one name": {image, image},
		"name": {image, {Name: "a/b", Kind: formats.Text}}, "kind": {image, {Name: "x", Kind: "x"}},
	} {
		dir := t.TempDir()
		_, err := s.format.Create(s.path(dir), formats.Meta{Version: formats.Version, Format: s.format.Name(), Schema: schema}, formats.CreateOptions{})
		wants(t, name, err, formats.ErrSchema)
		if left := entries(t, dir); len(left) != 0 {
			t.Errorf("%s: Create failed and left %q", name, left)
		}
	}
	c := everyKind(4)
	path := s.path(t.TempDir())
	w := s.create(t, path, c, formats.CreateOptions{})
	s.add(t, w, c, 0, 2)
	bad := c.samples[3]
	bad.Key = c.samples[c.order(s.format.Traits().Ordered)[1]].Key + "x"
	for name, spoil := range map[string]func(*formats.Sample){
		"a value short":     func(s *formats.Sample) { s.Values = s.Values[:len(s.Values)-1] },
		"a column too many": func(s *formats.Sample) { s.Columns = []string{"x"} },
		"label":             func(s *formats.Sample) { s.Values[3] = plain([]byte("cat")) },
		"length":            func(s *formats.Sample) { s.Values[5].Data = s.Values[5].Data[1:] },
		"shape":             func(s *formats.Sample) { s.Values[5].Shape = []int{2, 8} },
		"negative shape":    func(s *formats.Sample) { s.Values[5].Shape = []int{-4, -4} },
		"dtype":             func(s *formats.Sample) { s.Values[5].DType = formats.Int64 },
		"encoding":          func(s *formats.Sample) { s.Values[9].Encoding = formats.JPEG },
		"unknown encoding":  func(s *formats.Sample) { s.Values[0].Encoding = "heic" },
	} {
		smp := bad
		smp.Values = append([]formats.Value(nil), bad.Values...)
		spoil(&smp)
		wants(t, name, w.Write(&smp), formats.ErrSchema)
	}
	s.add(t, w, c, 2, 4)
	commit(t, w)
	same(t, s.open(t, path), c)
}
