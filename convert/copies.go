package convert

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// Copies says which augmented copies of each sample are written besides it. The zero value writes none.
//
// Copy c, from 1 to Count, of the sample with the key KEY has the key KEY@c. It has the sample's split, label and
// columns, and is made from the pixels that Options.Recipe makes of the source, before they are encoded.
type Copies struct {
	Count int
	// Only leaves the samples themselves out.
	Only bool
	// Augmenter makes the copies.
	Augmenter Augmenter
}

// Augmenter makes augmented copies of samples. It is safe for concurrent use.
type Augmenter interface {
	// Recipe is what decides the pixels of copies, for the dataset's recipe. Equal ones make equal copies.
	Recipe() map[string]string
	// Shape is the height and width of the copies of images of h by w pixels with c channels, where h and w are 0 if
	// the images differ in size; ok is false if the copies may differ in size.
	Shape(h, w, c int) (copyH, copyW int, ok bool)
	// NewCopier returns a Copier for samples of the schema. maxPixels is Recipe.MaxPixels.
	NewCopier(s formats.Schema, maxPixels int) (Copier, error)
}

// Copier makes copies in one goroutine.
type Copier interface {
	// Copy makes s, whose images and masks are raw pixels, copy number c of itself: of the sample with that rank
	// among those of its split. What it sets is s's own memory. If the error is about the image, the copy is
	// skipped like a bad image.
	Copy(s *formats.Sample, rank, c int) error
	// Close frees its memory.
	Close()
}

// copiesOnlyKey is the key in Meta.Recipe of Copies.Only.
const copiesOnlyKey = "copies-only"

// check returns an error about copies that cannot be made by the recipe r.
func (c *Copies) check(r *preprocess.Recipe) error {
	const most = 9999
	encoding := r.Encode.String()
	switch {
	case c.Count < 0 || c.Count > most:
		return fmt.Errorf("copies: %d: choose 1 to %d", c.Count, most)
	case c.Count > 0 && c.Augmenter == nil:
		return errors.New("copies need operations that make them differ: give them with augment")
	case c.Count == 0 && c.Augmenter != nil:
		return errors.New("augment needs a number of copies, such as copies 3")
	case c.Count == 0 && c.Only:
		return errors.New("copies-only needs augment and copies")
	case c.Count == 0:
		return nil
	case r.Encode.Encoding == "":
		return fmt.Errorf("augment changes pixels, which the encoding %s keeps: choose an encoding for them, such as jpeg:90, png or raw", encoding)
	case r.Decoder == preprocess.DecoderGPU:
		return errors.New("augment makes its copies on the CPU: leave out decoder gpu")
	}
	return nil
}

// record adds the copies to a recipe.
func (c *Copies) record(m map[string]string) {
	if c.Count == 0 {
		return
	}
	maps.Copy(m, c.Augmenter.Recipe())
	m[formats.CopiesKey] = strconv.Itoa(c.Count)
	if c.Only {
		m[copiesOnlyKey] = "true"
	}
}

// shapes sets the shapes of images and masks in the output's schema: those that the samples and their copies have in
// common.
func (c *Copies) shapes(r *preprocess.Recipe, s formats.Schema) {
	for k := range s {
		f := &s[k]
		if c.Count == 0 || f.Kind != formats.Image && f.Kind != formats.Mask || r.Encode.Encoding != formats.Raw || r.Zstd != 0 {
			continue
		}
		f.Shape = c.shape(r, f)
	}
}

// shape is that of a field, nil if it is not one.
func (c *Copies) shape(r *preprocess.Recipe, f *formats.Field) []int {
	h, w, channels := 0, 0, 0
	if len(f.Shape) == 3 {
		h, w, channels = f.Shape[0], f.Shape[1], f.Shape[2]
	} else if f.Kind == formats.Image && r.Color != "keep" {
		channels = r.Color.Channels(3)
	}
	toH, toW, ok := c.Augmenter.Shape(h, w, max(channels, 1))
	if !ok || channels == 0 || !c.Only && (toH != h || toW != w) {
		return nil
	}
	return []int{toH, toW, channels}
}

// expand makes the samples of p, which are selected, and their copies the samples of p, in key order.
func (p *Plan) expand() error {
	if p.o.Copies.Count == 0 {
		return nil
	}
	list, err := newCopyList(p)
	if err != nil {
		return err
	}
	expanded := &copiedDataset{Dataset: p.src, list: list, splits: p.splits}
	p.src, p.copies, p.splits = expanded, list, &Splits{}
	p.order, p.counts, p.Bytes, p.expectedBytes, p.unready = indexList{}, map[string]int{}, 0, 0, 0
	h := newFingerprint()
	for i := range expanded.Len() {
		if err := p.addSample(i, h); err != nil {
			return err
		}
	}
	p.fingerprint = h.sum()
	return nil
}
