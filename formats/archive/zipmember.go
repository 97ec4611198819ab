package archive

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// zipReader reads members of a zip. It is safe for concurrent use.
type zipReader struct {
	file    *os.File
	inflate sync.Pool // of *inflater
	zstd    sync.Pool // of *zstd.Decoder
}

type inflater struct {
	in *bufio.Reader
	r  io.ReadCloser
}

// read fills b, of the member's size, with the member.
func (z *zipReader) read(e *entry, b []byte) error {
	var head [zipHeaderSize]byte
	if err := (plainStream{z.file}).readAt(head[:], e.offset); err != nil {
		return err
	}
	if string(head[:4]) != zipHeader {
		return errors.New("damaged: the member does not begin where the zip's directory says")
	}
	data := e.offset + zipHeaderSize + int64(le16(head[26:])) + int64(le16(head[28:]))
	if data+e.packed > e.limit {
		return errors.New("damaged: its bytes overlap those of another member")
	}
	var err error
	switch e.method {
	case methodStore:
		err = (plainStream{z.file}).readAt(b, data)
	case methodDeflate:
		err = z.readDeflate(io.NewSectionReader(z.file, data, e.packed), b)
	case methodZstd:
		err = z.readZstd(io.NewSectionReader(z.file, data, e.packed), b)
	default:
		err = fmt.Errorf("compressed by method %d", e.method)
	}
	if err == nil && crc32.ChecksumIEEE(b) != e.crc {
		err = errors.New("damaged: its checksum differs")
	}
	return err
}

func (z *zipReader) readDeflate(from io.Reader, b []byte) error {
	f, ok := z.inflate.Get().(*inflater)
	if ok {
		f.in.Reset(from)
		if err := f.r.(flate.Resetter).Reset(f.in, nil); err != nil {
			return err
		}
	} else {
		in := bufio.NewReaderSize(from, 64<<10)
		f = &inflater{in, flate.NewReader(in)}
	}
	err := readExactly(f.r, b)
	z.inflate.Put(f)
	return err
}

func (z *zipReader) readZstd(from io.Reader, b []byte) error {
	d, ok := z.zstd.Get().(*zstd.Decoder)
	var err error
	if ok {
		err = d.Reset(from)
	} else {
		d, err = zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	}
	if err != nil {
		return err
	}
	err = readExactly(d, b)
	z.zstd.Put(d)
	return err
}

// readExactly fills b from r, which must have no more bytes.
func readExactly(r io.Reader, b []byte) error {
	n, err := io.ReadFull(r, b)
	if err != nil && (len(b) > 0 || !errors.Is(err, io.EOF)) {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return fmt.Errorf("damaged: it has %d bytes and the archive says %d", n, len(b))
		}
		return err
	}
	var one [1]byte
	if n, err := r.Read(one[:]); n > 0 {
		return fmt.Errorf("damaged: it has more than the %d bytes that the archive says", len(b))
	} else if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
