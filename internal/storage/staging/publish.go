package staging

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
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// step is one of a publication: From, a file or folder of the staging folder, is renamed to
// To, a path of the dataset.
type step struct {
	From string `json:"From"`
	To   string `json:"To"`
	// Replaced: From is a file of the replaced dataset and moves to To in the staging folder.
	// Once To exists, From may already be the new file.
	Replaced bool `json:"Old,omitempty"`
	// ID is the fileID of From when the list was written, so that no other file is moved away.
	ID string `json:",omitempty"`
	// Tail is endOf From, for a file without a table of checksums: a copy has another ID.
	Tail string `json:",omitempty"`
}

// startPublishing makes the dataset visible. Old files of a replaced dataset are moved away first; then
// the moves are done in order, the one that makes the dataset count as finished last. The list
// is durable before the first step, so that resumeStage completes the publication after a kill.
// The files must have been synced. Afterwards the staging folder is gone. Files that are not
// dsconv's are neither replaced nor removed: see foreignfiles.go.
func (s *Stage) startPublishing(old []string, moves []step) error {
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
	if err := s.root.MkdirAll(replacedName, 0o755); err != nil {
		return err
	}
	if err := keepRights(old, moves); err != nil {
		return err
	}
	// The names of the files must be durable before the list that names them.
	if err := syncDirs(s.file(dataName)); err != nil {
		return err
	}
	if err := s.writeList(b); err != nil {
		return err
	}
	return s.publish()
}

// steps returns the steps of the publication; an error if one would touch a file that is not
// dsconv's.
func (s *Stage) steps(old []string, moves []step) ([]step, error) {
	steps := make([]step, 0, len(old)+len(moves))
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
		m := step{From: path, To: filepath.Join(s.file(replacedName), filepath.Base(path)), Replaced: true, ID: fileID(st)}
		if path == s.target() && st.Mode().IsRegular() && len(old) == 1 {
			if m.Tail, err = endOf(path); err != nil {
				return nil, err
			}
		}
		steps = append(steps, m)
	}
	for _, m := range moves {
		if durable.Exists(m.To) && !replaced[m.To] {
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
	return fmt.Errorf("%s: %w, and a file of the new version needs that path; move it away, then repeat the command", path, formats.ErrForeign)
}

// encodeList returns the publish list. Its paths are relative to the dataset's folder, so that a
// process with another working directory can continue, and none leads out of that folder.
func (s *Stage) encodeList(steps []step) ([]byte, error) {
	root := filepath.Dir(s.dir)
	list := make([]step, len(steps))
	for i, m := range steps {
		from, errFrom := filepath.Rel(root, m.From)
		to, errTo := filepath.Rel(root, m.To)
		if err := errors.Join(errFrom, errTo); err != nil {
			return nil, err
		}
		list[i] = step{From: from, To: to, Replaced: m.Replaced, ID: m.ID, Tail: m.Tail}
	}
	return json.Marshal(list)
}

// decodeList reads what encodeList returned. The list may be forged, so each step must be one
// that startPublishing could have planned.
func (s *Stage) decodeList(b []byte) ([]step, error) {
	var steps []step
	if err := json.Unmarshal(b, &steps); err != nil {
		return nil, fmt.Errorf("%s: %w: the list of files to publish cannot be parsed", s.dir, formats.ErrDamaged)
	}
	root := filepath.Dir(s.dir)
	for i, m := range steps {
		steps[i] = step{From: filepath.Join(root, m.From), To: filepath.Join(root, m.To), Replaced: m.Replaced, ID: m.ID, Tail: m.Tail}
		if !filepath.IsLocal(m.From) || !filepath.IsLocal(m.To) {
			return nil, fmt.Errorf("%s: %w: the list of files to publish has a path outside the dataset's folder", s.dir, formats.ErrDamaged)
		}
		if err := s.checkStep(steps[i]); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// checkStep rejects a step that cannot be part of a publication of this dataset.
func (s *Stage) checkStep(m step) error {
	from, to := isBelow(s.file(dataName), m.From), s.owns(m.To)
	if m.Replaced {
		from, to = s.owns(m.From) || s.mayOwn(m.From), filepath.Dir(m.To) == s.file(replacedName)
	}
	if !from || !to {
		return fmt.Errorf("%s: %w: the list of files to publish moves %s to %s, which are not both of this dataset",
			s.dir, formats.ErrDamaged, m.From, m.To)
	}
	return nil
}

func isBelow(dir, path string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// owns reports whether path is a path of this dataset: the dataset itself, its sidecar, or one
// of its shards.
func (s *Stage) owns(path string) bool {
	own := strings.TrimSuffix(s.dir, sidecar.PartialSuffix)
	if path == own {
		return true
	}
	p, err := sharded.ParseShardPath(own)
	if err != nil || filepath.Dir(path) != filepath.Dir(own) {
		return false
	}
	_, shard := p.ShardNumber(filepath.Base(path))
	return shard || path == p.Sidecar()
}

// mayOwn reports whether path may be a shard of the replaced dataset if that was written with
// another pattern.
func (s *Stage) mayOwn(path string) bool {
	own := strings.TrimSuffix(s.dir, sidecar.PartialSuffix)
	p, err := sharded.ParseShardPath(own)
	return err == nil && filepath.Dir(path) == filepath.Dir(own) && p.SharesSidecar(filepath.Base(path))
}

func (s *Stage) writeList(b []byte) error { return s.in(publishListName).replace(b) }

// isComplete reports whether the dataset only needs to be published.
func (s *Stage) isComplete() bool { return s.in(publishListName).exists() }

// publish does the steps of the list; it can be repeated.
func (s *Stage) publish() error {
	b, err := s.in(publishListName).readUpTo(maxList)
	if err != nil {
		return err
	}
	steps, err := s.decodeList(b)
	if err != nil {
		return err
	}
	if len(steps) > 0 && s.in(dataName).exists() {
		if err := checkTree(s.in(dataName)); err != nil {
			return err
		}
	}
	for _, m := range steps {
		if err := s.doStep(m); err != nil {
			return err
		}
	}
	// From here on the steps must not be repeated: what shows that they were done is removed next.
	if err := s.writeList([]byte(nothingToPublish)); err != nil {
		return err
	}
	return s.remove()
}

// nothingToPublish is the list after all is published.
const nothingToPublish = "[]"

// maxList bounds the size of a publish list: a million shards take less.
const maxList = 1 << 28

// checkTree returns an error if a folder of the staging folder has anything but files and
// folders: through a link, files would be written or moved elsewhere. It removes temporary files
// that a kill left.
func checkTree(dir entry) error {
	return fs.WalkDir(dir.root.FS(), dir.name, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return formats.WrapDamaged(err)
		case err != nil || d.IsDir():
			return err
		case !d.Type().IsRegular():
			return foreignError(entry{dir.root, name}.String(), "it is "+durable.KindOf(d.Type()))
		case durable.IsTemporary(d.Name()):
			return dir.root.Remove(name)
		}
		return nil
	})
}

// doStep is idempotent: a step whose source is gone, or whose old file was moved away, is done.
func (s *Stage) doStep(m step) error {
	if m.Replaced && durable.Exists(m.To) {
		return nil
	}
	if !durable.Exists(m.From) {
		if !durable.Exists(m.To) && !m.Replaced {
			return fmt.Errorf("publish %s: %w: %s is missing", m.To, formats.ErrDamaged, m.From)
		}
		return nil
	}
	if m.Replaced {
		if err := s.checkReplaced(m); err != nil {
			return err
		}
	}
	if err := s.renameNoReplace(m.From, m.To); err != nil {
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

// keepRights gives the files and folders that are published the mode and, where the system allows it, the owner and group
// of those of the same names that they replace; those of new names get what another of the same kind has.
func keepRights(old []string, moves []step) error {
	var file, folder fs.FileInfo
	for _, path := range old {
		st, err := os.Lstat(path)
		if err == nil && st.IsDir() && folder == nil {
			folder = st
			path = filepath.Join(path, checksum.ChecksumsName)
			st, err = os.Lstat(path)
		}
		if err == nil && st.Mode().IsRegular() && file == nil {
			file = st
		}
		if file != nil && folder != nil {
			break
		}
	}
	for _, m := range moves {
		err := filepath.WalkDir(m.From, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			was, err := os.Lstat(m.To + path[len(m.From):])
			if err != nil || was.Mode().Type() != d.Type() {
				if was = file; d.IsDir() {
					was = folder
				}
			}
			if was == nil {
				return nil
			}
			return durable.KeepRights(path, was)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
