package atrest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// What a new version replaces was put into the stage's folder old. Of a folder that was
// replaced, x.lmdb/ or a sidecar, only the files that dsconv wrote are removed: those with the
// names below, as far as the folder's own table of checksums has them. All else in it is the
// user's and goes over to the new version's folder, by renames, before anything is removed.
// Each step may be taken again, so that a kill at any moment is made good.

// ownFiles are the names of dsconv's files in such folders.
var ownFileNames = []string{
	"data.mdb", "lock.mdb", "fields/data.mdb", "fields/lock.mdb",
	ManifestName, RemovedName, MetaName, "wids.json", ChecksumsName, // the table last: it tells of the others
}

// indexSuffixes end the names of the index files in sidecars.
var indexSuffixes = []string{".idx", ".tfindex"}

// ownIn lists dsconv's files in such a folder, in the order in which they are removed.
func ownFilesIn(dir string) ([]string, error) {
	if !exists(filepath.Join(dir, ChecksumsName)) {
		return nil, nil
	}
	table, err := ReadChecksums(dir)
	if err != nil {
		return nil, fmt.Errorf("nothing tells which of its files dsconv wrote: %w", err)
	}
	told := map[string]bool{ChecksumsName: true}
	for _, fs := range table {
		name := fs.Name
		if at := strings.LastIndexByte(name, '/'); at >= 0 && strings.HasSuffix(name[:at], ".dsconv") {
			name = name[at+1:] // a sidecar's table names its files as seen from beside it
		}
		told[name] = true
		if path.Base(name) == "data.mdb" {
			told[path.Join(path.Dir(name), "lock.mdb")] = true // that of LMDB's readers
		}
	}
	var own []string
	for name := range told {
		if slices.Contains(indexSuffixes, path.Ext(name)) && !strings.Contains(name, "/") {
			own = append(own, name)
		}
	}
	for _, name := range ownFileNames {
		if told[name] {
			own = append(own, name)
		}
	}
	return own, nil
}

// emptyOld removes what was replaced, and carries over what in it is not dsconv's.
func (s *Stage) clearReplaced() error {
	entries, err := os.ReadDir(s.file(replacedName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if keep, err := s.keepsPrevious(); err != nil {
		return err
	} else if keep {
		return s.finishPrevious(entries)
	}
	for _, e := range entries {
		old := filepath.Join(s.file(replacedName), e.Name())
		if !e.IsDir() {
			err = s.root.Remove(path.Join(replacedName, e.Name()))
		} else if err = s.removeReplacedFolder(old); err != nil {
			err = fmt.Errorf("%s holds what was in the version before and is not dsconv's: %w", old, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceFolder empties a folder that was replaced and removes it.
func (s *Stage) removeReplacedFolder(old string) error {
	c, err := s.moveForeign(old)
	if err != nil {
		return err
	}
	for _, name := range c.ownInOrder {
		if err := removeFiles(s.root, c.inStage(name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"fields", "."} {
		if err := removeFiles(s.root, c.inStage(name)); err != nil {
			return err
		}
	}
	return nil
}

// carryOver moves what is not dsconv's from a folder that was replaced to the one in its place.
func (s *Stage) moveForeign(old string) (*foreignMover, error) {
	own, err := ownFilesIn(old)
	if err != nil {
		return nil, err
	}
	c := newForeignMover(s.root, old, s.newFolder(), own)
	return c, c.move(".")
}

// successor is the folder that took the place of one that was replaced.
func (s *Stage) newFolder() string {
	own := strings.TrimSuffix(s.dir, PartialSuffix)
	if st, err := os.Lstat(own); err == nil && st.IsDir() {
		return own
	}
	if p, err := ParseShardPath(own); err == nil {
		return p.Sidecar()
	}
	return own
}

// carrier moves what is not dsconv's from a folder that was replaced to the one in its place.
type foreignMover struct {
	root           *os.Root // of the stage
	oldDir, newDir string
	ownInOrder     []string        // dsconv's files in old, in the order in which they are removed
	own            map[string]bool // dsconv's files in old
	dirs           map[string]bool // folders that hold them
}

func newForeignMover(root *os.Root, old, now string, own []string) *foreignMover {
	c := &foreignMover{root: root, oldDir: old, newDir: now, ownInOrder: own, own: map[string]bool{}, dirs: map[string]bool{}}
	for _, name := range own {
		c.own[name], c.dirs[path.Dir(name)] = true, true
	}
	return c
}

func (c *foreignMover) inStage(name string) string {
	return path.Join(replacedName, filepath.Base(c.oldDir), name)
}

// carry moves what is in the folder dir of the old one.
func (c *foreignMover) move(dir string) error {
	moved := false
	err := c.eachForeign(dir, func(name string, folder bool) error {
		to := filepath.Join(c.newDir, name)
		if folder && (exists(to) || c.dirs[name]) {
			if err := c.makeFolder(name); err != nil {
				return err
			}
			if err := c.move(name); err != nil || c.dirs[name] {
				return err
			}
			return removeFiles(c.root, c.inStage(name)) // it is empty now
		}
		moved = true
		return renameNoReplace(filepath.Join(c.oldDir, name), to)
	})
	if err != nil || !moved {
		return err
	}
	return errors.Join(durable.SyncDir(filepath.Join(c.newDir, dir)), durable.SyncDir(filepath.Join(c.oldDir, dir)))
}

// into makes the folder of that name in the new one if something is to go there.
func (c *foreignMover) makeFolder(name string) error {
	to := filepath.Join(c.newDir, name)
	if st, err := os.Lstat(to); err == nil {
		if !st.IsDir() {
			return inTheWayError(to)
		}
		return nil
	}
	something := false
	if err := c.eachForeign(name, func(string, bool) error { something = true; return nil }); err != nil || !something {
		return err
	}
	return os.Mkdir(to, 0o755)
}

// each calls do with what in the folder dir of the old one is not dsconv's.
func (c *foreignMover) eachForeign(dir string, do func(name string, folder bool) error) error {
	entries, err := os.ReadDir(filepath.Join(c.oldDir, dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.Type().IsRegular() && c.own[name] {
			continue
		}
		if err := do(name, e.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

// noConflict refuses to replace a folder in which something that is not dsconv's has the name
// of something in the new one.
func (s *Stage) checkConflict(m Move) error {
	st, err := os.Lstat(m.To)
	if err != nil || !st.IsDir() {
		return nil //nolint:nilerr // no folder is replaced
	}
	own, err := ownFilesIn(m.To)
	if err != nil {
		return fmt.Errorf("%s: %w", m.To, err)
	}
	c := newForeignMover(nil, m.To, m.From, own)
	return c.checkConflict(".")
}

func (c *foreignMover) checkConflict(dir string) error {
	return c.eachForeign(dir, func(name string, folder bool) error {
		st, err := os.Lstat(filepath.Join(c.newDir, name))
		switch {
		case err != nil:
			return nil //nolint:nilerr // nothing in the new one has that name
		case folder && st.IsDir():
			return c.checkConflict(name)
		}
		return fmt.Errorf("%s: %w, and the new version has a file of that name; move it away, then the same command goes on",
			filepath.Join(c.oldDir, name), formats.ErrForeign)
	})
}
