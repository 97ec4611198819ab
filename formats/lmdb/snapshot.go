//go:build cgo

package lmdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/internal/guard"
)

// snapshot is the state of an environment that a checkpoint keeps. With the file's length
// and both meta pages all pages of that time are back, since none was reused; the digest
// tells whether they are what they were.
type snapshot struct {
	Size   int64             `json:"size"`
	Metas  [metaPages][]byte `json:"metas"`
	Free   []uint64          `json:"free,omitempty"` // pages that hold nothing
	Digest uint32            `json:"digest"`
}

// snapshot reads the state of the environment, which is synced and has no write
// transaction open.
func (s *store) snapshot() (snapshot, error) {
	snap, err := s.takeSnapshot()
	if err != nil {
		return snapshot{}, fmt.Errorf("read %s: %w", s.data(), err)
	}
	return snap, nil
}

func (s *store) takeSnapshot() (snapshot, error) {
	var snap snapshot
	st, err := s.file.Stat()
	if err != nil {
		return snap, err
	}
	snap.Size = st.Size()
	if snap.Free, err = freePages(s.env); err != nil {
		return snap, err
	}
	if s.checksums, err = s.checksums.next(s.file, snap.Size, snap.Free); err != nil {
		return snap, err
	}
	snap.Digest = s.checksums.digest()
	for i := range snap.Metas {
		snap.Metas[i] = make([]byte, metaLength)
		if _, err := s.file.ReadAt(snap.Metas[i], metaOffset(i)); err != nil {
			return snap, err
		}
	}
	return snap, nil
}

// restore makes the data.mdb at path what it was and gives its checksums. ErrDamaged if it
// cannot be, or if it is not what a writer of so many entries in each database leaves.
func (s snapshot) restore(path string, names []string, entries int) (blockChecksums, error) {
	f, err := atrest.OpenStaged(path)
	if err != nil {
		return blockChecksums{}, err
	}
	err = s.checkFile(f, names, entries)
	var sums blockChecksums
	if err == nil {
		sums, err = s.write(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return sums, fmt.Errorf("continue %s: %w", path, err)
	}
	return sums, nil
}

// checkFile compares what the checkpoint says with the file, and reads all that LMDB will
// believe.
func (s snapshot) checkFile(f *os.File, names []string, entries int) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() < s.Size {
		return fmt.Errorf("%w: it is shorter than at the last checkpoint", formats.ErrDamaged)
	}
	page := os.Getpagesize()
	last := uint64(s.Size) / uint64(page)
	free := slices.IsSorted(s.Free) && (len(s.Free) == 0 || s.Free[len(s.Free)-1] < last)
	if s.Size < metaOffset(metaPages) || s.Size%int64(page) != 0 || !free {
		return fmt.Errorf("%w: the last checkpoint does not parse", formats.ErrDamaged)
	}
	m, err := atrest.Map(f.Name())
	if err != nil {
		return err
	}
	err = guard.Read(m.Data, func() error { return s.validate(m.Data, page, names, entries) })
	return errors.Join(err, m.Close())
}

func (s snapshot) write(f *os.File) (blockChecksums, error) {
	sums, err := checksumsAt(f, s.Size, s.Free, s.Digest)
	if errors.Is(err, errAltered) {
		err = formats.WrapDamaged(err)
	}
	if err != nil {
		return sums, err
	}
	if err := f.Truncate(s.Size); err != nil {
		return sums, err
	}
	for i, m := range s.Metas {
		if _, err := f.WriteAt(m, metaOffset(i)); err != nil {
			return sums, err
		}
	}
	return sums, f.Sync()
}

// fitMap sets the map's size that data.mdb keeps to its own length, so that readers which
// take it from there map no more, and so that the writer's map does not show.
func shrinkMapSize(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = writeMapSize(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	return nil
}

func writeMapSize(f *os.File) error {
	var last uint64
	var b [8]byte
	for i := range metaPages {
		if _, err := f.ReadAt(b[:], metaOffset(i)+metaLastPage); err != nil {
			return err
		}
		last = max(last, binary.NativeEndian.Uint64(b[:]))
	}
	binary.NativeEndian.PutUint64(b[:], (last+1)*uint64(os.Getpagesize()))
	for i := range metaPages {
		if _, err := f.WriteAt(b[:], metaOffset(i)+metaMapSize); err != nil {
			return err
		}
	}
	return nil
}

func metaOffset(i int) int64 { return int64(i) * int64(os.Getpagesize()) }
