package staging_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// rename moves the files of a dataset from one path to another, one by one.
func rename(t *testing.T, from, to string, n int) {
	t.Helper()
	p, err := sharded.ParseShardPath(from)
	if err != nil {
		t.Fatal(err)
	}
	q, err := sharded.ParseShardPath(to)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		err = errors.Join(err, os.Rename(filepath.Join(p.Dir, p.Name(i)), filepath.Join(q.Dir, q.Name(i))))
	}
	if p.Sidecar() != q.Sidecar() {
		err = errors.Join(err, os.Rename(p.Sidecar(), q.Sidecar()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// whole opens the dataset and checks all its files.
func whole(t *testing.T, path string, n int) {
	t.Helper()
	r, err := sharded.OpenRecords(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Len() != n {
		t.Errorf("%s: %d samples, want %d", path, r.Len(), n)
	}
	damage := func(d formats.Damage) { t.Errorf("%s: %+v", path, d) }
	if err := errors.Join(r.Check(context.Background(), formats.Portion{}, 2, damage), r.CheckQuick(context.Background(), damage)); err != nil {
		t.Error(err)
	}
}

// From every name to every other, also to those that share the sidecar: the dataset is whole, a
// new version of it has the bytes of one that never had another name, and keeps what it is told to.
func TestRenamedShards(t *testing.T) {
	names := []string{"x-%06d.rec", "x-%05d.rec", "x%03d.rec", "y-%06d.rec", "a/z_%d.rec"}
	for _, from := range names {
		for _, to := range names {
			t.Run(strings.ReplaceAll(from+" "+to, "%", ""), func(t *testing.T) {
				if from == to {
					t.Skip("no other name")
				}
				dir, fresh := t.TempDir(), t.TempDir()
				for _, d := range []string{dir, fresh} {
					if err := os.Mkdir(filepath.Join(d, "a"), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				makeShards(t, filepath.Join(dir, from), false)
				path := filepath.Join(dir, to)
				rename(t, filepath.Join(dir, from), path, 2)
				whole(t, path, 101)
				keepFirst(t, path)
				whole(t, path, 101)
				makeShards(t, filepath.Join(fresh, to), false)
				formatcheck.SameTrees(t, formatcheck.Tree(t, dir), formatcheck.Tree(t, fresh))
			})
		}
	}
}

// keepFirst makes a new version: file 0 stays, file 1 is written again; by way of a checkpoint.
func keepFirst(t *testing.T, path string) {
	t.Helper()
	s, err := staging.CreateShards(path, testMeta, formats.CreateOptions{Replace: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.ReuseFile(0, nil), s.Checkpoint(nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = staging.ResumeShards(path, formats.CreateOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	write(t, s, 100, 101)
	commit(t, s)
}

// What lies at a name that a rename gave the dataset is its own only if it can be: it has the
// size, or a block, of what was written, or nothing in it.
func TestRenamedShardsOwnOnlyWhatIsTheirs(t *testing.T) {
	for what, c := range map[string]struct {
		put func(b []byte) []byte
		own bool
	}{
		"as it was":     {func(b []byte) []byte { return b }, true},
		"a flipped bit": {func(b []byte) []byte { b[9] ^= 1; return b }, true},
		"empty":         {func([]byte) []byte { return nil }, true},
		"cut":           {func(b []byte) []byte { return b[:checksum.BlockSize+7] }, true},
		"longer":        {func(b []byte) []byte { return append(b, 0) }, true},
		"cut short":     {func(b []byte) []byte { return b[:100] }, false},
		"another":       {func([]byte) []byte { return []byte("mine") }, false},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			from, to := filepath.Join(dir, "x.rec"), filepath.Join(dir, "y.rec")
			s, err := staging.CreateShards(from, testMeta, formats.CreateOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 400 {
				smp := sampleOf(i)
				at, err := s.Append(smp.Values[0].Data)
				if err := errors.Join(err, s.Stage().Add(smp, at)); err != nil {
					t.Fatal(err)
				}
			}
			commit(t, s)
			rename(t, from, to, 1)
			b, err := os.ReadFile(to)
			if err != nil || len(b) < 2*checksum.BlockSize {
				t.Fatalf("%d bytes, %v", len(b), err)
			}
			b = c.put(b)
			if err := os.WriteFile(to, b, 0o644); err != nil {
				t.Fatal(err)
			}
			s, err = staging.CreateShards(to, testMeta, formats.CreateOptions{Replace: true}, nil)
			if !c.own {
				if !errors.Is(err, formats.ErrForeign) {
					t.Errorf("%v", err)
				}
				if now, err := os.ReadFile(to); err != nil || string(now) != string(b) {
					t.Error("it was changed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			write(t, s, 0, 5)
			commit(t, s)
			whole(t, to, 5)
		})
	}
}

// An unfinished dataset resumes only under its own name; the error says so.
func TestRenamedPartial(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "x-%02d.rec"), filepath.Join(dir, "y-%02d.rec")
	s, err := staging.CreateShards(from, testMeta, formats.CreateOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, 0, 150)
	if err := errors.Join(s.Checkpoint(nil), s.Close(), os.Rename(from+".partial", to+".partial")); err != nil {
		t.Fatal(err)
	}
	_, err = staging.ResumeShards(to, formats.CreateOptions{}, nil)
	if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(fmt.Sprint(err), "file 0 is x-00.rec: if the unfinished dataset was renamed") {
		t.Errorf("%v", err)
	}
	if err := os.Rename(to+".partial", from+".partial"); err != nil {
		t.Fatal(err)
	}
	if s, err = staging.ResumeShards(from, formats.CreateOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	write(t, s, 150, 180)
	commit(t, s)
	whole(t, from, 180)
}
