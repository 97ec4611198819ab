package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/internal/extsort"
)

// readAt fills b with the bytes of r at off.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	return noEOF(err)
}

// noEOF is err where more was expected.
func noEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // io.Reader returns it itself
		return io.ErrUnexpectedEOF
	}
	return err
}

func isZero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

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

// sequence reads a tar once from its start, for its headers. It seeks forward: over the data of a plain file, and through
// that of a compressed one, of which it writes every byte to a file without a name, where members are read later.
type sequence struct {
	ctx    context.Context
	in     *bufio.Reader
	plain  *io.SectionReader // nil if the tar is compressed
	packed *counter          // the file of a compressed one
	to     *bufio.Writer     // the file without a name
	pos    int64             // the offset of the next byte
}

// counter counts what is read of a file.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

// newUnpacking returns the sequence of a tar that is compressed by gzip or zstd. It is complete, with unpacked, when it was
// read to its end.
func newUnpacking(ctx context.Context, file *os.File, k kind) (s *sequence, unpacked *os.File, err error) {
	packed := &counter{Reader: file}
	var from io.Reader
	if k == gzipKind {
		from, err = newGzipReader(packed)
	} else {
		from, err = newZstdDecoder(packed)
	}
	if err == nil {
		unpacked, err = extsort.Temporary("")
	}
	if err != nil {
		return nil, nil, err
	}
	return &sequence{ctx: ctx, packed: packed, in: bufio.NewReaderSize(from, 64<<10), to: bufio.NewWriterSize(unpacked, 1<<20)}, unpacked, nil
}

func (s *sequence) Read(b []byte) (int, error) {
	if s.in.Buffered() == 0 && s.ctx.Err() != nil {
		return 0, s.ctx.Err()
	}
	n, err := s.in.Read(b)
	s.pos += int64(n)
	if s.plain != nil {
		return n, err
	}
	if _, failed := s.to.Write(b[:n]); failed != nil {
		return n, fmt.Errorf("it is compressed, and its files are unpacked for the time being: %w", extsort.Explain("", failed))
	}
	if isBomb(s.pos, s.packed.n) {
		return n, errBomb
	}
	return n, explainPacked(err)
}

// Seek implements io.Seeker, from the start or the current offset.
func (s *sequence) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekCurrent {
		offset += s.pos
	}
	skip := offset - s.pos
	switch {
	case offset < 0 || whence == io.SeekEnd || s.plain == nil && skip < 0:
		return s.pos, fmt.Errorf("seek to %d", offset)
	case s.plain == nil:
		_, err := io.CopyN(io.Discard, s, skip)
		return s.pos, noEOF(err)
	case skip >= 0 && skip <= int64(s.in.Buffered()):
		_, _ = s.in.Discard(int(skip)) // it is in memory
	default:
		_, _ = s.plain.Seek(offset, io.SeekStart) // which never fails
		s.in.Reset(s.plain)
	}
	s.pos = offset
	return offset, nil
}

// consumed is about how many bytes of the file have been read until now.
func (s *sequence) consumed() int64 {
	if s.plain != nil {
		return s.pos
	}
	return s.packed.n
}

// gzipReader reads the members of a gzip file, one after another. Zeros after the last one, as on tapes, are its end.
type gzipReader struct {
	in *bufio.Reader
	z  *gzip.Reader
}

func newGzipReader(file io.Reader) (*gzipReader, error) {
	in := bufio.NewReaderSize(file, 64<<10)
	if head, err := in.Peek(2); err == nil && (head[0] != 0x1f || head[1] != 0x8b) {
		return nil, errors.New("it is not gzip, or damaged from its start")
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, noEOF(err)
	}
	z.Multistream(false)
	return &gzipReader{in, z}, nil
}

func (g *gzipReader) Read(b []byte) (int, error) {
	n, err := g.z.Read(b)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	for {
		next, err := g.in.Peek(1)
		if err != nil {
			return n, err
		}
		if next[0] != 0 {
			break
		}
		_, _ = g.in.Discard(1) // it is there
	}
	if err := g.z.Reset(g.in); errors.Is(err, gzip.ErrHeader) {
		return n, errors.New("something that is not gzip follows the gzip data")
	} else if err != nil {
		return n, noEOF(err)
	}
	g.z.Multistream(false)
	return n, nil // who reads looks at the context after each member
}

// maxWindow is what a zstd frame may ask for: that of zstd --ultra -22 and of --long.
const maxWindow = 128 << 20

// newZstdDecoder returns a decoder of r, nil if Reset comes first.
func newZstdDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// explainPacked says what to do with a file that is compressed in a way that is not read.
func explainPacked(err error) error {
	switch {
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return errors.New("it is compressed with a zstd dictionary, which dsconv does not have: decompress it with zstd -d -D")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("a zstd frame in it needs a larger window than %d MiB: decompress it with zstd -d --long=31, and compress it without --long", maxWindow>>20)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		return fmt.Errorf("its checksum differs: it is damaged: %w", err)
	}
	return err
}
