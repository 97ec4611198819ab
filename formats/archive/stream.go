package archive

import (
	"context"
	"fmt"
	"io"
	"os"
)

// stream is the uncompressed bytes of a tar.
type stream interface {
	// readAt fills b with the bytes at off. It is safe for concurrent use.
	readAt(b []byte, off int64) error
	// close releases what the stream holds, but not the file.
	close()
}

// plainStream is a file that is not compressed.
type plainStream struct{ file *os.File }

func (p plainStream) readAt(b []byte, off int64) error {
	n, err := p.file.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	return noEOF(err)
}

func (plainStream) close() {}

// noEOF is err where more was expected.
func noEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // io.Reader returns it itself
		return io.ErrUnexpectedEOF
	}
	return err
}

// sequence reads a tar once from its start, for its headers. archive/tar seeks forward where it can.
type sequence interface {
	io.ReadSeeker
	// position is the offset of the next byte.
	position() int64
	// consumed is about how many bytes of the file have been read until now.
	consumed() int64
	// size is the number of bytes, -1 if that is not known.
	size() int64
}

// plainSequence reads a plain file in small pieces: between headers it skips the data.
type plainSequence struct {
	ctx    context.Context
	file   *os.File
	length int64
	pos    int64
	buf    [4096]byte
	at     int64 // buf[:have] is the file's at this offset
	have   int
}

func (p *plainSequence) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if p.pos < p.at || p.pos >= p.at+int64(p.have) {
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		if p.pos >= p.length {
			return 0, io.EOF
		}
		n, err := p.file.ReadAt(p.buf[:], p.pos)
		if n == 0 {
			return 0, err
		}
		p.at, p.have = p.pos, n
	}
	n := copy(b, p.buf[p.pos-p.at:p.have])
	p.pos += int64(n)
	return n, nil
}

// seek returns the offset that a Seek from pos leads to, at least lowest.
func seek(pos, offset int64, whence int, lowest int64) (int64, error) {
	if whence == io.SeekCurrent {
		offset += pos
	}
	if offset < lowest || whence == io.SeekEnd {
		return pos, fmt.Errorf("seek to %d", offset)
	}
	return offset, nil
}

// Seek implements io.Seeker, from the start or the current offset.
func (p *plainSequence) Seek(offset int64, whence int) (_ int64, err error) {
	p.pos, err = seek(p.pos, offset, whence, 0)
	return p.pos, err
}

func (p *plainSequence) position() int64 { return p.pos }

func (p *plainSequence) consumed() int64 { return p.pos }

func (p *plainSequence) size() int64 { return p.length }

const (
	// maxExpansion is how many times its file's size an archive may unpack to, above freeExpansion.
	maxExpansion  = 100
	freeExpansion = 1 << 30
)

var errBomb = fmt.Errorf("its files are more than %d times its size, links included: no archive of images is, so it is not read", maxExpansion)

// isBomb reports whether so many unpacked bytes are too many for the packed ones.
func isBomb(unpacked, packed int64) bool {
	return unpacked > freeExpansion && unpacked/maxExpansion > packed
}

// packedSequence reads decompressed bytes, and stops a bomb.
type packedSequence struct {
	ctx  context.Context
	from io.Reader
	in   func() int64 // bytes of the file that from has read
	pos  int64
}

func (p *packedSequence) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.from.Read(b)
	p.pos += int64(n)
	if isBomb(p.pos, p.in()) {
		return n, errBomb
	}
	return n, err
}

// Seek implements io.Seeker: it reads on to an offset that is not before the current one.
func (p *packedSequence) Seek(offset int64, whence int) (int64, error) {
	offset, err := seek(p.pos, offset, whence, p.pos)
	if err == nil {
		_, err = io.CopyN(io.Discard, p, offset-p.pos)
	}
	return p.pos, noEOF(err)
}

func (p *packedSequence) position() int64 { return p.pos }

func (p *packedSequence) consumed() int64 { return p.in() }

func (*packedSequence) size() int64 { return -1 }
