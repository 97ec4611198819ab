package reader

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
)

// Memory is what a Loader takes while an epoch runs, in bytes, without the dataset itself, the
// system's page cache of it, and a few MB of the program and its threads.
type Memory struct {
	// Workers is the workers' decoders, pixels and scratch memory.
	Workers int64 `json:"workers"`
	// Batches is the batches of one epoch at a time: the one that the loop has and Prefetch more.
	// Each batch that is kept adds BatchBytes.
	Batches int64 `json:"batches"`
	// Cache is the memory of the cache, once per machine.
	Cache int64 `json:"cache"`
	// Order is the list of the samples and their weights.
	Order int64 `json:"order"`
	// BatchBytes is one batch.
	BatchBytes int64 `json:"batch_bytes"`
	// Device is the GPU's memory for those batches, and for decoded pixels before they are resized, with DecodeOnGPU.
	// What nvJPEG takes is not in it.
	Device int64 `json:"device,omitempty"`
}

// Total is all of it but Device.
func (m Memory) Total() int64 { return m.Workers + m.Batches + m.Cache + m.Order }

// maxInspected limits the samples that are inspected if the dataset does not record their sizes.
const maxInspected = 64

// Estimate returns, before the first epoch, the memory that it will take. If images are encoded it
// reads a few: to find whether JPEGs are progressive and, of a folder, how large the images are.
func (l *Loader) Estimate(ctx context.Context) (Memory, error) {
	if err := l.enter(); err != nil {
		return Memory{}, err
	}
	defer l.leave()
	c := &l.config
	m := Memory{BatchBytes: l.frame.bytes(c.BatchSize)}
	m.Batches = m.BatchBytes * int64(min(c.Prefetch+1, max(l.Len(), 1)))
	if l.mixer != nil && l.frame.previous == 0 {
		m.Batches += l.frame.bytes(1) * int64(c.Prefetch+1)
	}
	images, err := l.measure(ctx)
	if err != nil {
		return m, fmt.Errorf("estimate memory: %w", err)
	}
	m.Workers = int64(max(c.Workers, 1)) * l.workerBytes(&images)
	if l.gpu != nil {
		l.estimateGPU(&m, &images)
	}
	m.Order = l.orderBytes()
	if l.cache != nil {
		need := cache.IndexSize(l.dataset.Len()) + images.cached
		m.Cache = min(need, cache.IndexSize(l.dataset.Len())+l.cache.Stats().Limit)
	}
	return m, nil
}

// estimateGPU adds what decoding on the GPU takes: copies of the encoded images, and batches there.
func (l *Loader) estimateGPU(m *Memory, images *imageSizes) {
	c := &l.config
	n, batches := int64(c.BatchSize+l.frame.previous), m.Batches/max(m.BatchBytes, 1)
	m.Batches += batches * n * int64(images.stored)
	pixels := min(n*int64(len(l.views))*int64(images.pixels)*int64(l.frame.shape[2]), devicePixels)
	pixels *= int64(len(l.gpu.decoders))
	if l.gpu.info.Engines > 0 {
		pixels *= 2 // the engine's are converted to those
	}
	m.Device = batches*int64(l.MemorySize()) + pixels
}

// imageSizes sums up the sizes of the samples.
type imageSizes struct {
	pixels int   // of the largest
	height int   // of the tallest
	stored int   // bytes of the largest as stored
	cached int64 // bytes of all samples' records in the cache
	raw    bool  // none is decoded
	zstd   bool  // some are decompressed before
	lent   bool  // none is copied
	held   int   // bytes that decoding holds besides the pixels, for each pixel
}

// measure sums up the sizes of all samples, or of some if the dataset does not record them.
func (l *Loader) measure(ctx context.Context) (imageSizes, error) {
	m := imageSizes{raw: true}
	_, m.lent = l.dataset.(formats.Viewer)
	seen, pixels, stored := 0, int64(0), int64(0)
	see := func(h, w, size int) {
		seen++
		m.pixels, m.height, m.stored = max(m.pixels, h*w), max(m.height, h), max(m.stored, size)
		pixels += int64(h*w) * int64(l.frame.shape[2])
		stored += int64(size)
	}
	n := l.dataset.Len()
	for i := range n {
		in, err := l.dataset.Info(i)
		if err != nil {
			return m, err
		}
		m.raw = m.raw && in.Encoding == formats.Raw
		m.zstd = m.zstd || in.Encoding == formats.RawZstd
		if in.Shape[0] > 0 {
			see(in.Shape[0], in.Shape[1], int(in.Size))
		}
	}
	if sized := seen > 0; !sized || !m.raw {
		m.raw = false
		err := l.inspect(ctx, func(h, w, size, held int) {
			m.held = max(m.held, held/(h*w))
			if !sized {
				see(h, w, size)
			}
		})
		if err != nil {
			return m, err
		}
	}
	if seen == 0 {
		return m, nil
	}
	content := stored
	if l.config.Cache.Kind == Decoded {
		content = pixels
	}
	m.cached = int64(n) * cache.RecordSize(int(content/int64(seen))+recordOverhead)
	return m, nil
}

// recordOverhead is the size of a record without the image: headers, key and label.
const recordOverhead = 128

// inspect calls see with the headers of some samples, evenly spread. Bad ones are left out.
func (l *Loader) inspect(ctx context.Context, see func(h, w, size, held int)) error {
	w := l.acquire()
	defer l.release(w)
	n := l.dataset.Len()
	var failed error
	seen := 0
	for k := range min(n, maxInspected) {
		if err := l.goesOn(ctx); err != nil {
			return err
		}
		err := w.see(k*n/min(n, maxInspected), func() error {
			v := &w.sample.Values[l.image]
			head, err := w.decoder.Inspect(v)
			if err == nil {
				h, width, _ := w.decoder.Size(v, w.options()) // as Inspect
				see(h, width, len(v.Data), head.CoefficientBytes)
			}
			return err
		})
		if err == nil {
			seen++
		} else if failed == nil {
			failed = err
		}
	}
	if seen > 0 {
		return nil
	}
	return failed
}

// workerBytes is the memory of a worker for the largest image: the file if it is copied, the pixels,
// the buffers of libjpeg or zstd, those between the two passes of a resize, and the images between
// the transforms.
func (l *Loader) workerBytes(m *imageSizes) int64 {
	const fixed = 1 << 20 // a thread, tables, a decoder's own
	c, out, width := int64(l.frame.shape[2]), int64(0), 0
	for k := range l.views {
		shape := l.frame.viewShape(k)
		out, width = max(out, int64(shape[0]*shape[1])), max(width, shape[1])
	}
	n := int64(fixed)
	if !m.lent {
		n += int64(m.stored)
	}
	if !m.raw {
		n += int64(m.pixels) * (c + int64(m.held))
	}
	if m.zstd {
		n += int64(m.pixels) * c
	}
	n += int64(m.height) * int64(width) * c
	return n + 2*out*c
}

// orderBytes is the memory of the list of a subset, unless the dataset has it, and of the table of
// weighted sampling.
func (l *Loader) orderBytes() int64 {
	n := int64(0)
	if _, ok := l.dataset.(indexed); !ok || l.ownList || len(l.config.Splits) > 1 {
		n += 4 * int64(l.samples.Listed())
	}
	if l.plan.Repeats() {
		n += 8 * int64(l.samples.Len())
	}
	return n
}
