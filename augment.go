package dsconv

import (
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/augmented"
	"github.com/dsconv/dsconv/reader/augment"
)

// Augmentation says which copies Pack writes besides each image: the zero value writes none.
//
// Copy c of the image with the key KEY, from 1 to Copies, has the key KEY@c, and its source's split, label and columns;
// masks, extra images and boxes follow. It is what a Loader with Transforms of Ops and this Seed makes of the image in
// epoch c, if the Loader reads the image's split of the dataset that is packed without Augmentation, and no image was
// skipped. With a lossy encoding a copy is made of the pixels before they are encoded, and encoded once.
type Augmentation struct {
	// Ops are the Loader's, but for those that make floats or mix a batch.
	Ops    augment.Ops
	Copies int // of each image, 1 to 9999; 0 for none
	Seed   uint64
	// Only leaves the images themselves out.
	Only bool
}

// augmenter lets package convert make copies by a Loader's ops, which it does not know.
type augmenter struct{ *augmented.Copies }

var _ convert.Augmenter = augmenter{}

// NewCopier implements convert.Augmenter.
func (a augmenter) NewCopier(s formats.Schema, maxPixels int) (convert.Copier, error) {
	return a.Copies.NewCopier(s, maxPixels), nil
}

// convert is what package convert is told of a.
func (a *Augmentation) convert() (convert.Copies, error) {
	c := convert.Copies{Count: a.Copies, Only: a.Only}
	if len(a.Ops) == 0 {
		return c, nil // convert says what is missing
	}
	copies, err := augmented.New(a.Ops, a.Seed)
	c.Augmenter = augmenter{copies}
	return c, err
}
