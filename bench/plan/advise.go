package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
)

// Advise measures the candidates for the first dataset of a report of bench.Run and sets the report's Advice. The loader
// of o is not used: it is the report's. The datasets must be where they were. A report without costs, of a loader that was
// not looked into, has no advice.
func Advise(ctx context.Context, report *bench.Report, o Options) error {
	if len(report.Datasets) == 0 {
		return errors.New("plan.Advise: the report has no datasets: bench.Run makes one")
	}
	d := &report.Datasets[0]
	if d.Costs == nil {
		return fmt.Errorf("plan.Advise: %s: the report does not say what its loading costs", d.Path)
	}
	o.Bench = report.Options
	o.Bench.LimitBatches = 0
	list, err := Candidates(ctx, d.Path, d.Costs, o)
	if err == nil {
		report.Advise(list)
	}
	return err
}

// Candidates measures what could be done about a subject, which loads the dataset or folder at path: load it with
// dsconv's loader, if it is another's, and the ways to pack it that suit it. Less is tried than by
// Run: 256 images, and more of small ones. The loader of Options.Bench must do what the subject's does. The candidates' times are
// those of the subject's loop and machine; verdict.Advise chooses from them.
func Candidates(ctx context.Context, path string, subject *verdict.Costs, o Options) (list []verdict.Candidate, err error) {
	if o, err = o.withDefaults(ofAdvice); err != nil {
		return nil, err
	}
	err = explore(ctx, path, &o, func(e *exploration) { list = e.candidates(subject) })
	return list, err
}

// candidates are the trials that were measured as candidates for the subject.
func (e *exploration) candidates(subject *verdict.Costs) (list []verdict.Candidate) {
	scale := 1.0
	python := slices.ContainsFunc(subject.Parts, func(p verdict.Part) bool { return p.Python })
	if ours := !subject.Processes && !python && subject.Workers > 0; ours {
		scale = drift(subject, &e.as.costs)
	} else {
		c := candidate(subject, e.as, scale)
		c.Command, c.Setting, c.Lossless = fmt.Sprintf("dsconv.Loader(%q)", e.src.path), true, true
		list = append(list, c)
	}
	for _, t := range e.trials {
		if t.Unfit == "" && !e.isHoarding(t) {
			list = append(list, candidate(subject, t, scale))
		}
	}
	return list
}

// hoard is the share of the memory that a dataset of several times the source's disk may take: it is only fast while all
// of it is in memory, which training needs too.
const hoard = 0.25

// isHoarding reports whether t needs over three times the source's disk, and more than its share of the memory.
func (e *exploration) isHoarding(t *trial) bool {
	return t.Disk > 3*e.src.bytes && e.here.Memory > 0 && float64(t.Disk) > hoard*float64(e.here.Memory)
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
func candidate(subject *verdict.Costs, t *trial, scale float64) verdict.Candidate {
	costs := t.costs
	costs.Samples, costs.Epoch = subject.Samples, 0
	costs.Loader *= scale
	costs.Parts = slices.Clone(costs.Parts)
	for i := range costs.Parts {
		p := &costs.Parts[i]
		p.Wall, p.CPU, p.Queue = p.Wall*scale, p.CPU*scale, p.Queue*scale
	}
	return verdict.Candidate{
		Command: t.Command, Lossless: t.Lossless, Disk: t.Disk, Extra: t.Extra, PackSeconds: t.PackSeconds,
		Before: subject.Epoch, After: verdict.Predict(subject, &costs), Costs: &costs,
	}
}
