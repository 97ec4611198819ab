package staging

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// What a new version replaces was moved to the folder old of the staging folder. From a replaced
// folder, x.lmdb/ or a sidecar, only the files that dsconv wrote are removed: those with the
// names below that are also in the folder's own table of checksums. All other files are the
// user's. They move to the new version's folder, by renames, before anything is removed.
// Each step can be repeated, so that a run after a kill completes it.

// ownFileNames are the names of dsconv's files in such folders.
var ownFileNames = []string{
	"data.mdb", "lock.mdb", "fields/data.mdb", "fields/lock.mdb",
	sidecar.ManifestName, sidecar.RemovedName, manifest.MetaName, indexfile.Name, "wids.json", checksum.ChecksumsName, // the table last: it lists the others
}

// indexSuffixes are the extensions of the index files in sidecars.
var indexSuffixes = []string{".idx", ".tfindex"}

// ownFilesIn lists dsconv's files in such a folder, in the order of their removal.
func ownFilesIn(dir string) ([]string, error) {
	if !durable.Exists(filepath.Join(dir, checksum.ChecksumsName)) {
		return nil, nil
	}
	table, err := checksum.ReadChecksums(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot tell which of its files dsconv wrote: %w", err)
	}
	listed := map[string]bool{checksum.ChecksumsName: true}
	for _, fs := range table {
		name := fs.Name
		if at := strings.LastIndexByte(name, '/'); at >= 0 && strings.HasSuffix(name[:at], ".dsconv") {
			name = name[at+1:] // names in a sidecar's table are relative to the folder it lies in
		}
		listed[name] = true
		if path.Base(name) == "data.mdb" {
			listed[path.Join(path.Dir(name), "lock.mdb")] = true // LMDB's lock of readers
		}
	}
	var own []string
	for name := range listed {
		if slices.Contains(indexSuffixes, path.Ext(name)) && !strings.Contains(name, "/") {
			own = append(own, name)
		}
	}
	for _, name := range ownFileNames {
		if listed[name] {
			own = append(own, name)
		}
	}
	return own, nil
}

// clearReplaced removes what was replaced, and moves files that are not dsconv's to the new version.
func (s *Stage) clearReplaced() error {
	entries, err := s.in(replacedName).list()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		old := filepath.Join(s.file(replacedName), e.Name())
		if !e.IsDir() {
			err = s.root.Remove(path.Join(replacedName, e.Name()))
		} else if err = s.removeReplacedFolder(old); err != nil {
			err = fmt.Errorf("%s has files of the replaced version that dsconv did not write: %w", old, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeReplacedFolder empties a folder that was replaced and removes it.
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

// moveForeign moves files that are not dsconv's from a replaced folder to the new one.
func (s *Stage) moveForeign(old string) (*foreignMover, error) {
	own, err := ownFilesIn(old)
	if err != nil {
		return nil, err
	}
	c := newForeignMover(s, old, s.newFolder(), own)
	return c, c.move(".")
}

// newFolder returns the folder that replaced the old one.
func (s *Stage) newFolder() string {
	own := strings.TrimSuffix(s.dir, sidecar.PartialSuffix)
	if st, err := os.Lstat(own); err == nil && st.IsDir() {
		return own
	}
	if p, err := sharded.ParseShardPath(own); err == nil {
		return p.Sidecar()
	}
	return own
}

// foreignMover moves files that are not dsconv's from a replaced folder to the new one.
type foreignMover struct {
	stage          *Stage // nil if nothing is moved
	oldDir, newDir string
	ownInOrder     []string        // dsconv's files in oldDir, in the order of their removal
	own            map[string]bool // the same
	dirs           map[string]bool // folders that hold them
}

func newForeignMover(s *Stage, old, now string, own []string) *foreignMover {
	c := &foreignMover{stage: s, oldDir: old, newDir: now, ownInOrder: own, own: map[string]bool{}, dirs: map[string]bool{}}
	for _, name := range own {
		c.own[name], c.dirs[path.Dir(name)] = true, true
	}
	return c
}

func (c *foreignMover) inStage(name string) string {
	return path.Join(replacedName, filepath.Base(c.oldDir), name)
}

// move moves the files and folders in the subfolder dir.
func (c *foreignMover) move(dir string) error {
	moved := false
	err := c.eachForeign(dir, func(name string, folder bool) error {
		to := filepath.Join(c.newDir, name)
		if folder && (durable.Exists(to) || c.dirs[name]) {
			if err := c.makeFolder(name); err != nil {
				return err
			}
			if err := c.move(name); err != nil || c.dirs[name] {
				return err
			}
			return removeFiles(c.stage.root, c.inStage(name)) // it is empty now
		}
		moved = true
		return c.stage.renameNoReplace(filepath.Join(c.oldDir, name), to)
	})
	if err != nil || !moved {
		return err
	}
	return errors.Join(durable.SyncDir(filepath.Join(c.newDir, dir)), durable.SyncDir(filepath.Join(c.oldDir, dir)))
}

// makeFolder makes the named subfolder of the new folder if anything must move there.
func (c *foreignMover) makeFolder(name string) error {
	to := filepath.Join(c.newDir, name)
	if st, err := os.Lstat(to); err == nil {
		if !st.IsDir() {
			return inTheWayError(to)
		}
		return nil
	}
	needed := false
	if err := c.eachForeign(name, func(string, bool) error { needed = true; return nil }); err != nil || !needed {
		return err
	}
	at, err := filepath.Rel(c.stage.parent.Name(), to)
	if err != nil {
		return err
	}
	return c.stage.parent.Mkdir(at, 0o755)
}

// eachForeign calls do with each file or folder in the old subfolder dir that is not dsconv's.
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

// checkConflict returns an error if a file that is not dsconv's, in the folder that m replaces,
// has the name of a file of the new folder.
func (s *Stage) checkConflict(m step) error {
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
			return nil //nolint:nilerr // no file of the new folder has that name
		case folder && st.IsDir():
			return c.checkConflict(name)
		}
		return fmt.Errorf("%s: %w, and the new version needs that name; move the file away, then repeat the command",
			filepath.Join(c.oldDir, name), formats.ErrForeign)
	})
}

// fileID identifies a file or folder: its inode number, and for a file also its size and time,
// which change if it is written to.
func fileID(st os.FileInfo) string {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if st.IsDir() {
		return fmt.Sprintf("folder %d", sys.Ino)
	}
	return fmt.Sprintf("file %d %d %d", sys.Ino, st.Size(), st.ModTime().UnixNano())
}

// endOf identifies the content of a file that ends with its own checksums, by its size and its last bytes.
func endOf(path string) (string, error) {
	f, err := unblocked.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	b := make([]byte, min(st.Size(), 64<<10))
	_, err = f.ReadAt(b, st.Size()-int64(len(b)))
	return fmt.Sprintf("%d %016x", st.Size(), xxh3.Hash(b)), err
}

// VersionAt identifies the current version of the dataset at path; "" if there is none.
func VersionAt(path string) string {
	files := []string{filepath.Join(path, checksum.ChecksumsName), path}
	if p, err := sharded.ParseShardPath(path); err == nil {
		files = slices.Insert(files, 0, filepath.Join(p.Sidecar(), checksum.ChecksumsName))
	}
	for _, file := range files {
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
			return fileID(st)
		}
	}
	return ""
}

// checkReplaced reports why the file at m.From may not be moved away as a file of the replaced
// dataset. It may if it is the file for which the list was written. Lists of earlier dsconv
// versions do not identify it, and a dataset may have been copied since: then the dataset's table
// of checksums decides, or the end of a file that has its own.
func (s *Stage) checkReplaced(m step) error {
	st, err := os.Lstat(m.From)
	if err != nil {
		return err
	}
	unchanged := m.ID != "" && m.ID == fileID(st)
	if unchanged && s.owns(m.From) {
		return nil
	}
	if m.Tail != "" {
		if end, err := endOf(m.From); err == nil && end == m.Tail {
			return nil
		}
	}
	// A file that another pattern names must be in the table in any case.
	if err := s.checkInTable(m.From, st, !unchanged); err != nil {
		// Only the text: a damaged old dataset is no damage of the new one.
		return fmt.Errorf("%s: %w, or changed since (%s); move it away, then repeat the command",
			m.From, formats.ErrForeign, err.Error())
	}
	return nil
}

// checkInTable reports why path does not belong to the old dataset. A folder belongs to it if it
// is a valid sidecar; a file, if its size, and with compareBytes its content, are those in the
// table of checksums.
func (s *Stage) checkInTable(path string, st os.FileInfo, compareBytes bool) error {
	if st.IsDir() && s.owns(path) {
		_, _, err := sidecar.Read(path)
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("it is " + durable.KindOf(st.Mode()))
	}
	table, err := s.replacedChecksums()
	if err != nil {
		return err
	}
	want, err := table.ForFile(filepath.Base(path))
	if err != nil {
		return err
	}
	if st.Size() != want.Size {
		return fmt.Errorf("it has %d bytes, but %d were written", st.Size(), want.Size)
	}
	if !compareBytes {
		return nil
	}
	got, err := checksum.OfFile(path, want.Name, -1)
	if err == nil && !slices.Equal(got.Blocks, want.Blocks) {
		err = errors.New("its content differs from what was written")
	}
	return err
}

// replacedChecksums returns the replaced dataset's checksums by the current file names. They are
// read once: the old sidecar is moved away first, and the new one is published last.
func (s *Stage) replacedChecksums() (checksum.ChecksumsByName, error) {
	if s.oldChecksums == nil {
		sums, err := s.readReplacedChecksums()
		if err != nil {
			return nil, err
		}
		s.oldChecksums = sums.ByName()
	}
	return s.oldChecksums, nil
}

// readReplacedChecksums reads that table in the sidecar, or where the sidecar was moved to.
func (s *Stage) readReplacedChecksums() (checksum.Checksums, error) {
	p, err := sharded.ParseShardPath(strings.TrimSuffix(s.dir, sidecar.PartialSuffix))
	if err != nil {
		return nil, err
	}
	if table, err := p.ChecksumsIn(p.Sidecar()); err == nil {
		return table, nil
	}
	entries, err := s.in(replacedName).list()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			return p.ChecksumsIn(filepath.Join(s.file(replacedName), e.Name()))
		}
	}
	return nil, errors.New("the replaced dataset's table of checksums is missing")
}
