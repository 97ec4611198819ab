package hdf5

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// span is a byte range of one file that is copied into another.
type span struct {
	source string
	from   int64
	to     int64
	length int64
}

// assemble copies the spans into the file at path, sets its length to size and appends the
// footer with the extents, whose checksums it computes. The file already has the bytes from
// from to to, and written are the checksums of its blocks.
func assemble(path string, size int64, spans []span, written checksum.FileChecksums, from, to int64, p extents) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = assembleFile(f, size, spans, written, from, to, p)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	return nil
}

func assembleFile(f *os.File, size int64, spans []span, written checksum.FileChecksums, from, to int64, p extents) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	buf := make([]byte, checksum.BlockSize)
	for _, s := range spans {
		if err := s.copy(f, buf); err != nil {
			return fmt.Errorf("copy %d bytes of %s: %w", s.length, s.source, err)
		}
	}
	sums, err := checksumBlocks(f, size, written, from, to, buf)
	if err != nil {
		return err
	}
	for i := range p {
		if err := p[i].compute(f, buf); err != nil {
			return err
		}
	}
	// The data first: a footer must never describe bytes that are not on the disk.
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := f.WriteAt(encodeFooter(sums, p), size); err != nil {
		return err
	}
	return f.Sync()
}

func (s span) copy(dst *os.File, buf []byte) error {
	src, err := unblocked.Open(s.source)
	if err != nil {
		return err
	}
	defer src.Close()
	n, err := io.CopyBuffer(io.NewOffsetWriter(dst, s.to), io.NewSectionReader(src, s.from, s.length), buf)
	if err == nil && n != s.length {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// compute sets the checksum of the dataset at p if it has one; buf is scratch.
func (p *extent) compute(f io.ReaderAt, buf []byte) error {
	if !p.hasChecksum {
		return nil
	}
	sum := crc32.New(checksum.Castagnoli)
	n, err := io.CopyBuffer(sum, io.NewSectionReader(f, p.offset, p.length()), buf)
	if err == nil && n != p.length() {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("dataset %s: %w", p.name, err)
	}
	p.checksum = sum.Sum32()
	return nil
}

// checksumBlocks computes the checksums of the file's first size bytes. Those of blocks between
// from and to are taken from written, which computed them when the blocks were written.
func checksumBlocks(f io.ReaderAt, size int64, written checksum.FileChecksums, from, to int64, buf []byte) (checksum.FileChecksums, error) {
	sums := checksum.FileChecksums{Name: footerName, Size: size}
	for off := int64(0); off < size; off += checksum.BlockSize {
		i := off / checksum.BlockSize
		if off >= from && off+checksum.BlockSize <= to && i < int64(len(written.Blocks)) {
			sums.Blocks = append(sums.Blocks, written.Blocks[i])
			continue
		}
		b := buf[:min(checksum.BlockSize, size-off)]
		if _, err := f.ReadAt(b, off); err != nil {
			return sums, err
		}
		sums.Blocks = append(sums.Blocks, crc32.Checksum(b, checksum.Castagnoli))
	}
	return sums, nil
}

// outside returns the spans of the first size bytes of source that are outside the holes, which
// are in ascending order.
func outside(source string, size int64, holes []span) []span {
	var spans []span
	at := int64(0)
	for _, h := range append(holes, span{to: size}) {
		if h.to > at {
			spans = append(spans, span{source: source, from: at, to: at, length: h.to - at})
		}
		at = max(at, h.to+h.length)
	}
	return spans
}
