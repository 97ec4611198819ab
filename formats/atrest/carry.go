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
var ownFiles = []string{
	"data.mdb", "lock.mdb", "fields/data.mdb", "fields/lock.mdb",
	ManifestName, RemovedName, MetaName, "wids.json", SumsName, // the table last: it tells of the others
}

// indexSuffixes end the names of the index files in sidecars.
var indexSuffixes = []string{".idx", ".tfindex"}

// ownIn lists dsconv's files in such a folder, in the order in which they are removed.
func ownIn(dir string) ([]string, error) {
	if !durable.Exists(filepath.Join(dir, SumsName)) {
		return nil, nil
	}
	table, err := ReadSums(dir)
	if err != nil {
		return nil, fmt.Errorf("nothing tells which of its files dsconv wrote: %w", err)
	}
	told := map[string]bool{SumsName: true}
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
	for _, name := range ownFiles {
		if told[name] {
			own = append(own, name)
		}
	}
	return own, nil
}

// emptyOld removes what was replaced, and carries over what in it is not dsconv's.
func (s *Stage) emptyOld() error {
	entries, err := os.ReadDir(s.file(oldName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if keep, err := s.keeps(); err != nil {
		return err
	} else if keep {
		return s.keep(entries)
	}
	for _, e := range entries {
		old := filepath.Join(s.file(oldName), e.Name())
		if !e.IsDir() {
			err = s.root.Remove(path.Join(oldName, e.Name()))
		} else if err = s.replaceFolder(old); err != nil {
			err = fmt.Errorf("%s holds what was in the version before and is not dsconv's: %w", old, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceFolder empties a folder that was replaced and removes it.
func (s *Stage) replaceFolder(old string) error {
	c, err := s.carryOver(old)
	if err != nil {
		return err
	}
	for _, name := range c.list {
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
func (s *Stage) carryOver(old string) (*carrier, error) {
	own, err := ownIn(old)
	if err != nil {
		return nil, err
	}
	c := newCarrier(s.root, old, s.successor(), own)
	return c, c.carry(".")
}

// successor is the folder that took the place of one that was replaced.
func (s *Stage) successor() string {
	own := strings.TrimSuffix(s.dir, Suffix)
	if st, err := os.Lstat(own); err == nil && st.IsDir() {
		return own
	}
	if p, err := ParseShardPath(own); err == nil {
		return p.Sidecar()
	}
	return own
}

// carrier moves what is not dsconv's from a folder that was replaced to the one in its place.
type carrier struct {
	root     *os.Root // of the stage
	old, now string
	list     []string        // dsconv's files in old, in the order in which they are removed
	own      map[string]bool // dsconv's files in old
	dirs     map[string]bool // folders that hold them
}

func newCarrier(root *os.Root, old, now string, own []string) *carrier {
	c := &carrier{root: root, old: old, now: now, list: own, own: map[string]bool{}, dirs: map[string]bool{}}
	for _, name := range own {
		c.own[name], c.dirs[path.Dir(name)] = true, true
	}
	return c
}

func (c *carrier) inStage(name string) string {
	return path.Join(oldName, filepath.Base(c.old), name)
}

// carry moves what is in the folder dir of the old one.
func (c *carrier) carry(dir string) error {
	moved := false
	err := c.each(dir, func(name string, folder bool) error {
		to := filepath.Join(c.now, name)
		if folder && (durable.Exists(to) || c.dirs[name]) {
			if err := c.into(name); err != nil {
				return err
			}
			if err := c.carry(name); err != nil || c.dirs[name] {
				return err
			}
			return removeFiles(c.root, c.inStage(name)) // it is empty now
		}
		moved = true
		return moveTo(filepath.Join(c.old, name), to)
	})
	if err != nil || !moved {
		return err
	}
	return errors.Join(durable.SyncDir(filepath.Join(c.now, dir)), durable.SyncDir(filepath.Join(c.old, dir)))
}

// into makes the folder of that name in the new one if something is to go there.
func (c *carrier) into(name string) error {
	to := filepath.Join(c.now, name)
	if st, err := os.Lstat(to); err == nil {
		if !st.IsDir() {
			return inTheWay(to)
		}
		return nil
	}
	something := false
	if err := c.each(name, func(string, bool) error { something = true; return nil }); err != nil || !something {
		return err
	}
	return os.Mkdir(to, 0o755)
}

// each calls do with what in the folder dir of the old one is not dsconv's.
func (c *carrier) each(dir string, do func(name string, folder bool) error) error {
	entries, err := os.ReadDir(filepath.Join(c.old, dir))
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
func (s *Stage) noConflict(m Move) error {
	st, err := os.Lstat(m.To)
	if err != nil || !st.IsDir() {
		return nil //nolint:nilerr // no folder is replaced
	}
	own, err := ownIn(m.To)
	if err != nil {
		return fmt.Errorf("%s: %w", m.To, err)
	}
	c := newCarrier(nil, m.To, m.From, own)
	return c.conflict(".")
}

func (c *carrier) conflict(dir string) error {
	return c.each(dir, func(name string, folder bool) error {
		st, err := os.Lstat(filepath.Join(c.now, name))
		switch {
		case err != nil:
			return nil //nolint:nilerr // nothing in the new one has that name
		case folder && st.IsDir():
			return c.conflict(name)
		}
		return fmt.Errorf("%s: %w, and the new version has a file of that name; move it away, then the same command goes on",
			filepath.Join(c.old, name), formats.ErrForeign)
	})
}
