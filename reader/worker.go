package reader

import (
	"fmt"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader/augment"
)

// worker holds what one goroutine needs to make batch entries. Workers are kept between
// epochs with their memory and decoder.
type worker struct {
	loader  *Loader
	decoder *preprocess.Decoder
	runner  augment.Runner
	plan    augment.Plan
	rand    augment.Rand
	sample  formats.Sample
	pixels  preprocess.Image // decoded; belongs to the worker
	lent    preprocess.Image // pixels that lie in the dataset's memory
	counters
}

// fill makes entry i of b: sample s of the split with the draws of that epoch. The error
// names the sample's key.
func (w *worker) fill(b *Batch, i, s, epoch int) error {
	l := w.loader
	start := time.Now()
	index := l.samples.index(s)
	if err := l.read(index, &w.sample); err != nil {
		return fmt.Errorf("read sample %d: %w", index, err)
	}
	read := w.lap(stageRead, start)

	value := &w.sample.Values[l.image]
	m, own, err := w.decode(value)
	if err != nil {
		return fmt.Errorf("decode %s: %w", w.sample.Key, err)
	}
	decoded := w.lap(stageDecode, read)

	w.rand = augment.NewRand(l.config.Seed, epoch, s)
	l.pipeline.Plan(&w.plan, m.H, m.W, &w.rand)
	if err := l.pipeline.Fits(m, &w.plan); err != nil {
		return fmt.Errorf("transform %s: %w", w.sample.Key, err)
	}
	view, err := w.runner.Apply(&w.plan, m, own)
	if err != nil {
		return fmt.Errorf("transform %s: %w", w.sample.Key, err)
	}
	augmented := w.lap(stageAugment, decoded)

	w.store(b, i, view)
	b.Indices[i] = index
	if err := w.label(b, i); err != nil {
		return fmt.Errorf("label of %s: %w", w.sample.Key, err)
	}
	w.lap(stageCollate, augmented)
	w.images.Add(1)
	w.bytes.Add(int64(len(value.Data)))
	return nil
}

// decode gives the image's pixels and whether they belong to the worker: raw pixels of
// the right kind stay where they are.
func (w *worker) decode(v *formats.Value) (m *preprocess.Image, own bool, err error) {
	l := w.loader
	if v.Encoding == formats.Raw && v.DType == formats.Uint8 && len(v.Shape) == 3 && l.takes(v.Shape[2]) {
		h, width, c := v.Shape[0], v.Shape[1], v.Shape[2]
		if h <= 0 || width <= 0 || len(v.Data) != h*width*c {
			return nil, false, fmt.Errorf("%w: %d bytes for the shape %v", formats.ErrDamaged, len(v.Data), v.Shape)
		}
		w.lent = preprocess.Image{Pix: v.Data, H: h, W: width, C: c, DType: v.DType}
		return &w.lent, false, nil
	}
	options := preprocess.DecodeOptions{Color: l.config.Color, ApplyOrientation: l.config.ApplyOrientation}
	return &w.pixels, true, w.decoder.Decode(&w.pixels, v, options)
}

func (w *worker) store(b *Batch, i int, v augment.View) {
	l := w.loader
	n := l.frame.entry()
	if l.frame.dtype == formats.Float32 {
		l.pipeline.StoreFloat32(b.Float32[i*n:][:n], v)
	} else {
		l.pipeline.StoreUint8(b.Uint8[i*n:][:n], v)
	}
}

func (w *worker) label(b *Batch, i int) error {
	l := w.loader
	b.Labels[i] = formats.NoLabel
	if l.label < 0 {
		return nil
	}
	v := &w.sample.Values[l.label]
	if k := l.frame.columns; k > 0 {
		if len(v.Data) != k {
			return fmt.Errorf("%w: %d columns where the schema has %d classes", formats.ErrSchema, len(v.Data), k)
		}
		copy(b.MultiHot[i*k:], v.Data)
		return nil
	}
	x, ok := v.Int64()
	if !ok {
		return fmt.Errorf("%w: it is no int64", formats.ErrSchema)
	}
	b.Labels[i] = x
	return nil
}

// markPadding takes back what tells entry i from padding.
func markPadding(b *Batch, i, columns int) {
	b.Labels[i], b.Indices[i] = formats.NoLabel, -1
	clear(b.MultiHot[i*columns:][:columns])
}
