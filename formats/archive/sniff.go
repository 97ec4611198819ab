package archive

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/internal/unblocked"
)

// beginsAsArchive reports whether the file at path can be read, and begins as an archive.
func beginsAsArchive(path string) bool {
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return sniff(f) != none
}

// sniff returns what the file begins as.
func sniff(f *os.File) kind {
	head := make([]byte, tarBlock)
	n, _ := f.ReadAt(head, 0) // what cannot be read is no archive
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")), bytes.HasPrefix(head, []byte("PK\x07\x08")):
		return zipKind
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipKind
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), n > 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return zstdKind
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2Kind
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		return xzKind
	case n == tarBlock && isTarHeader(head):
		return tarKind
	}
	return none
}

// isTarHeader reports whether the checksum of a header is right.
func isTarHeader(b []byte) bool {
	const from, to = 148, 156
	var sum int64
	for i, c := range b {
		if i >= from && i < to {
			c = ' '
		}
		sum += int64(c)
	}
	want, err := strconv.ParseInt(strings.Trim(string(b[from:to]), " \x00"), 8, 64)
	return err == nil && sum == want
}

// whyNone returns what a file is that begins as no archive, "" if that is not known.
func whyNone(f *os.File) string {
	head := make([]byte, tarBlock)
	n, err := f.ReadAt(head, 0)
	text := strings.ToValidUTF8(string(head[:n]), "")
	switch isControl := func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }; {
	case n == 0 && errors.Is(err, io.EOF):
		return "it is empty: copy or download it again"
	case n == 0 || len(text) < n-utf8.UTFMax || strings.ContainsFunc(text, isControl):
		return ""
	case strings.HasPrefix(strings.TrimSpace(text), "<"):
		return "it begins as HTML or XML, and not as an archive: a server may have sent a message in its place; download it again"
	}
	return "it begins as text, and not as an archive: copy or download it again"
}
