package dsconv_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// noLeaks fails the test if goroutines are left at its end.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

const many = 60

// square is a sample for a Writer; its keys do not ascend.
func square(t testing.TB, i int) *formats.Sample {
	t.Helper()
	s := new(formats.Sample)
	must(t, newSquares(many+10).Read(i, s))
	s.Key = fmt.Sprintf("%04d", i*37%1000)
	return s
}

func openWriter(t testing.TB, dst string, o dsconv.Options) *dsconv.Writer {
	t.Helper()
	w, err := dsconv.NewWriter(t.Context(), dst, newSquares(1).Meta().Schema, o)
	if errors.Is(err, formats.ErrNotBuilt) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func writeAll(t testing.TB, w *dsconv.Writer, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		must(t, w.Write(square(t, i)))
	}
}

// tree is the content of all files below a folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(b)
		return err
	}))
	return files
}

// eachOutput calls do for each format, for tars and TFRecords in both orders.
func eachOutput(t *testing.T, do func(t *testing.T, name string, o dsconv.Options)) {
	inOrder := dsconv.Options{Options: convert.Options{Order: convert.KeyOrder}}
	for _, k := range []struct {
		name string
		o    dsconv.Options
	}{{"x.lmdb", dsconv.Options{}}, {"x.h5", dsconv.Options{}}, {"x.tar", inOrder}, {"x.tar", dsconv.Options{}}, {"x-%02d.tar", dsconv.Options{}}, {"x.tfrecord", inOrder}} {
		t.Run(k.name+string(k.o.Order), func(t *testing.T) {
			noLeaks(t)
			do(t, k.name, k.o)
		})
	}
}

// commit commits the dataset of all squares, and checks that nothing else is left.
func commit(t testing.TB, w *dsconv.Writer, dst string) map[string]string {
	t.Helper()
	r, err := w.Commit()
	must(t, err)
	must(t, w.Close())
	if r.Found != many || r.Written != many || len(r.Datasets) != 1 {
		t.Errorf("%+v", r)
	}
	files := tree(t, filepath.Dir(dst))
	for name := range files {
		if strings.Contains(name, ".partial") || strings.Contains(name, ".items") {
			t.Errorf("%s is left", name)
		}
	}
	return files
}

// A Writer that stopped, at a checkpoint and after it, goes on, and has the bytes of one that did not.
func TestWriterGoesOn(t *testing.T) {
	eachOutput(t, func(t *testing.T, name string, o dsconv.Options) {
		dst := filepath.Join(t.TempDir(), name)
		w := openWriter(t, dst, o)
		if w.Resumed() != 0 {
			t.Errorf("resumed at %d", w.Resumed())
		}
		writeAll(t, w, 0, many)
		want := commit(t, w, dst)

		dir, killed := t.TempDir(), t.TempDir()
		dst = filepath.Join(dir, name)
		w = openWriter(t, dst, o)
		writeAll(t, w, 0, 20)
		must(t, w.Checkpoint())
		must(t, os.CopyFS(killed, os.DirFS(dir)))
		writeAll(t, w, 20, 25)
		must(t, w.Close())
		must(t, w.Close())
		w = openWriter(t, dst, o)
		if w.Resumed() < 20 || w.Resumed() > 25 {
			t.Fatalf("resumed at %d", w.Resumed())
		}
		must(t, w.Checkpoint()) // of nothing
		must(t, w.Close())
		w = openWriter(t, dst, o)
		writeAll(t, w, w.Resumed(), many)
		if !reflect.DeepEqual(commit(t, w, dst), want) {
			t.Error("other bytes than an undisturbed one")
		}
		w = openWriter(t, filepath.Join(killed, name), o)
		if w.Resumed() != 20 {
			t.Fatalf("a copy of the checkpoint resumes at %d", w.Resumed())
		}
		writeAll(t, w, 20, many)
		if !reflect.DeepEqual(commit(t, w, filepath.Join(killed, name)), want) {
			t.Error("after a kill: other bytes than an undisturbed one")
		}
	})
}

// A bad image is skipped and counted as a call of Write, also after an interruption.
func TestWriterSkipsBadImages(t *testing.T) {
	noLeaks(t)
	dst := filepath.Join(t.TempDir(), "x.tar")
	o := dsconv.Options{Options: convert.Options{Order: convert.KeyOrder}}
	w := openWriter(t, dst, o)
	bad := square(t, 3)
	bad.Values[0].Data = bad.Values[0].Data[:40]
	writeAll(t, w, 0, 3)
	must(t, w.Write(bad))
	must(t, w.Checkpoint())
	must(t, w.Close())
	w = openWriter(t, dst, o)
	if w.Resumed() != 4 {
		t.Fatalf("4 calls are done, not %d", w.Resumed())
	}
	writeAll(t, w, 4, 10)
	if r, err := w.Commit(); err != nil || r.Found != 10 || r.Written != 9 || len(r.Skipped) != 1 || !strings.HasPrefix(r.Skipped[0].Cause, bad.Key+": ") {
		t.Errorf("%+v, %v", r, err)
	}
}

// A sample without a key has its number, and split, and the caller's memory is not kept.
func TestWriterKeys(t *testing.T) {
	noLeaks(t)
	dst := filepath.Join(t.TempDir(), "x.lmdb")
	w := openWriter(t, dst, dsconv.Options{})
	s := square(t, 0)
	for i := range 12 {
		s.Key, s.Split = "", []string{"train", "val"}[i%2]
		s.Values[1].SetInt64(int64(i % 2))
		must(t, w.Write(s))
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	ds, err := dsconv.Open(dst)
	must(t, err)
	defer ds.Close()
	for i := range ds.Len() {
		in, err := ds.Info(i)
		must(t, err)
		n := i%6*2 + i/6
		if want := fmt.Sprintf("%s/%010d", in.Split, n); in.Key != want || in.Label != int64(n%2) {
			t.Errorf("%+v, want %s", in, want)
		}
	}
}

func TestWriterMisuse(t *testing.T) {
	schema := newSquares(1).Meta().Schema
	o := dsconv.Options{Options: convert.Options{Order: convert.KeyOrder}}
	for want, write := range map[string]func(w *dsconv.Writer) error{
		"the sample is nil": func(w *dsconv.Writer) error { return w.Write(nil) },
		"1 values for 2 fields": func(w *dsconv.Writer) error {
			s := square(t, 1)
			s.Values = s.Values[:1]
			return w.Write(s)
		},
		"no samples": func(*dsconv.Writer) error { return nil },
		"0000":       func(w *dsconv.Writer) error { return errors.Join(w.Write(square(t, 0)), w.Write(square(t, 0))) }, // again
		"../x": func(w *dsconv.Writer) error {
			s := square(t, 1)
			s.Key = "../x"
			return w.Write(s)
		},
		"label": func(w *dsconv.Writer) error {
			s := square(t, 1)
			s.Values[1] = formats.Value{Data: []byte("text"), Encoding: formats.Plain}
			return w.Write(s)
		},
		"class 7": func(w *dsconv.Writer) error {
			s := square(t, 1)
			s.Values[1].SetInt64(7)
			return w.Write(s)
		},
	} {
		for _, name := range []string{"x.tar", "x.h5"} {
			t.Run(name+" "+want, func(t *testing.T) {
				noLeaks(t)
				w := openWriter(t, filepath.Join(t.TempDir(), name), o)
				err := write(w)
				if err == nil {
					_, err = w.Commit()
				}
				if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, formats.ErrClosed) {
					t.Errorf("got %v", err)
				}
				if want == "the sample is nil" {
					must(t, w.Write(square(t, 1))) // which ended nothing
					return
				}
				for _, again := range []error{w.Write(square(t, 2)), w.Checkpoint(), func() error { _, err := w.Commit(); return err }()} {
					if again == nil {
						t.Error("it goes on after an error")
					}
				}
				if _, err := dsconv.Open(filepath.Join(t.TempDir(), name)); err == nil {
					t.Error("something is published")
				}
			})
		}
	}

	noLeaks(t)
	dst := filepath.Join(t.TempDir(), "x.tar")
	w := openWriter(t, dst, o)
	writeAll(t, w, 0, 2)
	if _, err := dsconv.NewWriter(t.Context(), dst, schema, o); !errors.Is(err, formats.ErrLocked) {
		t.Errorf("a second Writer: %v", err)
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"Write": w.Write(square(t, 3)), "Checkpoint": w.Checkpoint(), "Commit": func() error { _, err := w.Commit(); return err }(),
	} {
		if !errors.Is(err, formats.ErrClosed) || !strings.Contains(err.Error(), "is complete") {
			t.Errorf("%s after Commit: %v", what, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"no schema":   newWriterError(t.Context(), filepath.Join(t.TempDir(), "x.tar"), nil, o),
		"no path":     newWriterError(t.Context(), "", schema, o),
		"no format":   newWriterError(t.Context(), filepath.Join(t.TempDir(), "x.zip"), schema, o),
		"bad split":   newWriterError(t.Context(), filepath.Join(t.TempDir(), "x.tar"), schema, dsconv.Options{Options: convert.Options{Split: "train=2"}}),
		"shards":      newWriterError(t.Context(), filepath.Join(t.TempDir(), "x.tar"), schema, dsconv.Options{Options: convert.Options{Shards: convert.Sharding{Count: 2}}}),
		"other place": newWriterError(t.Context(), filepath.Join(t.TempDir(), "x.tar"), schema, dsconv.Options{Format: "lmdb"}),
	} {
		if !errors.Is(err, convert.ErrOptions) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := newWriterError(t.Context(), filepath.Join(t.TempDir(), "no", "x.tar"), schema, dsconv.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	for _, o := range []dsconv.Options{o, {}} {
		if err := newWriterError(t.Context(), dst, schema, o); !errors.Is(err, formats.ErrExists) {
			t.Errorf("a finished dataset: %v", err)
		}
	}
	for name := range tree(t, filepath.Dir(dst)) {
		if name != "x.tar" && !strings.HasPrefix(name, "x.tar.dsconv/") {
			t.Errorf("%s is beside the dataset", name)
		}
	}
}

func newWriterError(ctx context.Context, dst string, schema formats.Schema, o dsconv.Options) error {
	w, err := dsconv.NewWriter(ctx, dst, schema, o)
	if err == nil {
		return errors.Join(errors.New("it is made"), w.Close())
	}
	return err
}

// A Writer whose context ends says so, and keeps what was written.
func TestWriterIsCancelled(t *testing.T) {
	eachOutput(t, func(t *testing.T, name string, o dsconv.Options) {
		dst := filepath.Join(t.TempDir(), name)
		ctx, cancel := context.WithCancel(t.Context())
		w, err := dsconv.NewWriter(ctx, dst, newSquares(1).Meta().Schema, o)
		if errors.Is(err, formats.ErrNotBuilt) {
			t.Skip(err)
		}
		must(t, err)
		writeAll(t, w, 0, 20)
		must(t, w.Checkpoint())
		cancel()
		for err = nil; err == nil; err = w.Write(square(t, 21)) { // what it still takes is not kept
		}
		_, committed := w.Commit()
		for _, err := range []error{err, w.Checkpoint(), committed} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		must(t, w.Close())
		if err := newWriterError(ctx, dst, newSquares(1).Meta().Schema, o); !errors.Is(err, context.Canceled) {
			t.Errorf("a new one: %v", err)
		}
		if w := openWriter(t, dst, o); w.Resumed() < 20 {
			t.Errorf("resumed at %d", w.Resumed())
		}
	})
}

// Many goroutines write to one Writer, and one of them makes checkpoints.
func TestWriterOfManyGoroutines(t *testing.T) {
	eachOutput(t, func(t *testing.T, name string, o dsconv.Options) {
		dst := filepath.Join(t.TempDir(), name)
		w := openWriter(t, dst, o)
		var all sync.WaitGroup
		for g := range 6 {
			all.Go(func() {
				for i := g; i < many; i += 6 {
					if err := w.Write(square(t, i)); err != nil {
						t.Error(err)
					}
					if g == 0 {
						if err := w.Checkpoint(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		commit(t, w, dst)
		ds, err := dsconv.Open(dst)
		must(t, err)
		defer ds.Close()
		for i := range many {
			want := square(t, i)
			k, err := formats.Find(ds, want.Key)
			must(t, err)
			var s formats.Sample
			must(t, ds.Read(k, &s))
			if x, _ := s.Values[1].Int64(); x != int64(i%2) {
				t.Errorf("%s has label %d", s.Key, x)
			}
		}
	})
}

// Nothing is written after the end, though calls come while the Writer commits.
func TestWriterEnds(t *testing.T) {
	noLeaks(t)
	for range 20 {
		dst := filepath.Join(t.TempDir(), "x.tar")
		w := openWriter(t, dst, dsconv.Options{Options: convert.Options{Order: convert.KeyOrder}})
		writeAll(t, w, 0, 3)
		written := make(chan int)
		go func() {
			n := 3
			for i := 3; w.Write(square(t, i)) == nil && i < many; i++ {
				n++
			}
			written <- n
		}()
		r, err := w.Commit()
		if n := <-written; err != nil || r.Written != n {
			t.Fatalf("%d are written, and Write said %d: %v", r.Written, n, err)
		}
	}
}
