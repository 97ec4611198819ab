package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/misuse"
	"github.com/dsconv/dsconv/preprocess"
)

// The defaults of Options for an advice, which must not take long.
const (
	adviceSample      = 256
	adviceSampleBytes = 64 << 20
	adviceTrySeconds  = 1.5
	adviceRounds      = 3
	adviceLoadSeconds = 0.12
)

// Candidates measures what could be done about a subject, which loads the dataset or folder at path: load it with
// dsconv's loader, if it is another's, and the ways to pack it that suit it. What Options leave out is smaller than for
// Run: 256 images, and more of small ones, in LMDB. The loader of Options.Bench must do what the subject's does. The candidates' times are
// those of the subject's loop and machine; verdict.Advise chooses from them.
func Candidates(ctx context.Context, path string, subject *verdict.Costs, o Options) ([]verdict.Candidate, error) {
	list, err := candidates(ctx, path, subject, o)
	if err != nil {
		return nil, err
	}
	out := make([]verdict.Candidate, len(list))
	for i := range list {
		out[i] = list[i].Candidate
	}
	return out, nil
}

// candidate is a candidate with the recipe by which it is packed; nil is a setting.
type candidate struct {
	verdict.Candidate
	recipe *preprocess.Recipe
}

func candidates(ctx context.Context, path string, subject *verdict.Costs, o Options) (list []candidate, err error) {
	if err := errors.Join(misuse.Context("plan.Candidates", ctx), misuse.Path("plan.Candidates", "path", path)); err != nil {
		return nil, err
	}
	if subject == nil {
		return nil, errors.New("plan.Candidates: the subject's costs are nil: measure it first, for instance with bench.Run")
	}
	if o, err = o.forAdvice(); err != nil {
		return nil, err
	}
	ds, err := o.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	e, err := explore(ctx, ds, path, &o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	return e.candidates(subject), ctx.Err()
}

// forAdvice fills in the defaults of an advice.
func (o Options) forAdvice() (Options, error) {
	o.least = adviceSample
	o.SampleBytes = cmp.Or(o.SampleBytes, adviceSampleBytes)
	o.TrySeconds = cmp.Or(o.TrySeconds, adviceTrySeconds)
	o.Rounds = cmp.Or(o.Rounds, adviceRounds)
	o.LoadSeconds = cmp.Or(o.LoadSeconds, adviceLoadSeconds)
	if o.Bench.Train != "" { // the trainer's loader, without the trainer, which is the subject's
		filled, err := o.Bench.Filled()
		if err != nil {
			return o, err
		}
		filled.Train, filled.Backend = "", ""
		o.Bench = filled
	}
	o, err := o.withDefaults()
	if err == nil && len(o.Formats) > 1 {
		f, loaded := loadedFormat(o.Formats)
		if loaded != nil {
			return o, loaded
		}
		o.Formats = []string{f.Name()}
	}
	return o, err
}

// candidates are the trials that were measured as candidates for the subject.
func (e *exploration) candidates(subject *verdict.Costs) (list []candidate) {
	format := e.o.Formats[0]
	same := isOurs(subject)
	scale := 1.0
	if same {
		scale = drift(subject, &e.as.costs)
	} else {
		list = append(list, e.candidate(subject, e.as, 1, format))
		list[0].Command, list[0].Setting, list[0].Lossless = fmt.Sprintf("dsconv.Loader(%q)", e.src.path), true, true
		list[0].Disk, list[0].Extra, list[0].PackSeconds, list[0].BreakEven = 0, 0, 0, 0
	}
	for _, t := range e.trials {
		if t.why != "" || t.dataset == nil || e.isHoarding(t, format) {
			continue
		}
		c := e.candidate(subject, t, scale, format)
		c.recipe = &t.recipe
		list = append(list, c)
	}
	return list
}

// hoard is the share of the memory that a dataset of several times the source's disk may take: it is only fast while all
// of it is in memory, which training needs too.
const hoard = 0.25

// isHoarding reports whether t needs over three times the source's disk, and more than its share of the memory.
func (e *exploration) isHoarding(t *trial, format string) bool {
	disk := t.disk[format]
	return disk > 3*e.src.bytes && e.here.Memory > 0 && float64(disk) > hoard*float64(e.here.Memory)
}

// isOurs reports whether the subject's loader is the one that the candidates were measured with.
func isOurs(subject *verdict.Costs) bool {
	python := slices.ContainsFunc(subject.Parts, func(p verdict.Part) bool { return p.Python })
	return !subject.Processes && !python && subject.Workers > 0
}

// drift is by how much the machine was slower when the subject was measured than when the candidates were: both
// measured the same loader on the same dataset. What reading took longer does not count: that of all files, which caches
// do not hold, is slower than that of a sample, and only for the subject.
func drift(subject, again *verdict.Costs) float64 {
	computing, computingNow := wall(subject, false), wall(again, false)
	if computing <= 0 || computingNow <= 0 {
		return 1
	}
	slower := computing / computingNow
	if subject.Loader <= 0 || again.Loader <= 0 {
		return slower
	}
	reading := wall(subject, true)
	excess := max(0, reading-slower*wall(again, true))
	return subject.Loader / again.Loader * (1 - excess/(computing+reading))
}

// wall is the workers' time for an image: of reading or of the rest.
func wall(c *verdict.Costs, reading bool) (sum float64) {
	for i := range c.Parts {
		if (c.Parts[i].Kind == verdict.Read) == reading {
			sum += c.Parts[i].Wall
		}
	}
	return sum
}

// candidate is the trial t as a candidate. Its costs are scaled to the machine as it was when the subject was measured.
func (e *exploration) candidate(subject *verdict.Costs, t *trial, scale float64, format string) candidate {
	costs := t.costs
	costs.Samples, costs.Epoch = subject.Samples, 0
	costs.Loader *= scale
	costs.Parts = slices.Clone(costs.Parts)
	for i := range costs.Parts {
		p := &costs.Parts[i]
		p.Wall, p.CPU, p.Queue = p.Wall*scale, p.CPU*scale, p.Queue*scale
	}
	c := verdict.Candidate{
		Command: e.command(t, format), Lossless: lossless(t.recipe), PSNR: t.psnr, SSIM: t.ssim, Disk: t.disk[format], PackSeconds: t.pack,
		Before: subject.Epoch, After: verdict.Predict(subject, &costs), Costs: &costs,
	}
	c.Extra = float64(c.Disk)/float64(max(e.src.bytes, 1)) - 1
	c.BreakEven = breakEven(c.PackSeconds, c.Before, c.After)
	return candidate{Candidate: c}
}
