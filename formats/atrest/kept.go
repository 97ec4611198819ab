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
const PreviousSuffix = ".old"

// keptNote is the file in that folder which tells that dsconv made it.
const previousNoteName = "kept.json"

// note is what the file holds.
type previousNote struct {
	Kept string `json:"dsconv_kept"` // the name of the dataset in the folder, a pattern of shards too
}

// KeptVersion is a version that was kept.
type PreviousVersion struct {
	Path string // of the dataset in the folder
	dir  string
	from ShardPath // names of its files
}

// notKept is the error about a dataset, of that path, of which no version before was kept.
type noPreviousError string

func (e noPreviousError) Error() string {
	return string(e) + ": no version before was kept in " + string(e) + PreviousSuffix + "; --keep-old keeps it when the dataset is edited"
}

func (noPreviousError) Is(target error) bool { return target == formats.ErrNotDataset }

// Kept finds the version that was kept of the dataset at path. ErrNotDataset if there is none,
// ErrForeign if something else has its name.
func FindPrevious(dataset string) (*PreviousVersion, error) {
	dir := filepath.Clean(dataset) + PreviousSuffix
	st, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, noPreviousError(filepath.Clean(dataset))
	}
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, foreignError(dir, "it is "+describeMode(st.Mode())+", not a version that dsconv kept")
	}
	b, err := readUpTo(filepath.Join(dir, previousNoteName), 1<<16)
	if errors.Is(err, os.ErrNotExist) {
		return nil, foreignError(dir, "it has no "+previousNoteName+", so it is not a version that dsconv kept")
	}
	if err != nil {
		return nil, err
	}
	var n previousNote
	if err := json.Unmarshal(b, &n); err != nil || n.Kept == "" || n.Kept != filepath.Base(n.Kept) || !filepath.IsLocal(n.Kept) {
		return nil, foreignError(filepath.Join(dir, previousNoteName), "it is not what dsconv wrote")
	}
	k := &PreviousVersion{Path: filepath.Join(dir, n.Kept), dir: dir}
	if k.from, err = ParseShardPath(k.Path); err != nil {
		return nil, foreignError(filepath.Join(dir, previousNoteName), "it is not what dsconv wrote")
	}
	return k, nil
}

// each calls do with every file or folder of the version. ErrForeign if something in the folder
// is not dsconv's.
func (k *PreviousVersion) eachFile(do func(name string, folder bool) error) error {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(k.dir, e.Name())
		whole, side := file == k.Path, file == k.from.Sidecar()
		switch {
		case e.Name() == previousNoteName:
			continue
		case e.IsDir() && (whole || side):
			err = k.checkOnlyOwn(file)
		case !e.Type().IsRegular() || !whole && !k.from.isShard(e.Name()):
			err = foreignError(file, "dsconv did not put it there")
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
func (k *PreviousVersion) checkOnlyOwn(dir string) error {
	own, err := ownFilesIn(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	c := newForeignMover(nil, dir, "", own)
	return c.eachForeign(".", func(name string, folder bool) error {
		if folder && c.dirs[name] {
			return c.eachForeign(name, func(name string, _ bool) error {
				return foreignError(filepath.Join(dir, name), "dsconv did not put it there")
			})
		}
		return foreignError(filepath.Join(dir, name), "dsconv did not put it there")
	})
}

// Bytes is the room that the version takes beside the dataset: of files that both have, none.
func (k *PreviousVersion) Bytes() (total int64, err error) {
	err = filepath.WalkDir(k.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		st, err := d.Info()
		if err == nil && linkCount(st) == 1 {
			total += st.Size()
		}
		return err
	})
	return total, err
}

// KeepPrevious implements formats.PreviousKeeper.
func (s *Stage) KeepPrevious() { s.keepPrevious = true }

// keptPath is where the version that is replaced is kept.
func (s *Stage) previousPath() string {
	return strings.TrimSuffix(s.dir, PartialSuffix) + PreviousSuffix
}

// MayKeep reports why the present version of the dataset cannot take the place of the one that was
// kept before.
func CheckKeepPrevious(dataset string) error {
	k, err := FindPrevious(dataset)
	if errors.Is(err, formats.ErrNotDataset) {
		return nil
	}
	if err != nil {
		return err
	}
	return k.eachFile(func(string, bool) error { return nil })
}

// prepareKept puts into the folder old what the kept version has beside the files that go there
// in the course of the publication: those that stay, and the note.
func (s *Stage) preparePrevious() error {
	if err := CheckKeepPrevious(strings.TrimSuffix(s.dir, PartialSuffix)); err != nil {
		return err
	}
	b, err := json.Marshal(previousNote{Kept: filepath.Base(strings.TrimSuffix(s.dir, PartialSuffix))})
	if err != nil {
		return err
	}
	// The note comes first: it tells dropKept, should this be stopped, what the links are.
	if err := durable.WriteFile(s.file(path.Join(replacedName, previousNoteName)), b); err != nil {
		return err
	}
	for _, file := range s.reused {
		if err := LinkOrCopy(file, filepath.Join(s.file(replacedName), filepath.Base(file))); err != nil {
			return fmt.Errorf("keep %s: %w", file, err)
		}
	}
	return durable.SyncDir(s.file(replacedName))
}

// dropKept removes what an earlier prepareKept left that was stopped before the list was written.
func (s *Stage) dropPreparedPrevious() error {
	entries, err := os.ReadDir(s.file(replacedName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	noted := exists(s.file(path.Join(replacedName, previousNoteName)))
	for _, e := range entries {
		link := noted && s.owns(filepath.Join(filepath.Dir(s.dir), e.Name()))
		if !e.Type().IsRegular() || !link && !durable.IsTemporary(e.Name()) {
			continue
		}
		if err := s.root.Remove(path.Join(replacedName, e.Name())); err != nil {
			return err
		}
	}
	return removeFiles(s.root, path.Join(replacedName, previousNoteName))
}

// keeps reports whether the folder old is a version to be kept: all else is published.
func (s *Stage) keepsPrevious() (bool, error) {
	if !exists(s.file(path.Join(replacedName, previousNoteName))) {
		return false, nil
	}
	b, err := readUpTo(s.file(publishListName), maxList)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return string(b) == nothingToPublish, err
}

// keep makes the folder old the kept version. What a user put into a folder of the dataset goes over
// to the new version first, as always.
func (s *Stage) finishPrevious(entries []fs.DirEntry) error {
	for _, e := range entries {
		if e.IsDir() {
			if _, err := s.moveForeign(filepath.Join(s.file(replacedName), e.Name())); err != nil {
				return err
			}
		}
	}
	if err := CheckKeepPrevious(strings.TrimSuffix(s.dir, PartialSuffix)); err != nil {
		return err
	}
	if exists(s.previousPath()) {
		if err := renameNoReplace(s.previousPath(), s.file(supersededName)); err != nil {
			return err
		}
	}
	if err := renameNoReplace(s.file(replacedName), s.previousPath()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(s.dir))
}
