package folder

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// systemFolders decides which folders are left out, and counts their images.
type systemFolders struct {
	off     bool     // none are: a table says which files are images
	include []string // elements of the patterns that select files
	counts  map[string]int
}

// newSystemFolders leaves out none if off is set, and none that a pattern of include names.
func newSystemFolders(off bool, include []string) *systemFolders {
	f := &systemFolders{off: off, counts: map[string]int{}}
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

// leavesOut reports whether the folder with that name is left out.
func (f *systemFolders) leavesOut(name string) bool {
	return !f.off && isSystemName(name) &&
		!slices.ContainsFunc(f.include, func(element string) bool { return doublestar.MatchUnvalidated(element, name) })
}
