package folder

import (
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Skip is an input that is not part of the dataset, and the reason.
type Skip struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
	// Missing: a table, a list or a link names it, and there is no such file.
	Missing bool `json:"missing,omitempty"`
}

// skipsOf returns what was left out while the files were listed.
func skipsOf(lists ...[]vfs.Skip) []Skip {
	var all []Skip
	for _, list := range lists {
		for _, k := range list {
			all = append(all, Skip(k))
		}
	}
	return all
}

// leaveOutTexts ignores files that are text, such as a README: only those that a table names were meant to be images.
func (d *Dataset) leaveOutTexts(texts []string) {
	l, _ := d.source.(*labeler)
	for _, rel := range texts {
		if l != nil && l.table != nil && l.table.Rows[rel] != nil {
			d.skips = append(d.skips, Skip{Path: rel, Cause: "not an image: it is text"})
		} else {
			d.ignored++
		}
	}
}
