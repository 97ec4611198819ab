package atrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
)

// Move is one step of a publication: From becomes To.
type Move struct {
	From, To string
}

// Publish makes the dataset visible: old files of a dataset that is replaced go away
// first, then the moves are done in their order, the one whose target says "finished"
// last. The list is on the disk before the first step, so that a kill between two steps
// is made good by ResumeStage. The files must be synced before. Afterwards the stage is
// gone.
func (s *Stage) Publish(old []string, moves []Move) error {
	steps := make([]Move, 0, len(old)+len(moves))
	for i, path := range old {
		steps = append(steps, Move{From: path, To: filepath.Join(s.dir, "old", fmt.Sprint(i))})
	}
	steps = append(steps, moves...)
	b, err := json.Marshal(steps)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "old"), 0o755); err != nil {
		return err
	}
	if err := WriteFile(filepath.Join(s.dir, "publish.tmp"), b); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(s.dir, "publish.tmp"), filepath.Join(s.dir, "publish")); err != nil {
		return err
	}
	if err := errors.Join(SyncDir(s.dir), SyncDir(filepath.Join(s.dir, "data"))); err != nil {
		return err
	}
	return s.publish()
}

func (s *Stage) publish() error {
	b, err := os.ReadFile(filepath.Join(s.dir, "publish"))
	if err != nil {
		return err
	}
	var steps []Move
	if err := json.Unmarshal(b, &steps); err != nil {
		return fmt.Errorf("%s: %w: the list of what to publish does not parse", s.dir, formats.ErrDamaged)
	}
	for _, m := range steps {
		if err := m.do(); err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	return os.RemoveAll(s.dir)
}

// do is idempotent: a step whose source is gone was done before.
func (m Move) do() error {
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
