package staging

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/wire"
)

// Shards appends records to one file after another in a Stage and publishes them with
// their sidecar. The format's Writer embeds it and defines the layout of a record; [Records] reads
// them back. It belongs to one goroutine.
type Shards struct {
	stage      *Stage
	path       sharded.ShardPath
	end        []byte // ends each file, such as a tar's two zero blocks
	oldFiles   []string
	done       checksum.Checksums
	current    *File
	oldDataset *oldDataset // whose files are reused; nil until one is
}

// CreateShards starts a dataset at path; end is appended to each file when it ends.
func CreateShards(path string, m formats.Meta, o formats.CreateOptions, end []byte) (*Shards, error) {
	p, err := sharded.ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	if _, _, ok := p.Braces(); ok {
		return nil, fmt.Errorf("%s: a range in braces is only for reading; write %%06d for the shard number", path)
	}
	s := &Shards{path: p, end: end}
	// Files without a sidecar may belong to an interrupted publication: then there is a publish list.
	if s.oldFiles, err = p.ExistingFiles(); err != nil && !durable.Exists(filepath.Join(path+sidecar.PartialSuffix, publishListName)) {
		return nil, err
	}
	if s.stage, err = createStage(path, p.Sidecar(), m, o); err != nil {
		return nil, err
	}
	// Again under the lock: another process may have replaced the dataset meanwhile.
	if s.oldFiles, err = p.ExistingFiles(); err != nil {
		return nil, errors.Join(err, s.stage.remove())
	}
	return s, nil
}

// ResumeShards continues a dataset as of its last checkpoint; the files written before are
// read and compared with their checksums.
func ResumeShards(path string, o formats.CreateOptions, end []byte) (*Shards, error) {
	p, err := sharded.ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	s := &Shards{path: p, end: end}
	if s.stage, err = resumeStage(path, o); err != nil {
		return nil, err
	}
	if s.oldFiles, err = p.ExistingFiles(); err != nil {
		return nil, errors.Join(err, s.stage.Close())
	}
	if err := s.restore(); err != nil {
		return nil, errors.Join(fmt.Errorf("resume %s: %w", path, err), s.Close())
	}
	return s, nil
}

// Stage returns the Stage that the shards are written in.
func (s *Shards) Stage() *Stage { return s.stage }

// SetRemoved implements formats.RemovalWriter.
func (s *Shards) SetRemoved(list []formats.RemovedSample) { s.stage.SetRemoved(list) }

// SetPixelStats implements formats.PixelStatsWriter.
func (s *Shards) SetPixelStats(of *formats.PixelStats) { s.stage.SetPixelStats(of) }

// Append writes the concatenated parts as one record and returns its location.
func (s *Shards) Append(parts ...[]byte) (sampleindex.Location, error) {
	if s.current == nil {
		name := s.path.Name(len(s.done))
		f, err := s.stage.CreateFile(name)
		if err != nil {
			return sampleindex.Location{}, err
		}
		s.current = f
	}
	at := sampleindex.Location{Shard: len(s.done), Offset: s.current.size()}
	for _, p := range parts {
		if _, err := s.current.Write(p); err != nil {
			return sampleindex.Location{}, err
		}
	}
	at.Length = s.current.size() - at.Offset
	return at, nil
}

// EndShard ends the current file; the next record starts another. It is an error if the
// path names only one file.
func (s *Shards) EndShard() error {
	if err := s.stage.CheckOpen(); err != nil {
		return err
	}
	if !s.path.IsPattern() {
		return fmt.Errorf("%s: the dataset has several shards; give a pattern such as x-%%06d%s", s.path.Before, filepath.Ext(s.path.Before))
	}
	return s.endShard()
}

func (s *Shards) endShard() error {
	if s.current == nil {
		return nil
	}
	if _, err := s.current.Write(s.end); err != nil {
		return err
	}
	if err := s.current.Sync(); err != nil {
		return err
	}
	s.done = append(s.done, s.current.Checksums())
	err := s.current.Close()
	s.current = nil
	return err
}

// Checkpoint makes the records so far durable.
func (s *Shards) Checkpoint(note []byte) error {
	if err := s.stage.CheckOpen(); err != nil {
		return err
	}
	state := s.appendReused(wire.AppendBytes(nil, s.done.Encode()))
	if s.current != nil {
		if err := s.current.Sync(); err != nil {
			return err
		}
		st := s.current.State()
		state = wire.AppendBytes(state, st.Name)
		state = binary.AppendUvarint(state, uint64(st.Size))
		state = binary.LittleEndian.AppendUint32(state, st.Digest)
	}
	return s.stage.Checkpoint(state, note)
}

func (s *Shards) restore() error {
	if s.stage.State == nil {
		return nil
	}
	c := &wire.Cursor{B: s.stage.State}
	done, err := checksum.DecodeChecksums(c.Bytes())
	if err != nil {
		return err
	}
	s.done = done
	for i, fs := range done {
		if err := s.isNamed(fs.Name, i); err != nil {
			return err
		}
	}
	if err := s.restoreReused(c); err != nil {
		return err
	}
	for _, want := range done {
		if s.Reused(want.Name) {
			continue
		}
		got, err := checksum.OfFile(s.stage.Path(want.Name), want.Name, -1)
		if errors.Is(err, os.ErrNotExist) {
			return formats.WrapDamaged(err)
		}
		if err != nil {
			return err
		}
		if got.Size != want.Size || !slices.Equal(got.Blocks, want.Blocks) {
			return fmt.Errorf("%s: %w: it was changed since the last checkpoint", want.Name, formats.ErrDamaged)
		}
	}
	if len(c.B) == 0 {
		return s.checkRows(0)
	}
	st := FileState{Name: string(c.Bytes()), Size: c.Varint(), Digest: c.Uint32()}
	if c.Failed {
		return fmt.Errorf("%w: the last checkpoint cannot be parsed", formats.ErrDamaged)
	}
	if err := s.isNamed(st.Name, len(done)); err != nil {
		return err
	}
	if s.current, err = s.stage.ReopenFile(st); err != nil {
		return err
	}
	return s.checkRows(s.current.size())
}

// isNamed returns an error if file i of the last checkpoint does not have the dataset's name: an
// unfinished dataset cannot be resumed under another name.
func (s *Shards) isNamed(name string, i int) error {
	if name == s.path.Name(i) && (i == 0 || s.path.IsPattern()) {
		return nil
	}
	return fmt.Errorf("%w: its file %d is %s: if the unfinished dataset was renamed, undo that", formats.ErrDamaged, i, name)
}

// checkRows compares the locations in the journal's rows with the sizes of the files; current is
// the size of the current file.
func (s *Shards) checkRows(current int64) error {
	sizes := make([]int64, 0, len(s.done)+1)
	for _, fs := range s.done {
		sizes = append(sizes, fs.Size)
	}
	sizes = append(sizes, current)
	return s.stage.EachRow(func(r *sampleindex.Row) error {
		if err := r.Location.CheckIn(len(sizes), func(shard int) int64 { return sizes[shard] }); err != nil {
			return fmt.Errorf("key %q: %w", r.Key, err)
		}
		return nil
	})
}

// Files returns the names of the files so far; the last one may still grow.
func (s *Shards) Files() []string {
	var names []string
	for _, f := range s.done {
		names = append(names, f.Name)
	}
	if s.current != nil {
		names = append(names, s.path.Name(len(s.done)))
	}
	return names
}

// Commit ends the last file, writes the sidecar and publishes all. A dataset without
// records has one file that holds only the end. index writes the index files that other
// programs need into the sidecar dir and returns their names.
func (s *Shards) Commit(index func(dir string) (names []string, err error)) error {
	if err := s.stage.CheckOpen(); err != nil {
		return err
	}
	if s.current == nil && len(s.done) == 0 {
		if _, err := s.Append(); err != nil {
			return err
		}
	}
	if err := s.endShard(); err != nil {
		return err
	}
	s.stage.Meta.Files = s.Files()
	side := s.stage.Path(filepath.Base(s.path.Sidecar()))
	if err := os.MkdirAll(side, 0o755); err != nil {
		return err
	}
	extra, err := index(side)
	if err != nil {
		return err
	}
	if err := s.stage.WriteSidecar(side, filepath.Base(side)+"/", s.done, extra, sidecar.Places{}); err != nil {
		return err
	}
	moves := make([]step, 0, len(s.done)+1)
	for _, f := range s.done {
		if !s.Reused(f.Name) {
			moves = append(moves, step{From: s.stage.Path(f.Name), To: filepath.Join(s.path.Dir, f.Name)})
		}
	}
	moves = append(moves, step{From: side, To: s.path.Sidecar()})
	return s.stage.startPublishing(s.replacedFiles(), moves)
}

// Close closes the files. ResumeShards continues from the last checkpoint.
func (s *Shards) Close() error {
	var err error
	if s.current != nil {
		err = s.current.Close()
		s.current = nil
	}
	if s.oldDataset != nil {
		err = errors.Join(err, s.oldDataset.CloseIndex())
		s.oldDataset = nil
	}
	return errors.Join(err, s.stage.Close())
}
