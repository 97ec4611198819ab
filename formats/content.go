package formats

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// contents are kinds of files that are no image which dsconv reads, by the bytes at an offset.
var contents = []struct {
	at          int
	magic, what string
}{
	{4, "ftypheic", "a HEIC image"},
	{4, "ftypheix", "a HEIC image"},
	{4, "ftyphevc", "a HEIC image"},
	{4, "ftypmif1", "a HEIF image"},
	{4, "ftypmsf1", "a HEIF image"},
	{4, "ftypavi", "an AVIF image"},
	{4, "ftypcrx", "a Canon raw image"},
	{4, "ftyp", "a video (MP4 or QuickTime)"},
	{0, "\x00\x00\x00\x0cjP  ", "a JPEG 2000 image"},
	{0, "\xff\x4f\xff\x51", "a JPEG 2000 image"},
	{0, "\x00\x00\x00\x0cJXL ", "a JPEG XL image"},
	{0, "\xff\x0a", "a JPEG XL image"},
	{0, "8BPS", "a Photoshop image"},
	{0, "\x00\x00\x01\x00", "an icon (ICO)"},
	{0, "v/1\x01", "an OpenEXR image"},
	{0, "#?RADIANCE", "a Radiance HDR image"},
	{0, "DDS ", "a DDS image"},
	{0, "qoif", "a QOI image"},
	{128, "DICM", "a DICOM image"},
	{0, "%PDF", "a PDF document"},
	{0, "RIFF", "a video or sound (RIFF)"},
	{0, "\x1aE\xdf\xa3", "a video (Matroska or WebM)"},
	{0, "\x1f\x8b", "compressed by gzip: decompress it"},
	{0, "BZh", "compressed by bzip2: decompress it"},
	{0, "\xfd7zXZ", "compressed by xz: decompress it"},
	{0, "\x28\xb5\x2f\xfd", "compressed by zstd: decompress it"},
	{0, "PK\x03\x04", "a zip archive"},
	{0, "7z\xbc\xaf", "a 7z archive"},
	{0, "Rar!", "a RAR archive"},
	{257, "ustar", "a tar archive"},
	{0, "\x93NUMPY", "an array of NumPy"},
	{0, "\x89HDF", "an HDF5 file"},
	{0, "PAR1", "a Parquet file"},
	{0, "SQLite format 3", "an SQLite database"},
	{0, "\x00\x05\x16\x07", "what macOS keeps beside a file (AppleDouble)"},
	{0, "\x7fELF", "a program"},
	{0, "version https://git-lfs", "a Git LFS pointer, not the image: git lfs pull fetches it"},
}

// Content says what data, the first bytes of a file, are if they are not those of an image that dsconv reads, such as "a HEIC
// image" or "an HTML page"; "text" for other text, and "" for what it does not know. It looks at the first kilobyte.
func Content(data []byte) string {
	if len(data) == 0 {
		return "empty"
	}
	for _, c := range contents {
		if len(data) > c.at && bytes.HasPrefix(data[c.at:], []byte(c.magic)) {
			return c.what
		}
	}
	if len(data) > 2 && data[0] == 'P' && data[1] >= '1' && data[1] <= '7' && strings.IndexByte(" \t\r\n#", data[2]) >= 0 {
		return "a PPM, PGM or PBM image"
	}
	return contentOfText(data[:min(len(data), 1024)])
}

// contentOfText is Content of what begins with no magic bytes.
func contentOfText(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "text"
	case bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) }):
		return ""
	}
	text := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(string(head), "\ufeff")))
	switch invalid := len(head) - len(bytes.ToValidUTF8(head, nil)); {
	case invalid > max(len(head)/8, utf8.UTFMax-1): // text of a code page is mostly ASCII, and the last letter may be cut
		return ""
	case strings.HasPrefix(text, "<svg"), strings.HasPrefix(text, "<?xml") && strings.Contains(text, "<svg"):
		return "an SVG drawing"
	case strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"), strings.HasPrefix(text, "<head"):
		return "an HTML page: a server may have sent a message in place of the image"
	case strings.HasPrefix(text, "<?xml"):
		return "an XML document"
	case isPathText(text):
		return "the text of a link: copy the file that it leads to"
	}
	return "text"
}

// isPathText reports whether text, which may be cut, is a path, as Git, git-annex and archives leave it where a link was.
func isPathText(text string) bool {
	return strings.ContainsAny(text, `/\`) && !strings.ContainsAny(text, "\n\r\t <>\"{}:,;") && strings.LastIndexByte(text, '.') > 0
}

// Sniff returns an image's encoding judged by its first bytes, not by its file name; "" if
// dsconv cannot read it.
func Sniff(data []byte) Encoding {
	for _, m := range []struct {
		magic string
		enc   Encoding
	}{
		{"\xff\xd8\xff", JPEG},
		{"\x89PNG\r\n\x1a\n", PNG},
		{"GIF87a", GIF},
		{"GIF89a", GIF},
		{"BM", BMP},
		{"II*\x00", TIFF},
		{"MM\x00*", TIFF},
		{"II+\x00", TIFF}, // BigTIFF; Pillow does not read big-endian ones
	} {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.enc
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return WebP
	}
	return ""
}
