package folder

import "github.com/dsconv/dsconv/formats"

// leaveOutTexts ignores files that are text, such as a README: only those that a table names were meant to be images.
func (d *Dataset) leaveOutTexts(texts []string) {
	l, _ := d.source.(*labeler)
	for _, rel := range texts {
		if l != nil && l.table != nil && l.table.Rows[rel] != nil {
			d.skips = append(d.skips, formats.Skip{Path: rel, Cause: "not an image: it is text"})
		} else {
			d.ignored++
		}
	}
}
