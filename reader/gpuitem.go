package reader

import (
	"slices"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// item is an entry on its way to the GPU. A worker fills it.
type item struct {
	draw   draw
	onHost bool // whatever it is
	jpeg   []byte
	views  []itemView
}

// itemView is a view of an item.
type itemView struct {
	// reason is why the worker stored it in the batch's host memory; "" if the GPU decodes it.
	reason     string
	resampling augment.Resampling
}

// Reasons why images are not decoded on the GPU, besides gpudecode's.
const (
	reasonTransforms  = "transforms"  // more than a crop, a resize, a crop and a mirroring
	reasonOrientation = "orientation" // EXIF's, which is applied
	reasonSubstitute  = "substitute"  // in place of a bad sample
)

// resetItems gives the slot n items, if a GPU decodes.
func (s *slot) resetItems(l *Loader, n int) {
	if l.gpu == nil {
		return
	}
	for len(s.items) < n {
		s.items = append(s.items, item{views: make([]itemView, len(l.views))})
	}
	for i := range s.items {
		s.items[i].onHost = false
	}
}

// item is the item of an entry; nil on the CPU.
func (s *slot) item(i int) *item {
	if len(s.items) == 0 {
		return nil
	}
	return &s.items[i]
}

// stage prepares e for the GPU, or stores what the GPU is not for. It returns the time.
func (w *worker) stage(e entry, now time.Duration) (time.Duration, error) {
	it, v := e.item, &w.sample.Values[w.loader.image]
	reason, staged := w.whyOnHost(it, v), 0
	for k := range it.views {
		view, p := &it.views[k], w.loader.views[k].pipeline
		*view = itemView{reason: reason}
		if reason != "" {
			continue
		}
		plan, ok := w.steps[k].Resampling()
		if !ok || p.Fits(&pixel.Image{C: e.frame.viewShape(k)[2], DType: formats.Uint8}, &w.steps[k]) != nil {
			view.reason = reasonTransforms
			continue
		}
		view.resampling = plan
		e.leave(k, p, &w.steps[k])
		staged++
	}
	if staged == 0 {
		return w.renderAll(e, now)
	}
	it.jpeg = append(it.jpeg[:0], v.Data...)
	for k := range it.views {
		if it.views[k].reason == "" {
			continue
		}
		var err error
		if now, err = w.renderAlone(k, e, now); err != nil {
			return now, err
		}
	}
	return now, nil
}

// renderAlone decodes a JPEG for view k alone, and stores it in e's host memory. It returns the time.
func (w *worker) renderAlone(k int, e entry, now time.Duration) (time.Duration, error) {
	g := viewGroup{views: []int{k}, region: w.steps[k].Source()}
	return w.renderGroup(&w.sample.Values[w.loader.image], g, e, now)
}

// whyOnHost is why no view of the image can be decoded on the GPU, "" if some may be.
func (w *worker) whyOnHost(it *item, v *formats.Value) string {
	c := &w.loader.config
	switch {
	case it.onHost:
		return reasonSubstitute
	case v.Encoding != formats.JPEG:
		return gpudecode.ReasonNotJPEG
	}
	if reason := gpudecode.Suits(v.Data, w.loader.channels); reason != "" {
		return reason
	}
	h, err := w.decoder.Inspect(v)
	switch {
	case err != nil:
		return gpudecode.ReasonIrregular
	case codec.CheckSize(h, c.MaxPixels) != nil:
		return gpudecode.ReasonSize
	case c.ApplyOrientation && h.Orientation != 1:
		return reasonOrientation
	}
	return ""
}

// renderAgain stores view k of e, which was drawn before, in e's host memory, as a worker does, and copies it to dst.
func (w *worker) renderAgain(k int, e entry, dst []byte) error {
	defer w.free()
	return w.use(func() error {
		now, err := w.take(e.item.draw)
		if err != nil {
			return err
		}
		if _, err = w.renderAlone(k, e, now); err != nil {
			return err
		}
		copy(dst, e.frame.entryOf(e.batch, k, e.at))
		return nil
	})
}

// image is view k of e for the decoder, which stores it from byte at on.
func (e entry) image(k, at int, w *worker) gpudecode.Image {
	it := e.item
	view := &it.views[k]
	if view.reason != "" {
		return gpudecode.Image{At: at, Ready: slices.Clip(e.frame.entryOf(e.batch, k, e.at)), Reason: view.reason}
	}
	r := &view.resampling
	return gpudecode.Image{
		JPEG: it.jpeg, Window: r.Window, H: r.H, W: r.W, Filter: r.Filter, Region: r.Region, Flip: r.Flip, FlipV: r.FlipV, At: at,
		CPU: func(dst []byte) error { return w.renderAgain(k, e, dst) },
	}
}
