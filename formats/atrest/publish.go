package atrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
)

// Move is one step of a publication: From becomes To.
type Move struct {
	From, To string
	// Old: From is replaced and To is where it goes. Once it is there, From may already be
	// the new file.
	Old bool `json:",omitempty"`
}

// Publish makes the dataset visible: old files of a dataset that is replaced go away
// first, then the moves are done in their order, the one whose target says "finished"
// last. The list is on the disk before the first step, so that a kill between two steps
// is made good by ResumeStage. The files must be synced before. Afterwards the stage is
// gone.
func (s *Stage) Publish(old []string, moves []Move) error {
	if s.failed != nil {
		return s.failed
	}
	steps := make([]Move, 0, len(old)+len(moves))
	for i, path := range old {
		if there(path) {
			steps = append(steps, Move{From: path, To: filepath.Join(s.file(oldName), fmt.Sprint(i)), Old: true})
		}
	}
	steps = append(steps, moves...)
	b, err := s.encodeList(steps)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.file(oldName), 0o755); err != nil {
		return err
	}
	// The names of what the list names come first, then the list.
	if err := syncDirs(s.file(dataName)); err != nil {
		return err
	}
	if err := s.writeList(b); err != nil {
		return err
	}
	return s.publish()
}

// encodeList lays steps out. Paths are kept relative to the folder that the dataset lies in,
// so that another process may go on from another working directory, and none leads out of
// it.
func (s *Stage) encodeList(steps []Move) ([]byte, error) {
	root := filepath.Dir(s.dir)
	list := make([]Move, len(steps))
	for i, m := range steps {
		from, errFrom := filepath.Rel(root, m.From)
		to, errTo := filepath.Rel(root, m.To)
		if err := errors.Join(errFrom, errTo); err != nil {
			return nil, err
		}
		list[i] = Move{From: from, To: to, Old: m.Old}
	}
	return json.Marshal(list)
}

// decodeList reads what encodeList gave.
func (s *Stage) decodeList(b []byte) ([]Move, error) {
	var steps []Move
	if err := json.Unmarshal(b, &steps); err != nil {
		return nil, fmt.Errorf("%s: %w: the list of what to publish does not parse", s.dir, formats.ErrDamaged)
	}
	root := filepath.Dir(s.dir)
	for i, m := range steps {
		if !filepath.IsLocal(m.From) || !filepath.IsLocal(m.To) {
			return nil, fmt.Errorf("%s: %w: the list of what to publish leads outside", s.dir, formats.ErrDamaged)
		}
		steps[i] = Move{From: filepath.Join(root, m.From), To: filepath.Join(root, m.To), Old: m.Old}
	}
	return steps, nil
}

func (s *Stage) writeList(b []byte) error {
	list := s.file(publishName)
	if err := WriteFile(list+".tmp", b); err != nil {
		return err
	}
	if err := os.Rename(list+".tmp", list); err != nil {
		return err
	}
	return SyncDir(s.dir)
}

// publish does what the list says, again if need be; the error is os.ErrNotExist if there
// is no list.
func (s *Stage) publish() error {
	b, err := os.ReadFile(s.file(publishName))
	if err != nil {
		return err
	}
	steps, err := s.decodeList(b)
	if err != nil {
		return err
	}
	for _, m := range steps {
		if err := m.do(); err != nil {
			return err
		}
	}
	// From here on the steps must not be taken again: what tells that they were goes now.
	if err := s.writeList([]byte("[]")); err != nil {
		return err
	}
	return s.remove()
}

// do is idempotent: a step whose source is gone, or whose old file is put away, was done.
func (m Move) do() error {
	if m.Old && there(m.To) {
		return nil
	}
	if _, err := os.Lstat(m.From); errors.Is(err, os.ErrNotExist) {
		if _, err := os.Lstat(m.To); err != nil {
			return fmt.Errorf("publish %s: %s is gone: %w", m.To, m.From, formats.ErrDamaged)
		}
		return nil
	}
	if err := os.Rename(m.From, m.To); err != nil {
		return fmt.Errorf("publish %s: %w", m.To, err)
	}
	return SyncDir(filepath.Dir(m.To))
}

// WriteFile makes the file at path of b, which survives a kill of the machine once the
// folder is synced too.
func WriteFile(path string, b []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// SyncDir makes the names in a folder survive a kill of the machine.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// syncDirs is SyncDir of dir and all folders in it.
func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return SyncDir(path)
	})
}
