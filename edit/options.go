package edit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Options are the options of every edit. The zero value is usual.
type Options struct {
	// Workers is how many goroutines decode and encode images; 0 is the number of cores.
	Workers int
	// Checkpoint is about how many bytes are written between two checkpoints; 0 is 256 MiB.
	Checkpoint int64
	// Memory is about how many bytes each sort may take, 0 is 256 MiB; what does not fit is sorted in
	// temporary files. The result does not depend on it.
	Memory int64
	// Discard drops an unfinished new version, which an interrupted edit left, instead of resuming it.
	Discard bool
	// DryRun plans the edit and changes nothing: the report tells what would be done.
	DryRun bool
	// GPU decodes images that are added to a dataset whose recipe has preprocess.DecoderGPU. It must be the card, and
	// have the library, that decoded the others. It is not closed, and other datasets do not use it.
	GPU *gpudecode.GPU
	// Progress, if not nil, is called every 100 ms and once at the end, by one goroutine at a time. While
	// an edit is planned, only Add calls it, if it compares images for long: see convert.StepCompare.
	Progress func(convert.Progress)
	// Command is what the user repeats to resume the edit; messages about an unfinished version name
	// it. It may be "".
	Command string
}

// check returns an error if an argument that each edit has makes no sense.
func (o *Options) check(ctx context.Context, function, path string) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%s: ctx is nil: give context.Background()", function)
	case path == "":
		return fmt.Errorf("%s: the path of the dataset is empty", function)
	}
	return cmp.Or(notNegative(function, "Options.Workers", int64(o.Workers)), notNegative(function, "Options.Checkpoint", o.Checkpoint),
		notNegative(function, "Options.Memory", o.Memory), ctx.Err())
}

// notNegative returns an error if n, the value of the field of the options, is negative.
func notNegative(function, field string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%s: %s is %d: it must not be negative; 0 is the default", function, field, n)
	}
	return nil
}

// converting returns the options of the conversion that makes the new version.
func (o *Options) converting() convert.Options {
	return convert.Options{GPU: o.GPU, Workers: o.Workers, Memory: o.Memory, Checkpoint: o.Checkpoint, Discard: o.Discard, Progress: o.Progress, Command: o.Command}
}

// endsRun reports whether err is not about one sample of a source, or says nothing about its bytes: then the sample must
// count neither as changed nor as lost.
func endsRun(err error) bool { return pixel.EndsRun(err) || formats.Unreadable(err) }

// Report is what every edit reports. With Options.DryRun it tells what would be done.
type Report struct {
	Path   string `json:"path"` // of the dataset
	DryRun bool   `json:"dry_run,omitempty"`
	// UpToDate: there was nothing to do. No new version was written.
	UpToDate bool `json:"up_to_date,omitempty"`
	Samples  int  `json:"samples"` // of the dataset afterwards
	Written  int  `json:"written"` // samples; those of kept files do not count
	// Files is the number of data files of the new version. FilesKept of them are those of the old
	// version.
	Files     int `json:"files,omitempty"`
	FilesKept int `json:"files_kept"`
	// StatsDropped: the dataset had statistics of its pixels, which the new version does not have.
	StatsDropped bool `json:"stats_dropped,omitempty"`
	// Published: the new version is at Path. If it is not, the dataset is what it was.
	Published bool `json:"-"`
	// Run is the report of the conversion that wrote the new version: bad images, bytes, times. It is
	// nil if none was needed, or with DryRun.
	Run *convert.Report `json:"report,omitempty"`
}

// finish runs the plan of a new version of the dataset at path, which has had samples until now. The
// plan is nil if there is nothing to do. With an error of the run comes a report.
func finish(ctx context.Context, p *convert.Plan, f formats.WritableFormat, path string, had int, o *Options) (*Report, error) {
	r := &Report{Path: path, DryRun: o.DryRun, UpToDate: p == nil, Samples: had}
	if p == nil {
		return r, nil
	}
	r.Written, r.Files, r.FilesKept = p.Len(), p.Shards, p.Kept()
	hadStats := p.Meta.PixelStats == nil && hasStats(f, path)
	if o.DryRun {
		r.Samples, r.StatsDropped = p.Samples, hadStats
		return r, nil
	}
	var err error
	r.Run, err = p.Run(ctx)
	if r.Written = r.Run.Written; err != nil {
		return r, err
	}
	r.Published = true
	if r.Samples, err = count(f, path); err != nil {
		return r, fmt.Errorf("the edit is done, but the dataset does not open: %w", err)
	}
	r.StatsDropped = hadStats
	return r, nil
}

// hasStats reports whether the dataset at path has statistics of its pixels.
func hasStats(f formats.Format, path string) bool {
	ds, err := f.Open(path)
	if err != nil {
		return false
	}
	defer ds.Close()
	return ds.Meta().PixelStats != nil
}

func count(f formats.Format, path string) (int, error) {
	ds, err := f.Open(path)
	if err != nil {
		return 0, err
	}
	return ds.Len(), ds.Close()
}

// countSkipped takes the samples that the run skipped, or kept as they were, out of the new and the changed ones.
func (a *adder) countSkipped(run *convert.Report) error {
	skipped, kept := pathsOf(run.Skipped), pathsOf(run.Kept)
	if len(skipped)+len(kept) == 0 {
		return nil
	}
	for _, at := range a.version.added {
		in, err := a.union.Info(int(at))
		if err != nil {
			return err
		}
		if skipped[cmp.Or(in.Source.Path, in.Key)] {
			a.found.New--
		}
	}
	for at := range a.union.old {
		in, err := a.union.Info(at)
		if err != nil {
			return err
		}
		if kept[cmp.Or(in.Source.Path, in.Key)] {
			a.found.Changed--
			a.found.KeptOld = append(a.found.KeptOld, in.Key)
		}
	}
	slices.Sort(a.found.KeptOld)
	return nil
}

func pathsOf(list []convert.Problem) map[string]bool {
	paths := make(map[string]bool, len(list))
	for _, one := range list {
		paths[one.Path] = true
	}
	return paths
}
