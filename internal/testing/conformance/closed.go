package conformance

import (
	"context"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// closed: after Close everything returns ErrClosed with the path, or does nothing; a second Close
// does nothing.
func (s suite) closed(t *testing.T) {
	path := s.write(t, everyKind(6))
	ds, err := s.format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := ds.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		wantsClosed(t, ds, filepath.Base(path))
	}
	if salvager, ok := s.format.(formats.Salvager); ok {
		if ds, err = salvager.Salvage(path); err != nil {
			t.Fatal(err)
		}
		if err := ds.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		wantsClosed(t, ds, filepath.Base(path))
	}
}

// wantsClosed calls all methods of a closed dataset.
func wantsClosed(t *testing.T, ds formats.Dataset, name string) {
	t.Helper()
	var smp formats.Sample
	_, info := ds.Info(0)
	_, removed := formats.RemovedFrom(ds)
	errs := map[string]error{"Info": info, "Info of no index": second(ds.Info(-1)), "Read": ds.Read(0, &smp), "Read of no index": ds.Read(-1, &smp)}
	if _, ok := ds.(formats.Removals); ok {
		errs["Removed"] = removed
	}
	if v, ok := ds.(formats.Viewer); ok {
		errs["View"] = v.View(0, &smp)
		_, errs["Lease"] = v.Lease()
	}
	if c, ok := ds.(formats.Checker); ok {
		report := func(d formats.Damage) { t.Errorf("damage of a closed dataset: %+v", d) }
		errs["Check"] = c.Check(context.Background(), formats.Portion{}, 2, report)
		errs["CheckQuick"] = c.CheckQuick(context.Background(), report)
	}
	if id, ok := ds.(formats.Identifier); ok {
		errs["Identify"] = id.Identify(io.Discard)
	}
	for what, err := range errs {
		wants(t, what, err, formats.ErrClosed)
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v does not name the path", what, err)
		}
	}
	if p, ok := ds.(formats.Prefetcher); ok {
		p.Prefetch([]int32{0, 1, -1})
	}
	if o, ok := ds.(formats.StorageOrdered); ok {
		wants(t, "EachStored", o.EachStored(func(int32) error { return nil }), formats.ErrClosed)
	}
	if ds.Len() != ds.Meta().Count {
		t.Errorf("%d samples, the description says %d", ds.Len(), ds.Meta().Count)
	}
}

func second[T any](_ T, err error) error { return err }

// closedWhileUsed: Close waits for those that read; each sample is as it was written, or the error
// is ErrClosed. Run it with -race.
func (s suite) closedWhileUsed(t *testing.T) {
	c := stereo(20)
	path := s.write(t, c)
	for round := range 10 {
		ds, err := s.format.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		use := func(what string, once func(r *rand.Rand) error) {
			all.Go(func() {
				for r := rand.New(rand.NewPCG(uint64(round), 1)); ; {
					if err := once(r); err != nil {
						wants(t, what, err, formats.ErrClosed)
						return
					}
				}
			})
		}
		want := c.inKeyOrder()
		reads := func(read func(i int, s *formats.Sample) error) func(r *rand.Rand) error {
			var smp formats.Sample
			return func(r *rand.Rand) error {
				i := r.IntN(len(want))
				if err := read(i, &smp); err != nil {
					return err
				}
				if d := differ(c.schema, &smp, want[i]); d != "" {
					t.Error(d)
				}
				return nil
			}
		}
		use("Read", reads(ds.Read))
		use("Info", func(r *rand.Rand) error { return second(ds.Info(r.IntN(ds.Len()))) })
		if v, ok := ds.(formats.Viewer); ok {
			use("View", reads(leased(v)))
		}
		if ch, ok := ds.(formats.Checker); ok {
			none := func(d formats.Damage) { t.Errorf("damage: %+v", d) }
			use("Check", func(*rand.Rand) error { return ch.Check(context.Background(), formats.Portion{}, 2, none) })
			use("CheckQuick", func(*rand.Rand) error { return ch.CheckQuick(context.Background(), none) })
		}
		if p, ok := ds.(formats.Prefetcher); ok {
			use("Prefetch", func(r *rand.Rand) error {
				p.Prefetch([]int32{r.Int32N(20), r.Int32N(20)})
				return second(ds.Info(0))
			})
		}
		var smp formats.Sample
		for i := range round {
			if err := ds.Read(i, &smp); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			all.Go(func() {
				if err := ds.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
		}
		all.Wait()
	}
}

// leased is View with a lease, so that what it lent can be compared although Close may come.
func leased(v formats.Viewer) func(i int, s *formats.Sample) error {
	return func(i int, s *formats.Sample) error {
		release, err := v.Lease()
		if err != nil {
			return err
		}
		defer release()
		if err := v.View(i, s); err != nil {
			return err
		}
		for k := range s.Values { // the memory is gone after the release
			s.Values[k].Data = slices.Clone(s.Values[k].Data)
		}
		return nil
	}
}

// lease: what View lent stays valid after Close until the last lease is released.
func (s suite) lease(t *testing.T) {
	c := stereo(8)
	ds, err := s.format.Open(s.write(t, c))
	if err != nil {
		t.Fatal(err)
	}
	v, ok := ds.(formats.Viewer)
	if !ok {
		if err := ds.Close(); err != nil {
			t.Error(err)
		}
		t.Skip("not a Viewer")
	}
	release, err := v.Lease()
	if err != nil {
		t.Fatal(err)
	}
	other, err := v.Lease()
	if err != nil {
		t.Fatal(err)
	}
	views := make([]formats.Sample, ds.Len())
	for i := range views {
		if err := v.View(i, &views[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := ds.Close(); err != nil {
		t.Fatal(err)
	}
	other()
	other()
	wants(t, "View with a lease after Close", v.View(0, new(formats.Sample)), formats.ErrClosed)
	for i, want := range c.inKeyOrder() {
		if d := differ(c.schema, &views[i], want); d != "" {
			t.Fatal(d)
		}
	}
	release()
	wantsClosed(t, ds, s.name[:1])
}

// closedWriter: after Close and after Commit a Writer returns ErrClosed, and Close nothing.
func (s suite) closedWriter(t *testing.T) {
	c := photos(4)
	for name, end := range map[string]func(w formats.Writer) error{
		"Close": formats.Writer.Close, "Commit": formats.Writer.Commit,
		"Commit and Close": func(w formats.Writer) error { commit(t, w); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := s.path(t.TempDir())
			w := s.create(t, path, c, formats.CreateOptions{})
			s.add(t, w, c, 0, 3)
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				errs := map[string]error{
					"Write": w.Write(&c.samples[c.order(true)[3]]), "Checkpoint": w.Checkpoint(nil), "Commit": w.Commit(),
				}
				if e, ok := w.(formats.ShardEnder); ok {
					errs["EndShard"] = e.EndShard()
				}
				if f, ok := w.(formats.FileReuser); ok {
					errs["ReuseFile"] = f.ReuseFile(0, nil)
				}
				for what, err := range errs {
					wants(t, what, err, formats.ErrClosed)
					if err != nil && !strings.Contains(err.Error(), filepath.Base(filepath.Dir(path))) {
						t.Errorf("%s: %v does not name the path", what, err)
					}
				}
				if r, ok := w.(formats.RemovalWriter); ok {
					r.SetRemoved(nil)
				}
				if err := w.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		})
	}
}
