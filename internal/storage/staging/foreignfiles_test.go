package staging

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// folderDataset makes a dataset that is a folder, as LMDB's are, in dir.
func folderDataset(t *testing.T, s *Stage, dir, data string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, "fields"), 0o755))
	var sums checksum.Checksums
	for _, name := range []string{"data.mdb", "fields/data.mdb"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644))
		fs, err := checksum.OfFile(filepath.Join(dir, name), name, -1)
		must(t, err)
		sums = append(sums, fs)
	}
	must(t, s.WriteSidecar(dir, "", sums, nil, sidecar.Places{}))
}

var usersFiles = []string{"NOTES.md", "eval/results.txt", "fields/notes.txt", "data.mdb.bak"}

// A publication that replaces a folder with files of a user's in it is stopped after each of
// its steps, and while those files are carried over: resuming ends with the new version and
// all of them.
func TestCarryingGoesOnFromEveryStep(t *testing.T) {
	const stops = 9
	for stop := range stops {
		path := filepath.Join(t.TempDir(), "x.lmdb")
		s := newStage(t, path, true)
		folderDataset(t, s, path, "old")
		for _, name := range usersFiles {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o755))
			must(t, os.WriteFile(filepath.Join(path, name), []byte("mine"), 0o644))
		}
		must(t, os.WriteFile(filepath.Join(path, "lock.mdb"), nil, 0o644)) // of LMDB's readers
		staged := s.Path("dataset")
		folderDataset(t, s, staged, "new")
		steps, err := s.steps([]string{path}, []step{{From: staged, To: path}})
		must(t, err)
		must(t, os.MkdirAll(s.file(replacedName), 0o755))
		must(t, s.writeList(encodeMoves(t, s, steps)))
		old := filepath.Join(s.file(replacedName), filepath.Base(path))
		for i, step := range []func() error{
			func() error { return s.doStep(steps[0]) },
			func() error { return s.doStep(steps[1]) },
			func() error { return s.writeList([]byte("[]")) },
			func() error { return os.Rename(s.file(journalName), s.file(removedJournalName)) },
			func() error { return os.Rename(filepath.Join(old, "NOTES.md"), filepath.Join(path, "NOTES.md")) },
			func() error {
				return os.Rename(filepath.Join(old, "fields/notes.txt"), filepath.Join(path, "fields/notes.txt"))
			},
			func() error { return s.clearReplaced() },
			func() error { return os.RemoveAll(s.file(dataName)) },
		} {
			if i < stop {
				must(t, step())
			}
		}
		must(t, s.Close())
		if _, err := resumeStage(path, formats.CreateOptions{}); !errors.Is(err, formats.ErrPublished) {
			t.Errorf("stop %d: %v", stop, err)
		}
		for _, name := range usersFiles {
			if b, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(b) != "mine" {
				t.Errorf("stop %d: %s is %q, %v", stop, name, b, err)
			}
		}
		for _, name := range []string{"data.mdb", "fields/data.mdb"} {
			if b, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(b) != "new" {
				t.Errorf("stop %d: %s is %q, %v", stop, name, b, err)
			}
		}
		if durable.Exists(s.dir) || durable.Exists(filepath.Join(path, "lock.mdb")) {
			t.Errorf("stop %d: %v %v", stop, durable.Exists(s.dir), durable.Exists(filepath.Join(path, "lock.mdb")))
		}
	}
}

// A user's file with a name that the new version brings stops the publication before its
// first step; one that came later stays in the stage, and is named.
func TestFilesOfUsersInTheWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lmdb")
	s := newStage(t, path, true)
	must(t, os.Mkdir(path, 0o755))
	must(t, s.WriteSidecar(path, "", nil, nil, sidecar.Places{}))
	mine := filepath.Join(path, "data.mdb") // no table has it
	must(t, os.WriteFile(mine, []byte("mine"), 0o644))
	staged := s.Path("dataset")
	folderDataset(t, s, staged, "new")
	publish := func() error { return s.startPublishing([]string{path}, []step{{From: staged, To: path}}) }
	if err := publish(); !errors.Is(err, formats.ErrForeign) || durable.Exists(s.file(publishListName)) {
		t.Fatalf("%v, list: %v", err, durable.Exists(s.file(publishListName)))
	}
	must(t, os.Remove(mine))
	steps, err := s.steps([]string{path}, []step{{From: staged, To: path}})
	must(t, err)
	must(t, os.MkdirAll(s.file(replacedName), 0o755))
	must(t, s.writeList(encodeMoves(t, s, steps)))
	must(t, os.WriteFile(mine, []byte("mine"), 0o644))
	must(t, s.Close())
	if _, err := resumeStage(path, formats.CreateOptions{}); !errors.Is(err, formats.ErrForeign) {
		t.Fatal(err)
	}
	kept := filepath.Join(s.file(replacedName), filepath.Base(path), "data.mdb")
	if b, err := os.ReadFile(kept); err != nil || string(b) != "mine" {
		t.Fatalf("%q, %v", b, err)
	}
	must(t, os.Rename(kept, filepath.Join(path, "mine")))
	if _, err := resumeStage(path, formats.CreateOptions{}); !errors.Is(err, formats.ErrPublished) || durable.Exists(s.dir) {
		t.Fatal(err)
	}
}

// A list of an earlier version does not tell what lay there: the table of checksums does, also
// of a shard that had the name of another pattern.
func TestListsOfEarlierVersions(t *testing.T) {
	for _, name := range []string{"x-%d.tar", "x-%03d.tar", "x.tar"} {
		t.Run(name, func(t *testing.T) { listOfEarlierVersion(t, name) })
	}
}

// listOfEarlierVersion resumes the publication of a dataset of that name in place of
// x-%d.tar.
func listOfEarlierVersion(t *testing.T, name string) {
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	p, err := sharded.ParseShardPath(path)
	must(t, err)
	first := p.Name(0)
	s := newStage(t, path, true)
	side := filepath.Join(dir, "x.tar.dsconv")
	must(t, os.Mkdir(side, 0o755))
	shard := filepath.Join(dir, "x-0.tar")
	must(t, os.WriteFile(shard, []byte("old"), 0o644))
	fs, err := checksum.OfFile(shard, "x-0.tar", -1)
	must(t, err)
	must(t, s.WriteSidecar(side, "x.tar.dsconv/", checksum.Checksums{fs}, nil, sidecar.Places{}))
	must(t, os.WriteFile(s.Path(first), []byte("new"), 0o644))
	must(t, os.Mkdir(s.Path("x.tar.dsconv"), 0o755))
	must(t, s.WriteSidecar(s.Path("x.tar.dsconv"), "x.tar.dsconv/", checksum.Checksums{fs}, nil, sidecar.Places{}))
	steps, err := s.steps([]string{side, shard}, []step{{From: s.Path(first), To: filepath.Join(dir, first)}, {From: s.Path("x.tar.dsconv"), To: side}})
	must(t, err)
	for i := range steps {
		steps[i].ID = ""
	}
	must(t, os.MkdirAll(s.file(replacedName), 0o755))
	must(t, s.writeList(encodeMoves(t, s, steps)))
	must(t, s.Close())
	must(t, os.WriteFile(shard, []byte("mine"), 0o644))
	if _, err := resumeStage(path, formats.CreateOptions{}); !errors.Is(err, formats.ErrForeign) {
		t.Fatalf("a file that is not what the table says: %v", err)
	}
	must(t, os.WriteFile(shard, []byte("old"), 0o644))
	if _, err := resumeStage(path, formats.CreateOptions{}); !errors.Is(err, formats.ErrPublished) {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, first)); err != nil || string(b) != "new" {
		t.Fatalf("%q, %v", b, err)
	}
	if first != "x-0.tar" && durable.Exists(shard) {
		t.Fatal("the old shard is still there")
	}
}

// The table of the old dataset is read once.
func TestTheOldTableIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	s := newStage(t, filepath.Join(dir, "x-%d.tar"), true)
	side := filepath.Join(dir, "x.tar.dsconv")
	must(t, os.Mkdir(side, 0o755))
	must(t, s.WriteSidecar(side, "x.tar.dsconv/", checksum.Checksums{{Name: "x-0.tar"}}, nil, sidecar.Places{}))
	for range 2 {
		table, err := s.replacedChecksums()
		must(t, err)
		if _, err := table.ForFile("x-0.tar"); err != nil {
			t.Error(err)
		}
		must(t, os.RemoveAll(side))
	}
	must(t, s.Close())
}
