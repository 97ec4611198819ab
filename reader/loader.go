package reader

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// Loader loads a dataset in batches. It is safe for concurrent use, Close included: what is called
// after that returns formats.ErrClosed, unless it only tells what the Loader knows by itself. A Loader
// that is forgotten is closed by the garbage collector.
type Loader struct {
	dataset    formats.Dataset
	read       func(i int, s *formats.Sample) error
	prefetcher formats.Prefetcher // nil if the dataset has none
	config     Config
	samples    subset
	parts      string // of NewConcat: their samples, for State
	ownList    bool   // the list of the samples is the Loader's, not the dataset's
	plan       *order.Plan
	cache      *cache.Cache // nil without one
	record     record

	name         string      // in errors
	classes      []string    // of the designated label
	image, label int         // among the fields; label is -1 if there is none
	channels     int         // of Config.Color, 0 for any
	views        []view      // one without Config.Views
	mixer        *batchMixer // nil without MixUp and CutMix
	frame        frame       // of the batches
	single       frame       // of what Pick makes, which leaves nothing to do
	gpu          *gpu        // nil on the CPU

	narrowed     narrowings
	now          func() time.Duration
	wait         atomic.Int64 // of the loop, in nanoseconds
	asked, ready atomic.Int64 // see Clock

	lifetime

	mu       sync.Mutex
	workers  []*worker // all there are
	idle     []*worker
	batches  []*Batch // idle
	badTimes int64
	bad      []BadSample
}

// Open opens the dataset at path; the Loader's Close closes it.
func Open(reg formats.Registry, path string, c Config) (*Loader, error) {
	ds, err := reg.Open(path)
	if err != nil {
		return nil, err
	}
	l, err := newFor(ds, c, path)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, errors.Join(err, ds.Close()))
	}
	l.held.own(ds)
	return l, nil
}

// New makes a Loader of ds, which stays the caller's and should be closed after it: reading a dataset
// that was closed before ends an epoch with formats.ErrClosed. If neither the transforms nor the color
// determine the shape of the batches, the first sample is decoded to find it.
func New(ds formats.Dataset, c Config) (*Loader, error) {
	if ds == nil {
		return nil, errors.New("reader: the dataset is nil: open one with a format's or a Registry's Open")
	}
	return newFor(ds, c, "a dataset")
}

func newFor(ds formats.Dataset, c Config, name string) (*Loader, error) {
	return newLoader(ds, c, name, func(l *Loader) (err error) {
		if l.samples, err = selectSamples(ds, c.splits(), c.Select); err == nil {
			err = l.takeSamples()
		}
		return err
	})
}

// newLoader makes a Loader of the samples of ds that choose chooses.
func newLoader(ds formats.Dataset, c Config, name string, choose func(*Loader) error) (*Loader, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	l := &Loader{dataset: ds, read: ds.Read, config: c, now: sinceStarted, name: "the loader of " + name}
	if err := l.hold(ds); err != nil {
		return nil, err
	}
	if err := l.config.normalizeBy(ds.Meta()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.classes = ds.Meta().Classes()
	if v, ok := ds.(formats.Viewer); ok {
		l.read = v.View
	}
	l.prefetcher, _ = ds.(formats.Prefetcher)
	for _, step := range []func(*Loader) error{choose, (*Loader).compile, (*Loader).frames, (*Loader).planOrder, (*Loader).openDecoder, (*Loader).openCache} {
		if err := step(l); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	l.config.Samples, l.config.Weights = nil, nil // the caller's
	return l, nil
}

// compile compiles the transforms to a pipeline, for which it finds the shape of the images.
func (l *Loader) compile() error {
	schema := l.dataset.Meta().Schema
	l.image, l.label = schema.ImageIndex(), schema.LabelIndex()
	if l.image < 0 {
		return fmt.Errorf("%w: no field of kind image", formats.ErrSchema)
	}
	l.channels = map[pixel.Color]int{pixel.ColorRGB: 3, pixel.ColorGray: 1}[l.config.Color]
	h, w, channels := 0, 0, l.channels
	if l.config.AnySize {
		return l.compileEach()
	}
	sized := l.config.fixesSize()
	if l.samples.Len() == 0 && (!sized || channels == 0) {
		return errors.New("there are no samples to load, and the transforms do not fix the image size")
	}
	if !sized && !l.config.ApplyOrientation {
		if err := checkUniform(l.dataset, l.samples); err != nil {
			return err
		}
	}
	if !sized || channels == 0 {
		var m *pixel.Image
		err := l.firstReadable(func(w *worker) (err error) {
			m, _, err = w.decode(&w.sample.Values[l.image], w.options())
			return err
		})
		if err != nil {
			return err
		}
		channels = m.C
		if !sized {
			h, w = m.H, m.W
		}
	}
	c := &l.config
	return l.compileViews(func(ops augment.Ops) (*augment.Pipeline, error) {
		return augment.Compile(ops, h, w, channels, c.DType, c.Layout)
	})
}

// compileEach compiles the pipeline for images of different sizes.
func (l *Loader) compileEach() error {
	if l.channels == 0 {
		return fmt.Errorf("for images of different sizes choose the color %s or %s", pixel.ColorRGB, pixel.ColorGray)
	}
	c := &l.config
	return l.compileViews(func(ops augment.Ops) (*augment.Pipeline, error) {
		p, err := augment.CompileEach(ops, l.channels, c.DType, c.Layout)
		if err == nil && len(p.Mixers()) > 0 {
			err = fmt.Errorf("%s: images of different sizes cannot be mixed", p.Mixers()[0])
		}
		return p, err
	})
}

// frames finds what all batches have in common: shapes and types.
func (l *Loader) frames() error {
	c, schema := &l.config, l.dataset.Meta().Schema
	label, err := l.labelDType()
	l.frame = frame{shape: l.views[0].pipeline.Shape(), dtype: c.DType, layout: c.Layout, label: label, columns: columns(schema, l.label)}
	l.frameViews()
	if err == nil && l.frame.columns == 0 && l.label >= 0 && schema[l.label].Kind == formats.MultiHot {
		err = l.countColumns()
	}
	if err == nil && l.frame.columns > 0 {
		err = l.checkSize(schema[l.label].Name, l.frame.columns)
	}
	if err != nil {
		return err
	}
	if l.frame.fields, err = l.fieldFrames(schema, c.Fields); err != nil {
		return err
	}
	l.record = record{fields: len(schema), wanted: []int{l.image}}
	if l.label >= 0 {
		l.record.wanted = append(l.record.wanted, l.label)
	}
	for _, f := range l.frame.fields {
		l.record.wanted = append(l.record.wanted, f.field)
	}
	if err := l.prepareMixUp(); err != nil {
		return err
	}
	l.single = l.frame.ofOne(nil)
	switch {
	case c.Deferred:
		return l.deferTo(augment.LeaveFlips)
	case c.Decoder == DecodeOnGPU:
		return l.deferTo(augment.LeaveErasures)
	}
	return nil
}

// prepareMixUp prepares MixUp and CutMix, if the transforms have them.
func (l *Loader) prepareMixUp() error {
	mixers := l.views[0].pipeline.Mixers()
	switch {
	case len(mixers) == 0:
		return nil
	case len(l.Classes()) == 0 && !l.frame.numbers():
		return fmt.Errorf("%s: the dataset has no labels to mix", mixers[0])
	case l.config.Tail == order.Uneven:
		return fmt.Errorf("%s: not possible with the tail uneven, which is for evaluation", mixers[0])
	}
	l.frame.soft = max(len(l.Classes()), l.frame.columns)
	l.mixer = &batchMixer{frame: &l.frame, mixers: mixers, seed: l.config.Seed}
	return nil
}

// firstReadable reads the first sample that can be read and for which see succeeds.
func (l *Loader) firstReadable(see func(w *worker) error) error {
	w := l.acquire()
	defer l.release(w)
	var failed error
	for s := range l.samples.Len() {
		err := w.see(l.samples.At(s), func() error { return see(w) })
		w.free()
		if err == nil {
			return nil
		}
		if failed == nil {
			failed = err
		}
		if l.config.OnError == Fail || endsRun(err) || s == substitutes {
			break
		}
	}
	return failed
}

// readSample reads sample i of the dataset, and checks what a Dataset that is not dsconv's own may get
// wrong. Those that lend their memory are dsconv's.
func (w *worker) readSample(i int) error {
	l, s := w.loader, &w.sample
	s.Key = ""
	_, lends := l.dataset.(formats.Viewer)
	var in formats.Info
	var unknown error
	if !lends {
		if in, unknown = l.dataset.Info(i); unknown == nil {
			w.reserveInput(in.Size)
		}
	}
	if err := l.read(i, s); err != nil {
		return fmt.Errorf("read sample %d: %w", i, err)
	}
	if n := len(l.dataset.Meta().Schema); len(s.Values) != n {
		return fmt.Errorf("read sample %d, key %q: %w: the dataset's Read gave %d values for %d fields", i, s.Key, formats.ErrSchema, len(s.Values), n)
	}
	if unknown == nil && !lends && s.Key != in.Key {
		unknown = fmt.Errorf("%w: the dataset's Read gave the key %q, but its Info has %q", formats.ErrKey, s.Key, in.Key)
	}
	if unknown != nil {
		return fmt.Errorf("read sample %d: %w", i, unknown)
	}
	return nil
}

// see reads sample i of the dataset and calls do.
func (w *worker) see(i int, do func() error) error {
	w.index = i
	return w.use(func() error {
		if err := w.readSample(i); err != nil {
			return err
		}
		w.fetched = true
		if err := do(); err != nil {
			return fmt.Errorf("decode %s: %w", w.sample.Key, err)
		}
		return nil
	})
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

// countColumns counts the classes of a multi-hot label whose description neither names nor counts them, as those that older
// versions packed from HDF5 arrays: by a sample.
func (l *Loader) countColumns() error {
	return l.firstReadable(func(w *worker) error {
		l.frame.columns = len(w.sample.Values[l.label].Data)
		return nil
	})
}

// pixelDType is the type of the pixels inside the pipeline: 16 bits only if the batch keeps them.
func (l *Loader) pixelDType() formats.DType {
	if l.config.Color == pixel.ColorKeep || l.config.deep() {
		return formats.Uint16
	}
	return formats.Uint8
}

// acceptsChannels reports whether images with that number of channels need no conversion.
func (l *Loader) acceptsChannels(channels int) bool { return l.channels == 0 || l.channels == channels }

// rankBatches is this rank's batches from a position on.
func (l *Loader) rankBatches(position int) rankBatches {
	c := &l.config
	return rankBatches{Len: l.plan.Len(), Start: position, Batch: c.BatchSize, Rank: c.Rank, World: c.WorldSize, Tail: c.Tail}
}

// Config returns the description of the Loader with the defaults filled in, without Samples and Weights.
func (l *Loader) Config() Config { return l.config }

// Len is the number of batches in an epoch, the same on every rank except with order.Uneven.
func (l *Loader) Len() int { return l.rankBatches(0).Batches() }

// Samples is the number of samples of the split, over all ranks.
func (l *Loader) Samples() int { return l.samples.Len() }

// Meta describes the dataset; of several, what they have in common. The caller must not change it.
func (l *Loader) Meta() *formats.Meta { return l.dataset.Meta() }

// Classes is the class names of the designated label, by index; nil without one. The caller must
// not change it.
func (l *Loader) Classes() []string { return l.classes }

// ImageShape is height, width and channels of a batch's images, whatever the layout.
func (l *Loader) ImageShape() [3]int { return l.frame.shape }

// InfoOf is the dataset's Info of sample i of the split, in key order.
func (l *Loader) InfoOf(i int) (formats.Info, error) {
	if err := l.enter(); err != nil {
		return formats.Info{}, err
	}
	defer l.leave()
	if i < 0 || i >= l.samples.Len() {
		return formats.Info{}, fmt.Errorf("sample %d: the indices are 0 to %d", i, l.samples.Len()-1)
	}
	mark := guard.Now()
	in, err := l.dataset.Info(l.samples.At(i))
	return in, cmp.Or(l.samples.CheckAt(mark, i), err)
}

// Clock sums up where the time went since the Loader was opened.
func (l *Loader) Clock() Clock {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := Clock{Wait: time.Duration(l.wait.Load()), asked: l.asked.Load(), ready: l.ready.Load()}
	for _, w := range l.workers {
		w.addTo(&c)
	}
	if l.gpu != nil {
		c.Decode += time.Duration(l.gpu.busy.Load())
	}
	return c
}
