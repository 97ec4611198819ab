package archive

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// Decompressors that are used again.
var (
	inflaters    sync.Pool // of *inflater
	zstdDecoders sync.Pool // of *zstd.Decoder
)

type inflater struct {
	in *bufio.Reader
	r  io.ReadCloser
}

// readZip fills b, of the member's size, with the member of a zip, where its name is name.
func readZip(file *os.File, e *entry, name string, b []byte) error {
	var head [zipHeaderSize + 256]byte // with the names of most members
	n, err := file.ReadAt(head[:], e.offset)
	if n < zipHeaderSize {
		return noEOF(err)
	}
	if string(head[:4]) != zipHeader {
		return errors.New("damaged: the member does not begin where the zip's directory says")
	}
	data := e.offset + zipHeaderSize + int64(le16(head[26:])) + int64(le16(head[28:]))
	if data+e.packed > e.limit {
		return errors.New("damaged: its bytes overlap those of another member")
	}
	if err := checkName(file, e, name, head[zipHeaderSize:n], int(le16(head[26:]))); err != nil {
		return err
	}
	switch e.method {
	case methodStore:
		err = readAt(file, b, data)
	case methodDeflate:
		err = readDeflate(io.NewSectionReader(file, data, e.packed), b)
	case methodZstd:
		err = readZstd(io.NewSectionReader(file, data, e.packed), b)
	default:
		err = fmt.Errorf("compressed by method %d", e.method)
	}
	if err == nil && crc32.ChecksumIEEE(b) != e.crc {
		err = errors.New("damaged: its checksum differs")
	}
	return err
}

// checkName compares the name of a member, of size bytes of which head has the first, with that in the directory.
func checkName(file *os.File, e *entry, path string, head []byte, size int) error {
	if size > len(head) {
		head = make([]byte, size)
		if err := readAt(file, head, e.offset+zipHeaderSize); err != nil {
			return err
		}
	}
	name := head[:size]
	if crc32.ChecksumIEEE(name) == e.rawName {
		return nil
	}
	if plainName(string(name)) != plainName(path) {
		return fmt.Errorf("damaged: its name is %q in the zip's directory and %q before its bytes", path, shorten(string(name)))
	}
	return nil
}

// plainName is a name without what writers differ in between the directory and the member: the code page of letters that
// are not ASCII, and the slash.
func plainName(name string) string {
	var b strings.Builder
	other := false
	for i := range len(name) {
		switch c := name[i]; {
		case c < utf8.RuneSelf:
			b.WriteByte(c)
			other = false
		case !other:
			b.WriteByte(utf8.RuneSelf)
			other = true
		}
	}
	return strings.TrimPrefix(strings.ReplaceAll(b.String(), `\`, "/"), "./")
}

func readDeflate(from io.Reader, b []byte) error {
	f, ok := inflaters.Get().(*inflater)
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
	inflaters.Put(f)
	return err
}

func readZstd(from io.Reader, b []byte) error {
	d, ok := zstdDecoders.Get().(*zstd.Decoder)
	var err error
	if ok {
		err = d.Reset(from)
	} else {
		d, err = newZstdDecoder(from)
	}
	if err != nil {
		return err
	}
	err = readExactly(d, b)
	zstdDecoders.Put(d)
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
