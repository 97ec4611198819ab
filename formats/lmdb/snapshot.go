//go:build cgo

package lmdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
)

// Where things are in a meta page: the page's own header of 16 bytes, then magic, version
// and address of LMDB's MDB_meta (mdb.c), then what each transaction writes.
const (
	metaMapSize  = 32
	metaLastPage = 136
	metaLength   = 152
	metaPages    = 2
)

// snapshot is the state of an environment that a checkpoint keeps. With the file's length
// and both meta pages all pages of that time are back, since none was reused.
type snapshot struct {
	Size  int64             `json:"size"`
	Metas [metaPages][]byte `json:"metas"`
}

// takeSnapshot reads the state of the data.mdb at path, which is synced and has no write
// transaction open.
func takeSnapshot(path string) (snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return snapshot{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return snapshot{}, err
	}
	s := snapshot{Size: st.Size()}
	for i := range s.Metas {
		s.Metas[i] = make([]byte, metaLength)
		if _, err := f.ReadAt(s.Metas[i], metaOffset(i)); err != nil {
			return snapshot{}, fmt.Errorf("read the meta pages of %s: %w", path, err)
		}
	}
	return s, nil
}

// restore makes the data.mdb at path what it was.
func (s snapshot) restore(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = s.write(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("continue %s: %w", path, err)
	}
	return nil
}

func (s snapshot) write(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() < s.Size {
		return fmt.Errorf("%w: it is shorter than at the last checkpoint", formats.ErrDamaged)
	}
	if err := f.Truncate(s.Size); err != nil {
		return err
	}
	for i, m := range s.Metas {
		if len(m) != metaLength {
			return fmt.Errorf("%w: the last checkpoint does not parse", formats.ErrDamaged)
		}
		if _, err := f.WriteAt(m, metaOffset(i)); err != nil {
			return err
		}
	}
	return f.Sync()
}

// fitMap sets the map's size that data.mdb keeps to its own length, so that readers which
// take it from there map no more, and so that the writer's map does not show.
func fitMap(path string) error {
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
