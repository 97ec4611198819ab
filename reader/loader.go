package reader

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader/augment"
)

// Loader makes batches of a dataset.
type Loader struct {
	dataset formats.Dataset
	owned   bool // Close closes dataset
	read    func(i int, s *formats.Sample) error
	config  Config
	samples selection
	share   share

	image, label int // among the fields; label is -1 if there is none
	channels     int // that Config.Color makes, 0 for any
	pipeline     *augment.Pipeline
	frame        frame

	wait atomic.Int64 // of the loop, in nanoseconds

	mu      sync.Mutex
	workers []*worker // all there are
	idle    []*worker
	batches []*Batch // idle
}

// Open opens the dataset at path; the Loader's Close closes it.
func Open(reg formats.Registry, path string, c Config) (*Loader, error) {
	ds, err := reg.Open(path)
	if err != nil {
		return nil, err
	}
	l, err := New(ds, c)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, errors.Join(err, ds.Close()))
	}
	l.owned = true
	return l, nil
}

// New makes a Loader of ds, which stays the caller's and must outlive it. Where neither
// the transforms nor the color decide the shape of the batches, the first sample is
// decoded to find it.
func New(ds formats.Dataset, c Config) (*Loader, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Loader{dataset: ds, read: ds.Read, config: c}
	if v, ok := ds.(formats.Viewer); ok {
		l.read = v.View
	}
	if l.samples, err = selectSplit(ds, c.Split); err != nil {
		return nil, err
	}
	l.share = share{n: l.samples.n, batch: c.BatchSize, rank: c.Rank, world: c.WorldSize, dropLast: c.DropLast}
	schema := ds.Meta().Schema
	l.image, l.label = schema.ImageIndex(), schema.LabelIndex()
	if l.image < 0 {
		return nil, fmt.Errorf("%w: no field of kind image", formats.ErrSchema)
	}
	l.channels = map[preprocess.Color]int{preprocess.ColorRGB: 3, preprocess.ColorGray: 1}[c.Color]
	if err := l.compile(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.frame = frame{shape: l.pipeline.Shape(), dtype: c.DType, layout: c.Layout, columns: columns(schema, l.label)}
	return l, nil
}

// compile finds the shape of the images, as far as it matters, and makes the pipeline.
func (l *Loader) compile() error {
	h, w, channels := 0, 0, l.channels
	sized := augment.FixesSize(l.config.Transforms)
	if l.samples.n == 0 && (!sized || channels == 0) {
		return errors.New("there are no samples to tell the shape of a batch")
	}
	if !sized && !l.config.ApplyOrientation {
		if err := l.samples.checkUniform(l.dataset); err != nil {
			return err
		}
	}
	if !sized || channels == 0 {
		m, err := l.first()
		if err != nil {
			return err
		}
		channels = m.C
		if !sized {
			h, w = m.H, m.W
		}
	}
	var err error
	l.pipeline, err = augment.Compile(l.config.Transforms, h, w, channels, l.config.DType, l.config.Layout)
	return err
}

// first decodes the first sample.
func (l *Loader) first() (preprocess.Image, error) {
	w := l.acquire()
	defer l.release(w)
	if err := l.read(l.samples.index(0), &w.sample); err != nil {
		return preprocess.Image{}, fmt.Errorf("read the first sample: %w", err)
	}
	m, _, err := w.decode(&w.sample.Values[l.image], w.options())
	if err != nil {
		return preprocess.Image{}, fmt.Errorf("decode %s: %w", w.sample.Key, err)
	}
	return *m, nil
}

// columns is the number of classes of a multi-hot label.
func columns(schema formats.Schema, label int) int {
	if label < 0 || schema[label].Kind != formats.MultiHot {
		return 0
	}
	f := schema[label]
	if len(f.Shape) == 1 {
		return max(f.Shape[0], len(f.Classes))
	}
	return len(f.Classes)
}

// takes says whether images of so many channels need no conversion.
func (l *Loader) takes(channels int) bool { return l.channels == 0 || l.channels == channels }

// Len is the number of batches in an epoch, the same on every rank.
func (l *Loader) Len() int { return l.share.batches() }

// Samples is the number of samples in the split, over all ranks.
func (l *Loader) Samples() int { return l.samples.n }

// Classes names the indices of the designated label; nil without one. The caller must not
// change it.
func (l *Loader) Classes() []string { return l.dataset.Meta().Classes() }

// ImageShape is height, width and channels of a batch's images, whatever the layout.
func (l *Loader) ImageShape() [3]int { return l.frame.shape }

// At makes b a batch of one: sample i of the split in order of key, 0 <= i < Samples(),
// with what the transforms draw in epoch 0. b's memory is reused and stays the caller's.
func (l *Loader) At(i int, b *Batch) error {
	if i < 0 || i >= l.samples.n {
		return fmt.Errorf("sample %d: there are %d", i, l.samples.n)
	}
	w := l.acquire()
	defer l.release(w)
	l.frame.reset(b, 1)
	return w.fill(b, 0, i, 0)
}

// Clock sums up where the time went since the Loader was made.
func (l *Loader) Clock() Clock {
	l.mu.Lock()
	defer l.mu.Unlock()
	var c Clock
	for _, w := range l.workers {
		w.addTo(&c)
	}
	c.Wait = time.Duration(l.wait.Load())
	return c
}

// Close frees the decoders and, if Open opened it, closes the dataset. No epoch may be
// running.
func (l *Loader) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.idle {
		w.decoder.Close()
	}
	l.idle, l.batches = nil, nil
	if !l.owned {
		return nil
	}
	l.owned = false
	return l.dataset.Close()
}
