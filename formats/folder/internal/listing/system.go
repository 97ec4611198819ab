package listing

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// SystemFolders decides which folders are left out, and counts their images.
type SystemFolders struct {
	off     bool     // none are: a table says which files are images
	include []string // elements of the patterns that select files
	Counts  map[string]int
}

// NewSystemFolders leaves out none if off is set, and none that a pattern of include names.
func NewSystemFolders(off bool, include []string) *SystemFolders {
	f := &SystemFolders{off: off, Counts: map[string]int{}}
	for _, pattern := range include {
		for element := range strings.SplitSeq(pattern, "/") {
			// As in a shell, a wildcard at the start does not match them.
			if element != "" && !strings.ContainsAny(element[:1], "*?") && doublestar.ValidatePattern(element) {
				f.include = append(f.include, element)
			}
		}
	}
	return f
}

// LeavesOut reports whether the folder with that name is left out.
func (f *SystemFolders) LeavesOut(name string) bool {
	return !f.off && vfs.IsSystemName(name) &&
		!slices.ContainsFunc(f.include, func(element string) bool { return doublestar.MatchUnvalidated(element, name) })
}
