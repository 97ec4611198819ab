//go:build cgo

package lmdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
)

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
