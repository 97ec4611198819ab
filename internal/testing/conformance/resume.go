package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// sameBytes: two runs give the same files.
func (s suite) sameBytes(t *testing.T) {
	for name, c := range map[string]set{"photos": photos(50), "every kind": everyKind(30), "raw": kindSets()["raw uint8 uniform"]} {
		t.Run(name, func(t *testing.T) {
			sameFolders(t, filepath.Dir(s.write(t, c)), filepath.Dir(s.write(t, c)))
		})
	}
}

const checkpointEvery = 20

// checkpointed writes from..len with a checkpoint after every checkpointEvery-th sample,
// which is part of the plan: formats may give other bytes for other checkpoints.
func (s suite) checkpointed(t *testing.T, w formats.Writer, c set, from int) {
	t.Helper()
	for from < len(c.samples) {
		to := min(from-from%checkpointEvery+checkpointEvery, len(c.samples))
		s.add(t, w, c, from, to)
		if to%checkpointEvery == 0 {
			checkpoint(t, w, to)
		}
		from = to
	}
	commit(t, w)
}

func checkpoint(t *testing.T, w formats.Writer, at int) {
	t.Helper()
	if err := w.Checkpoint(fmt.Append(nil, at)); err != nil {
		t.Fatalf("checkpoint: %v", err)
	}
}

// undisturbed makes the dataset that disturbed runs are compared with.
func (s suite) undisturbed(t *testing.T, c set) string {
	t.Helper()
	dir := t.TempDir()
	s.checkpointed(t, s.create(t, s.path(dir), c, formats.CreateOptions{}), c, 0)
	return dir
}

// resumeAt opens the partial dataset and wants the note of the checkpoint at sample n.
func (s suite) resumeAt(t *testing.T, path string, c set, n int) formats.Writer {
	t.Helper()
	w, m, note, err := s.format.Resume(path, formats.CreateOptions{})
	if err != nil {
		t.Fatalf("resume: %v", err)
	}
	want := fmt.Sprint(n)
	if n == 0 {
		want = ""
	}
	if string(note) != want {
		t.Fatalf("note %q, want %q", note, want)
	}
	if len(m.Schema) != len(c.schema) || m.Recipe["encode"] != "keep" {
		t.Fatalf("resume gave the meta %+v", m)
	}
	return w
}

// resume: a run that was stopped, after a checkpoint and with work lost after it, before
// the first checkpoint, twice in a row, ends in the same bytes as an undisturbed one.
func (s suite) resume(t *testing.T) {
	for name, c := range map[string]set{"photos": photos(90), "every kind": everyKind(70), "raw": rawSet(70)} {
		t.Run(name, func(t *testing.T) {
			want := s.undisturbed(t, c)
			for _, stops := range [][]int{{7}, {20}, {25}, {39, 20}, {3, 20, 45, 61, 69}, {0, 0}, {60}} {
				t.Run(fmt.Sprint(stops), func(t *testing.T) { s.stopped(t, c, stops, want) })
			}
			t.Run("lost for good", func(t *testing.T) { s.lost(t, c) })
		})
	}
}

func rawSet(n int) set {
	c := kindSets()["raw uint8 uniform"]
	for len(c.samples) < n {
		s := c.samples[len(c.samples)%7]
		s.Key = fmt.Sprintf("more/%05d", len(c.samples))
		c.samples = append(c.samples, s)
	}
	return c
}

// stopped runs up to each stop, closes and resumes twice.
func (s suite) stopped(t *testing.T, c set, stops []int, want string) {
	dir := t.TempDir()
	path := s.path(dir)
	w := s.create(t, path, c, formats.CreateOptions{})
	from := 0
	for _, stop := range stops {
		kept := from
		for to := from + checkpointEvery; to <= stop; to += checkpointEvery {
			s.add(t, w, c, kept, to)
			checkpoint(t, w, to)
			kept = to
		}
		s.add(t, w, c, kept, max(kept, stop)) // lost
		if err := w.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		if err := s.resumeAt(t, path, c, kept).Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		w = s.resumeAt(t, path, c, kept)
		from = kept
	}
	s.checkpointed(t, w, c, from)
	sameFolders(t, dir, want)
	same(t, s.open(t, path), c)
}

// saved: what is kept at any sample, between the checkpoints of the plan, is resumed and changes no byte.
func (s suite) saved(t *testing.T) {
	for name, c := range map[string]set{"photos": photos(90), "every kind": everyKind(70), "raw": rawSet(70)} {
		t.Run(name, func(t *testing.T) {
			want := s.undisturbed(t, c)
			dir := t.TempDir()
			path := s.path(dir)
			w := s.create(t, path, c, formats.CreateOptions{})
			from := 0
			for _, stop := range []int{1, 2, 19, 20, 33, 34, 65} {
				for next := from - from%checkpointEvery + checkpointEvery; next <= stop; next += checkpointEvery {
					s.add(t, w, c, from, next)
					checkpoint(t, w, next)
					from = next
				}
				s.add(t, w, c, from, stop)
				save(t, w, stop)
				s.add(t, w, c, stop, stop+2) // lost
				if err := w.Close(); err != nil {
					t.Fatalf("close: %v", err)
				}
				if err := s.resumeAt(t, path, c, stop).Close(); err != nil {
					t.Fatalf("close: %v", err)
				}
				w = s.resumeAt(t, path, c, stop)
				from = stop
			}
			s.checkpointed(t, w, c, from)
			sameFolders(t, dir, want)
			same(t, s.open(t, path), c)
		})
	}
}

// save makes the samples until at durable without a checkpoint that the plan does not have.
func save(t *testing.T, w formats.Writer, at int) {
	t.Helper()
	if s, ok := w.(formats.Saver); !ok {
		checkpoint(t, w, at)
	} else if err := s.Save(fmt.Append(nil, at)); err != nil {
		t.Fatalf("save: %v", err)
	}
}

// lost: what was written after the last checkpoint leaves no trace, though nothing is
// written in its place.
func (s suite) lost(t *testing.T, c set) {
	var dirs [2]string
	for i := range dirs {
		dirs[i] = t.TempDir()
		w := s.create(t, s.path(dirs[i]), c, formats.CreateOptions{})
		s.add(t, w, c, 0, 20)
		checkpoint(t, w, 20)
		if i == 1 {
			s.add(t, w, c, 20, 55)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			w = s.resumeAt(t, s.path(dirs[i]), c, 20)
		}
		commit(t, w)
	}
	sameFolders(t, dirs[1], dirs[0])
}

// kill: what is on the disk while the writer works is enough to resume. A kill is simulated by a
// copy of the folder, without the process's locks.
func (s suite) kill(t *testing.T) {
	c := photos(90)
	want := s.undisturbed(t, c)
	for _, at := range []int{5, 40, 47, 79} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			dir := t.TempDir()
			w := s.create(t, s.path(dir), c, formats.CreateOptions{})
			kept := at - at%checkpointEvery
			for from := 0; from < kept; from += checkpointEvery {
				s.add(t, w, c, from, from+checkpointEvery)
				checkpoint(t, w, from+checkpointEvery)
			}
			s.add(t, w, c, kept, at)
			after := filepath.Join(t.TempDir(), "after")
			if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			s.checkpointed(t, s.resumeAt(t, s.path(after), c, kept), c, kept)
			sameFolders(t, after, want)
		})
	}
}

// unfinished: nothing opens and nothing but DST.partial is left before Commit; after it,
// DST.partial is gone, and Close does nothing.
func (s suite) unfinished(t *testing.T) {
	c := photos(40)
	dir := t.TempDir()
	path := s.path(dir)
	alone := []string{s.name + ".partial"}
	refused := func(when string) {
		t.Helper()
		if ds, err := s.format.Open(path); err == nil {
			_ = ds.Close()
			t.Errorf("%s: an unfinished dataset opens", when)
		} else if !errors.Is(err, formats.ErrNotDataset) {
			t.Errorf("%s: %v, want ErrNotDataset", when, err)
		}
	}
	refused("before Create")
	w := s.create(t, path, c, formats.CreateOptions{})
	s.add(t, w, c, 0, 20)
	refused("while it is written")
	checkpoint(t, w, 20)
	s.add(t, w, c, 20, 40)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	refused("after Close")
	if got := entries(t, dir); !slices.Equal(got, alone) {
		t.Errorf("Close left %q", got)
	}
	w = s.resumeAt(t, path, c, 20)
	s.add(t, w, c, 20, 40)
	commit(t, w)
	if slices.Contains(entries(t, dir), alone[0]) {
		t.Errorf("after Commit there is still %s", alone[0])
	}
	same(t, s.open(t, path), c)
}
