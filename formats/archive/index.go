package archive

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// maxIndex bounds what the list of members takes in memory. A member takes 130 bytes and its path, so this is enough
// for six million.
const maxIndex = 1 << 30

// entry is a member of the archive.
type entry struct {
	path    string
	refusal string // why it cannot be read; "" if it can
	link    string // where a symbolic link, or a hard one that is not followed yet, leads to
	order   int32  // position in the archive
	part    int32  // of the FS
	hard    bool
	method  uint16
	crc     uint32
	rawName uint32 // of a member of a zip: the checksum of its name as the directory has it
	offset  int64  // of the data; in a zip of the local header
	size    int64
	packed  int64 // compressed size; in a tar what it took of the compressed file
	limit   int64 // where the next member of a zip begins
}

// index lists the members and the folders, both by path when it is sorted.
type index struct {
	entries []entry
	folders []string
	known   map[string]bool // the folders; "" is the root
	refused []formats.Skip  // members that the tree does not have
	size    int64           // bytes in memory

	decodedNames int    // how many names were not UTF-8
	decodedName  string // the first of them
}

func newIndex() *index {
	return &index{known: map[string]bool{"": true}}
}

var errTooMany = errors.New("it has more members than dsconv can list in 1 GiB of memory")

// grow counts n bytes of memory.
func (x *index) grow(n int) error {
	if x.size += int64(n); x.size > maxIndex {
		return errTooMany
	}
	return nil
}

// refuse records a member that cannot be in the tree.
func (x *index) refuse(name, cause string) error {
	x.refused = append(x.refused, formats.Skip{Path: shorten(name), Cause: cause})
	return x.grow(64 + min(len(name), maxName))
}

// add adds a member at a clean path; why is the reason if it cannot be read.
func (x *index) add(path string, e entry, why string) error {
	folder, _ := splitPath(path)
	if err := x.mkdir(folder); err != nil {
		return err
	}
	e.path, e.order, e.refusal = path, int32(len(x.entries)), why
	x.entries = append(x.entries, e)
	return x.grow(130 + len(path) + len(e.link))
}

// mkdir makes the folder at a clean path and those above it.
func (x *index) mkdir(path string) error {
	for !x.known[path] {
		x.known[path] = true
		x.folders = append(x.folders, path)
		if err := x.grow(len(path) + 150); err != nil {
			return err
		}
		path, _ = splitPath(path)
	}
	return nil
}

func splitPath(path string) (folder, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// sort sorts the members by path and position in the archive, and the folders.
func (x *index) sort() {
	slices.SortFunc(x.entries, func(a, b entry) int { return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.order, b.order)) })
	slices.Sort(x.folders)
}

// finish makes the tree of the members, which are sorted. Of several with one name the last one counts; the others are
// refused, unless they are the same bytes, as a hard link of a tar to its own name.
func (x *index) finish() error {
	kept := x.entries[:0]
	for i := range x.entries {
		e := &x.entries[i]
		var why string
		switch {
		case i+1 < len(x.entries) && x.entries[i+1].path == e.path:
			if x.entries[i+1].isSame(e) {
				continue
			}
			why = "the archive has this name again: the last one counts"
		case x.known[e.path]:
			why = "the archive also has a folder of this name, which counts"
		default:
			kept = append(kept, *e)
			continue
		}
		if err := x.refuse(e.path, why); err != nil {
			return err
		}
	}
	x.entries = slices.Clip(kept)
	return nil
}

// isSame reports whether both are the same bytes of the archive.
func (e *entry) isSame(o *entry) bool {
	return e.method == o.method && e.offset == o.offset && e.size == o.size && e.refusal == o.refusal && e.link == o.link
}

// before returns the last member at a clean path that stands before position order of the archive, nil if there is none.
// The entries are sorted.
func (x *index) before(path string, order int) *entry {
	i, _ := slices.BinarySearchFunc(x.entries, path, func(e entry, path string) int {
		return cmp.Or(strings.Compare(e.path, path), cmp.Compare(int(e.order), order))
	})
	if i == 0 || x.entries[i-1].path != path {
		return nil
	}
	return &x.entries[i-1]
}

// find returns the member at a clean path, nil if there is none.
func (x *index) find(path string) *entry { return x.before(path, len(x.entries)+len(x.refused)) }

// in returns the members and the folders that are directly in a folder, by path.
func (x *index) in(folder string) (members []*entry, folders []*string) {
	return directly(x.entries, folder, func(e *entry) string { return e.path }), directly(x.folders, folder, func(path *string) string { return *path })
}

// directly returns which of all, which are sorted by path, are directly in a folder. It skips those that are deeper.
func directly[T any](all []T, folder string, pathOf func(*T) string) (found []*T) {
	from := func(path string) int {
		at, _ := slices.BinarySearchFunc(all, path, func(one T, path string) int { return strings.Compare(pathOf(&one), path) })
		return at
	}
	prefix := join(folder, "")
	for at := from(prefix); at < len(all); {
		rest, ok := strings.CutPrefix(pathOf(&all[at]), prefix)
		if !ok {
			break
		}
		if below, _, deeper := strings.Cut(rest, "/"); deeper {
			at = from(prefix + below + "0") // the character after the slash
			continue
		}
		found = append(found, &all[at])
		at++
	}
	return found
}

// splitNames are folders that are not taken as the only folder around a dataset, since their names would be lost.
var splitNames = formats.SplitFolders()

// around returns the folder that everything is in, if it has folders itself and its name is not one of kept: the root of
// most archives of a dataset.
func (x *index) around(kept []string) string {
	root := ""
	for {
		hasFiles, inner := x.content(root)
		if len(inner) != 1 || hasFiles {
			return root
		}
		if _, below := x.in(inner[0]); len(below) == 0 {
			return root
		}
		if _, name := splitPath(inner[0]); slices.Contains(kept, strings.ToLower(name)) {
			return root
		}
		root = inner[0]
	}
}

// content returns whether a folder has files but hidden ones, such as .DS_Store, and its folders that are not macOS's.
func (x *index) content(folder string) (hasFiles bool, folders []string) {
	members, below := x.in(folder)
	hasFiles = slices.ContainsFunc(members, func(e *entry) bool { _, name := splitPath(e.path); return name[0] != '.' })
	for _, path := range below {
		if _, name := splitPath(*path); name != "__MACOSX" {
			folders = append(folders, *path)
		}
	}
	return hasFiles, folders
}

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
