package shard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/dsconv/dsconv/formats"
)

const (
	blockSize = 512
	nameSize  = 100
	maxOctal  = 1<<33 - 1 // the largest number of 11 octal digits

	sizeAt, checksumAt, typeAt = 124, 148, 156

	regular  = '0'
	longName = 'L'
)

// longLink is the name of a member that contains the name of the next one.
const longLink = "././@LongLink"

var (
	zeros [2 * blockSize]byte

	// blank is a header without name, size, type and checksum, which is computed with spaces in
	// its place.
	blank = func() (h [blockSize]byte) {
		copy(h[100:], "0000644\x000000000\x000000000\x00")
		copy(h[136:], "00000000000\x00        ")
		copy(h[257:], "ustar  \x00")
		return h
	}()
)

// appendMember appends what precedes the bytes of a member: its header and, before that, the
// member with the name if it is long.
func appendMember(b, name []byte, size int) []byte {
	if len(name) > nameSize {
		b = appendHeader(b, []byte(longLink), len(name)+1, longName)
		b = append(b, name...)
		b = append(b, zeros[:1+padding(len(name)+1)]...)
		name = name[:nameSize]
	}
	return appendHeader(b, name, size, regular)
}

// padding returns the number of zeros after a member of that size.
func padding(size int) int { return -size & (blockSize - 1) }

func appendHeader(b, name []byte, size int, kind byte) []byte {
	b = append(b, blank[:]...)
	h := b[len(b)-blockSize:]
	copy(h, name)
	h[typeAt] = kind
	if size <= maxOctal {
		octal(h[sizeAt:sizeAt+11], uint64(size))
	} else { // GNU's base 256
		h[sizeAt] = 0x80
		binary.BigEndian.PutUint64(h[sizeAt+4:], uint64(size))
	}
	octal(h[checksumAt:checksumAt+6], headerSum(h))
	h[checksumAt+6] = 0
	return b
}

func octal(digits []byte, x uint64) {
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = '0' + byte(x&7)
		x >>= 3
	}
}

// headerSum returns the sum of a header's bytes, with spaces in its checksum field. It adds four
// bytes of each eight at a time.
func headerSum(h []byte) uint64 {
	const evenBytes = 0x00ff00ff00ff00ff
	var sum uint64
	for i := 0; i < blockSize; i += 8 {
		x := binary.LittleEndian.Uint64(h[i:])
		sum += x&evenBytes + x>>8&evenBytes // at most 64 * 2 * 255 in each 16 bits
	}
	return sum&0xffff + sum>>16&0xffff + sum>>32&0xffff + sum>>48
}

// member is one file of a record.
type member struct {
	name, data []byte
	offset     int // of data in the record
}

// members iterates over the members of one record. It trusts no header: it ends with the first
// error, ErrDamaged.
func members(rec []byte) iter.Seq2[member, error] {
	return func(yield func(member, error) bool) {
		for at := 0; at < len(rec); {
			m, next, err := nextMember(rec, at)
			if !yield(m, err) || err != nil {
				return
			}
			at = next
		}
	}
}

func nextMember(rec []byte, at int) (m member, next int, err error) {
	data, kind, next, err := readBlock(rec, at)
	if err != nil {
		return m, 0, err
	}
	m.name = rec[at : at+nameSize]
	if kind == longName {
		if !bytes.Equal(trimName(m.name), []byte(longLink)) || len(data) < nameSize+2 || bytes.IndexByte(data, 0) != len(data)-1 {
			return m, 0, fmt.Errorf("%w: invalid long name of %d bytes", formats.ErrDamaged, len(data))
		}
		m.name, at = data[:len(data)-1], next
		if data, kind, next, err = readBlock(rec, at); err != nil {
			return m, 0, err
		}
	}
	if kind != regular {
		return m, 0, fmt.Errorf("%w: unexpected tar member of type %q", formats.ErrDamaged, kind)
	}
	m.name, m.data, m.offset = trimName(m.name), data, at+blockSize
	return m, next, nil
}

func trimName(name []byte) []byte {
	if i := bytes.IndexByte(name, 0); i >= 0 {
		return name[:i]
	}
	return name
}

// readBlock reads the header at that offset and returns its data and the offset after it.
func readBlock(rec []byte, at int) (data []byte, kind byte, next int, err error) {
	if len(rec)-at < blockSize {
		return nil, 0, 0, fmt.Errorf("%w: a tar header is truncated", formats.ErrDamaged)
	}
	h := rec[at : at+blockSize]
	at += blockSize
	size, ok := parseSize(h)
	if !ok || !checksumMatches(h) {
		return nil, 0, 0, fmt.Errorf("%w: the checksum of a tar header differs", formats.ErrDamaged)
	}
	if size > uint64(len(rec)-at) || len(rec)-at-int(size) < padding(int(size)) {
		return nil, 0, 0, fmt.Errorf("%w: a tar member has %d bytes in a record of %d", formats.ErrDamaged, size, len(rec))
	}
	n := int(size)
	return rec[at : at+n : at+n], h[typeAt], at + n + padding(n), nil
}

// checksumMatches verifies the checksum, in the form that appendHeader writes.
func checksumMatches(h []byte) bool {
	want, ok := parseOctal(h[checksumAt : checksumAt+6])
	sum := headerSum(h)
	for _, c := range h[checksumAt : checksumAt+8] {
		sum += ' ' - uint64(c)
	}
	return ok && sum == want && h[checksumAt+6] == 0 && h[checksumAt+7] == ' '
}

func parseSize(h []byte) (uint64, bool) {
	if h[sizeAt] == 0x80 {
		x := binary.BigEndian.Uint64(h[sizeAt+4:])
		return x, x > maxOctal
	}
	return parseOctal(h[sizeAt : sizeAt+11])
}

func parseOctal(digits []byte) (x uint64, ok bool) {
	for _, c := range digits {
		if c < '0' || c > '7' {
			return 0, false
		}
		x = x<<3 | uint64(c-'0')
	}
	return x, true
}
