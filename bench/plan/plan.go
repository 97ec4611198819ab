package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/misuse"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/procmemory"
	"github.com/dsconv/dsconv/internal/scratch"
	"github.com/dsconv/dsconv/preprocess"
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
	// Rows are the ways to pack it: those that keep the pixels first, each in all formats.
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
	// PSNR and SSIM compare the pixels with those of the source scaled to the same size; 0 if they are equal or
	// were not compared.
	PSNR float64 `json:"psnr_db,omitempty"`
	SSIM float64 `json:"ssim,omitempty"`

	Sampled     int     `json:"sampled"`    // images that were packed to measure it
	Disk        int64   `json:"disk_bytes"` // of the whole dataset
	Extra       float64 `json:"extra_disk"` // Disk beside the source's: 0.01 is 1 % more
	PackSeconds float64 `json:"pack_seconds"`
	// EpochSeconds is the time of an epoch, and BreakEven the number of epochs after which the packing has
	// paid: 0 if it never does.
	EpochSeconds    float64        `json:"epoch_seconds"`
	ImagesPerSecond float64        `json:"images_per_second"`
	BreakEven       float64        `json:"break_even_epochs,omitempty"`
	Costs           *verdict.Costs `json:"-"`
	// Unfit says why it was not measured.
	Unfit string `json:"unfit,omitempty"`
}

// Run plans for the dataset or folder at path. It takes about a second for each candidate, and as long as it takes to
// pack the sample in each. Cancelling ctx ends it; the temporary folder is removed then too. An image that cannot be read
// is left out. Run may be called concurrently, but the runs measure each other's load then.
func Run(ctx context.Context, path string, o Options) (_ *Plan, err error) {
	if err := errors.Join(misuse.Context("plan.Run", ctx), misuse.Path("plan.Run", "path", path)); err != nil {
		return nil, err
	}
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	ds, err := o.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	t, err := explore(ctx, ds, path, &o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	p := t.plan()
	p.Options.Open, p.Options.Progress = nil, nil // a plan has no functions
	p.Options.Bench.Open, p.Options.Bench.Progress = nil, nil
	return p, ctx.Err()
}

// exploration is a source and the trials of its candidates.
type exploration struct {
	o      *Options
	src    *source
	as     *trial // the source as it is
	trials []*trial
	here   Machine
	bad    []convert.Problem // images of the sample that cannot be packed
	done   int
	total  int
}

// explore tries all candidates for ds. The caller closes the result.
func explore(ctx context.Context, ds formats.Dataset, path string, o *Options) (e *exploration, err error) {
	src, err := survey(ctx, ds, path, o)
	if err != nil {
		return nil, err
	}
	o.Sample = len(src.indices)
	e = &exploration{o: o, src: src, as: &trial{dataset: src.sample}, here: thisMachine(o.Dir, o.place(path))}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.as.meter, err = e.newMeter(ctx, e.as); err != nil {
		return e, fmt.Errorf("plan %s: %w", path, err)
	}
	shape := e.as.meter.loader.ImageShape()
	recipes := src.recipes(o, max(shape[0], shape[1]))
	e.total = 2*len(recipes) + o.Rounds
	temporary, err := scratch.New(o.Dir, "plan")
	if err != nil {
		return e, err
	}
	defer func() { // what is loaded from it is mapped
		err = errors.Join(err, temporary.Remove())
	}()
	if err = e.pack(ctx, temporary.Path, recipes); err != nil {
		return e, err
	}
	return e, e.load(ctx)
}

// pack packs samples by each recipe.
func (e *exploration) pack(ctx context.Context, dir string, recipes []preprocess.Recipe) error {
	format, err := loadedFormat(e.o.Formats)
	if err != nil {
		return err
	}
	p := &packer{o: e.o, src: e.src, dir: dir, format: format, here: e.here}
	for _, r := range recipes {
		t := &trial{recipe: r, flags: flags(r), disk: map[string]int64{}}
		if err := p.try(ctx, t); err != nil {
			return fmt.Errorf("plan %s: %w", e.src.path, err)
		}
		e.step("packed " + t.name())
		if len(t.report.Skipped) > len(e.bad) {
			e.bad = t.report.Skipped
		}
		if pointless(t) {
			if err := t.close(); err != nil {
				return err
			}
			continue
		}
		e.trials = append(e.trials, t)
		if t.dataset == nil {
			continue
		}
		if err := e.compare(ctx, t); err != nil {
			return fmt.Errorf("plan %s: compare the pixels of %s: %w", e.src.path, t.name(), err)
		}
	}
	return nil
}

// pointless reports whether the recipe does nothing for these images: tiling that tiles none, or no image was packed.
func pointless(t *trial) bool {
	return t.report.Written == 0 || t.recipe.Encode.Tiled && t.report.Tiled == 0
}

// load measures how fast the source and the trials are loaded.
func (e *exploration) load(ctx context.Context) (err error) {
	all := []*trial{e.as}
	for _, t := range e.trials {
		if t.dataset == nil {
			continue
		}
		if t.meter, err = e.newMeter(ctx, t); err != nil {
			return fmt.Errorf("load %s: %w", t.name(), err)
		}
		all = append(all, t)
		e.step("opened " + t.name())
	}
	if err := measure(ctx, e.o, all, e.step); err != nil {
		return err
	}
	for _, t := range all {
		t.costs = t.meter.costs(len(e.src.loaded), e.as.meter)
		e.addLoop(&t.costs)
	}
	return nil
}

// addLoop adds the consumer to what was measured of a loader.
func (e *exploration) addLoop(c *verdict.Costs) {
	if rate := e.o.Bench.Consume; rate > 0 {
		c.Loop, c.Step = true, 1e6/rate
	}
	c.Epoch = verdict.Predict(c, c)
}

func (e *exploration) newMeter(ctx context.Context, t *trial) (*meter, error) {
	config := e.o.Bench.Config
	config.Split, config.Splits = "", nil // the sample is of the split
	// Packing leaves bad images out. A loader that skips them fails at a batch of bad ones alone, which comes where
	// few samples are repeated.
	config.OnError = reader.Substitute
	if config.Order.Kind == order.Weighted { // the weights are not known
		config.Order = order.Spec{Kind: order.Full}
	}
	return newMeter(ctx, t.dataset, config, e.o.LoadSeconds)
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
	for _, t := range append(e.trials, e.as) {
		errs = append(errs, t.close())
	}
	return errors.Join(errs...)
}

// close closes what the trial has open.
func (t *trial) close() (err error) {
	if t.meter != nil {
		err = t.meter.close()
	}
	if t.dataset != nil {
		err = errors.Join(err, t.dataset.Close())
	}
	t.meter, t.dataset = nil, nil
	return err
}

// name is the trial in messages.
func (t *trial) name() string {
	if t.disk == nil {
		return "the images as they are"
	}
	if t.flags == "" {
		return "unchanged images"
	}
	return t.flags
}

// loadedFormat is the format in which candidates are loaded: formats differ in bytes, and little in speed.
func loadedFormat(names []string) (formats.WritableFormat, error) {
	for _, name := range []string{"lmdb", "shard"} {
		if f, err := formatNamed(name); err == nil && formats.CheckBuilt(f) == nil {
			return f, nil
		}
	}
	return formatNamed(names[0])
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
