package reader

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// view is one of the views of a Loader's images.
type view struct {
	pipeline *augment.Pipeline
	seed     uint64
	pixels   *resample.TensorSpec // of deferred batches
}

// viewStream makes the seeds of views differ from those of users.
const viewStream = 0x76696577 // "view"

// ViewSeed is the seed that view k of Config.Views draws with where the Loader's is seed: a Loader whose
// Transforms are those of the view, and whose Seed is this, makes the same pixels of a sample in an epoch.
// That of the first view is seed itself.
func ViewSeed(seed uint64, k int) uint64 {
	if k == 0 {
		return seed
	}
	return random.NewRand(seed^viewStream, 0, k).State
}

// opsOfViews are the transforms of each view, of one where there are no Views.
func (c *Config) opsOfViews() []augment.Ops {
	if len(c.Views) > 0 {
		return c.Views
	}
	return []augment.Ops{c.Transforms}
}

// normalizeBy puts the dataset's figures in place of transforms that ask for them.
func (c *Config) normalizeBy(m *formats.Meta) (err error) {
	if c.Transforms, err = c.Transforms.ForDataset(m, c.Color); err != nil {
		return err
	}
	c.Views = slices.Clone(c.Views) // the caller's
	for k, ops := range c.Views {
		if c.Views[k], err = ops.ForDataset(m, c.Color); err != nil {
			return c.ofView(k, err)
		}
	}
	return nil
}

// ofView says in err that it is that of view k.
func (c *Config) ofView(k int, err error) error {
	if len(c.Views) == 0 {
		return err
	}
	return fmt.Errorf("view %d of %d: %w", k+1, len(c.Views), err)
}

// fixesSize reports whether the transforms of all views end in one size, whatever the images' sizes are.
func (c *Config) fixesSize() bool {
	for _, ops := range c.opsOfViews() {
		if !augment.FixesSize(ops) {
			return false
		}
	}
	return true
}

// compileViews compiles the transforms of each view.
func (l *Loader) compileViews(compile func(augment.Ops) (*augment.Pipeline, error)) error {
	c := &l.config
	for k, ops := range c.opsOfViews() {
		p, err := compile(ops)
		if err == nil && len(c.Views) > 0 && len(p.Mixers()) > 0 {
			err = fmt.Errorf("%s: views are not mixed: leave it out, and mix them in the training loop", p.Mixers()[0])
		}
		if err != nil {
			return c.ofView(k, err)
		}
		l.views = append(l.views, view{pipeline: p, seed: ViewSeed(c.Seed, k)})
	}
	return nil
}

// Views is the number of views of the images: 1 without Config.Views.
func (b *Batch) Views() int { return 1 + len(b.others) }

// ViewShape is the shape of view k, as Shape is that of the first, view 0. It panics if there is no such
// view.
func (b *Batch) ViewShape(k int) [4]int {
	b.checkView("ViewShape", k)
	if k == 0 {
		return b.Shape
	}
	return b.others[k-1].shape
}

// ViewPixels is the images of view k, as Pixels is those of the first, view 0. It panics as Pixels does, and
// if there is no such view.
func ViewPixels[T uint8 | uint16 | float32](b *Batch, k int) []T {
	images := b.viewBytes("ViewPixels", k)
	checkElements[T]("ViewPixels", "DType", b.DType)
	return Elements[T](images)
}

// ViewBytes is the images of view k as bytes, as ImageBytes is those of the first, view 0. It panics as
// ImageBytes does, and if there is no such view.
func (b *Batch) ViewBytes(k int) []byte { return b.viewBytes("ViewBytes", k) }

func (b *Batch) viewBytes(call string, k int) []byte {
	images, _ := b.memory(call)
	b.checkView(call, k)
	if k > 0 && images != nil {
		o := &b.others[k-1]
		images = images[:cap(images)][o.offset:][:o.size]
	}
	return images[:len(images):len(images)]
}

func (b *Batch) checkView(call string, k int) {
	if k < 0 || k >= b.Views() {
		panic(fmt.Sprintf("reader: %s of view %d of a batch that has the views 0 to %d", call, k, b.Views()-1))
	}
}

// otherView is a view of a batch other than the first.
type otherView struct {
	shape        [4]int
	offset, size int // of its images, in bytes from the first view's
}

// allImages is the memory of all views, and of Previous.
func (b *Batch) allImages() []byte {
	if n := len(b.others); n > 0 && b.images != nil {
		return b.images[:b.others[n-1].offset+b.others[n-1].size]
	}
	if b.images == nil {
		return nil
	}
	return b.images[:len(b.images)+b.behind]
}

// ViewFrame is what one view has in common in all batches.
type ViewFrame struct {
	Image  []int // shape of one image, as Config.Layout says; nil with Config.AnySize
	Offset int   // in bytes, of its images in the memory of all views; 0 with Config.AnySize
}

// otherFrame is the frame of a view other than the first.
type otherFrame struct {
	shape  [3]int // H, W, C
	offset int    // where its images begin after the first view's, in bytes
}

// viewAlign is where views begin: at a cache line, for elements of any type.
const viewAlign = 64

// frameViews finds shapes and places of the views but the first.
func (l *Loader) frameViews() {
	f := &l.frame
	for _, v := range l.views[1:] {
		f.others = append(f.others, otherFrame{shape: v.pipeline.Shape()})
	}
	f.placeViews(l.config.BatchSize)
}

// placeViews sets where views begin in batches of up to n entries.
func (f *frame) placeViews(n int) {
	end := n * f.entryBytes()
	for k := range f.others {
		f.others[k].offset = (end + viewAlign - 1) / viewAlign * viewAlign
		end = f.others[k].offset + n*f.viewEntryBytes(k+1)
	}
}

// ofOne is f for batches of one entry; the views but the first have the sizes that the steps end in, if there
// are any.
func (f *frame) ofOne(steps []augment.Steps) frame {
	one := *f
	one.previous, one.others = 0, slices.Clone(f.others)
	for k := range steps {
		s := &one.others[k].shape
		s[0], s[1] = steps[k].Size()
	}
	one.placeViews(1)
	return one
}

// viewShape is H, W, C of view k.
func (f *frame) viewShape(k int) [3]int {
	if k == 0 {
		return f.shape
	}
	return f.others[k-1].shape
}

// viewOffset is where the images of view k begin in the memory of all views.
func (f *frame) viewOffset(k int) int {
	if k == 0 {
		return 0
	}
	return f.others[k-1].offset
}

// viewEntryBytes is the number of bytes of one image of view k.
func (f *frame) viewEntryBytes(k int) int {
	shape := f.viewShape(k)
	return shape[0] * shape[1] * shape[2] * f.dtype.Size()
}

// imageBytes is the memory of the images of a batch that has n entries, of all views. With several, n is the
// number of entries that the batches have space for.
func (f *frame) imageBytes(n int) int {
	last := len(f.others)
	if last == 0 {
		return (n + f.previous) * f.entryBytes()
	}
	return f.others[last-1].offset + n*f.viewEntryBytes(last)
}

// resetImages gives b the memory of n images of each view, in that it has if that is enough.
func (f *frame) resetImages(b *Batch, n int) {
	b.images = aligned(b.images, f.imageBytes(n))[:n*f.entryBytes()]
	if len(b.others) != len(f.others) {
		b.others = make([]otherView, len(f.others))
	}
	for k := range f.others {
		b.others[k] = otherView{f.batchShape(n, f.others[k].shape), f.others[k].offset, n * f.viewEntryBytes(k+1)}
	}
}

// entryOf is image i of view k of b.
func (f *frame) entryOf(b *Batch, k, i int) []byte {
	images, size := b.images, f.viewEntryBytes(k)
	if k > 0 {
		images = images[:cap(images)][f.others[k-1].offset:]
	}
	return images[i*size:][:size:size]
}

// moveViews moves entry from of the views but the first to entry to.
func (f *frame) moveViews(b *Batch, to, from int) {
	for k := range f.others {
		copy(f.entryOf(b, k+1, to), f.entryOf(b, k+1, from))
	}
}

// viewFrames describes the views; their sizes differ from image to image with anySize.
func (f *frame) viewFrames(anySize bool) []ViewFrame {
	views := make([]ViewFrame, 1+len(f.others))
	if anySize {
		return views
	}
	for k := range views {
		shape := f.batchShape(1, f.viewShape(k))
		views[k].Image = shape[1:]
		if k > 0 {
			views[k].Offset = f.others[k-1].offset
		}
	}
	return views
}
