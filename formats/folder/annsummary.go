package folder

import "github.com/dsconv/dsconv/formats"

// annSummary says what was found for a field of the annotations.
type annSummary struct {
	name string
	kind formats.Kind
	from string // the pattern, or the files of annotations
	// found counts the files or the entries for images, missing the samples without one, and unused the files and
	// entries that belong to no sample, of which example is one.
	found, missing, unused int
	example                string
	// note says what else was found out, such as which classes the boxes have.
	note string
}
