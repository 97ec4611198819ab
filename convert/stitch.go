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
)

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
	if report.PixelStats != nil {
		to, ok := w.(formats.PixelStatsWriter)
		if !ok {
			return fmt.Errorf("%s: the format %s cannot record statistics of the pixels", report.Path, s.Meta.Format)
		}
		to.SetPixelStats(report.PixelStats)
	}
	return nil
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
