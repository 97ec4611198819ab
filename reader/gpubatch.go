package reader

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// startDecoding starts the goroutines that decode the run's batches on the GPU, if one does. So the workers go on with
// the next batch meanwhile.
func (r *running) startDecoding() {
	r.endDecoding = func() {}
	if r.loader.gpu == nil {
		return
	}
	r.decoding, r.endDecoding = context.WithCancel(context.Background())
	if r.loader.config.Synchronous {
		return
	}
	r.staged = make(chan *slot, len(r.slots))
	var begun atomic.Int64
	for k := range r.loader.gpu.decoders {
		r.workers.Go(func() {
			w := r.loader.acquire()
			defer r.loader.release(w)
			w.stopBy(&r.interrupt)
			o := observer{observe: r.observe, worker: r.loader.config.Workers + k}
			for begun.Add(1) <= int64(r.batches) {
				select {
				case s := <-r.staged:
					o.work(s.number)
					r.complete(w, s)
					o.pause()
				case <-r.over:
					return
				}
			}
		})
	}
}

// decode decodes the slot's batch on the GPU. Entries that cannot be decoded, not even by w, are handled as OnError
// says; then what is left is decoded once more, because its places are others.
func (r *running) decode(w *worker, s *slot) error {
	for {
		s.sortFailed()
		entries := r.decodable(s)
		if len(entries) == 0 {
			return nil
		}
		bad, err := r.decodeEntries(w, s, entries)
		if err != nil || len(bad) == 0 {
			return err
		}
		for _, f := range bad {
			e, position := r.entry(s, f.entry)
			if err := r.handle(w, s, e, position, e.item.draw, f.err); err != nil {
				s.fail(f.entry, err)
			}
		}
	}
}

// decodable lists the entries that did not fail, in the order of their places on the device. If one failed for good,
// only those before it are decoded, since one of them may fail too and is the first then.
func (r *running) decodable(s *slot) (entries []int) {
	failed := s.failed
	for i := range s.size + r.extraEntries {
		if len(failed) == 0 || failed[0].entry != i {
			entries = append(entries, i)
			continue
		}
		if r.loader.config.OnError != Skip || endsRun(failed[0].err) {
			return entries
		}
		failed = failed[1:]
		if n := len(entries); i == s.size && n > 0 { // the first image is mixed with the last one
			entries = append(entries, entries[n-1])
		}
	}
	return entries
}

// entry is entry i of the slot's batch, or what its first one is mixed with, and its position.
func (r *running) entry(s *slot, i int) (e entry, position int) {
	e = entry{frame: &r.loader.frame, batch: s.batch, at: i, item: s.item(i)}
	if i == s.size {
		e.batch, e.at = &s.previous, 0
		return e, r.positionBefore(s)
	}
	return e, s.first + i
}

// decodeEntries decodes entries one after another to memory that the batch has then, unless some of them are bad.
func (r *running) decodeEntries(w *worker, s *slot, entries []int) (bad []failure, err error) {
	f, g := &r.loader.frame, r.loader.gpu
	s.images = s.images[:0]
	for to, i := range entries {
		e, _ := r.entry(s, i)
		for k := range f.views() {
			s.images = append(s.images, e.image(k, f.viewOffset(k)+to*f.viewEntryBytes(k), w))
		}
	}
	s.outcomes = append(s.outcomes[:0], make([]gpudecode.Outcome, len(s.images))...)
	memory, err := r.decodeImages(s)
	clear(s.images)
	if err != nil {
		return nil, err
	}
	for n := range s.outcomes {
		i := entries[n/f.views()]
		if err := s.outcomes[n].Err; err != nil && (len(bad) == 0 || bad[len(bad)-1].entry != i) {
			bad = append(bad, failure{i, err})
		}
	}
	if len(bad) > 0 {
		memory.Release()
		return bad, nil
	}
	g.decoded.Add(s.outcomes...)
	s.batch.device = memory
	return nil, nil
}

// decodeImages decodes the slot's images, one batch at a time.
func (r *running) decodeImages(s *slot) (deviceMemory, error) {
	l, g := r.loader, r.loader.gpu
	decoder := <-g.free
	defer func() { g.free <- decoder }()
	start := l.now()
	defer func() { g.busy.Add(int64(l.now() - start)) }()
	memory, err := decoder.Memory()
	if err != nil {
		return nil, err
	}
	if err := decoder.Decode(r.decoding, s.images, memory, s.outcomes); err != nil {
		memory.Release()
		return nil, err
	}
	return memory, nil
}

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
