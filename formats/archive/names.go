package archive

import (
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
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
