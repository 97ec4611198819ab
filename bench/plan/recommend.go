package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/misuse"
	"github.com/dsconv/dsconv/internal/outside"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/preprocess"
)

// ErrNothingToApply is returned by Recommendation.Apply if the advice is to pack nothing.
var ErrNothingToApply = errors.New("nothing to apply")

// Recommendation is the advice of a report, which can be carried out.
type Recommendation struct {
	report  *bench.Report
	options Options
	recipe  *preprocess.Recipe // of the packing that is recommended; nil if none is
	format  string
}

// Advise measures the candidates for the first dataset of a report of bench.Run and sets the report's Advice. The loader
// of o is not used: it is the report's. The datasets must be where they were. A report without costs, of a loader that was
// not looked into, has no advice.
func Advise(ctx context.Context, report *bench.Report, o Options) (*Recommendation, error) {
	if err := misuse.Context("plan.Advise", ctx); err != nil {
		return nil, err
	}
	if report == nil || len(report.Datasets) == 0 {
		return nil, errors.New("plan.Advise: the report has no datasets: bench.Run makes one")
	}
	d := &report.Datasets[0]
	if d.Costs == nil {
		return nil, fmt.Errorf("plan.Advise: %s: the report does not say what its loading costs", d.Path)
	}
	o.Bench = report.Options
	o.Bench.LimitBatches, o.Bench.ViewCount, o.Bench.Views = 0, 0, nil
	if len(report.Options.Views) > 0 { // a candidate is compared on one view, as they all are alike
		o.Bench.Transforms = report.Options.Views[0]
	}
	list, err := candidates(ctx, d.Path, d.Costs, o)
	if err != nil {
		return nil, err
	}
	all := make([]verdict.Candidate, len(list))
	for i := range list {
		all[i] = list[i].Candidate
	}
	report.Advise(all)
	advice := report.Advice
	r := &Recommendation{report: report, options: o, format: "lmdb"}
	for i := range list {
		if advice.Best != nil && list[i].Command == advice.Best.Command && list[i].recipe != nil {
			r.recipe = list[i].recipe
		}
	}
	if f, err := loadedFormat(o.Formats); err == nil {
		r.format = f.Name()
	}
	return r, nil
}

// Apply packs the first dataset as the advice says into the folder dir, which must be new or empty, loads both as the report
// says, and sets the report's Applied and its last dataset: the packed one. If the advice is to pack
// nothing, nothing is written and the error is ErrNothingToApply. A cancelled Apply leaves what Pack leaves.
func (r *Recommendation) Apply(ctx context.Context, dir string) error {
	if r == nil || r.report == nil {
		return errors.New("plan.Recommendation.Apply: there is no recommendation: Advise makes one")
	}
	if err := errors.Join(misuse.Context("plan.Recommendation.Apply", ctx), misuse.Path("plan.Recommendation.Apply", "dir", dir)); err != nil {
		return err
	}
	if r.recipe == nil {
		return fmt.Errorf("%w: the advice is: %s", ErrNothingToApply, r.report.Advice.Text)
	}
	src := r.report.Datasets[0].Path
	if err := CheckEmpty(dir, src); err != nil {
		return err
	}
	if err := r.checkSpace(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	path := filepath.Join(dir, baseName(src)+suffixes[r.format])
	command := r.options.packCommand(src, path) + " " + flags(*r.recipe)
	if err := r.pack(ctx, src, path, command); err != nil {
		if _, left := os.Stat(path + sidecar.PartialSuffix); left == nil {
			err = fmt.Errorf("%w\nwhat is packed so far stays: go on with %s", err, strings.TrimSpace(command))
		}
		return fmt.Errorf("pack %s as advised: %w", src, err)
	}
	return r.measure(ctx, src, path, strings.TrimSpace(command))
}

// checkSpace returns an error if the disk of dir clearly has too little space for the packed dataset.
func (r *Recommendation) checkSpace(dir string) error {
	need := r.report.Advice.Best.Disk
	if free, err := cache.FreeSpace(filepath.Dir(filepath.Clean(dir))); err == nil && need > free { // another error is no reason not to try
		return fmt.Errorf("the packed dataset takes about %s, and the disk of %s has %s: choose a folder on another disk",
			megabytes(need), dir, megabytes(free))
	}
	return nil
}

// CheckEmpty returns an error unless Apply may write into the folder dir: it is new or empty, and not in src.
func CheckEmpty(dir, src string) error {
	if err := formats.CheckPath(dir); err != nil {
		return err
	}
	for _, source := range dsconv.SplitSources(src) {
		if err := outside.Check(dir, source.Path); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: give the name of a new folder for the packed dataset", dir)
	}
	return nil
}

func (r *Recommendation) pack(ctx context.Context, src, path, command string) (err error) {
	open := r.options.Open
	if open == nil {
		filled, err := r.options.forAdvice()
		if err != nil {
			return err
		}
		open = filled.Open
	}
	ds, err := open(ctx, src)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	_, err = dsconv.PackDataset(ctx, ds, path, dsconv.Options{
		Format: r.format, Options: convert.Options{Recipe: *r.recipe, Command: command},
	})
	return err
}

// measure loads the dataset before and after in turns.
func (r *Recommendation) measure(ctx context.Context, src, path, command string) error {
	o := r.report.Options
	o.Open, o.Progress = r.options.Open, nil
	if o.ViewCount > 0 {
		o.Transforms, o.Views = o.Views[0], nil
	}
	again, err := bench.Run(ctx, []string{src, path}, o)
	if err != nil {
		return err
	}
	packed := again.Datasets[1]
	r.report.Apply(bench.Applied{
		Command: command, Before: again.Datasets[0].EpochSeconds, Predicted: r.report.Advice.Best.After, Measured: packed.EpochSeconds,
	}, packed)
	return nil
}

// baseName is the name of a dataset for the one that is packed from it.
func baseName(src string) string {
	if dsconv.SplitSources(src)[0].Name != "" {
		return "packed"
	}
	name := filepath.Base(filepath.Clean(src))
	if ext := filepath.Ext(name); len(ext) > 1 && len(ext) <= len(".tfrecord") {
		name = strings.TrimSuffix(name, ext)
	}
	if name == "" || name == "." || name == ".." || name == string(filepath.Separator) || strings.Contains(name, "%") {
		return "packed"
	}
	return name
}
