package vfs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
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

// headSize is how much of a file is read to find out what it is.
const headSize = 512

// Content looks at the first bytes of the file at name. what is "" if they are those of an image, else what they are instead;
// isText says that it is text, as a README is.
func Content(in FS, name string) (what string, isText bool, err error) {
	head := make([]byte, headSize)
	n, err := in.Head(name, head)
	if err != nil || formats.Sniff(head[:n]) != "" {
		return "", false, err
	}
	what = formats.Content(head[:n])
	return cmp.Or(what, "data of an unknown kind"), what == "text", nil
}

// IsAppleDouble reports whether a content is what macOS writes beside a file on disks of other systems and in archives: ._cat.jpg
// has attributes of cat.jpg, and is no image.
func IsAppleDouble(what string) bool { return what == formats.Content([]byte("\x00\x05\x16\x07")) }

func isImage(in FS, name string) bool {
	what, _, err := Content(in, name)
	return err == nil && what == ""
}

const asTable = "; write its labels as a .csv with the columns path and label"

// others are files that people give for text, by their first bytes.
var others = []struct{ start, what string }{
	{"\x1f\x8b", "it is compressed by gzip; decompress it first"},
	{"BZh", "it is compressed by bzip2; decompress it first"},
	{"\xfd7zXZ", "it is compressed by xz; decompress it first"},
	{"\x28\xb5\x2f\xfd", "it is compressed by zstd; decompress it first"},
	{"PK\x03\x04", "it is a zip archive, or an Excel workbook; unpack it, or save the sheet as .csv"},
	{"\xd0\xcf\x11\xe0", "it is an Excel workbook; save the sheet as .csv"},
	{"MATLAB 5.0", "it is a MATLAB file" + asTable},
	{"\x89HDF", "it is an HDF5 file, as MATLAB writes since 7.3" + asTable},
	{"PAR1", "it is a Parquet file; give it a name that ends in .parquet"},
	{"\x93NUMPY", "it is an array of NumPy" + asTable},
	{"\x80\x03", "it is a pickle of Python" + asTable},
	{"\x80\x04", "it is a pickle of Python" + asTable},
	{"\x80\x05", "it is a pickle of Python" + asTable},
	{"%PDF", "it is a PDF document" + asTable},
}

// notText returns what b is, if that is known not to be text.
func notText(b []byte) error {
	for _, k := range others {
		if bytes.HasPrefix(b, []byte(k.start)) && (k.start != "BZh" || bytes.IndexByte(b, 0) >= 0) {
			return errors.New(k.what)
		}
	}
	return nil
}
