package convert

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
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
