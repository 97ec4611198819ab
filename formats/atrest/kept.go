package atrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// A version that is replaced may be kept: then the folder into which its files go meanwhile, old
// in the stage, becomes DST.old when all is published. It holds the version's files under the names
// that they had, so that it is a dataset itself, and a note. Files that the new version has too are
// in both as links to the same bytes. There is one kept version: the next one takes its place.

// KeptSuffix is what is appended to a dataset's path to name the folder of the kept version.
const KeptSuffix = ".old"

// keptNote is the file in that folder which tells that dsconv made it.
const keptNote = "kept.json"

// note is what the file holds.
type note struct {
	Kept string `json:"dsconv_kept"` // the name of the dataset in the folder, a pattern of shards too
}

// KeptVersion is a version that was kept.
type KeptVersion struct {
	Path string // of the dataset in the folder
	dir  string
	from ShardPath // names of its files
}

// notKept is the error about a dataset, of that path, of which no version before was kept.
type notKept string

func (e notKept) Error() string {
	return string(e) + ": no version before was kept in " + string(e) + KeptSuffix + "; --keep-old keeps it when the dataset is edited"
}

func (notKept) Is(target error) bool { return target == formats.ErrNotDataset }

// Kept finds the version that was kept of the dataset at path. ErrNotDataset if there is none,
// ErrForeign if something else has its name.
func Kept(dataset string) (*KeptVersion, error) {
	dir := filepath.Clean(dataset) + KeptSuffix
	st, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, notKept(filepath.Clean(dataset))
	}
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, foreign(dir, "it is "+durable.KindOf(st.Mode())+", not a version that dsconv kept")
	}
	b, err := readUpTo(filepath.Join(dir, keptNote), 1<<16)
	if errors.Is(err, os.ErrNotExist) {
		return nil, foreign(dir, "it has no "+keptNote+", so it is not a version that dsconv kept")
	}
	if err != nil {
		return nil, err
	}
	var n note
	if err := json.Unmarshal(b, &n); err != nil || n.Kept == "" || n.Kept != filepath.Base(n.Kept) || !filepath.IsLocal(n.Kept) {
		return nil, foreign(filepath.Join(dir, keptNote), "it is not what dsconv wrote")
	}
	k := &KeptVersion{Path: filepath.Join(dir, n.Kept), dir: dir}
	if k.from, err = ParseShardPath(k.Path); err != nil {
		return nil, foreign(filepath.Join(dir, keptNote), "it is not what dsconv wrote")
	}
	return k, nil
}

// each calls do with every file or folder of the version. ErrForeign if something in the folder
// is not dsconv's.
func (k *KeptVersion) each(do func(name string, folder bool) error) error {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(k.dir, e.Name())
		whole, side := file == k.Path, file == k.from.Sidecar()
		switch {
		case e.Name() == keptNote:
			continue
		case e.IsDir() && (whole || side):
			err = k.onlyOwn(file)
		case !e.Type().IsRegular() || !whole && !k.from.isShard(e.Name()):
			err = foreign(file, "dsconv did not put it there")
		}
		if err != nil {
			return err
		}
		if err := do(e.Name(), e.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

// onlyOwn refuses a folder of the version that holds something else than dsconv's files.
func (k *KeptVersion) onlyOwn(dir string) error {
	own, err := ownIn(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	c := newCarrier(nil, dir, "", own)
	return c.each(".", func(name string, folder bool) error {
		if folder && c.dirs[name] {
			return c.each(name, func(name string, _ bool) error {
				return foreign(filepath.Join(dir, name), "dsconv did not put it there")
			})
		}
		return foreign(filepath.Join(dir, name), "dsconv did not put it there")
	})
}

// Bytes is the room that the version takes beside the dataset: of files that both have, none.
func (k *KeptVersion) Bytes() (total int64, err error) {
	err = filepath.WalkDir(k.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		st, err := d.Info()
		if err == nil && links(st) == 1 {
			total += st.Size()
		}
		return err
	})
	return total, err
}

// KeepOld implements formats.OldKeeper.
func (s *Stage) KeepOld() { s.keepOld = true }

// keptPath is where the version that is replaced is kept.
func (s *Stage) keptPath() string { return strings.TrimSuffix(s.dir, Suffix) + KeptSuffix }

// MayKeep reports why the present version of the dataset cannot take the place of the one that was
// kept before.
func MayKeep(dataset string) error {
	k, err := Kept(dataset)
	if errors.Is(err, formats.ErrNotDataset) {
		return nil
	}
	if err != nil {
		return err
	}
	return k.each(func(string, bool) error { return nil })
}

// prepareKept puts into the folder old what the kept version has beside the files that go there
// in the course of the publication: those that stay, and the note.
func (s *Stage) prepareKept() error {
	if err := MayKeep(strings.TrimSuffix(s.dir, Suffix)); err != nil {
		return err
	}
	b, err := json.Marshal(note{Kept: filepath.Base(strings.TrimSuffix(s.dir, Suffix))})
	if err != nil {
		return err
	}
	// The note comes first: it tells dropKept, should this be stopped, what the links are.
	if err := durable.WriteFile(s.file(path.Join(oldName, keptNote)), b); err != nil {
		return err
	}
	for _, file := range s.stay {
		if err := LinkOrCopy(file, filepath.Join(s.file(oldName), filepath.Base(file))); err != nil {
			return fmt.Errorf("keep %s: %w", file, err)
		}
	}
	return durable.SyncDir(s.file(oldName))
}

// dropKept removes what an earlier prepareKept left that was stopped before the list was written.
func (s *Stage) dropKept() error {
	entries, err := os.ReadDir(s.file(oldName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	noted := durable.Exists(s.file(path.Join(oldName, keptNote)))
	for _, e := range entries {
		link := noted && s.owns(filepath.Join(filepath.Dir(s.dir), e.Name()))
		if !e.Type().IsRegular() || !link && !durable.IsTemporary(e.Name()) {
			continue
		}
		if err := s.root.Remove(path.Join(oldName, e.Name())); err != nil {
			return err
		}
	}
	return removeFiles(s.root, path.Join(oldName, keptNote))
}

// keeps reports whether the folder old is a version to be kept: all else is published.
func (s *Stage) keeps() (bool, error) {
	if !durable.Exists(s.file(path.Join(oldName, keptNote))) {
		return false, nil
	}
	b, err := readUpTo(s.file(publishName), maxList)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return string(b) == nothingToPublish, err
}

// keep makes the folder old the kept version. What a user put into a folder of the dataset goes over
// to the new version first, as always.
func (s *Stage) keep(entries []fs.DirEntry) error {
	for _, e := range entries {
		if e.IsDir() {
			if _, err := s.carryOver(filepath.Join(s.file(oldName), e.Name())); err != nil {
				return err
			}
		}
	}
	if err := MayKeep(strings.TrimSuffix(s.dir, Suffix)); err != nil {
		return err
	}
	if durable.Exists(s.keptPath()) {
		if err := moveTo(s.keptPath(), s.file(olderName)); err != nil {
			return err
		}
	}
	if err := moveTo(s.file(oldName), s.keptPath()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(s.dir))
}
