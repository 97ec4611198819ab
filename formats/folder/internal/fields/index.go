package fields

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/wire"
)

// index has the files of the fields, by field and path. Like records they are in memory or in a mapped file.
// Files are added while the folder is listed, then finish is called, then it can be searched concurrently.
type index struct {
	mu      sync.Mutex
	sorter  *extsort.Sorter
	value   []byte
	files   *extsort.List
	claimed []uint64 // bits: files that belong to a sample
}

// errNoFile is the error about a sample without a file for a field.
var errNoFile = errors.New("there is no file")

func newIndex(memory int64) *index {
	return &index{sorter: extsort.New("", memory/8)}
}

// add adds a file of a field. It is safe for concurrent use.
func (x *index) add(field int, f vfs.File) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.value = wire.AppendBytes(x.value[:0], f.Path)
	x.value = binary.AppendUvarint(x.value, uint64(f.Size))
	x.value = binary.AppendUvarint(x.value, uint64(f.ModTime))
	return x.sorter.Add(indexKey(field, vfs.Composed(foldExtension(f.Path))), x.value)
}

// indexKey is the key of a field's file, or of all whose paths begin so.
func indexKey(field int, rel string) []byte {
	return append([]byte{byte(field >> 8), byte(field)}, rel...)
}

// finish ends adding.
func (x *index) finish(memory int64) (err error) {
	x.files, err = extsort.NewList(x.sorter, min(memory/8, 8<<20))
	if err == nil {
		x.claimed = make([]uint64, x.files.Len()/64+1)
	}
	return errors.Join(err, x.sorter.Close())
}

func (x *index) close() error {
	err := x.sorter.Close()
	if x.files != nil {
		err = errors.Join(err, x.files.Close())
	}
	return err
}

// find returns the file of a field whose path is the segments with a wildcard between each two, and its number.
func (x *index) find(field int, segments []string) (f vfs.File, number int, err error) {
	number = -1
	last := len(segments) - 1
	segments[last] = foldExtension(segments[last])
	composed := make([]string, len(segments))
	for i, s := range segments {
		composed[i] = vfs.Composed(s)
	}
	var several error
	same := false // whether f's name is composed like the segments
	prefix := indexKey(field, composed[0])
	err = x.from(prefix, func(i int, key []byte, candidate vfs.File) (more bool, err error) {
		if !strings.HasPrefix(string(key), string(prefix)) {
			return false, nil
		}
		if !matchSegments(string(key[2:]), composed) {
			return last > 0, nil // without a wildcard, the file would be the first
		}
		isSame := matchSegments(foldExtension(candidate.Path), segments)
		switch {
		case number < 0 || isSame && !same:
			f, number, same, several = candidate, i, isSame, nil
		case isSame == same:
			several = fmt.Errorf("two files may be it: %s and %s", f.Path, candidate.Path)
		}
		return true, nil
	})
	if err == nil {
		err = several
	}
	if err == nil && number < 0 {
		err = fmt.Errorf("%w %s", errNoFile, strings.Join(segments, "*"))
	}
	return f, number, err
}

// from calls yield for the files from a key on, until it returns false or an error.
func (x *index) from(key []byte, yield func(i int, key []byte, f vfs.File) (bool, error)) error {
	return x.files.From(key, func(i int, key, record []byte) (bool, error) {
		value := wire.Cursor{B: record}
		f := vfs.File{Path: string(value.Bytes())}
		f.Size, f.ModTime = value.Varint(), value.Varint()
		if value.Failed {
			return false, extsort.ErrDamagedList
		}
		return yield(i, key, f)
	})
}

// claim records that a file belongs to a sample. It is for one goroutine.
func (x *index) claim(number int) { x.claimed[number/64] |= 1 << (number % 64) }

// first returns the first file of a field; ok is false if there is none.
func (x *index) first(field int) (f vfs.File, ok bool, err error) {
	prefix := indexKey(field, "")
	err = x.from(prefix, func(_ int, key []byte, one vfs.File) (bool, error) {
		f, ok = one, string(key[:2]) == string(prefix)
		return false, nil
	})
	return f, ok, err
}

// each calls yield for each file of a field.
func (x *index) each(field int, yield func(f vfs.File, claimed bool) error) error {
	prefix := indexKey(field, "")
	return x.from(prefix, func(i int, key []byte, f vfs.File) (bool, error) {
		if string(key[:2]) != string(prefix) {
			return false, nil
		}
		return true, yield(f, x.claimed[i/64]>>(i%64)&1 == 1)
	})
}
