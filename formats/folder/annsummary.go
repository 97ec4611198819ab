package folder

import (
	"context"
	"io"

	"github.com/dsconv/dsconv/formats"
)

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

// annotation gives samples the values of one or more fields. open comes first; read and identify are then safe for
// concurrent use.
type annotation interface {
	schema() formats.Schema
	// open is called when the files of the folder are known.
	open(ctx context.Context, in filesystem) error
	// read sets the values of its fields for the sample whose image is the file f, with the content image.
	read(f *file, image *formats.Value, values []formats.Value) error
	// claim counts a sample; it is for one goroutine.
	claim(f *file)
	// identify writes what the values of a sample depend on.
	identify(f *file, w io.Writer) error
	summary() annSummary
}
