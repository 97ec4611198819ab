package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
)

// compare predicts and measures all recommendations for the set.
func (s *set) compare(ctx context.Context, o *options) ([]row, error) {
	first, err := bench.Run(ctx, []string{s.folder}, s.bench(1, 3))
	if err != nil {
		return nil, err
	}
	d := &first.Datasets[0]
	if d.Costs == nil {
		return nil, errors.New("bench does not say what loading the folder costs")
	}
	if err := plan.Advise(ctx, first, s.options()); err != nil {
		return nil, err
	}
	po := s.options()
	po.Bench = s.bench(0, 0)
	planned, err := plan.Run(ctx, s.folder, po)
	if err != nil {
		return nil, err
	}
	p := &proof{set: s, o: o, advice: first.Advice, plan: planned, before: d.EpochSeconds, images: d.Costs.Samples}
	return p.packings(ctx)
}

// bench are the options of bench for the set: epochs of each turn, and turns.
func (s *set) bench(epochs, rounds int) bench.Options {
	return bench.Options{
		Epochs: epochs, Rounds: rounds, Size: s.size, AugmentText: s.augment,
		Config: reader.Config{BatchSize: 64, Shuffle: true},
	}
}

// proof is what was predicted for a set.
type proof struct {
	*set
	o      *options
	advice *verdict.Advice
	plan   *plan.Plan
	before float64 // seconds of an epoch of the folder when the advice was asked for
	images int
}

// epochs is how many make a turn.
func (p *proof) epochs() int { return max(1, int(math.Ceil(p.o.Seconds/p.before))) }

// packings packs the set as wanted and loads all in turns.
func (p *proof) packings(ctx context.Context) ([]row, error) {
	dir, err := os.MkdirTemp(p.o.work, "packed")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	paths, packs := []string{p.folder}, []float64{0}
	var offered []*plan.Row
	for _, flags := range p.wanted {
		row := p.offered(flags)
		if row == nil {
			return nil, fmt.Errorf("plan does not offer %q", flags)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.lmdb", len(paths)))
		took, err := pack(ctx, p.folder, path, row)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", row.Flags, err)
		}
		paths, packs, offered = append(paths, path), append(packs, took), append(offered, row)
	}
	r, err := bench.Run(ctx, paths, p.bench(p.epochs(), p.o.Rounds))
	if err != nil {
		return nil, err
	}
	var rows []row
	for k, offer := range offered {
		rows = append(rows, p.row(offer, &r.Datasets[0], &r.Datasets[k+1], packs[k+1]))
	}
	return rows, nil
}

// offered is plan's row for the first of the flags that it has measured.
func (p *proof) offered(flags []string) *plan.Row {
	for _, text := range flags {
		for i := range p.plan.Rows {
			if r := &p.plan.Rows[i]; r.Flags == text && r.Unfit == "" {
				return r
			}
		}
	}
	return nil
}

// pack packs as the row says and returns the seconds that it took.
func pack(ctx context.Context, src, path string, row *plan.Row) (float64, error) {
	r := preprocess.Recipe{}
	if row.Resize != "" {
		if err := r.Resize.UnmarshalText([]byte(row.Resize)); err != nil {
			return 0, err
		}
	}
	if err := r.Encode.UnmarshalText([]byte(row.Encode)); err != nil {
		return 0, err
	}
	if strings.Contains(row.Flags, "jpeg-tiled") && r.Encode.Interval == 0 {
		r.Encode.Interval = codec.DefaultInterval
	}
	begin := time.Now()
	_, err := dsconv.Pack(ctx, src, path, dsconv.Options{Format: "lmdb", Options: convert.Options{Recipe: r}})
	return time.Since(begin).Seconds(), err
}

// row is what was predicted for a packing beside what it brought.
func (p *proof) row(offer *plan.Row, folder, packed *bench.Dataset, seconds float64) row {
	name := offer.Flags
	if name == "" {
		name = "unchanged"
	}
	gain := gain(folder.Rounds, packed.Rounds)
	out := row{Set: p.name, Images: p.images, Command: name, Plan: &figures{
		Epoch: epoch(offer.EpochSeconds, p.plan.Source.EpochSeconds, folder.EpochSeconds, gain),
		Bytes: figureOf(float64(offer.Disk), float64(packed.Disk)), Pack: figureOf(offer.PackSeconds, seconds),
	}}
	for i := range p.advice.Candidates {
		if c := &p.advice.Candidates[i]; c.Command == offer.Command {
			out.Advice = &figures{
				Epoch: epoch(c.After, c.Before, folder.EpochSeconds, gain),
				Bytes: figureOf(float64(c.Disk), float64(packed.Disk)), Pack: figureOf(c.PackSeconds, seconds),
			}
		}
	}
	return out
}

// gain is the median of the ratios of each round: the packed dataset's time by the folder's.
func gain(folder, packed []bench.Round) float64 {
	ratios := make([]float64, len(packed))
	for k := range ratios {
		ratios[k] = packed[k].Seconds / folder[k].Seconds
	}
	slices.Sort(ratios)
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}
