package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/procmemory"
	"github.com/dsconv/dsconv/internal/scratch"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/order"
)

// Plan is what packing a dataset would bring.
type Plan struct {
	Source Source  `json:"source"`
	Here   Machine `json:"machine"`
	// Options are those of Run with the defaults filled in, and Loader is what loaded.
	Options Options `json:"options"`
	Loader  Loader  `json:"loader"`
	// Rows are the ways to pack it: those that keep the pixels first.
	Rows []Row `json:"rows"`
	// Notes are reasons why a figure is not known, and bad images that packing leaves out.
	Notes []string `json:"notes,omitempty"`
}

// Loader is what loads the batches of an epoch, and what takes them.
type Loader struct {
	Batch   int    `json:"batch"`
	Workers int    `json:"workers"`
	Augment string `json:"augment"`
	DType   string `json:"dtype"`
	// Consume is the most images per second that the consumer takes; 0 is no limit.
	Consume float64 `json:"consume_images_per_second,omitempty"`
}

// Machine is where a plan was measured.
type Machine struct {
	Cores  int   `json:"cores"`
	Memory int64 `json:"memory_bytes,omitempty"` // 0 if unknown
	Free   int64 `json:"free_disk_bytes,omitempty"`
}

// Source is the dataset that is planned for.
type Source struct {
	Path    string `json:"path"` // as the caller gave it
	Format  string `json:"format"`
	Split   string `json:"split,omitempty"` // that is loaded
	Images  int    `json:"images"`
	Bytes   int64  `json:"bytes"` // of all images
	Loaded  int    `json:"epoch_images"`
	Sampled int    `json:"sampled"` // images that were tried
	// EpochSeconds is the time of an epoch of it as it is, by dsconv's loader.
	EpochSeconds    float64        `json:"epoch_seconds"`
	ImagesPerSecond float64        `json:"images_per_second"`
	Costs           *verdict.Costs `json:"costs"`
}

// Row is one way to pack the source.
type Row struct {
	Command  string `json:"command"` // dsconv pack SRC DST ...
	Flags    string `json:"flags,omitempty"`
	Format   string `json:"format"`
	Resize   string `json:"resize,omitempty"`
	Encode   string `json:"encode"`
	Lossless bool   `json:"lossless"` // training gets the same pixels

	Sampled     int     `json:"sampled"`    // images that were packed to measure it
	Disk        int64   `json:"disk_bytes"` // of the whole dataset
	Extra       float64 `json:"extra_disk"` // Disk beside the source's: 0.01 is 1 % more
	PackSeconds float64 `json:"pack_seconds"`
	// EpochSeconds is the time of an epoch, and BreakEven the number of epochs after which the packing has
	// paid: 0 if it never does.
	EpochSeconds    float64 `json:"epoch_seconds"`
	ImagesPerSecond float64 `json:"images_per_second"`
	BreakEven       float64 `json:"break_even_epochs,omitempty"`
	// Unfit says why it was not measured.
	Unfit string `json:"unfit,omitempty"`
}

// Run plans for the dataset or folder at path. It takes about a second for each candidate, and as long as it takes to
// pack the sample in each. Cancelling ctx ends it; the temporary folder is removed then too. An image that cannot be read
// is left out. Run may be called concurrently, but the runs measure each other's load then.
func Run(ctx context.Context, path string, o Options) (_ *Plan, err error) {
	if ctx == nil || path == "" {
		return nil, errors.New("plan.Run: ctx is nil, or path is empty: give context.Background(), and the path of a dataset or folder")
	}
	if o, err = o.withDefaults(ofPlan); err != nil {
		return nil, err
	}
	var p *Plan
	err = explore(ctx, path, &o, func(e *exploration) { p = e.plan() })
	return p, err
}

// exploration is a source and the trials of its candidates.
type exploration struct {
	o      *Options
	src    *source
	format formats.WritableFormat
	dir    string // of packed samples
	as     *trial // the source as it is
	trials []*trial
	here   Machine
	bad    []convert.Problem // images of the sample that cannot be packed
	done   int
	total  int
}

// explore tries all candidates for the dataset at path, and gives them to use.
func explore(ctx context.Context, path string, o *Options, use func(e *exploration)) (err error) {
	ds, err := o.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	src, err := survey(ctx, ds, path, o)
	if err != nil {
		return err
	}
	o.Sample = len(src.indices)
	e := &exploration{o: o, src: src, as: &trial{}, here: thisMachine(o.Dir, dsconv.SplitSources(o.words(path)[0])[0].Path)}
	if e.format, err = o.format(); err != nil {
		return err
	}
	temporary, err := scratch.New(o.Dir, "plan")
	if err != nil {
		return err
	}
	e.dir = temporary.Path
	defer func() { err = errors.Join(err, e.close(), temporary.Remove()) }()
	if err := e.try(ctx); err != nil {
		return fmt.Errorf("plan %s: %w", path, err)
	}
	use(e)
	return ctx.Err()
}

// try packs the sample by each recipe, and measures how fast the source and the trials are loaded.
func (e *exploration) try(ctx context.Context) (err error) {
	config := e.o.Bench.Config
	config.Samples = e.src.indices
	config.Split, config.Splits = "", nil // the sample is of the split
	// Packing leaves bad images out. A loader that skips them fails at a batch of bad ones alone, which comes where
	// few samples are repeated.
	config.OnError = reader.Substitute
	if config.Order.Kind == order.Weighted { // the weights are not known
		config.Order = order.Spec{Kind: order.Full}
	}
	config.Weight, config.Weights = nil, nil
	loader, err := reader.New(e.src.ds, config)
	if err != nil {
		return err
	}
	shape := loader.ImageShape()
	if err := loader.Close(); err != nil {
		return err
	}
	recipes := e.src.recipes(e.o, max(shape[0], shape[1]))
	e.total = len(recipes) + (1+e.o.Rounds)*(1+len(recipes))
	for _, r := range recipes {
		t := &trial{recipe: r, Row: Row{
			Flags: flags(r), Command: e.o.command(e.src.path, flags(r)), Format: e.o.Format,
			Resize: r.Resize.String(), Encode: r.Encode.String(), Lossless: lossless(r),
		}}
		if err := e.packTrial(ctx, t); err != nil {
			return err
		}
		e.step("packed " + t.name())
	}
	return e.load(ctx, config)
}

// repeated is how many samples an epoch has at least, so that it does not end before its time.
const repeated = 1 << 16

// load measures how fast the source and the trials are loaded, in turns.
func (e *exploration) load(ctx context.Context, config reader.Config) error {
	measured := map[string]*trial{e.src.path: e.as}
	paths := []string{e.src.path}
	for _, t := range e.trials {
		if t.dataset != nil {
			measured[t.path] = t
			paths = append(paths, t.path)
		}
	}
	e.as.dataset = e.src.ds
	o := e.o.Bench
	o.Config, o.Rounds, o.Epochs, o.LimitBatches, o.Consume = config, e.o.Rounds, 1, 0, 0
	o.Limit = e.o.effort.load
	o.Open = func(_ context.Context, path string) (formats.Dataset, error) { return measured[path].dataset, nil }
	o.SamplesOf = func(path string) []int32 {
		samples := e.src.indices
		if t := measured[path]; t != e.as {
			samples = firstN(t.dataset.Len())
		}
		return slices.Repeat(samples, 1+repeated/max(len(samples), 1))
	}
	o.Progress = func(p bench.Progress) { e.step("loaded " + measured[p.Dataset].name()) }
	report, err := bench.Run(ctx, paths, o)
	if err != nil {
		return err
	}
	for i, path := range paths {
		d, t := &report.Datasets[i], measured[path]
		if d.Costs == nil || d.Ratio == 0 {
			return fmt.Errorf("load %s: no stage's time was measured", t.name())
		}
		t.costs = *d.Costs
		// By the rounds' ratios: a machine that was slow for a while does not change what loaders are beside each other.
		t.costs.Samples, t.costs.Loader = len(e.src.loaded), report.Datasets[0].Costs.Loader/d.Ratio
		if rate := e.o.Bench.Consume; rate > 0 {
			t.costs.Loop, t.costs.Step = true, 1e6/rate
		}
		t.costs.Epoch = 0
		t.costs.Epoch = verdict.Predict(&t.costs, &t.costs)
	}
	return nil
}

// packTrial packs samples by the recipe of t, which becomes one of the trials unless it does nothing for these images.
func (e *exploration) packTrial(ctx context.Context, t *trial) error {
	e.trials = append(e.trials, t) // which close closes
	if err := e.tryPack(ctx, t); err != nil {
		return err
	}
	if len(t.report.Skipped) > len(e.bad) {
		e.bad = t.report.Skipped
	}
	t.Extra = float64(t.Disk)/float64(max(e.src.bytes, 1)) - 1
	if pointless(t) {
		e.trials = e.trials[:len(e.trials)-1]
		return t.close()
	}
	return nil
}

// pointless reports whether the recipe does nothing for these images: tiling that tiles none, or no image was packed.
func pointless(t *trial) bool {
	return t.report.Written == 0 || t.recipe.Encode.Tiled && t.report.Tiled == 0
}

// step reports a step that has ended.
func (e *exploration) step(what string) {
	e.done++
	if e.o.Progress != nil {
		e.o.Progress(Progress{Step: what, Done: min(e.done, e.total), Total: e.total})
	}
}

func (e *exploration) close() error {
	var errs []error
	for _, t := range e.trials {
		errs = append(errs, t.close())
	}
	return errors.Join(errs...)
}

// close closes what the trial has open.
func (t *trial) close() error {
	if t.dataset == nil {
		return nil
	}
	return t.dataset.Close()
}

// name is the trial in messages.
func (t *trial) name() string {
	if t.Command == "" {
		return "the images as they are"
	}
	return cmp.Or(t.Flags, "unchanged images")
}

// plan is the result.
func (e *exploration) plan() *Plan {
	src, b, before := e.src, &e.o.Bench, e.as.costs.Epoch
	p := &Plan{
		Here: e.here, Options: *e.o,
		Loader: Loader{Batch: b.BatchSize, Workers: b.Workers, Augment: b.AugmentText, DType: string(b.DType), Consume: b.Consume},
		Source: Source{
			Path: src.path, Format: src.ds.Meta().Format, Split: src.split, Images: int(src.count), Bytes: src.bytes,
			Loaded: len(src.loaded), Sampled: len(src.indices), EpochSeconds: before,
			ImagesPerSecond: rate(len(src.loaded), before), Costs: &e.as.costs,
		},
	}
	p.Options.Open, p.Options.Progress, p.Options.Bench = nil, nil, bench.Options{} // a plan has no functions
	for _, t := range e.trials {
		row := t.Row
		if row.Unfit == "" {
			row.EpochSeconds = verdict.Predict(&e.as.costs, &t.costs)
			row.ImagesPerSecond = rate(len(src.loaded), row.EpochSeconds)
			if row.EpochSeconds < before*(1-noise) {
				row.BreakEven = row.PackSeconds / (before - row.EpochSeconds)
			}
		}
		p.Rows = append(p.Rows, row)
	}
	if len(e.bad) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("packing leaves bad images out, and names them: here %d of %d, such as %s: %s",
			len(e.bad), len(src.indices), e.bad[0].Path, e.bad[0].Cause))
	}
	return p
}

// noise is the share of an epoch below which a difference is none.
const noise = 0.03

func rate(images int, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(images) / seconds
}

func thisMachine(dirs ...string) Machine {
	m := Machine{Cores: parallel.Cores()}
	if sizes, err := procmemory.Sizes("/proc/meminfo"); err == nil {
		m.Memory = sizes["MemTotal"]
	}
	for _, dir := range dirs {
		if free, err := cache.FreeSpace(dir); dir != "" && err == nil {
			m.Free = free
			break
		}
	}
	return m
}
