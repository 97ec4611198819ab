//go:build cgo

package lmdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
)

// snapshot is the state of an environment in a checkpoint. Restoring the file's length and both
// meta pages restores all pages of that time, since none was reused; the digest verifies them.
type snapshot struct {
	Size   int64                      `json:"size"`
	Metas  [lmdbfile.MetaPages][]byte `json:"metas"`
	Free   []uint64                   `json:"free,omitempty"` // free pages
	Digest uint32                     `json:"digest"`
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
	snap.Digest = checksum.Digest(s.checksums.blocks)
	for i := range snap.Metas {
		snap.Metas[i] = make([]byte, lmdbfile.MetaLength)
		if _, err := s.file.ReadAt(snap.Metas[i], metaOffset(i)); err != nil {
			return snap, err
		}
	}
	return snap, nil
}

// restore restores the data.mdb that f is, closes it and returns its checksums. ErrDamaged if that is not
// possible.
func (s snapshot) restore(f *os.File) (blockChecksums, error) {
	err := s.checkFile(f)
	var sums blockChecksums
	if err == nil {
		sums, err = s.write(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return sums, fmt.Errorf("resume %s: %w", f.Name(), err)
	}
	return sums, nil
}

// checkFile compares the checkpoint with the file.
func (s snapshot) checkFile(f *os.File) error {
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
	if s.Size < metaOffset(lmdbfile.MetaPages) || s.Size%int64(page) != 0 || !free {
		return fmt.Errorf("%w: the last checkpoint cannot be parsed", formats.ErrDamaged)
	}
	for i, b := range s.Metas {
		if len(b) != lmdbfile.MetaLength {
			return fmt.Errorf("%w: the last checkpoint cannot be parsed", formats.ErrDamaged)
		}
		m, err := lmdbfile.ParseMetaPage(b, i)
		if err != nil {
			return err
		}
		if m.PageSize != page {
			return lmdbfile.DamagedPage(m.No, "it was written with pages of %d bytes, this machine has pages of %d: resume on a machine like the first", m.PageSize, page)
		}
	}
	return nil
}

func (s snapshot) write(f *os.File) (blockChecksums, error) {
	sums, err := new(blockChecksums).next(f, s.Size, s.Free)
	if err != nil {
		return sums, err
	}
	if checksum.Digest(sums.blocks) != s.Digest {
		return sums, fmt.Errorf("%w: it was changed since the last checkpoint", formats.ErrDamaged)
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

func metaOffset(i int) int64 { return int64(i) * int64(os.Getpagesize()) }

// initialMapSize is the first size of the memory map. It only reserves address space.
const initialMapSize = 1 << 30

// growMap makes the memory map large enough for the batch. The read transaction that
// pins the snapshot is not used for reading, so the map may move.
func (s *store) growMap(b *batch) error {
	info, err := s.env.Info()
	if err != nil {
		return err
	}
	page := int64(os.Getpagesize())
	need := (info.LastPNO+1)*page + int64(len(b.buf)) + int64(len(b.puts))*4*page + 1<<20
	if need <= s.mapSize {
		return nil
	}
	for s.mapSize < need {
		s.mapSize *= 2
	}
	return s.env.SetMapSize(s.mapSize)
}

// shrinkMapSize sets the map size recorded in the finished data.mdb to the file's length, so that
// readers that use it map no more, and so that the file does not depend on the writer's map.
func (s *store) shrinkMapSize() error {
	f, err := s.stage.Open(path.Join(s.name, dataName))
	if err != nil {
		return err
	}
	err = writeMapSize(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("finish %s: %w", f.Name(), err)
	}
	return nil
}

func writeMapSize(f *os.File) error {
	var last uint64
	var b [8]byte
	for i := range lmdbfile.MetaPages {
		if _, err := f.ReadAt(b[:], metaOffset(i)+lmdbfile.MetaLastPage); err != nil {
			return err
		}
		last = max(last, binary.NativeEndian.Uint64(b[:]))
	}
	binary.NativeEndian.PutUint64(b[:], (last+1)*uint64(os.Getpagesize()))
	for i := range lmdbfile.MetaPages {
		if _, err := f.WriteAt(b[:], metaOffset(i)+lmdbfile.MetaMapSize); err != nil {
			return err
		}
	}
	return nil
}
