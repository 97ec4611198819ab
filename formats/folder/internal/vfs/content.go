package vfs

import (
	"cmp"

	"github.com/dsconv/dsconv/formats"
)

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
