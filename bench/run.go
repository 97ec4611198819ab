package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/reader"
)

// Progress is a dataset's turn that has just ended.
type Progress struct {
	Dataset         string
	Round           int // from 1; 0 is the warm-up
	Rounds          int
	Turns           int     // that the whole run has
	Seconds         float64 // of an epoch
	ImagesPerSecond float64
}

// Run measures the datasets at paths and compares them with the first. Cancelling ctx ends the
// run between two batches. Errors name the dataset. A path may be given twice.
func Run(ctx context.Context, paths []string, o Options) (_ *Report, err error) {
	if err := checkArguments(ctx, paths); err != nil {
		return nil, err
	}
	if o, err = o.Filled(); err != nil {
		return nil, err
	}
	b := bench{options: o, turns: (1 + o.Rounds) * len(paths)}
	if b.options.Open == nil {
		b.options.Open = openAny
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.prepare(ctx, paths); err != nil {
		return nil, err
	}
	for round := 1; round <= o.Rounds; round++ {
		for _, s := range b.subjects {
			if err := b.turn(ctx, s, round); err != nil {
				return nil, fmt.Errorf("bench %s: %w", s.result.Path, err)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := b.report()
	r.Judge()
	return r, ctx.Err()
}

func openAny(ctx context.Context, path string) (formats.Dataset, error) {
	return dsconv.OpenSource(ctx, path, folder.Config{})
}

func checkArguments(ctx context.Context, paths []string) error {
	switch {
	case ctx == nil:
		return errors.New("bench.Run: ctx is nil: give context.Background()")
	case len(paths) == 0 || slices.Contains(paths, ""):
		return errors.New("bench.Run: paths is empty or has an empty path: give the path of at least one dataset to measure")
	}
	return nil
}

type bench struct {
	options         Options
	subjects        []*subject
	memoryOfProcess bool
	turns           int
}

// subject is a dataset with its loader and the consumer of its batches.
type subject struct {
	dataset  formats.Dataset
	loader   *reader.Loader
	consumer *paced
	result   Dataset
}

// prepare opens each dataset and runs its warm-up epoch, which also measures its memory: what
// it adds to that of the process before any dataset was open.
func (b *bench) prepare(ctx context.Context, paths []string) error {
	debug.FreeOSMemory()
	base := residentNow()
	for _, path := range paths {
		debug.FreeOSMemory()
		before := residentNow()
		b.memoryOfProcess = !resetPeak()
		if err := b.add(ctx, path); err != nil {
			return fmt.Errorf("bench %s: %w", path, err)
		}
		s := b.subjects[len(b.subjects)-1]
		if err := b.turn(ctx, s, 0); err != nil {
			return fmt.Errorf("bench %s: %w", path, err)
		}
		after := residentNow()
		s.result.PeakMemory = after.peak
		if !b.memoryOfProcess {
			s.result.PeakMemory += base.now - before.now
			s.result.Mapped = max(after.mapped-before.mapped, 0)
		}
	}
	return nil
}

// add opens the dataset at path.
func (b *bench) add(ctx context.Context, path string) error {
	s := &subject{consumer: &paced{rate: b.options.Consume}, result: Dataset{Path: path}}
	b.subjects = append(b.subjects, s) // from now on close closes it
	config := b.options.Config
	if b.options.SamplesOf != nil {
		config.Samples = b.options.SamplesOf(path)
	}
	err := b.open(ctx, s, config)
	if err != nil {
		return err
	}
	if s.result.Memory, err = s.loader.Estimate(ctx); err != nil {
		return err
	}
	return s.result.describe(s.dataset, s.loader.Config().Split, s.loader.Samples())
}

// open opens the dataset of s, its loader and the consumer.
func (b *bench) open(ctx context.Context, s *subject, config reader.Config) (err error) {
	ds, err := b.options.Open(ctx, s.result.Path)
	if err != nil {
		return err
	}
	s.dataset = ds // only one that is open: close closes it
	if config.Split == "" && b.options.SamplesOf == nil {
		config.Split = reader.TrainSplit(ds.Meta())
	}
	if s.loader, err = reader.New(s.dataset, config); err != nil {
		return err
	}
	if s.loader.Len() == 0 {
		return errors.New("there are no images")
	}
	return nil
}

// describe fills in what is known about ds without measuring.
func (d *Dataset) describe(ds formats.Dataset, split string, samples int) (err error) {
	m := ds.Meta()
	d.Format, d.Split, d.Samples = m.Format, split, samples
	d.Resize, d.Shorter = m.Recipe["resize"], min(m.Stats.MaxHeight, m.Stats.MaxWidth)
	var first formats.Sample
	if ds.Read(0, &first) == nil { // a bad image is named when it is loaded
		d.Encoding = string(first.Values[m.Schema.ImageIndex()].Encoding)
	}
	d.Disk, err = diskSize(d.Path, ds)
	return err
}

// turn measures one round of s; round 0 is the warm-up, which only measures memory.
func (b *bench) turn(ctx context.Context, s *subject, round int) error {
	runtime.GC() // so that no dataset's time includes another's garbage
	epochs := b.options.Epochs
	first := 1 + (round-1)*epochs
	if round == 0 {
		first, epochs = 0, 1
	}
	before, errCounted := readCounters() // outside of the turn's time
	m, err := s.measure(ctx, first, epochs, &b.options)
	if err != nil {
		return err
	}
	if after, err := readCounters(); errCounted == nil && err == nil {
		waited := after.sub(before)
		m.Waited = &waited
	}
	if round > 0 {
		s.result.Rounds = append(s.result.Rounds, m)
	}
	if b.options.Progress != nil {
		b.options.Progress(Progress{
			Dataset: s.result.Path, Round: round, Rounds: b.options.Rounds, Turns: b.turns,
			Seconds: m.Seconds / float64(m.Epochs), ImagesPerSecond: m.imagesPerSecond(),
		})
	}
	return nil
}

// measure runs the epochs from first on. Datasets with the same keys have the same order and
// augmentations in them.
func (s *subject) measure(ctx context.Context, first, epochs int, o *Options) (Round, error) {
	m := Round{Epochs: epochs}
	clock, cpu := s.loader.Clock(), ownCPU()
	var wait, step time.Duration
	for epoch := first; epoch < first+epochs; epoch++ {
		if err := s.epoch(ctx, epoch, o, &m, &wait, &step); err != nil {
			return m, err
		}
	}
	m.CPUSeconds = (ownCPU() - cpu).Seconds()
	m.WaitSeconds = wait.Seconds()
	spent := s.loader.Clock().Sub(clock)
	m.Loaded, m.Bytes, m.Depth = spent.Images, spent.Bytes, spent.Depth()
	m.Stages = Stages{
		Read: spent.Read.Seconds(), Decode: spent.Decode.Seconds(), Augment: spent.Augment.Seconds(),
		Collate: spent.Collate.Seconds(), Step: step.Seconds(),
	}
	return m, nil
}

// epoch adds the images of an epoch to m, the time blocked in the loader to wait, and the
// consumer's time to step.
func (s *subject) epoch(ctx context.Context, epoch int, o *Options, m *Round, wait, step *time.Duration) error {
	batches, mark := 0, time.Now()
	start := mark
	t := &trace{started: start}
	over := false
	for batch, err := range t.epoch(ctx, s.loader, epoch) {
		if err != nil {
			return err
		}
		asked, ready := mark, time.Now()
		*wait += ready.Sub(mark)
		if batches == 0 {
			m.FirstSeconds += ready.Sub(mark).Seconds()
		}
		if err := s.consumer.take(ctx, batch, ready); err != nil {
			return err
		}
		m.Images += int64(batch.N)
		mark = time.Now()
		*step += mark.Sub(ready)
		t.took(asked, ready, mark)
		if batches++; batches == o.LimitBatches || o.isOver(batches, mark.Sub(start)) {
			over = true
			break
		}
	}
	if !over { // how long the workers take to stop is no part of the epoch
		end := time.Now()
		*wait += end.Sub(mark)
		mark = end
	}
	m.Seconds += mark.Sub(start).Seconds()
	s.result.Timeline = t.timeline()
	return nil
}

// isOver reports whether an epoch ends because of o's Limit.
func (o *Options) isOver(batches int, took time.Duration) bool {
	return o.Limit > 0 && (batches >= 4 && took >= o.Limit || batches > 1 && took >= 4*o.Limit)
}

func (b *bench) report() *Report {
	r := &Report{
		Machine: thisMachine(), Options: b.options, Consumer: b.options.consumer(), MemoryOfProcess: b.memoryOfProcess,
	}
	r.Options.Open, r.Options.Progress, r.Options.SamplesOf = nil, nil, nil // a report has no functions
	for _, s := range b.subjects {
		s.count()
		r.Datasets = append(r.Datasets, s.result)
	}
	r.summarise()
	return r
}

// count takes the counters of s's loader.
func (s *subject) count() {
	s.result.Cached = s.loader.CacheStats().Used
	s.result.Bad, _ = s.loader.Bad()
	narrowed := s.loader.Narrowed()
	s.result.Narrowed, s.result.NarrowedHow = narrowed.Times, narrowed.How
}

func (b *bench) close() error {
	var errs []error
	for _, s := range b.subjects {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// close closes all of s but its result.
func (s *subject) close() (err error) {
	if s.loader != nil {
		err = s.loader.Close()
	}
	if s.dataset != nil {
		err = errors.Join(err, s.dataset.Close())
	}
	return err
}
