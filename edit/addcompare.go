package edit

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
)

// compareImages finds out of each pair whether the image is another one now.
func (a *adder) compareImages(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(4, a.o.Workers, parallel.Cores()))
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old < 0 || p.src < 0 {
			continue
		}
		old, err := a.target.Info(int(p.old))
		if err != nil {
			return err
		}
		now, err := a.src.Info(int(p.src))
		if err != nil {
			return err
		}
		if p.imageChanged = imageDiffers(&old, &now); p.imageChanged || a.knownEqual(&old, &now) {
			continue
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return guard.For(fmt.Sprintf("key %q", old.Key), func() error { return a.compareBytes(p, &old, &now) })
		})
	}
	return g.Wait()
}

// differs says that what is known of two images is not the same.
func imageDiffers(old, now *formats.Info) bool {
	if now.Sum != [16]byte{} {
		return now.Source.Hash != old.Source.Hash && now.Sum != old.Sum
	}
	return now.Source.Size != old.Source.Size
}

// known says that what is known of two images, which does not differ, is enough.
func (a *adder) knownEqual(old, now *formats.Info) bool {
	if now.Sum != [16]byte{} {
		return true
	}
	return !a.o.Hash && now.Source.ModTime == old.Source.ModTime && now.Source.Path == old.Source.Path
}

// hash compares the bytes of a file with those that were packed. What cannot be read counts
// as changed, so that the run says what is wrong with it.
func (a *adder) compareBytes(p *pair, old, now *formats.Info) error {
	var s formats.Sample
	if err := a.src.Read(int(p.src), &s); preprocess.EndsRun(err) {
		return fmt.Errorf("key %q: %w", old.Key, err)
	} else if err != nil {
		p.imageChanged = true
		return nil //nolint:nilerr // see above
	}
	h := atrest.Hash(s.Values[a.src.Meta().Schema.ImageIndex()].Data)
	if p.imageChanged = h != old.Source.Hash; !p.imageChanged && old.Source != now.Source {
		source := now.Source
		source.Hash = h
		if source != old.Source {
			p.change = &change{source: &source}
		}
	}
	return nil
}

// compareOne notes in p what but the image is to change.
func (a *adder) compareFields(p *pair) error {
	c := change{}
	if p.change != nil {
		c = *p.change
	}
	old, err := (&union{meta: a.union.meta, sources: a.union.sources, samples: []unionSample{{source: 0, index: p.old}}}).Info(0)
	if err != nil {
		return err
	}
	now, err := (&union{meta: a.union.meta, sources: a.union.sources, samples: []unionSample{{source: 1, index: p.src}}}).Info(0)
	if err != nil {
		return err
	}
	if a.split.FromSource() && now.Split != old.Split {
		c.split = &now.Split
	}
	for j := range old.Columns {
		if a.union.sources[1].column[j] >= 0 && old.Columns[j] != now.Columns[j] {
			if c.columns == nil {
				c.columns = map[int]string{}
			}
			c.columns[j] = now.Columns[j]
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

// compareLabels compares the label fields. Those but a designated single one are known from
// reading alone.
func (a *adder) compareLabels(p *pair, c *change, old, now *formats.Info) error {
	schema := a.union.meta.Schema
	designated := schema.LabelIndex()
	var further []int
	for k, f := range schema {
		switch {
		case k == designated && f.Kind == formats.Label:
			if old.Label != now.Label {
				c.setLabel(k, now.Label)
			}
		case f.Kind.IsLabel():
			further = append(further, k)
		}
	}
	if further == nil {
		return nil
	}
	var was, is formats.Sample
	u := &union{meta: a.union.meta, sources: a.union.sources, samples: []unionSample{{source: 0, index: p.old}, {source: 1, index: p.src}}}
	if err := u.Read(0, &was); err != nil {
		return fmt.Errorf("compare labels: %w", err)
	}
	if err := u.Read(1, &is); err != nil {
		return fmt.Errorf("compare labels: %w", err)
	}
	for _, k := range further {
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

func (c *change) set(k int, v formats.Value) {
	if c.labels == nil {
		c.labels = map[int]formats.Value{}
	}
	var own formats.Value
	own.Set(v)
	c.labels[k] = own
}
