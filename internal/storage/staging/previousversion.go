package staging

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
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// A version that is replaced may be kept as the previous version (--keep-old). Its files are
// moved to the folder old in the staging folder, which becomes DST.old once all is published.
// The folder has the version's files under their names, so that it is a dataset itself, and a
// note. Files that the new version reuses are hard links in both. Only one previous version is
// kept: the next one replaces it.

// PreviousSuffix is appended to a dataset's path to name the folder of the previous version.
const PreviousSuffix = ".old"

// previousNoteName is the file in that folder that identifies it as dsconv's.
const previousNoteName = "kept.json"

// previousNote is the content of that file.
type previousNote struct {
	Kept string `json:"dsconv_kept"` // name of the dataset in the folder, which may be a pattern of shards
}

// PreviousVersion is the version of a dataset that was kept when it was replaced.
type PreviousVersion struct {
	Path string // of the dataset in the folder
	dir  string
	from sharded.ShardPath // names of its files
}

// noPreviousError is the path of a dataset without a previous version, as an error.
type noPreviousError string

func (e noPreviousError) Error() string {
	return string(e) + ": no previous version was kept in " + string(e) + PreviousSuffix + "; to have one, choose to keep it when you edit the dataset"
}

func (noPreviousError) Is(target error) bool { return target == formats.ErrNotDataset }

// FindPrevious finds the previous version of the dataset. ErrNotDataset if there is none,
// ErrForeign if its path is not dsconv's.
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
		return nil, foreignError(dir, "it is "+durable.KindOf(st.Mode())+", not a folder")
	}
	root, err := OpenOwn(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b, err := entry{root, previousNoteName}.readUpTo(1 << 16)
	if errors.Is(err, os.ErrNotExist) {
		return nil, foreignError(dir, "it has no "+previousNoteName+", so it is not a previous version of a dataset")
	}
	if err != nil {
		return nil, err
	}
	var n previousNote
	if err := json.Unmarshal(b, &n); err != nil || n.Kept == "" || n.Kept != filepath.Base(n.Kept) || !filepath.IsLocal(n.Kept) {
		return nil, foreignError(filepath.Join(dir, previousNoteName), "its content was changed")
	}
	k := &PreviousVersion{Path: filepath.Join(dir, n.Kept), dir: dir}
	if k.from, err = sharded.ParseShardPath(k.Path); err != nil {
		return nil, foreignError(filepath.Join(dir, previousNoteName), "its content was changed")
	}
	return k, nil
}

// eachFile calls do with every file or folder of the version. ErrForeign if any file in the
// folder is not dsconv's.
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
		case !e.Type().IsRegular() || !whole && !k.from.IsShard(e.Name()):
			err = foreignError(file, "it is not part of the previous version")
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

// checkOnlyOwn returns an error if a folder of the version has files that are not dsconv's.
func (k *PreviousVersion) checkOnlyOwn(dir string) error {
	own, err := ownFilesIn(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	c := newForeignMover(nil, dir, "", own)
	return c.eachForeign(".", func(name string, folder bool) error {
		if folder && c.dirs[name] {
			return c.eachForeign(name, func(name string, _ bool) error {
				return foreignError(filepath.Join(dir, name), "it is not part of the previous version")
			})
		}
		return foreignError(filepath.Join(dir, name), "it is not part of the previous version")
	})
}

// Bytes returns the disk space that the version takes in addition to the dataset: files that
// both have do not count.
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

// previousPath returns the folder of the previous version.
func (s *Stage) previousPath() string {
	return strings.TrimSuffix(s.dir, sidecar.PartialSuffix) + PreviousSuffix
}

// CheckKeepPrevious reports why the dataset's current version cannot replace the previous version
// that was kept.
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

// preparePrevious puts into the folder old the note and links to the reused files. Publication
// moves the other files of the previous version there.
func (s *Stage) preparePrevious() error {
	if err := CheckKeepPrevious(strings.TrimSuffix(s.dir, sidecar.PartialSuffix)); err != nil {
		return err
	}
	b, err := json.Marshal(previousNote{Kept: filepath.Base(strings.TrimSuffix(s.dir, sidecar.PartialSuffix))})
	if err != nil {
		return err
	}
	// The note comes first: if this is interrupted, dropPreparedPrevious recognizes the links by it.
	if err := s.in(path.Join(replacedName, previousNoteName)).replace(b); err != nil {
		return err
	}
	for _, file := range s.reused {
		if err := LinkOrCopy(file, filepath.Join(s.file(replacedName), filepath.Base(file))); err != nil {
			return fmt.Errorf("keep the previous version's %s: %w", file, err)
		}
	}
	return durable.SyncDir(s.file(replacedName))
}

// dropPreparedPrevious removes what an earlier preparePrevious left if it was interrupted before
// the publish list was written.
func (s *Stage) dropPreparedPrevious() error {
	entries, err := s.in(replacedName).list()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	noted := s.in(path.Join(replacedName, previousNoteName)).exists()
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

// keepsPrevious reports whether the folder old is a complete version that must be kept: all else is
// published.
func (s *Stage) keepsPrevious() (bool, error) {
	if !s.in(path.Join(replacedName, previousNoteName)).exists() {
		return false, nil
	}
	b, err := s.in(publishListName).readUpTo(maxList)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return string(b) == nothingToPublish, err
}

// finishPrevious makes the folder old the previous version. The user's files in a folder of the
// dataset move to the new version first, as always.
func (s *Stage) finishPrevious(entries []fs.DirEntry) error {
	for _, e := range entries {
		if e.IsDir() {
			if _, err := s.moveForeign(filepath.Join(s.file(replacedName), e.Name())); err != nil {
				return err
			}
		}
	}
	if err := CheckKeepPrevious(strings.TrimSuffix(s.dir, sidecar.PartialSuffix)); err != nil {
		return err
	}
	if durable.Exists(s.previousPath()) {
		if err := s.renameNoReplace(s.previousPath(), s.file(supersededName)); err != nil {
			return err
		}
	}
	if err := s.renameNoReplace(s.file(replacedName), s.previousPath()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(s.dir))
}
