package staging

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Whatever trusts a folder by its name refuses one that another user has made.
func TestFoldersOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	path := filepath.Join(t.TempDir(), "x-%d")
	must(t, newStage(t, path, false).Close())
	must(t, os.Chown(path+".partial", 65534, 65534))
	for name, err := range map[string]error{
		"Discard":        Discard(path),
		"DiscardEmpty":   DiscardEmpty(path),
		"EachUnfinished": EachUnfinished(path, func(*sampleindex.Row) error { return nil }),
	} {
		if !errors.Is(err, formats.ErrForeign) || !strings.Contains(err.Error(), "it belongs to ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Recover(path); !errors.Is(err, formats.ErrForeign) {
		t.Errorf("Recover: %v", err)
	}
}

// A folder or a link that somebody puts in the place of the staging folder while it is in use is not touched.
func TestAnotherFolderInThePlaceOfTheStagingFolder(t *testing.T) {
	for name, put := range map[string]func(victim, dir string) error{
		"a link":   os.Symlink,
		"a folder": func(victim, dir string) error { return os.Mkdir(dir, 0o755) },
		"a folder with a link": func(victim, dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.Symlink(filepath.Join(victim, dataName), filepath.Join(dir, dataName)))
		},
	} {
		victim := t.TempDir()
		precious := []string{filepath.Join(victim, dataName, "f"), filepath.Join(victim, journalName), filepath.Join(victim, publishListName)}
		must(t, os.Mkdir(filepath.Join(victim, dataName), 0o755))
		for _, file := range precious {
			must(t, os.WriteFile(file, []byte("precious"), 0o644))
		}
		s := newStage(t, filepath.Join(t.TempDir(), "x"), false)
		f, err := s.CreateFile("f")
		must(t, err)
		must(t, errors.Join(f.Sync(), f.Close()))
		must(t, os.Rename(s.dir, s.dir+".away"))
		must(t, put(victim, s.dir))
		if f, err := s.ReopenFile(f.State()); err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			must(t, f.Close())
		}
		_, err = s.CreateFile("f")
		must(t, err)
		must(t, errors.Join(s.Remove("f"), s.writeList([]byte(nothingToPublish))))
		_ = s.remove() // there is another folder of that name
		for _, file := range precious {
			if b, err := os.ReadFile(file); err != nil || string(b) != "precious" {
				t.Errorf("%s: %s: %q, %v", name, file, b, err)
			}
		}
	}
}

// A replacement of a dataset of one file is complete and was killed before it was published, and then all was copied: files
// have other inodes and times. It is published; not if the file is another one by now, until that is moved away.
func TestCopyOfAKilledReplacement(t *testing.T) {
	for content, published := range map[string]bool{"old": true, "odd": false, "older": false} {
		path := filepath.Join(t.TempDir(), "x.h5")
		must(t, os.WriteFile(path, []byte("old"), 0o644))
		s := newStage(t, path, true)
		must(t, os.WriteFile(s.Path("new"), []byte("new"), 0o644))
		steps, err := s.steps([]string{path}, []step{{From: s.Path("new"), To: path}})
		must(t, err)
		must(t, os.Mkdir(s.file(replacedName), 0o755))
		must(t, errors.Join(s.writeList(encodeMoves(t, s, steps)), s.Close()))
		dir := filepath.Join(t.TempDir(), "copy")
		must(t, os.CopyFS(dir, os.DirFS(filepath.Dir(path))))
		path = filepath.Join(dir, "x.h5")
		must(t, os.WriteFile(path, []byte(content), 0o644))
		must(t, os.Chmod(path+".partial", 0o700))
		if _, err = resumeStage(path, formats.CreateOptions{}); published != errors.Is(err, formats.ErrPublished) {
			t.Errorf("%s: %v", content, err)
		}
		if !published {
			must(t, os.Rename(path, path+".mine"))
			if err := Discard(path); !errors.Is(err, formats.ErrPublished) {
				t.Errorf("%s: %v", content, err)
			}
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
			t.Errorf("%s became %q, %v", content, b, err)
		}
		if _, err := os.Stat(path + ".partial"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", content, err)
		}
	}
}
