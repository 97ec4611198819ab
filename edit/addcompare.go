package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess"
)

// compareImages determines for each pair whether the image changed.
func (a *adder) compareImages(ctx context.Context) error {
	compared := parallel.Counter{Show: a.showCompared()}
	workers := max(4, a.o.Workers, parallel.Cores())
	compare := func(k int) error {
		compared.Add(1)
		p := &a.pairs[k]
		if p.old < 0 || p.src < 0 {
			return nil
		}
		old, err := a.target.Info(int(p.old))
		if err != nil {
			return err
		}
		now, err := a.src.Info(int(p.src))
		if err != nil {
			return err
		}
		if p.replaced = imageDiffers(&old, &now); p.replaced || a.knownEqual(&old, &now) {
			return nil
		}
		return guard.For(fmt.Sprintf("key %q", old.Key), func() error { return a.compareBytes(p, &old, &now) })
	}
	return lifetime.Wait(ctx, func() error {
		return parallel.Each(ctx, len(a.pairs), workers, func() (func(int) error, func(), error) { return compare, func() {}, nil })
	})
}

// showCompared returns what reports the progress of compareImages; nil if nobody wants it.
func (a *adder) showCompared() func(done int) {
	if a.o.Progress == nil {
		return nil
	}
	start := time.Now()
	return func(done int) {
		a.o.Progress(convert.Progress{
			Path: a.target.path, Step: convert.StepCompare, Done: done, Total: len(a.pairs), Elapsed: time.Since(start),
		})
	}
}

// imageDiffers reports whether two images differ by checksum or size, without reading them.
func imageDiffers(old, now *formats.Info) bool {
	if now.Checksum != [16]byte{} {
		return now.Source.Hash != old.Source.Hash && now.Checksum != old.Checksum
	}
	return now.Source.Size != old.Source.Size
}

// knownEqual reports whether two images for which imageDiffers is false need not be read.
func (a *adder) knownEqual(old, now *formats.Info) bool {
	if now.Checksum != [16]byte{} {
		return true
	}
	return !a.o.Hash && now.Source.ModTime == old.Source.ModTime && now.Source.Path == old.Source.Path
}

// compareBytes compares the bytes of a file with those that were packed. A file that is bad counts as changed, so that the
// run reports its error.
func (a *adder) compareBytes(p *pair, old, now *formats.Info) error {
	var s formats.Sample
	if err := a.src.Read(int(p.src), &s); endsRun(err) {
		return fmt.Errorf("key %q: %w", old.Key, err)
	} else if err != nil {
		p.replaced = true
		return nil //nolint:nilerr // see above
	}
	h := checksum.Hash(s.Values[a.src.Meta().Schema.ImageIndex()].Data)
	if p.replaced = h != old.Source.Hash; !p.replaced && old.Source != now.Source {
		source := now.Source
		source.Hash = h
		if source != old.Source {
			p.change = &change{source: &source}
		}
	}
	return nil
}

// compareFields sets p.change to what changed apart from the image.
func (a *adder) compareFields(p *pair) error {
	c := change{}
	if p.change != nil {
		c = *p.change
	}
	old, err := a.targetSample(p.old).Info(0)
	if err != nil {
		return err
	}
	now, err := a.only(unionSample{source: 1, index: p.src}).Info(0)
	if err != nil {
		return err
	}
	if a.split.FromSource() && now.Split != old.Split {
		c.split = &now.Split
	}
	for j := range old.Columns {
		if a.union.sources[1].column[j] >= 0 && old.Columns[j] != now.Columns[j] {
			c.setColumn(j, now.Columns[j])
			if a.split.Column() == a.union.meta.Columns[j] {
				c.split = &now.Columns[j]
			}
		}
	}
	if err := a.compareLabels(p, &c, &old, &now); err != nil {
		return err
	}
	a.keepEdits(&c, &old)
	if c.source != nil || c.mark != nil || !c.sourceOnly() {
		p.change = &c
	}
	return nil
}

// compareLabels compares the label fields. Only the main label is in Info; the sample must be read
// for the others.
func (a *adder) compareLabels(p *pair, c *change, old, now *formats.Info) error {
	schema := a.union.meta.Schema
	designated := schema.LabelIndex()
	var others []int
	for k, f := range schema {
		switch {
		case k == designated && f.Kind == formats.Label:
			if old.Label != now.Label {
				c.setLabel(k, now.Label)
			}
		case f.Kind.IsLabel():
			others = append(others, k)
		}
	}
	if others == nil {
		return nil
	}
	var was, is formats.Sample
	u := a.only(unionSample{source: 0, index: p.old}, unionSample{source: 1, index: p.src})
	if err := u.Read(0, &was); err != nil {
		return fmt.Errorf("compare labels: %w", err)
	}
	if err := u.Read(1, &is); err != nil {
		return fmt.Errorf("compare labels: %w", err)
	}
	for _, k := range others {
		if !bytes.Equal(was.Values[k].Data, is.Values[k].Data) {
			c.set(k, is.Values[k])
		}
	}
	return nil
}

func (c *change) setLabel(k int, label int64) {
	var v formats.Value
	v.SetInt64(label)
	c.set(k, v)
}

func (c *change) setColumn(j int, text string) {
	if c.columns == nil {
		c.columns = map[int]string{}
	}
	c.columns[j] = text
}

func (c *change) set(k int, v formats.Value) {
	if c.labels == nil {
		c.labels = map[int]formats.Value{}
	}
	var own formats.Value
	own.Set(v)
	c.labels[k] = own
}

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
