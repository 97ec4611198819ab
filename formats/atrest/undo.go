package atrest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// Undo makes the version that was kept the dataset at path, and keeps the present one in its
// place. The files are linked, so that the kept version is whole until the new one is there.
func Undo(dataset string, m formats.Meta) error {
	dataset = filepath.Clean(dataset)
	k, err := FindPrevious(dataset)
	if err != nil {
		return err
	}
	p, err := ParseShardPath(dataset)
	if err != nil {
		return err
	}
	s, err := CreateStage(dataset, dataset, m, true)
	if err != nil {
		return err
	}
	u := &undo{previous: k, dataset: dataset, path: p, stage: s}
	// Under the lock: nobody replaces either version meanwhile.
	if u.present, err = u.replaced(); err != nil {
		return errors.Join(err, s.remove())
	}
	if err := u.link(); err != nil {
		return errors.Join(err, s.remove())
	}
	if err := durable.WriteFile(s.file(undoName), nil); err != nil {
		return errors.Join(err, s.Close())
	}
	s.KeepPrevious()
	return errors.Join(s.Publish(u.present, u.moves), s.Close())
}

// undo is the state of one Undo.
type undo struct {
	previous *PreviousVersion
	dataset  string
	path     ShardPath
	stage    *Stage
	present  []string // files and folders of the dataset
	moves    []Move
}

// replaced lists what the kept version takes the place of.
func (u *undo) replaced() ([]string, error) {
	if exists(u.path.Sidecar()) {
		return u.path.ExistingFiles()
	}
	if exists(u.dataset) {
		return []string{u.dataset}, nil
	}
	return nil, nil
}

// link puts the kept version's files into the stage, under the names that the dataset has now: both
// may have been renamed since.
func (u *undo) link() error {
	var last []Move
	err := u.previous.eachFile(func(name string, folder bool) error {
		now, err := u.currentName(name)
		if err != nil {
			return err
		}
		from, to := filepath.Join(u.previous.dir, name), u.stage.Path(now)
		move := Move{From: to, To: filepath.Join(u.path.Dir, now)}
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
	return "", fmt.Errorf("%s was kept of %s: give the dataset a name of that kind, with a number of shards or without, as it had", u.previous.dir, filepath.Base(u.previous.Path))
}

// linkFolder gives the stage dsconv's files of a folder, but for the lock of LMDB's readers.
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

// Undoing reports whether an Undo of the dataset was stopped when all that was left to do was to
// publish it, or to tidy up. Recover does that.
func UndoPending(dataset string) bool {
	s := Stage{dir: filepath.Clean(dataset) + PartialSuffix}
	return exists(s.file(undoName)) && (exists(s.file(publishListName)) || !exists(s.file(journalName)))
}
