package reader

import (
	"fmt"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// renderViews decodes the designated image, carries out the steps of each view and stores it in entry i of b, a
// batch of f. It returns the time.
func (w *worker) renderViews(f *frame, b *Batch, i int, now time.Duration) (time.Duration, error) {
	l := w.loader
	v := &w.sample.Values[l.image]
	for k := 0; k < len(w.steps); {
		m, own, n, err := w.decodeViews(v, w.steps[k:])
		if err != nil {
			return now, fmt.Errorf("decode %s: %w", w.sample.Key, err)
		}
		now = w.lap(stageDecode, now)
		for end := k + n; k < end; k++ {
			// The last of those that share the pixels may change them.
			now, err = w.renderView(k, m, own && k == end-1, l.target(k, f.entryOf(b, k, i)), now)
			if err != nil {
				return now, l.config.ofView(k, err)
			}
			if k < len(w.steps)-1 { // the last one's store counts with the fields
				now = w.lap(stageCollate, now)
			}
		}
	}
	return now, nil
}

// renderView carries out the steps of view k on m and stores it in t. It returns the time.
func (w *worker) renderView(k int, m *pixel.Image, own bool, t resample.Target, now time.Duration) (time.Duration, error) {
	steps := &w.steps[k]
	if err := w.loader.views[k].pipeline.Fits(m, steps); err != nil {
		return now, fmt.Errorf("transform %s: %w", w.sample.Key, err)
	}
	if err := w.runner.Apply(steps, m, own, t); err != nil {
		return now, fmt.Errorf("transform %s: %w", w.sample.Key, err)
	}
	now = w.lap(stageAugment, now)
	if err := w.runner.Store(); err != nil {
		return now, fmt.Errorf("store %s: %w", w.sample.Key, err)
	}
	return now, nil
}

// decodeViews returns the pixels that the first n of the views with those steps need, and whether they belong
// to the worker.
func (w *worker) decodeViews(v *formats.Value, steps []augment.Steps) (m *pixel.Image, own bool, n int, err error) {
	if v.Encoding != formats.JPEG {
		m, own, err = w.decode(v, w.options())
		return m, own, len(steps), err
	}
	if n = len(steps); w.loader.config.FastDecode {
		n = 1
	}
	m, own, err = w.decodeRegion(v, steps[:n])
	if n > 1 && (err != nil || w.decoder.Whole()) {
		n = 1 // damage may concern only some of the views
		m, own, err = w.decodeRegion(v, steps[:n])
	}
	return m, own, n, err
}

// decodeRegion returns the part of a JPEG that holds what all the steps need.
func (w *worker) decodeRegion(v *formats.Value, steps []augment.Steps) (m *pixel.Image, own bool, err error) {
	o := w.options()
	o.Region = steps[0].Source()
	if len(steps) == 1 {
		o.MinH, o.MinW = steps[0].Least()
	}
	for k := range steps[1:] {
		o.Region = around(o.Region, steps[1+k].Source())
	}
	m, own, err = w.decode(v, o)
	if err != nil {
		return nil, false, err
	}
	if len(steps) == 1 {
		steps[0].Narrow(w.decoder.Area())
		return m, own, nil
	}
	for k := range steps {
		r := steps[k].Source()
		x, y := float64(r.X-o.Region.X), float64(r.Y-o.Region.Y)
		steps[k].Narrow(pixel.Area{X0: x, Y0: y, X1: x + float64(r.W), Y1: y + float64(r.H)})
	}
	return m, own, nil
}

// around is the smallest rectangle that holds a and b.
func around(a, b pixel.Rect) pixel.Rect {
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return pixel.Rect{X: x, Y: y, W: max(a.X+a.W, b.X+b.W) - x, H: max(a.Y+a.H, b.Y+b.H) - y}
}
