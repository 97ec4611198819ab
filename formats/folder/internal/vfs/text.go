package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

var errUTF16 = errors.New("it is UTF-16: save it as UTF-8")

// ReadText reads a text file without its byte order mark, with lines that end in \n.
// It is an error, which names the file and the encoding found, if the text is not UTF-8.
func ReadText(in FS, file string) ([]byte, error) {
	b, err := ReadBytes(in, file)
	if err != nil {
		return nil, err
	}
	if b, err = PlainText(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// ReadBytes reads a file that the Config names as it is.
func ReadBytes(in FS, file string) ([]byte, error) {
	f, err := in.OpenText(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// PlainText is ReadText for text that was read already.
func PlainText(b []byte) ([]byte, error) {
	if err := notText(b); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, errUTF16
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if i := bytes.IndexByte(b, 0); i >= 0 {
		if i < 4 { // within the first two characters
			return nil, errUTF16
		}
		return nil, fmt.Errorf("line %d: a NUL byte, where text is expected", lineOf(b, i))
	}
	if i := firstInvalid(b); i >= 0 {
		return nil, fmt.Errorf("line %d: the byte %#02x is not UTF-8 (is it Latin-1?): save it as UTF-8", lineOf(b, i), b[i])
	}
	if bytes.IndexByte(b, '\n') < 0 { // the line ends of an old Mac
		b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	}
	return b, nil
}

// firstInvalid returns the offset of the first byte that is not UTF-8, or -1.
func firstInvalid(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// lineOf returns the number of the line of byte i.
func lineOf(b []byte, i int) int {
	n := bytes.Count(b[:i], []byte("\n"))
	if n == 0 {
		n = bytes.Count(b[:i], []byte("\r"))
	}
	return n + 1
}
