package atrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// Move is one step of a publication: From, a file or folder of the stage, becomes To, a name
// of the dataset's.
type Move struct {
	From, To string
	// Old: From is replaced and To is where it goes in the stage. Once it is there, From may
	// already be the new file.
	Replaced bool `json:"Old,omitempty"`
	// ID tells what lay at From when the list was written, so that nothing else is taken away.
	ID string `json:",omitempty"`
}

// Publish makes the dataset visible: old files of a dataset that is replaced go away
// first, then the moves are done in their order, the one whose target says "finished"
// last. The list is on the disk before the first step, so that a kill between two steps
// is made good by ResumeStage. The files must be synced before. Afterwards the stage is
// gone. What is not dsconv's is neither replaced nor removed: see old.go and carry.go.
func (s *Stage) Publish(old []string, moves []Move) error {
	if s.failed != nil {
		return s.failed
	}
	steps, err := s.steps(old, moves)
	if err != nil {
		return err
	}
	b, err := s.encodeList(steps)
	if err != nil {
		return err
	}
	if err := s.dropPreparedPrevious(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.file(replacedName), 0o755); err != nil {
		return err
	}
	if s.keepPrevious && len(old) > 0 {
		if err := s.preparePrevious(); err != nil {
			return err
		}
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

// steps lays out what is to be done, and refuses what would touch what is not dsconv's.
func (s *Stage) steps(old []string, moves []Move) ([]Move, error) {
	steps := make([]Move, 0, len(old)+len(moves))
	replaced := make(map[string]bool, len(old))
	for _, path := range old {
		replaced[path] = true
		st, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			return nil, foreignError(path, "it is a symbolic link")
		}
		steps = append(steps, Move{From: path, To: filepath.Join(s.file(replacedName), filepath.Base(path)), Replaced: true, ID: fileID(st)})
	}
	for _, m := range moves {
		if exists(m.To) && !replaced[m.To] {
			return nil, inTheWayError(m.To)
		}
		if err := s.checkConflict(m); err != nil {
			return nil, err
		}
	}
	steps = append(steps, moves...)
	for _, m := range steps {
		if err := s.checkStep(m); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

func inTheWayError(path string) error {
	return fmt.Errorf("%s: %w: it is where a file of the new version goes; move it away, then the same command goes on", path, formats.ErrForeign)
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
		list[i] = Move{From: from, To: to, Replaced: m.Replaced, ID: m.ID}
	}
	return json.Marshal(list)
}

// decodeList reads what encodeList gave. The list may be anybody's: each step must be one that
// Publish could have made.
func (s *Stage) decodeList(b []byte) ([]Move, error) {
	var steps []Move
	if err := json.Unmarshal(b, &steps); err != nil {
		return nil, fmt.Errorf("%s: %w: the list of what to publish does not parse", s.dir, formats.ErrDamaged)
	}
	root := filepath.Dir(s.dir)
	for i, m := range steps {
		steps[i] = Move{From: filepath.Join(root, m.From), To: filepath.Join(root, m.To), Replaced: m.Replaced, ID: m.ID}
		if !filepath.IsLocal(m.From) || !filepath.IsLocal(m.To) {
			return nil, fmt.Errorf("%s: %w: the list of what to publish leads outside", s.dir, formats.ErrDamaged)
		}
		if err := s.checkStep(steps[i]); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// checkStep refuses a step whose names are not those of a publication of this dataset.
func (s *Stage) checkStep(m Move) error {
	from, to := isBelow(s.file(dataName), m.From), s.owns(m.To)
	if m.Replaced {
		from, to = s.owns(m.From) || s.mayOwn(m.From), filepath.Dir(m.To) == s.file(replacedName)
	}
	if !from || !to {
		return fmt.Errorf("%s: %w: the list of what to publish moves %s to %s, which are not both names of this dataset",
			s.dir, formats.ErrDamaged, m.From, m.To)
	}
	return nil
}

func isBelow(dir, path string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// owns reports whether path is a name of this dataset: the dataset itself, its folder of
// descriptions, or one of its shards.
func (s *Stage) owns(path string) bool {
	own := strings.TrimSuffix(s.dir, PartialSuffix)
	if path == own {
		return true
	}
	p, err := ParseShardPath(own)
	if err != nil || filepath.Dir(path) != filepath.Dir(own) {
		return false
	}
	_, shard := p.ShardNumber(filepath.Base(path))
	return shard || path == p.Sidecar()
}

// mayOwn reports whether path may be a shard of the dataset that is replaced, written with
// another pattern.
func (s *Stage) mayOwn(path string) bool {
	own := strings.TrimSuffix(s.dir, PartialSuffix)
	p, err := ParseShardPath(own)
	return err == nil && filepath.Dir(path) == filepath.Dir(own) && p.sharesSidecar(filepath.Base(path))
}

func (s *Stage) writeList(b []byte) error { return durable.WriteFile(s.file(publishListName), b) }

// complete reports whether all that is left to do is to publish the dataset.
func (s *Stage) isComplete() bool { return exists(s.file(publishListName)) }

// publish does what the list says, again if need be.
func (s *Stage) publish() error {
	b, err := readUpTo(s.file(publishListName), maxList)
	if err != nil {
		return err
	}
	steps, err := s.decodeList(b)
	if err != nil {
		return err
	}
	if len(steps) > 0 && exists(s.file(dataName)) {
		if err := checkTree(s.file(dataName)); err != nil {
			return err
		}
	}
	for _, m := range steps {
		if err := s.doStep(m); err != nil {
			return err
		}
	}
	// From here on the steps must not be taken again: what tells that they were goes now.
	if err := s.writeList([]byte(nothingToPublish)); err != nil {
		return err
	}
	return s.remove()
}

// nothingToPublish is the list once all is published.
const nothingToPublish = "[]"

// maxList bounds a list of what to publish: a million shards take less.
const maxList = 1 << 28

// tidy refuses a folder of the stage in which there is something else than files and folders:
// a link would lead what is written or moved elsewhere. Files that a kill left half written
// under names of their own are removed.
func checkTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return formats.WrapDamaged(err)
		case err != nil || d.IsDir():
			return err
		case !d.Type().IsRegular():
			return foreignError(path, "it is "+describeMode(d.Type())+", which dsconv did not make")
		case durable.IsTemporary(d.Name()):
			return os.Remove(path)
		}
		return nil
	})
}

// do is idempotent: a step whose source is gone, or whose old file is put away, was done.
func (s *Stage) doStep(m Move) error {
	if m.Replaced && exists(m.To) {
		return nil
	}
	if !exists(m.From) {
		if !exists(m.To) && !m.Replaced {
			return fmt.Errorf("publish %s: %s is gone: %w", m.To, m.From, formats.ErrDamaged)
		}
		return nil
	}
	if m.Replaced {
		if err := s.checkReplaced(m); err != nil {
			return err
		}
	}
	if err := renameNoReplace(m.From, m.To); err != nil {
		return fmt.Errorf("publish %s: %w", m.To, err)
	}
	return durable.SyncDir(filepath.Dir(m.To))
}

// syncDirs is SyncDir of dir and all folders in it.
func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return durable.SyncDir(path)
	})
}
