package reader

import (
	"fmt"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// entry is an image of each view in a batch.
type entry struct {
	frame *frame
	batch *Batch
	at    int
	item  *item // on the way to the GPU; nil on the CPU
}

// renderImage decodes the designated image, carries out the steps of each view and stores it in e, or prepares that for
// the GPU. It returns the time.
func (w *worker) renderImage(e entry, now time.Duration) (time.Duration, error) {
	if e.item != nil {
		return w.stage(e, now)
	}
	return w.renderAll(e, now)
}

// renderAll is renderImage on the CPU.
func (w *worker) renderAll(e entry, now time.Duration) (time.Duration, error) {
	v := &w.sample.Values[w.loader.image]
	if v.Encoding != formats.JPEG {
		m, own, err := w.decode(v, w.options())
		if err != nil {
			return now, fmt.Errorf("decode %s: %w", w.sample.Key, err)
		}
		now = w.lap(stageDecode, now)
		for k := range w.steps {
			if now, err = w.renderView(k, m, own && k == len(w.steps)-1, e, now); err != nil {
				return now, err
			}
		}
		return now, nil
	}
	for _, g := range w.group(v) {
		var err error
		if now, err = w.renderGroup(v, g, e, now); err != nil {
			return now, err
		}
	}
	return now, nil
}

// renderGroup is renderImage of the views of g, a JPEG's.
func (w *worker) renderGroup(v *formats.Value, g viewGroup, e entry, now time.Duration) (time.Duration, error) {
	m, own, err := w.decodeRegion(v, g)
	last := len(g.views) - 1
	if last > 0 && err != nil { // damage, or a limit of memory, may concern none of the views alone
		for i, k := range g.views {
			if now, err = w.renderGroup(v, viewGroup{views: g.views[i : i+1], region: w.steps[k].Source()}, e, now); err != nil {
				return now, err
			}
		}
		return now, nil
	}
	if err != nil {
		return now, fmt.Errorf("decode %s: %w", w.sample.Key, err)
	}
	now = w.lap(stageDecode, now)
	for i, k := range g.views {
		if now, err = w.renderView(k, m, own && i == last, e, now); err != nil {
			return now, err
		}
	}
	return now, nil
}

// renderView carries out the steps of view k on m, which they may change if own, and stores it in e. It returns
// the time.
func (w *worker) renderView(k int, m *pixel.Image, own bool, e entry, now time.Duration) (time.Duration, error) {
	l := w.loader
	if e.frame.leaves != augment.LeaveNothing {
		w.steps[k].Leave(e.frame.leaves)
		e.leave(k, l.views[k].pipeline, &w.steps[k])
	}
	err := w.apply(k, m, own, l.target(e.frame, k, e.frame.entryOf(e.batch, k, e.at)))
	if err != nil {
		return now, l.config.ofView(k, fmt.Errorf("transform %s: %w", w.sample.Key, err))
	}
	now = w.lap(stageAugment, now)
	if err := w.runner.Store(); err != nil {
		return now, fmt.Errorf("store %s: %w", w.sample.Key, err)
	}
	if len(w.steps) == 1 {
		return now, nil // the rest of the sample counts with it
	}
	return w.lap(stageCollate, now), nil
}

// apply carries out the steps of view k on m, but for the last pass.
func (w *worker) apply(k int, m *pixel.Image, own bool, t resample.Target) error {
	if err := w.loader.views[k].pipeline.Fits(m, &w.steps[k]); err != nil {
		return err
	}
	return w.runner.Apply(&w.steps[k], m, own, t)
}

// decodeRegion decodes what the views of g need of a JPEG.
func (w *worker) decodeRegion(v *formats.Value, g viewGroup) (m *pixel.Image, own bool, err error) {
	o := w.options()
	o.Region = g.region
	if len(g.views) == 1 {
		o.MinH, o.MinW = w.steps[g.views[0]].Least()
	}
	m, own, err = w.decode(v, o)
	if err != nil {
		return nil, false, err
	}
	area := w.decoder.Area()
	for _, k := range g.views {
		if len(g.views) > 1 {
			r := w.steps[k].Source()
			x, y := float64(r.X-g.region.X), float64(r.Y-g.region.Y)
			area = pixel.Area{X0: x, Y0: y, X1: x + float64(r.W), Y1: y + float64(r.H)}
		}
		w.steps[k].Narrow(area)
	}
	return m, own, nil
}

// viewGroup are views whose pixels are decoded together.
type viewGroup struct {
	views  []int
	region pixel.Rect // around what they need
	cost   int
}

// decodeCost is about what a decode costs besides its pixels, in pixels: to read tables and set up.
const decodeCost = 20_000

// group finds which views of a JPEG are decoded together. Without restart markers a decoder reads all of the
// image up to the region's end, so all are. With them only the tiles around a region are read: views are
// decoded apart where what lies between them would cost more than another decode.
func (w *worker) group(v *formats.Value) []viewGroup {
	for len(w.groups) < len(w.steps) {
		w.groups = append(w.groups, viewGroup{})
	}
	all := w.groups[:len(w.steps)]
	for k := range all {
		all[k].views, all[k].region = append(all[k].views[:0], k), w.steps[k].Source()
	}
	if len(all) == 1 || w.loader.config.FastDecode { // whose pixels depend on the region
		return all
	}
	tileW, tileH := jpeg.Tile(v.Data)
	if w.loader.config.ApplyOrientation && w.turnsSides(v) {
		tileW, tileH = tileH, tileW
	}
	cost := func(r pixel.Rect) int {
		if tileW == 0 {
			return 0
		}
		across, down := (r.X+r.W-1)/tileW-r.X/tileW+1, (r.Y+r.H-1)/tileH-r.Y/tileH+1
		return decodeCost + across*tileW*down*tileH
	}
	for k := range all {
		all[k].cost = cost(all[k].region)
	}
	return merge(all, cost)
}

// turnsSides reports whether the image is stored with height and width exchanged.
func (w *worker) turnsSides(v *formats.Value) bool {
	h, err := w.decoder.Inspect(v)
	return err == nil && h.Orientation >= 5
}

// merge joins the groups that cost no more together than apart, again and again.
func merge(all []viewGroup, cost func(pixel.Rect) int) []viewGroup {
	for i := 0; i < len(all); i++ {
		for k := i + 1; k < len(all); k++ {
			a, b := &all[i], &all[k]
			region := around(a.region, b.region)
			c := cost(region)
			if c > a.cost+b.cost {
				continue
			}
			a.views, a.region, a.cost = append(a.views, b.views...), region, c
			all[k], all[len(all)-1] = all[len(all)-1], all[k] // keeps the memory of all
			all = all[:len(all)-1]
			i = -1 // once more from the start
			break
		}
	}
	return all
}

// around is the smallest rectangle that holds a and b.
func around(a, b pixel.Rect) pixel.Rect {
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return pixel.Rect{X: x, Y: y, W: max(a.X+a.W, b.X+b.W) - x, H: max(a.Y+a.H, b.Y+b.H) - y}
}
