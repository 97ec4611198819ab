package staging

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

var stageMeta = formats.Meta{Version: 1, Format: "test", Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStage(t *testing.T, path string, replace bool) *Stage {
	t.Helper()
	s, err := createStage(path, path, stageMeta, formats.CreateOptions{Replace: replace})
	must(t, err)
	return s
}

// A publication that replaces two files is stopped after each of its steps and again while
// its folder is removed: resuming always ends with the new files, never with the old ones
// or none.
func TestPublishingGoesOnFromEveryStep(t *testing.T) {
	for stop := range 12 {
		dir := t.TempDir()
		path := filepath.Join(dir, "x-%d")
		s := newStage(t, path, true)
		var old []string
		var moves []step
		for _, name := range []string{"x-0", "x-1"} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644))
			must(t, os.WriteFile(s.Path(name), []byte("new"), 0o644))
			old = append(old, filepath.Join(dir, name))
			moves = append(moves, step{From: s.Path(name), To: filepath.Join(dir, name)})
		}
		steps, err := s.steps(old, moves)
		must(t, err)
		if stop < 10 {
			// What is done on the way is done by hand, up to the stop; then the process ends.
			must(t, os.MkdirAll(s.file(replacedName), 0o755))
			must(t, s.writeList(encodeMoves(t, s, steps)))
			for i := range min(stop, len(steps)) {
				must(t, s.doStep(steps[i]))
			}
			switch stop {
			case 5:
				must(t, s.writeList([]byte("[]")))
			case 6, 7, 8, 9: // more and more of the folder is gone
				must(t, s.writeList([]byte("[]")))
				must(t, os.Rename(s.file(journalName), s.file(removedJournalName)))
				for _, name := range []string{replacedName, dataName, publishListName, removedJournalName}[:stop-6] {
					must(t, os.RemoveAll(s.file(name)))
				}
			}
			must(t, s.Close())
			_, err := resumeStage(path, formats.CreateOptions{})
			if want := formats.ErrPublished; stop < 9 && !errors.Is(err, want) {
				t.Errorf("stop %d: %v, want %v", stop, err, want)
			} else if stop == 9 && !errors.Is(err, formats.ErrNoPartial) {
				t.Errorf("stop %d: %v", stop, err)
			}
		} else {
			must(t, s.startPublishing(old, moves))
		}
		for _, name := range []string{"x-0", "x-1"} {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "new" {
				t.Errorf("stop %d: %s is %q, %v", stop, name, b, err)
			}
		}
		if durable.Exists(s.dir) {
			t.Errorf("stop %d: %s is still there", stop, s.dir)
		}
	}
}

func encodeMoves(t *testing.T, s *Stage, steps []step) []byte {
	t.Helper()
	b, err := s.encodeList(steps)
	must(t, err)
	return b
}

// A list of what to publish that leads out of the dataset's folder moves nothing.
func TestPublishingStaysInside(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, []byte("precious"), 0o644))
	for _, list := range []string{
		`[{"From":"../victim","To":"x"}]`, `[{"From":"x.partial/data/f","To":"../victim"}]`, `[{"From":"` + victim + `","To":"x"}]`,
	} {
		s := newStage(t, filepath.Join(dir, "x"), false)
		must(t, os.WriteFile(s.Path("f"), []byte("new"), 0o644))
		must(t, s.writeList([]byte(list)))
		must(t, s.Close())
		if _, err := resumeStage(filepath.Join(dir, "x"), formats.CreateOptions{}); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v", list, err)
		}
		if b, err := os.ReadFile(victim); err != nil || string(b) != "precious" {
			t.Errorf("%s: the file outside: %q %v", list, b, err)
		}
		must(t, os.RemoveAll(s.dir))
	}
}

// What a removal that was killed left does not get into the next dataset, nor in its way.
func TestRemainsCountAsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	s := newStage(t, path, false)
	must(t, os.WriteFile(s.Path("left"), nil, 0o644))
	must(t, os.Rename(s.file(journalName), s.file(removedJournalName)))
	must(t, s.Close())
	s = newStage(t, path, false)
	if durable.Exists(s.Path("left")) {
		t.Error("what was left is in the new stage")
	}
	must(t, os.Truncate(s.file(journalName), 12)) // power was lost while it was begun
	must(t, s.Close())
	if _, err := resumeStage(path, formats.CreateOptions{}); !errors.Is(err, formats.ErrNoPartial) || durable.Exists(s.dir) {
		t.Errorf("resume: %v; still there: %v", err, durable.Exists(s.dir))
	}
	must(t, os.WriteFile(path, nil, 0o644))
	must(t, os.Mkdir(s.dir, 0o755))
	if _, err := createStage(path, path, stageMeta, formats.CreateOptions{}); !errors.Is(err, formats.ErrExists) || durable.Exists(s.dir) {
		t.Errorf("create: %v; still there: %v", err, durable.Exists(s.dir))
	}
}

func TestDiscard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	must(t, Discard(path))
	s := newStage(t, path, false)
	if err := Discard(path); !errors.Is(err, formats.ErrLocked) || !durable.Exists(s.file(journalName)) {
		t.Errorf("while it is written: %v", err)
	}
	must(t, s.Close())
	must(t, Discard(path))
	if durable.Exists(s.dir) {
		t.Error("it is still there")
	}
	s = newStage(t, path, false)
	must(t, os.WriteFile(s.Path("x"), []byte("new"), 0o644))
	must(t, s.writeList(encodeMoves(t, s, []step{{From: s.Path("x"), To: path}})))
	must(t, s.Close())
	if err := Discard(path); !errors.Is(err, formats.ErrPublished) || !durable.Exists(path) || durable.Exists(s.dir) {
		t.Errorf("of what is complete: %v", err)
	}
}

// After a write or sync that failed nothing more is written, summed or recorded.
func TestFailuresAreForGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	s := newStage(t, path, false)
	f, err := s.CreateFile("f")
	must(t, err)
	_, err = f.Write(make([]byte, 10))
	must(t, err)
	must(t, f.f.Close())
	first := f.Sync()
	if first == nil {
		t.Fatal("a sync of a closed file")
	}
	if _, err := f.Write(nil); !errors.Is(err, first) {
		t.Errorf("then write: %v", err)
	}
	must(t, s.journal.Close())
	s.journal, err = os.Open(s.file(journalName)) // cannot be written to
	must(t, err)
	first = s.Checkpoint(nil, []byte("note"))
	if first == nil {
		t.Fatal("a checkpoint that was not written")
	}
	if err := s.startPublishing(nil, nil); !errors.Is(err, first) || durable.Exists(s.file(publishListName)) {
		t.Errorf("then publish: %v", err)
	}
	must(t, s.Close())
	s, err = resumeStage(path, formats.CreateOptions{})
	must(t, err)
	if s.Note != nil {
		t.Errorf("note %q", s.Note)
	}
	must(t, s.Close())
}

// A file of somebody else's in the stage's folder stays, and the next dataset is made there too.
func TestStageWithAForeignFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	mine := filepath.Join(path+sidecar.PartialSuffix, ".DS_Store")
	unharmed := func() {
		t.Helper()
		if b, err := os.ReadFile(mine); err != nil || string(b) != "mine" {
			t.Fatalf("%q, %v", b, err)
		}
	}
	var left int
	for i := range 3 {
		s := newStage(t, path, true)
		must(t, os.WriteFile(mine, []byte("mine"), 0o644))
		must(t, os.WriteFile(s.Path("x"), []byte("new"), 0o644))
		must(t, s.Checkpoint(nil, make([]byte, 10000)))
		must(t, s.startPublishing([]string{path}, []step{{From: s.Path("x"), To: path}}))
		unharmed()
		if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
			t.Fatalf("%q, %v", b, err)
		}
		names, err := os.ReadDir(path + sidecar.PartialSuffix)
		must(t, err)
		if left = len(names); left != 2 {
			t.Errorf("run %d left %v", i, names)
		}
		if st, err := os.Stat(s.file(removedJournalName)); err != nil || st.Size() > 1000 {
			t.Errorf("run %d: %v, %v", i, st, err)
		}
	}
	if done, err := Recover(path); done || err != nil {
		t.Errorf("recover: %v, %v", done, err)
	}
	must(t, Discard(path))
	s := newStage(t, path, true)
	must(t, s.Close())
	must(t, Discard(path))
	unharmed()
	if _, err := createStage(path, path, stageMeta, formats.CreateOptions{}); !errors.Is(err, formats.ErrExists) {
		t.Error(err)
	}
	unharmed()
	must(t, os.Remove(mine))
	must(t, Discard(path))
	if durable.Exists(path + sidecar.PartialSuffix) {
		t.Error("it is still there")
	}
}

// A file in the way of a dataset that is complete is no damage of it: it is told by every
// command, and nothing is discarded.
func TestAFileInTheWayIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	path, mine := filepath.Join(dir, "x-%d"), filepath.Join(dir, "x-0")
	s := newStage(t, path, true)
	must(t, os.WriteFile(s.Path("x-0"), []byte("new"), 0o644))
	side := filepath.Join(dir, "x.dsconv")
	must(t, os.Mkdir(side, 0o755))
	must(t, s.WriteSidecar(side, "x.dsconv/", nil, nil, sidecar.Places{})) // its table does not have the file
	must(t, os.MkdirAll(s.file(replacedName), 0o755))
	must(t, s.writeList(encodeMoves(t, s, []step{
		{From: mine, To: filepath.Join(s.file(replacedName), "0"), Replaced: true, ID: "file 1 4 0"}, {From: s.Path("x-0"), To: mine},
	})))
	must(t, s.Close())
	must(t, os.WriteFile(mine, []byte("mine"), 0o644))
	for name, do := range map[string]func() error{
		"recover": func() error { _, err := Recover(path); return err },
		"discard": func() error { return Discard(path) },
	} {
		if err := do(); !errors.Is(err, formats.ErrForeign) || errors.Is(err, formats.ErrDamaged) || !durable.Exists(s.Path("x-0")) {
			t.Errorf("%s: %v, still there: %v", name, err, durable.Exists(s.Path("x-0")))
		}
	}
	must(t, os.Rename(mine, filepath.Join(dir, "thesis.tex")))
	if done, err := Recover(path); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
}
