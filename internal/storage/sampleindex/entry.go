package sampleindex

import (
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// rowRoom is the longest row that an Entry has room for; memory is allocated for longer ones.
const rowRoom = 104

// Entry is the row of one sample, a copy. Its texts are read from mapped memory, and copied: use it while
// the dataset is open.
type Entry struct {
	x    *Index
	room [rowRoom]byte
	long []byte
}

// row is the bytes of the row, with the beginning of the next one.
func (e *Entry) row() []byte {
	if e.long != nil {
		return e.long
	}
	return e.room[:]
}

func (e *Entry) number(k int) int64 { return e.x.numbers[k].of(e.row()) }

// Label returns the designated label.
func (e *Entry) Label() int64 { return e.number(numberLabel) }

// Size returns the number of bytes of the designated image as stored.
func (e *Entry) Size() int64 { return e.number(numberSize) }

// split returns the sample's split.
func (e *Entry) split() string { return nameAt(e.x.splits, e.number(numberSplit)) }

// Encoding returns the encoding of the designated image.
func (e *Entry) Encoding() formats.Encoding {
	return formats.Encoding(nameAt(e.x.encodings, e.number(numberEncoding)))
}

// nameAt returns names[k], "" if there is no such name: the caller finds that the sample is not as it was.
func nameAt(names []string, k int64) string {
	if k < 0 || k >= int64(len(names)) {
		return ""
	}
	return names[k]
}

// Shape returns height, width and channels of the designated image, zero if unknown.
func (e *Entry) Shape() [3]int {
	return [3]int{int(e.number(numberHeight)), int(e.number(numberWidth)), int(e.number(numberChannels))}
}

// Location returns where the sample's record is, or in LMDB and HDF5 its designated image.
func (e *Entry) Location() Location {
	return Location{Shard: int(e.number(numberShard)), Offset: e.number(numberOffset), Length: e.Size() + e.number(numberLength)}
}

// Field returns where the value of extra field k is, in the order of the schema.
func (e *Entry) Field(k int) Location {
	return Location{Offset: e.number(fixedNumbers + 2*k), Length: e.number(fixedNumbers + 2*k + 1)}
}

// sum returns the checksum of the values.
func (e *Entry) sum() (sum [16]byte) {
	if e.x.checksum == hashStored {
		sum = [16]byte(e.row()[e.x.checksumAt:])
	}
	return sum
}

func (e *Entry) sourceHash() (sum [16]byte) {
	switch e.x.hash {
	case hashStored:
		sum = [16]byte(e.row()[e.x.hashAt:])
	case hashSame:
		sum = e.sum()
	}
	return sum
}

func (e *Entry) provenance() formats.Provenance {
	return formats.Provenance{Edited: uint16(e.number(numberEdited)), Origin: uint16(e.number(numberOrigin))}
}

// text returns a copy of the text of number k in its section, with the suffix after it.
func (e *Entry) text(k int, section span, suffix string) (text []byte, err error) {
	b, err := e.x.text(e.row(), k, section)
	if err != nil {
		return nil, err
	}
	err = guard.Read(b, func() error {
		text = append(append(make([]byte, 0, len(b)+len(suffix)), b...), suffix...)
		return guard.Shortened(b)
	})
	return text, err
}

// Key returns the key.
func (e *Entry) Key() ([]byte, error) { return e.keyWith("") }

// keyWith returns the key with the suffix after it.
func (e *Entry) keyWith(suffix string) ([]byte, error) {
	key, err := e.text(numberKey, e.x.keys, suffix)
	if err != nil {
		return nil, err
	}
	if err := formats.CheckKey(asString(key[:len(key)-len(suffix)])); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", e.x.name, formats.ErrDamaged, err)
	}
	return key, nil
}

// asString is b as a string, without a copy: nobody writes to b any more.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// source returns the key and the source, in memory of their own.
func (e *Entry) source() (key string, s formats.Source, err error) {
	s = formats.Source{Size: e.Size() + e.number(numberSourceSize), ModTime: e.number(numberModTime), Hash: e.sourceHash()}
	suffix, code := "", e.number(numberSuffix)
	if code != 0 {
		suffix = nameAt(e.x.suffixes, code)
	}
	k, err := e.keyWith(suffix)
	if err != nil {
		return "", s, err
	}
	key = asString(k)
	if code != 0 {
		s.Path = key
		return key[:len(key)-len(suffix)], s, nil
	}
	path, err := e.text(numberPath, e.x.paths, "")
	s.Path = asString(path)
	return key, s, err
}

// appendColumns appends the texts of the user's columns.
func (e *Entry) appendColumns(to []string) ([]string, error) {
	for k, section := range e.x.user {
		b, err := e.text(e.x.user0()+k, section, "")
		if err != nil {
			return to, err
		}
		to = append(to, asString(b))
	}
	return to, nil
}

// Fill sets the fields of s that the index has: key, split, checksum, source, columns, provenance.
func (e *Entry) Fill(s *formats.Sample) (err error) {
	s.Split, s.Checksum, s.Provenance = e.split(), e.sum(), e.provenance()
	if s.Key, s.Source, err = e.source(); err != nil {
		return err
	}
	s.SetColumns()
	s.Columns, err = e.appendColumns(s.Columns)
	s.SetColumns(s.Columns...)
	return err
}
