package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

const (
	maxName  = 4096 // bytes of a member's path, the limit of Linux
	maxDepth = 100  // folders in a member's path
)

// cleanName returns a member's name as fs.FS has it, or why it can have none. "" is the root.
func cleanName(name string) (clean, why string) {
	name = strings.TrimRight(name, "/")
	for strings.HasPrefix(name, "./") {
		name = strings.TrimLeft(name[2:], "/")
	}
	switch {
	case name == "" || name == ".":
		return "", ""
	case strings.HasPrefix(name, "/"):
		return "", "its name is an absolute path: it is not read"
	case len(name) > maxName:
		return "", "its name is too long"
	case !utf8.ValidString(name):
		return "", "its name is not UTF-8: unpack the archive with its code page, and pack the folder"
	case strings.ContainsRune(name, 0):
		return "", "its name has a zero byte"
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." {
			return "", `its name has "..": it may lead out of the archive, and is not read`
		}
	}
	name = path.Clean(name)
	if !fs.ValidPath(name) || strings.Count(name, "/") > maxDepth {
		return "", "its name is no path of a file, or in too many folders"
	}
	return name, ""
}

// shorten returns the beginning of a name that is too long for a message.
func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:200], "") + "..."
}

// linkTarget returns which member a symbolic link at name leads to, or why none.
func linkTarget(name, target string) (member, why string) {
	member = path.Join(path.Dir(name), target)
	if strings.HasPrefix(target, "/") || member == ".." || strings.HasPrefix(member, "../") {
		return "", whyOutside
	}
	return member, ""
}

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

// isTarHeader reports whether a block is the first of a tar: its checksum is right.
func isTarHeader(block []byte) bool {
	_, err := tar.NewReader(bytes.NewReader(block)).Next()
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF) // of a header that is longer
}

// whyNone returns what a file is that begins as no archive, "" if that is not known.
func whyNone(f *os.File) string {
	head := make([]byte, tarBlock)
	n, err := f.ReadAt(head, 0)
	switch what := formats.Content(head[:n]); {
	case n == 0 && !errors.Is(err, io.EOF):
		return ""
	case what == "empty":
		return "it is empty: copy or download it again"
	case strings.Contains(what, "HTML"), strings.Contains(what, "XML"):
		return "it begins as HTML or XML, and not as an archive: a server may have sent a message in its place; download it again"
	case strings.Contains(what, "text"):
		return "it begins as text, and not as an archive: copy or download it again"
	}
	return ""
}
