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
	h, width, err := w.decoder.Size(value, w.options())
	if err != nil {
		return fmt.Errorf("decode %s: %w", w.sample.Key, err)
	}
	w.rand = augment.NewRand(l.config.Seed, epoch, s)
	l.pipeline.Plan(&w.plan, h, width, &w.rand)
	m, own, err := w.decodeFor(value, &w.plan)
	if err != nil {
		return fmt.Errorf("decode %s: %w", w.sample.Key, err)
	}
	decoded := w.lap(stageDecode, read)
	if err := l.pipeline.Fits(m, &w.plan); err != nil {
		return fmt.Errorf("transform %s: %w", w.sample.Key, err)
	}
	if err := w.runner.Apply(&w.plan, m, own, w.target(b, i)); err != nil {
		return fmt.Errorf("transform %s: %w", w.sample.Key, err)
	}
	augmented := w.lap(stageAugment, decoded)

	if err := w.runner.Store(); err != nil {
		return fmt.Errorf("store %s: %w", w.sample.Key, err)
	}
	b.Indices[i] = index
	if err := w.label(b, i); err != nil {
		return fmt.Errorf("label of %s: %w", w.sample.Key, err)
	}
	w.lap(stageCollate, augmented)
	w.images.Add(1)
	w.bytes.Add(int64(len(value.Data)))
	return nil
}

// decodeFor gives the pixels that plan needs, and whether they belong to the worker.
func (w *worker) decodeFor(v *formats.Value, plan *augment.Plan) (m *preprocess.Image, own bool, err error) {
	o := w.options()
	part := v.Encoding == formats.JPEG
	if part {
		o.Region = plan.Source()
		o.LeastH, o.LeastW = plan.Least()
	}
	m, own, err = w.decode(v, o)
	if err == nil && part {
		plan.Narrow(w.decoder.Area())
	}
	return m, own, err
}

// decode gives the image's pixels and whether they belong to the worker: raw pixels of the
// right kind stay where they are.
func (w *worker) decode(v *formats.Value, o preprocess.DecodeOptions) (m *preprocess.Image, own bool, err error) {
	if w.lends(v) {
		m, err = w.lend(v)
		return m, false, err
	}
	return &w.pixels, true, w.decoder.Decode(&w.pixels, v, o)
}

func (w *worker) options() preprocess.DecodeOptions {
	c := &w.loader.config
	return preprocess.DecodeOptions{Color: c.Color, ApplyOrientation: c.ApplyOrientation, Fast: c.FastDecode}
}

// lends says whether v's pixels can be used where they are.
func (w *worker) lends(v *formats.Value) bool {
	return v.Encoding == formats.Raw && v.DType == formats.Uint8 && len(v.Shape) == 3 && w.loader.takes(v.Shape[2])
}

func (w *worker) lend(v *formats.Value) (*preprocess.Image, error) {
	h, width, c := v.Shape[0], v.Shape[1], v.Shape[2]
	if h <= 0 || width <= 0 || len(v.Data) != h*width*c {
		return nil, fmt.Errorf("%w: %d bytes for the shape %v", formats.ErrDamaged, len(v.Data), v.Shape)
	}
	w.lent = preprocess.Image{Pix: v.Data, H: h, W: width, C: c, DType: v.DType}
	return &w.lent, nil
}

// target is entry i of b.
func (w *worker) target(b *Batch, i int) preprocess.Target {
	l := w.loader
	n := l.frame.entry()
	t := preprocess.Target{Store: l.pipeline.Store()}
	switch l.frame.dtype {
	case formats.Uint8:
		t.Uint8 = b.Uint8[i*n:][:n]
	case formats.Float32:
		t.Float32 = b.Float32[i*n:][:n]
	default:
		t.Half = b.Half[i*n:][:n]
	}
	return t
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
