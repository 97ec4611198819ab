package staging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/wire"
)

// Reading an unfinished dataset leaves its journal as it is; only resuming it, which
// holds the lock, cuts off what a kill left.
func TestReadingAJournalCutsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	s := newStage(t, path, false)
	must(t, s.Checkpoint([]byte("state"), []byte("note")))
	must(t, s.Close())
	whole, err := os.ReadFile(s.file(journalName))
	must(t, err)
	torn := append(bytes.Clone(whole), 9, 0, 0, 0, 1, 2, 3, 4, 5)
	must(t, os.WriteFile(s.file(journalName), torn, 0o644))
	must(t, EachUnfinished(path, func(*sampleindex.Row) error { return nil }))
	if b, err := os.ReadFile(s.file(journalName)); err != nil || !bytes.Equal(b, torn) {
		t.Errorf("reading left %d of %d bytes, %v", len(b), len(torn), err)
	}
	s, err = resumeStage(path, formats.CreateOptions{})
	must(t, err)
	if string(s.Note) != "note" {
		t.Errorf("note %q", s.Note)
	}
	must(t, s.Close())
	if b, err := os.ReadFile(s.file(journalName)); err != nil || !bytes.Equal(b, whole) {
		t.Errorf("resuming left %d bytes of %d, %v", len(b), len(whole), err)
	}
}

// A length in the journal, or the file's own where it has holes, is not believed: little
// memory is asked for.
func TestLengthsInAJournalAreNotBelieved(t *testing.T) {
	for name, length := range map[string]uint32{"the largest": 1<<32 - 1, "over the limit": maxRecord + 1, "zeros": 0} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			s := newStage(t, path, false)
			must(t, s.Checkpoint(nil, []byte("note")))
			must(t, s.Close())
			whole, err := os.ReadFile(s.file(journalName))
			must(t, err)
			must(t, os.WriteFile(s.file(journalName), append(whole, binary.LittleEndian.AppendUint32(nil, length)...), 0o644))
			must(t, os.Truncate(s.file(journalName), 1<<40)) // a hole
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err = resumeStage(path, formats.CreateOptions{})
			must(t, err)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
				t.Errorf("%d bytes were asked for", got)
			}
			if string(s.Note) != "note" {
				t.Errorf("note %q", s.Note)
			}
			must(t, s.Close())
		})
	}
}

// What no writer puts into a journal is an error that says so.
func TestRowsOfAJournalAreChecked(t *testing.T) {
	for name, change := range map[string]func(r *manifest.Row){
		"a key that leads out":   func(r *manifest.Row) { r.Key = "../../x" },
		"a split that leads out": func(r *manifest.Row) { r.Split = "../x" },
		"a negative length":      func(r *manifest.Row) { r.Location.Length = -1 },
		"a negative offset":      func(r *manifest.Row) { r.Location.Offset = -1 << 62 },
		"a negative size":        func(r *manifest.Row) { r.Size = -1 },
		"a shape":                func(r *manifest.Row) { r.Shape[0] = -1 },
	} {
		r := manifest.Row{Info: formats.Info{Key: "a", Encoding: formats.JPEG}}
		change(&r)
		taken, err := sampleindex.TakeRow(&wire.Cursor{B: sampleindex.AppendRow(nil, &r, false)}, 0, false)
		must(t, err)
		if err := taken.CheckTaken(); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
