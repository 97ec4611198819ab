package folder

import (
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

var _ formats.Incomplete = (*Dataset)(nil)

// Unreadable implements formats.Incomplete: the skipped files and folders that exist, and links that lead
// nowhere, by path.
func (d *Dataset) Unreadable() []string { return slices.Clone(d.unreadable) }

// Excludes implements formats.Incomplete: it reports whether there is a file at path, relative to the
// folder, that Config.Patterns leave out. If the folder cannot tell, it reports true.
func (d *Dataset) Excludes(path string) bool {
	if path == "" || d.filter.IncludesFile(path) {
		return false
	}
	_, err := d.in.Lstat(path)
	return !durable.IsMissing(err)
}

// listUnreadable sets d.unreadable.
func (d *Dataset) listUnreadable() {
	for _, k := range d.skips {
		// A row of a table may name a file that is not there.
		if _, err := d.in.Lstat(k.Path); !durable.IsMissing(err) {
			d.unreadable = append(d.unreadable, k.Path)
		}
	}
	slices.SortFunc(d.unreadable, strings.Compare)
}
