package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/preprocess"
)

// ShardReport is the result of RunShard: the Report, and what Stitch needs of it besides.
type ShardReport struct {
	Report
	// Shape is that of the first raw image.
	Shape []int `json:"shape,omitempty"`
	// Sums are of the pixels of each split, with Options.Stats.
	Sums map[string]*pixelsum.Sums `json:"sums,omitempty"`
}

// PlannedSample returns the Info of the sample at a position, from 0 to Len()-1, with its split in the output, and its
// index in the source.
func (p *Plan) PlannedSample(pos int) (i int, in formats.Info, err error) {
	if pos < 0 || pos >= p.Len() {
		return 0, in, fmt.Errorf("convert: position %d of a plan of %d samples", pos, p.Len())
	}
	in, err = p.infoAt(pos)
	return p.order.at(pos), in, err
}

// ShardRange returns the positions of the samples of shard i: from (inclusive) to to (exclusive).
func (p *Plan) ShardRange(i int) (from, to int) {
	if i < 0 || i >= len(p.files) {
		return 0, 0
	}
	if i > 0 {
		from = p.files[i-1].end
	}
	return from, p.files[i].end
}

// Fingerprint differs between plans of other samples, orders or splits.
func (p *Plan) Fingerprint() uint64 { return p.fingerprint }

// Removed returns the samples that were removed from the source by hand, which the dataset records.
func (p *Plan) Removed() []formats.RemovedSample { return p.removed }

// Shard plans shard i of p alone, as a dataset of one file at path: its samples, and the bytes of its data file, are those
// of file i of the whole. RunShard runs it.
func (p *Plan) Shard(i int, path string) (*Plan, error) {
	from, to := p.ShardRange(i)
	if from == to {
		return nil, optionError{fmt.Errorf("%s has %d shards: there is no shard %d", p.Path, len(p.files), i)}
	}
	order := make([]int32, 0, to-from)
	for pos := from; pos < to; pos++ {
		order = append(order, int32(p.order.at(pos)))
	}
	one := &Plan{Path: path, Meta: p.Meta, src: p.src, format: p.format, o: p.o, splits: p.splits, newBatcher: p.newBatcher}
	return one, one.selectShard(order)
}

// NewShard plans a shard that another process has planned as a part of a dataset, whose Meta is m: the samples of src at
// the indices in order, in that order, with their own splits, as a dataset of one file at path. Options that choose
// samples, splits and shards are not used.
func NewShard(ctx context.Context, src formats.Dataset, order []int32, m formats.Meta, f formats.WritableFormat, path string, o Options) (*Plan, error) {
	if err := checkArguments(ctx, src, f, path); err != nil {
		return nil, asOptions(err)
	}
	if err := errors.Join(o.validate(), compress(&o, f)); err != nil {
		return nil, asOptions(err)
	}
	proc, err := preprocess.NewProcessor(o.Recipe, src.Meta().Schema)
	if err != nil {
		return nil, asOptions(err)
	}
	proc.Close()
	p := &Plan{Path: path, Meta: m, src: src, format: f, o: o, splits: &Splits{}}
	return p, p.selectShard(order)
}

// selectShard makes the samples at the indices those of the plan of one shard. It has no checkpoints: a shard that was
// interrupted is written again.
func (p *Plan) selectShard(order []int32) error {
	p.part = true
	p.o.Create.Replace, p.o.Discard, p.o.Only = false, false, nil
	p.Shards, p.Samples, p.counts = 1, len(order), map[string]int{}
	h := newFingerprint()
	for _, i := range order {
		if i < 0 || int(i) >= p.src.Len() {
			return optionError{fmt.Errorf("%s: sample %d of a source of %d samples", p.Path, i, p.src.Len())}
		}
		if err := p.addSample(int(i), h); err != nil {
			return err
		}
	}
	if p.Len() == 0 {
		return optionError{fmt.Errorf("%s: a shard without samples", p.Path)}
	}
	p.fingerprint, p.interval = h.sum(), neverKept
	p.files = []outputFile{{end: p.Len()}}
	return nil
}

// RunShard is Run for a plan of Shard or NewShard.
func (p *Plan) RunShard(ctx context.Context) (*ShardReport, error) {
	r := &run{Plan: p}
	report, err := r.execute(ctx)
	return &ShardReport{Report: *report, Shape: r.state.Shape, Sums: r.state.Sums}, err
}

// SetRunOptions sets the options of p that change no byte: workers, memory and progress.
func (p *Plan) SetRunOptions(o Options) {
	p.o.Workers, p.o.IOWorkers, p.o.Memory, p.o.Progress, p.o.Command = o.Workers, o.IOWorkers, o.Memory, o.Progress, o.Command
}

// Format returns the format that the plan writes.
func (p *Plan) Format() formats.WritableFormat { return p.format }

// Stitching describes a dataset whose shards were written one by one.
type Stitching struct {
	Meta    formats.Meta // of the whole, as Plan.Meta has it
	Options Options      // Create, Stats, Recipe and Progress are used
	Removed []formats.RemovedSample
	// Parts are the paths of the datasets that RunShard wrote, in the order of the shards, and Reports what it
	// returned. A part without samples may be "".
	Parts   []string
	Reports []*ShardReport
}

// Stitch publishes a dataset of format f at path that has the samples of all parts. It copies no sample: the data files
// are linked, where the file system can do that, and their rows and checksums joined. The parts stay as they are. An
// unfinished Stitch is begun again; one that was interrupted while it published is completed. The error is
// formats.ErrPartial if there is another unfinished dataset with samples.
func Stitch(ctx context.Context, f formats.WritableFormat, path string, s *Stitching) (*Report, error) {
	if err := s.check(); err != nil {
		return &Report{Path: path}, optionError{err}
	}
	report := s.report(path)
	if err := errors.Join(ctx.Err(), durable.CheckParent(path), s.checkSkipped(report)); err != nil {
		return report, err
	}
	if err := staging.DiscardEmpty(path); errors.Is(err, formats.ErrPublished) {
		return report, nil
	} else if err != nil {
		return report, err
	}
	w, err := f.Create(path, s.Meta, s.Options.Create)
	if err != nil {
		return report, err
	}
	err = s.write(ctx, w, report)
	if err == nil {
		err = commitWith(w, path, f, s.Removed)
	}
	if closing := w.Close(); err == nil {
		err = closing
	}
	if err != nil {
		err = errors.Join(err, staging.DiscardEmpty(path))
	}
	return report, err
}

// check returns an error about arguments that make no sense.
func (s *Stitching) check() error {
	if len(s.Parts) == 0 || len(s.Parts) != len(s.Reports) || slices.Contains(s.Reports, nil) {
		return errors.New("convert.Stitch: give the parts, and a report for each of them")
	}
	_, err := doubts.ParseLimit(s.Options.MaxSkipped)
	return err
}

// checkSkipped returns an error if too many samples of the whole were skipped.
func (s *Stitching) checkSkipped(r *Report) error {
	if len(r.Skipped) == 0 {
		return nil
	}
	first := r.Skipped[0].Path + ": " + r.Skipped[0].Cause
	if r.Written == 0 {
		return fmt.Errorf("%s: none of the %d images could be packed; the first is %s", r.Path, r.Found, first)
	}
	return s.Options.limit().Check(len(r.Skipped), r.Found, first)
}

// write gives w the shards and the statistics.
func (s *Stitching) write(ctx context.Context, w formats.Writer, report *Report) error {
	adopter, ok := w.(formats.ShardAdopter)
	if !ok {
		return fmt.Errorf("%s: a dataset of the format %s cannot be made of shards that were written one by one", report.Path, s.Meta.Format)
	}
	started := time.Now()
	for i, part := range s.Parts {
		if s.Reports[i].Written == 0 {
			continue // the whole has no file for it either
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := adopter.AdoptShard(part); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		if s.Options.Progress != nil {
			s.Options.Progress(Progress{Path: report.Path, Step: StepFinish, Done: i + 1, Total: len(s.Parts), Elapsed: time.Since(started)})
		}
	}
	if report.PixelStats == nil {
		return nil
	}
	to, err := statsWriter(w, report.Path, s.Meta.Format)
	if err == nil {
		to.SetPixelStats(report.PixelStats)
	}
	return err
}

// report is the report on the whole: the sum of the reports of its shards.
func (s *Stitching) report(path string) *Report {
	all := &Report{Path: path, Shards: len(s.Parts)}
	var shape []int
	sums := map[string]*pixelsum.Sums{}
	for _, one := range s.Reports {
		all.add(&one.Report)
		if shape == nil {
			shape = one.Shape
		}
		all.Varying = all.Varying || one.Varying || one.Shape != nil && !slices.Equal(shape, one.Shape)
		for split, of := range one.Sums {
			if sums[split] == nil {
				sums[split] = new(pixelsum.Sums)
			}
			sums[split].Merge(of)
		}
	}
	all.Varying = all.Varying && s.Options.Recipe.Encode.Encoding == formats.Raw
	if s.Options.Stats {
		all.PixelStats = pixelsum.Statistics(sums, len(s.Meta.Classes()))
	}
	return all
}

// add adds the report on one shard.
func (r *Report) add(one *Report) {
	r.Found += one.Found
	r.Failed += one.Failed
	r.NotReached += one.NotReached
	r.Narrowed = append(r.Narrowed, one.Narrowed...)
	r.Written += one.Written
	r.BytesIn += one.BytesIn
	r.BytesOut += one.BytesOut
	r.Skipped = append(r.Skipped, one.Skipped...)
	r.Warnings = append(r.Warnings, one.Warnings...)
	r.Oriented += one.Oriented
	r.Tiled += one.Tiled
	for why, n := range one.Untiled {
		if r.Untiled == nil {
			r.Untiled = map[string]int{}
		}
		r.Untiled[why] += n
	}
	r.Stages.Read += one.Stages.Read
	r.Stages.Process += one.Stages.Process
	r.Stages.Write += one.Stages.Write
	r.Stages.Waited += one.Stages.Waited
	r.Seconds += one.Seconds
}
