package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// ruleGain is the share of an epoch from which a rule of thumb helps, if it does so in every round and by more than
// the same loader differs from itself.
const ruleGain = 0.05

// unclearFrom is the share by which the same loader differs from itself where nothing can be said of a rule that seems to
// bring nothing.
const unclearFrom = 0.15

// thumbRule is a rule of thumb and how to follow it.
type thumbRule struct {
	name string
	// follow changes the trial; the result says why the rule cannot be measured, "" if it can.
	follow func(t *trial) (why string)
	// without changes the trial to one that does not follow the rule, which the loader does by itself.
	without func(t *trial)
	did     string // what was changed
}

// thumbRules are the rules of thumb of the usual tutorials, as far as a loader of dsconv's has a choice.
var thumbRules = []thumbRule{
	{name: "more workers", did: "twice as many workers", follow: func(t *trial) string {
		if t.config.Synchronous {
			return "the loader is synchronous"
		}
		t.config.Workers *= 2
		return ""
	}},
	{name: "prefetch", did: "twice as many batches in advance", follow: func(t *trial) string {
		if t.config.Synchronous {
			return "the loader is synchronous"
		}
		t.config.Prefetch *= 2
		return ""
	}},
	{name: "persistent workers", did: "one loader for all epochs, as dsconv has it, not a new one for each", without: func(t *trial) { t.fresh = true }},
	{name: "dataset in RAM", did: "--cache encoded", follow: func(t *trial) string { return t.cache(reader.Encoded) }},
	{name: "decoded images in RAM", did: "--cache decoded", follow: func(t *trial) string {
		if t.config.FastDecode {
			return "fast decoding and a cache of decoded images exclude each other"
		}
		return t.cache(reader.Decoded)
	}},
	{name: "small types", did: "uint8 batches, normalised on the device", follow: followSmallTypes},
	{name: "larger batches", did: "twice the batch", follow: func(t *trial) string {
		t.rebatch(2 * t.config.BatchSize)
		return ""
	}},
	{name: "gradient accumulation", did: "two batches of half the size in place of one", follow: func(t *trial) string {
		if t.config.BatchSize == 1 {
			return "a batch is one image"
		}
		t.rebatch(t.config.BatchSize / 2)
		return ""
	}},
}

// pinned is the rule that a loader without a device cannot follow.
func pinned(path string) Rule {
	return Rule{
		Name: "pinned memory", Dataset: path,
		Text: `not measured: this loop copies no batches to a device; dsconv.Loader(device="cuda") pins its batches by itself`,
	}
}

// rulesOf are the trials of Options.Rules: the loader as it is, each rule, and the loader as it is once more: what
// those two differ by is the machine's own.
func rulesOf() []thumbRule {
	return slices.Concat([]thumbRule{{name: "as it is"}}, thumbRules, []thumbRule{{name: "as it is, again"}})
}

// cache keeps the samples in memory. The warm-up fills it.
func (t *trial) cache(kind reader.CacheKind) (why string) {
	if have := t.config.Cache.Kind; have == kind || have == reader.Decoded {
		return fmt.Sprintf("--cache %s is used already", have)
	}
	t.config.Cache.Kind, t.whole = kind, true
	return ""
}

// rebatch changes the batch size, and the length of the epochs in such a way that they have as many images.
func (t *trial) rebatch(n int) {
	o := *t.options
	if o.LimitBatches > 0 {
		o.LimitBatches = max(1, o.LimitBatches*t.config.BatchSize/n)
	}
	t.config.BatchSize, t.options = n, &o
}

func followSmallTypes(t *trial) string {
	if t.config.DType == formats.Uint8 || t.config.DType == formats.Uint16 {
		return "the batches are integers already"
	}
	views := make([]augment.Ops, len(t.config.Views))
	for k, ops := range t.config.Views {
		views[k] = withoutNormalize(ops)
	}
	t.config.DType, t.config.Transforms = formats.Uint8, withoutNormalize(t.config.Transforms)
	if len(views) > 0 {
		t.config.Views = views
	}
	return ""
}

func withoutNormalize(ops augment.Ops) augment.Ops {
	return slices.DeleteFunc(slices.Clone(ops), func(o augment.Op) bool {
		_, ok := o.(augment.Normalize)
		return ok
	})
}

// rules tests the rules of thumb on s, in interleaved rounds.
func (b *bench) rules(ctx context.Context, s *subject) error {
	if !b.options.Rules {
		return nil
	}
	list, o := rulesOf(), b.longEnough(s)
	tests := make([]ruleTest, len(list))
	for k := range list {
		tests[k] = b.ruleTest(s, &list[k], o)
	}
	for round := 1; round <= o.Rounds; round++ {
		for k := range tests {
			if err := b.testRule(ctx, s, &tests[k], round); err != nil {
				return err
			}
		}
	}
	asIs, again := &tests[0], &tests[len(tests)-1]
	noise := 0.0
	for _, g := range gains(again, asIs) {
		noise = max(noise, math.Abs(g))
	}
	for k := range thumbRules {
		b.tested = append(b.tested, tests[k+1].report(s.result.Path, asIs, noise))
	}
	b.tested = append(b.tested, pinned(s.result.Path))
	return nil
}

// testRule measures a round of a rule. A rule that fails here, as one that needs more memory than there is, is not
// measured.
func (b *bench) testRule(ctx context.Context, s *subject, t *ruleTest, round int) error {
	if t.why != "" {
		return nil
	}
	m, use, err := t.trial.turn(ctx, round)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return t.fail(err)
	}
	t.rounds, t.use = append(t.rounds, m), use
	b.tell(s, t.rule.name, round, &m)
	return nil
}

// fail notes why a rule is not measured. It returns the error of the loader as it is.
func (t *ruleTest) fail(err error) error {
	if t.rule.follow == nil {
		return fmt.Errorf("%s: %w", t.rule.name, err)
	}
	t.why = err.Error()
	return nil
}

// gains are the shares of an epoch that with saves beside without, round by round.
func gains(with, without *ruleTest) []float64 {
	list := make([]float64, 0, len(with.rounds))
	for k := range with.rounds {
		list = append(list, 1-ratio(without.rounds[k].imagesPerSecond(), with.rounds[k].imagesPerSecond()))
	}
	return list
}

// ruleTest is a rule and what was measured.
type ruleTest struct {
	rule   *thumbRule
	trial  trial
	why    string // it was not measured
	rounds []Round
	use    memoryUse
}

func (b *bench) ruleTest(s *subject, rule *thumbRule, o *Options) ruleTest {
	t := ruleTest{rule: rule, trial: trial{dataset: s.dataset, config: b.configOf(s), options: o}}
	switch {
	case rule.follow != nil:
		t.why = rule.follow(&t.trial)
	case rule.without != nil:
		rule.without(&t.trial)
	}
	return t
}

// report compares the rule's epochs with those of the loader as it is, round by round.
func (t *ruleTest) report(path string, asIs *ruleTest, noise float64) Rule {
	r := Rule{Name: t.rule.name, Dataset: path}
	if t.why != "" {
		r.Text = "not measured: " + t.why
		return r
	}
	with, without := t, asIs
	if t.rule.without != nil {
		with, without = asIs, t
	}
	list := gains(with, without)
	r.Measured, r.Gain, r.Memory = true, figures.Median(list), with.use.loader-without.use.loader
	least := max(ruleGain, noise)
	r.Helps = r.Gain >= least && slices.Min(list) > 0
	costs := r.Gain <= -least && slices.Max(list) < 0
	what := "no gain"
	switch {
	case r.Helps:
		what = fmt.Sprintf("helps: an epoch is %s shorter", figures.Percent(r.Gain))
	case costs:
		what = fmt.Sprintf("costs: an epoch is %s longer", figures.Percent(-r.Gain))
	case math.Abs(r.Gain) >= ruleGain && slices.Min(list) <= 0 && slices.Max(list) >= 0:
		r.Unclear, what = true, "unclear, as the rounds contradict each other (is the machine busy?):"
	case math.Abs(r.Gain) >= ruleGain || noise >= unclearFrom:
		r.Unclear, what = true, fmt.Sprintf("unclear, as the same loader differed by %s from turn to turn (is the machine busy?):", figures.Percent(noise))
	}
	r.Text = r.sentence(what, t.rule.did, ratio(float64(without.images()), rateOf(without.rounds)))
	if with.use.uncached != "" {
		r.Text += "; " + with.use.uncached
	}
	return r
}

// images is how many an epoch has.
func (t *ruleTest) images() int64 { return t.rounds[0].Images / int64(t.rounds[0].Epochs) }

// sentence says what the rule brought; before is the epoch without it.
func (r *Rule) sentence(what, did string, before float64) string {
	text := fmt.Sprintf("%s with %s (%s s -> %s s)", what, did, figures.Digits(before), figures.Digits(before*(1-r.Gain)))
	if r.Memory != 0 {
		text += fmt.Sprintf(", %+.1f MB", float64(r.Memory)/1e6)
	}
	return text
}
