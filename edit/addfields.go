package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
)

// fieldComparison finds the samples whose image stayed and of which another field changed: a mask, boxes, a text.
// Labels are compared by compareLabels.
type fieldComparison struct {
	*adder
	fields  []int              // of the union, that are compared
	recipe  *preprocess.Recipe // by which the source is processed before; nil if it is stored as it is
	changed parallel.Counter

	mu    sync.Mutex
	found map[string]int // by field, of the samples in which it changed
}

// compareOtherFields determines for each pair whose image stayed whether another field changed. Such a sample is taken
// from the source. Files of fields have no recorded times, so all of them are read.
func (a *adder) compareOtherFields(ctx context.Context) error {
	c := &fieldComparison{adder: a, found: map[string]int{}}
	if c.chooseFields(); len(c.fields) == 0 {
		return nil
	}
	c.changed.Show = a.showCompared()
	err := lifetime.Wait(ctx, func() error { return c.compareAll(ctx) })
	if err == nil && len(c.found) > 0 {
		a.found.ChangedFields = c.found
	}
	return err
}

func (c *fieldComparison) compareAll(ctx context.Context) error {
	return parallel.Each(ctx, len(c.pairs), c.o.Workers, func() (func(int) error, func(), error) {
		w := &fieldReader{fieldComparison: c}
		end := func() {}
		if c.recipe != nil {
			p, err := preprocess.NewProcessor(*c.recipe, c.union.meta.Schema)
			if err != nil {
				return nil, nil, err
			}
			w.processor, end = p, p.Close
		}
		return func(k int) error {
			c.changed.Add(1)
			return w.compare(ctx, &c.pairs[k])
		}, end, nil
	})
}

// chooseFields sets the fields that are compared, and the recipe. What only a GPU decodes alike is left out, and so is what
// is processed if the dataset has no recipe for new samples, as a merged one.
func (c *fieldComparison) chooseFields() {
	schema := c.union.meta.Schema
	recipe, _, err := recipeOf(c.target.Meta().Recipe, c.target.format.Traits().Zstd)
	onGPU := recipe.Decoder == preprocess.DecoderGPU
	for k, f := range schema {
		moves := f.Kind == formats.Image || f.Kind == formats.Mask || f.Kind == formats.Boxes
		if k == schema.ImageIndex() || f.Kind.IsLabel() || moves && err != nil || f.Kind == formats.Image && onGPU {
			continue
		}
		c.fields = append(c.fields, k)
	}
	if err == nil && (!recipe.Passthrough() || recipe.Zstd != 0) {
		c.recipe = &recipe
	}
}

// fieldReader compares for one goroutine.
type fieldReader struct {
	*fieldComparison
	processor *preprocess.Processor // nil if the source is stored as it is
	was, is   formats.Sample
	processed formats.Sample
	decoded   preprocess.Decoded // nothing: a GPU decodes no masks
}

// compare sets p.replaced if one of its fields changed. What is bad counts as changed, so that the run reports its error.
func (r *fieldReader) compare(ctx context.Context, p *pair) error {
	if p.old < 0 || p.src < 0 || p.replaced {
		return nil
	}
	now, err := r.src.Info(int(p.src))
	if err != nil {
		return err
	}
	old, err := r.target.Info(int(p.old))
	if err != nil {
		return err
	}
	fromDataset := now.Checksum != [16]byte{}
	if fromDataset && now.Checksum == old.Checksum {
		return nil
	}
	u := r.only(unionSample{source: 0, index: p.old}, unionSample{source: 1, index: p.src})
	if err := u.Read(0, &r.was); err != nil {
		return fmt.Errorf("compare fields: %w", err)
	}
	is, err := r.read(u)
	panicked := new(guard.PanicError)
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // the target may be closed
	case endsRun(err), errors.As(err, &panicked):
		return fmt.Errorf("key %q: %w", old.Key, err)
	case err != nil:
		p.replaced = true
		return nil //nolint:nilerr // see above
	}
	// The image of a dataset is known by its file's hash, and may have been resized: then its masks are, too.
	if image := r.union.meta.Schema.ImageIndex(); fromDataset && !sameValue(&r.was.Values[image], &is.Values[image]) {
		return nil
	}
	r.note(p, is)
	return nil
}

// read returns sample 1 of u as it would be written.
func (r *fieldReader) read(u *union) (s *formats.Sample, err error) {
	err = guard.Do(func() error {
		if err := u.Read(1, &r.is); err != nil || r.processor == nil {
			return err
		}
		return r.processor.ProcessDecoded(&r.is, &r.decoded, &r.processed)
	})
	if r.processor != nil {
		return &r.processed, err
	}
	return &r.is, err
}

// note counts the fields of p that changed; is has the values of the source.
func (r *fieldReader) note(p *pair, is *formats.Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.fields {
		if !sameValue(&r.was.Values[k], &is.Values[k]) {
			p.replaced = true
			r.found[r.union.meta.Schema[k].Name]++
		}
	}
}

// sameValue reports whether two stored values are equal. Shapes of what is encoded are in the data.
func sameValue(a, b *formats.Value) bool {
	if a.Encoding != b.Encoding || !bytes.Equal(a.Data, b.Data) {
		return false
	}
	return !a.Encoding.IsRaw() || a.DType == b.DType && slices.Equal(a.Shape, b.Shape)
}
