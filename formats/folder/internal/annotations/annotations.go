// Package annotations reads objects and captions of images from the files of COCO, YOLO and Pascal VOC.
package annotations

import (
	"context"
	"io"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Summary says what was found for a field of the annotations.
type Summary struct {
	Name string
	Kind formats.Kind
	From string // the pattern, or the files of annotations
	// Files are those of annotations, as FOLDER=FILE where they are for one folder; nil for a pattern.
	Files []string
	// found counts the files or the entries for images, missing the samples without one, and unused the files and
	// entries that belong to no sample, of which example is one.
	Found, Missing, Unused int
	Example                string
	// Note says what else was found out, such as which classes the boxes have.
	Note string
	// Why says why a sample has none, if all of them are Missing for a reason that is worth saying.
	Why string
}

// Annotation gives samples the values of one or more fields. Open comes first, then Claim of each sample and Claimed; Read
// and Identify are then safe for concurrent use.
type Annotation interface {
	Schema() formats.Schema
	// Open is called when the files of the folder are known.
	Open(ctx context.Context, in vfs.FS) error
	// Size returns the size of the image that the annotations of a sample say; 0 if they do not. sized is false if
	// annotations of this kind never do.
	Size(f *vfs.File) (h, w int, sized bool)
	// Read sets the values of its fields for the sample whose image is the file f, with that picture.
	// The warning is about annotations that may be wrong; "" if there is none.
	Read(f *vfs.File, p *Picture, values []formats.Value) (warning string, err error)
	// Claim counts a sample; it is for one goroutine.
	Claim(f *vfs.File)
	// Claimed is called when all samples are claimed. The error is about an entry that may be of several of them.
	Claimed() error
	// Identify writes what the values of a sample depend on.
	Identify(f *vfs.File, w io.Writer) error
	Summary() Summary
}
