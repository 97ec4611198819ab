package edit

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/checksum"
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
