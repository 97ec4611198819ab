package staging

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Undo makes the previous version the current one of the dataset, and keeps the current one as
// the previous version. The files are linked, so that the previous version is complete until it is
// published.
func Undo(dataset string, m formats.Meta) error {
	dataset = filepath.Clean(dataset)
	k, err := FindPrevious(dataset)
	if err != nil {
		return err
	}
	p, err := sharded.ParseShardPath(dataset)
	if err != nil {
		return err
	}
	s, err := createStage(dataset, dataset, m, formats.CreateOptions{Replace: true})
	if err != nil {
		return err
	}
	u := &undo{previous: k, dataset: dataset, path: p, stage: s}
	// Under the lock, so that no other process replaces either version.
	if u.present, err = u.replaced(); err != nil {
		return errors.Join(err, s.remove())
	}
	if err := u.link(); err != nil {
		return errors.Join(err, s.remove())
	}
	if err := s.in(undoName).replace(nil); err != nil {
		return errors.Join(err, s.Close())
	}
	s.KeepPrevious()
	return errors.Join(s.startPublishing(u.present, u.moves), s.Close())
}

// undo is the state of one Undo.
type undo struct {
	previous *PreviousVersion
	dataset  string
	path     sharded.ShardPath
	stage    *Stage
	present  []string // the dataset's current files and folders
	moves    []step
}

// replaced lists the files and folders that the previous version replaces.
func (u *undo) replaced() ([]string, error) {
	if durable.Exists(u.path.Sidecar()) {
		return u.path.ExistingFiles()
	}
	if durable.Exists(u.dataset) {
		return []string{u.dataset}, nil
	}
	return nil, nil
}

// link links the previous version's files into the staging folder, under the dataset's current
// names: either version may have been renamed since.
func (u *undo) link() error {
	var last []step
	err := u.previous.eachFile(func(name string, folder bool) error {
		now, err := u.currentName(name)
		if err != nil {
			return err
		}
		from, to := filepath.Join(u.previous.dir, name), u.stage.Path(now)
		move := step{From: to, To: filepath.Join(u.path.Dir, now)}
		if !folder {
			u.moves = append(u.moves, move)
			return LinkOrCopy(from, to)
		}
		last = append(last, move)
		return linkFolder(from, to)
	})
	u.moves = append(u.moves, last...)
	return err
}

func (u *undo) currentName(name string) (string, error) {
	from := u.previous.from
	i, shard := from.ShardNumber(name)
	switch {
	case name == filepath.Base(u.previous.Path):
		return filepath.Base(u.dataset), nil
	case name == filepath.Base(from.Sidecar()):
		return filepath.Base(u.path.Sidecar()), nil
	case shard && u.path.IsPattern():
		return u.path.Name(i), nil
	}
	return "", fmt.Errorf("%s has the previous version of %s; rename the dataset to a name of that kind, with or without a shard number", u.previous.dir, filepath.Base(u.previous.Path))
}

// linkFolder links dsconv's files of a folder, except LMDB's lock of readers, into the folder to.
func linkFolder(from, to string) error {
	own, err := ownFilesIn(from)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	for _, name := range own {
		if path.Base(name) == "lock.mdb" {
			continue
		}
		if err := os.MkdirAll(filepath.Join(to, path.Dir(name)), 0o755); err != nil {
			return err
		}
		if err := LinkOrCopy(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// UndoPending reports whether an Undo of the dataset was interrupted when it only had to publish
// or to clean up. Recover completes it.
func UndoPending(dataset string) bool {
	s := Stage{dir: filepath.Clean(dataset) + sidecar.PartialSuffix}
	return durable.Exists(s.file(undoName)) && (durable.Exists(s.file(publishListName)) || !durable.Exists(s.file(journalName)))
}
