package archive

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/flate"
)

const (
	minPointDistance = 4 << 20 // of uncompressed bytes between two seek points
	maxPoints        = 4096    // of 32 KiB each
)

// gzipReader decompresses a gzip file, of one member or of several, from its start or from a seek point.
type gzipReader struct {
	in      *bufio.Reader
	at      *offsetReader
	flate   io.ReadCloser
	start   int64 // offset of the member's deflate data in the file
	first   int64 // offset of the member's first byte in the uncompressed bytes
	out     int64
	crc     uint32
	checked bool // crc is of the whole member
	failed  error
	// found is told of each block's end; nil if nobody asks.
	found  func(point)
	blocks blockReader
	// followed counts members whose blocks found is told of. That needs a decoder for each, of 40 KiB. A file can have a
	// member in 20 bytes: of many small ones, which have no seek points, most share plain.
	followed int64
	plain    io.ReadCloser
}

const maxFollowed = 4096

// blockReader is what flate reads if found is told of blocks: byte by byte, but for stored blocks. flate counts the
// bytes that it has in hand before a stored block twice (klauspost/compress 1.20.3), so that the offset of each
// block after it is too large. After a stored block it has none in hand: then the offset is known.
type blockReader struct {
	*bufio.Reader
	stored bool // the last read was of a stored block
}

func (r *blockReader) ReadByte() (byte, error) {
	r.stored = false
	return r.Reader.ReadByte()
}

func (r *blockReader) Read(b []byte) (int, error) {
	r.stored = true
	return r.Reader.Read(b)
}

// offsetReader counts what is read of a file.
type offsetReader struct {
	file *os.File
	pos  int64
}

func (o *offsetReader) Read(b []byte) (int, error) {
	n, err := o.file.ReadAt(b, o.pos)
	o.pos += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func newGzipReader(file *os.File, in int64) *gzipReader {
	at := &offsetReader{file, in}
	return &gzipReader{in: bufio.NewReaderSize(at, 64<<10), at: at}
}

// openGzip continues at a seek point.
func openGzip(file *os.File, p *point) (io.ReadCloser, error) {
	g := newGzipReader(file, p.in)
	g.out = p.out
	if p.window == nil && p.out == 0 {
		return g, g.nextMember()
	}
	g.flate = flate.NewReaderOpts(g.in, flate.WithResumeFrom(flate.InflateCheckpoint{BitOffset: p.bit, Window: p.window}))
	return g, nil
}

// position is the offset in the file of the next byte that is not decompressed.
func (g *gzipReader) position() int64 { return g.at.pos - int64(g.in.Buffered()) }

// nextMember reads a member's header; io.EOF at the end of the file.
func (g *gzipReader) nextMember() error {
	if err := readGzipHeader(g.in); err != nil {
		return err
	}
	g.start, g.first, g.crc, g.checked = g.position(), g.out, 0, true
	if g.followed++; g.found == nil || g.followed > maxFollowed+g.out>>20 {
		if g.plain == nil {
			g.plain = flate.NewReader(g.in)
		}
		g.flate = g.plain
		return g.plain.(flate.Resetter).Reset(g.in, nil)
	}
	var excess int64 // of flate's offsets
	g.blocks = blockReader{Reader: g.in}
	g.flate = flate.NewReaderOpts(&g.blocks, flate.WithEobCallback(func(c flate.InflateCheckpoint) {
		if g.blocks.stored {
			excess = c.CompressedOffset - (g.position() - g.start)
		}
		if !c.Final {
			g.found(point{out: g.first + c.UncompressedOffset, in: g.start + c.CompressedOffset - excess, bit: c.BitOffset, window: c.Window})
		}
	}))
	return nil
}

func (g *gzipReader) Read(b []byte) (int, error) {
	for {
		if g.failed != nil {
			return 0, g.failed
		}
		if g.flate == nil {
			if err := g.nextMember(); err != nil {
				return 0, err
			}
		}
		n, err := g.flate.Read(b)
		g.out += int64(n)
		if g.checked {
			g.crc = crc32.Update(g.crc, crc32.IEEETable, b[:n])
		}
		if errors.Is(err, io.EOF) {
			g.flate = nil
			err = g.endMember()
			g.failed = err // with the last bytes, whose reader may not look at it
		}
		if n > 0 || err != nil || g.flate == nil { // who reads looks at the context after each member
			return n, noEOF(err)
		}
	}
}

// endMember compares the member with its checksum, if all of it was read.
func (g *gzipReader) endMember() error {
	var tail [8]byte
	if _, err := io.ReadFull(g.in, tail[:]); err != nil {
		return noEOF(err)
	}
	size := uint32(g.out - g.first)
	if g.checked && (binary.LittleEndian.Uint32(tail[:]) != g.crc || binary.LittleEndian.Uint32(tail[4:]) != size) {
		return errors.New("its checksum differs: it is damaged")
	}
	return nil
}

func (g *gzipReader) Close() error { return nil }

// readGzipHeader reads the header of a member (RFC 1952). Zeros after the last one, as on tapes, are its end.
func readGzipHeader(r *bufio.Reader) error {
	head := make([]byte, 10)
	n, err := io.ReadFull(r, head)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return io.EOF
	case isZero(head[:n]):
		return endsInZeros(r)
	case err != nil:
		return noEOF(err)
	case head[0] != 0x1f || head[1] != 0x8b || head[2] != 8:
		return errors.New("something that is not gzip follows the gzip data")
	case head[3]&0xe0 != 0:
		return errors.New("its gzip header has unknown flags")
	}
	flags := head[3]
	if flags&4 != 0 { // FEXTRA
		if _, err := io.ReadFull(r, head[:2]); err != nil {
			return noEOF(err)
		}
		if _, err := r.Discard(int(binary.LittleEndian.Uint16(head))); err != nil {
			return noEOF(err)
		}
	}
	for _, flag := range []byte{8, 16} { // FNAME, FCOMMENT
		if flags&flag == 0 {
			continue
		}
		if err := skipText(r); err != nil {
			return err
		}
	}
	if flags&2 != 0 { // FHCRC
		if _, err := r.Discard(2); err != nil {
			return noEOF(err)
		}
	}
	return nil
}

func skipText(r *bufio.Reader) error {
	for range 64 << 10 {
		b, err := r.ReadByte()
		if err != nil {
			return noEOF(err)
		}
		if b == 0 {
			return nil
		}
	}
	return errors.New("its gzip header has a name without an end")
}

func isZero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

// endsInZeros returns io.EOF if only zeros follow.
func endsInZeros(r *bufio.Reader) error {
	for range 64 << 20 {
		b, err := r.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			break
		}
	}
	return errors.New("something that is not gzip follows the gzip data")
}

// gzipPoints collects seek points.
type gzipPoints struct {
	points   []point
	distance int64 // of compressed bytes
}

func (g *gzipPoints) found(p point) {
	last := &g.points[len(g.points)-1]
	if p.out-last.out < minPointDistance || p.in-last.in < g.distance || len(g.points) >= maxPoints {
		return
	}
	p.window = slices.Clone(p.window)
	g.points = append(g.points, p)
}

// scanGzip returns the sequence of a gzip file, and what makes a stream of it when it was read to the end.
func scanGzip(ctx context.Context, file *os.File, size int64) (sequence, func(length int64) stream, error) {
	points := &gzipPoints{points: []point{{}}, distance: size / maxPoints}
	g := newGzipReader(file, 0)
	g.found = points.found
	if head, err := g.in.Peek(2); err == nil && (head[0] != 0x1f || head[1] != 0x8b) {
		return nil, nil, errors.New("it is not gzip, or damaged from its start")
	}
	if err := g.nextMember(); err != nil {
		return nil, nil, fmt.Errorf("read the gzip header: %w", noEOF(err))
	}
	s := &packedSequence{ctx: ctx, from: g, in: g.position}
	return s, func(length int64) stream {
		return newPaged(points.points, length, func(p *point) (io.ReadCloser, error) { return openGzip(file, p) })
	}, nil
}
