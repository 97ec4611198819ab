package listing

import (
	"bytes"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// maxAppleDouble is more than such a file has as a rule: a few kilobytes.
const maxAppleDouble = 1 << 20

var appleDoubleMagic = []byte{0x00, 0x05, 0x16, 0x07}

// isAppleDouble reports whether f is what macOS writes beside a file on disks of other systems and in archives: ._cat.jpg has
// attributes of cat.jpg, in the format of RFC 1740, and is no image.
func (s *Scan) isAppleDouble(f *vfs.File) bool {
	if !strings.HasPrefix(path.Base(f.Path), "._") || f.Size > maxAppleDouble {
		return false
	}
	data, err := s.in.Read(f.Path, f.Size, f.ModTime, nil)
	return err == nil && bytes.HasPrefix(data, appleDoubleMagic)
}
