package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
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
	ctx  context.Context
	file *io.SectionReader
	in   *bufio.Reader
	pos  int64
}

func newPlainSequence(ctx context.Context, file *os.File, length int64) *plainSequence {
	s := io.NewSectionReader(file, 0, length)
	return &plainSequence{ctx: ctx, file: s, in: bufio.NewReaderSize(s, 4096)}
}

func (p *plainSequence) Read(b []byte) (int, error) {
	if p.in.Buffered() == 0 && p.ctx.Err() != nil {
		return 0, p.ctx.Err()
	}
	n, err := p.in.Read(b)
	p.pos += int64(n)
	return n, err
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
func (p *plainSequence) Seek(offset int64, whence int) (int64, error) {
	offset, err := seek(p.pos, offset, whence, 0)
	if skip := offset - p.pos; skip >= 0 && skip <= int64(p.in.Buffered()) {
		_, _ = p.in.Discard(int(skip)) // it is in memory
	} else if _, err := p.file.Seek(offset, io.SeekStart); err == nil {
		p.in.Reset(p.file)
	}
	p.pos = offset
	return offset, err
}

func (p *plainSequence) position() int64 { return p.pos }

func (p *plainSequence) consumed() int64 { return p.pos }

func (p *plainSequence) size() int64 { return p.file.Size() }

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

// maxWindow is what a zstd frame may ask for: that of zstd --ultra -22 and of --long.
const maxWindow = 128 << 20

// zstdReader decompresses the frames of a file, one after another.
type zstdReader struct {
	file    *os.File
	size    int64
	next    int64 // offset of the next frame
	decoder *zstd.Decoder
	inFrame bool
	in      *offsetReader
	out     int64
	found   func(point) // told of each frame; nil if nobody asks
}

// newZstdDecoder returns a decoder of r, nil if Reset comes first.
func newZstdDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

func newZstdReader(file *os.File, size int64, p *point) (*zstdReader, error) {
	z, err := newZstdDecoder(nil)
	if err != nil {
		return nil, err
	}
	return &zstdReader{file: file, size: size, next: p.in, out: p.out, decoder: z, in: &offsetReader{file, p.in}}, nil
}

func (z *zstdReader) Read(b []byte) (int, error) {
	for {
		if !z.inFrame {
			if err := z.open(); err != nil || !z.inFrame { // who reads looks at the context after each frame
				return 0, err
			}
		}
		n, err := z.decoder.Read(b)
		z.out += int64(n)
		if errors.Is(err, io.EOF) {
			z.inFrame, err = false, nil
		}
		if n > 0 || err != nil || !z.inFrame {
			return n, noEOF(err)
		}
	}
}

// open starts the next frame, or passes one that is skippable; io.EOF at the end of the file.
func (z *zstdReader) open() error {
	if z.next >= z.size {
		return io.EOF
	}
	length, skippable, err := frameLength(io.NewSectionReader(z.file, z.next, z.size-z.next))
	if err != nil {
		return err
	}
	start := z.next
	z.next += length
	if skippable {
		return nil
	}
	if z.found != nil {
		z.found(point{out: z.out, in: start})
	}
	z.in = &offsetReader{z.file, start}
	z.inFrame = true
	return z.decoder.Reset(io.LimitReader(z.in, length))
}

func (z *zstdReader) Close() error {
	z.decoder.Close()
	return nil
}

// frameLength returns the length of the zstd frame that r begins with. It reads the headers of the frame's blocks.
func frameLength(r io.Reader) (length int64, skippable bool, err error) {
	in := bufio.NewReaderSize(r, 4096)
	head, err := in.Peek(zstd.HeaderMaxSize)
	if len(head) == 0 {
		return 0, false, noEOF(err)
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return 0, false, fmt.Errorf("read a zstd frame's header: %w", err)
	}
	if h.Skippable {
		return int64(h.HeaderSize) + int64(h.SkippableSize), true, nil
	}
	if h.DictionaryID != 0 {
		return 0, false, errors.New("it is compressed with a zstd dictionary, which dsconv does not have: decompress it with zstd -d -D")
	}
	if h.WindowSize > maxWindow {
		return 0, false, fmt.Errorf("its zstd frame needs a window of %d MiB, and dsconv gives it %d MiB at most: decompress it with zstd -d --long=31, and compress it without --long", h.WindowSize>>20, maxWindow>>20)
	}
	length = int64(h.HeaderSize)
	if _, err := in.Discard(h.HeaderSize); err != nil {
		return 0, false, noEOF(err)
	}
	for last := false; !last; {
		var b [3]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return 0, false, noEOF(err)
		}
		block := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		last = block&1 != 0
		n := int(block >> 3)
		if block>>1&3 == 1 { // one byte, repeated
			n = 1
		}
		if _, err := in.Discard(n); err != nil {
			return 0, false, noEOF(err)
		}
		length += 3 + int64(n)
	}
	if h.HasCheckSum {
		length += 4
	}
	return length, false, nil
}

// scanZstd returns the sequence of a zstd file, and what makes a stream of it when it was read to the end.
func scanZstd(ctx context.Context, file *os.File, size int64) (sequence, func(length int64) stream, error) {
	z, err := newZstdReader(file, size, &point{})
	if err != nil {
		return nil, nil, err
	}
	points := []point{{}}
	z.found = func(p point) {
		if p.out-points[len(points)-1].out >= pageSize {
			points = append(points, p)
		}
	}
	s := &packedSequence{ctx: ctx, from: z, in: func() int64 { return z.in.pos }}
	return s, func(length int64) stream {
		z.decoder.Close()
		return newPaged(points, length, func(p *point) (io.ReadCloser, error) { return newZstdReader(file, size, p) })
	}, nil
}
