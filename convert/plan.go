package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Plan is a conversion that has not started yet.
type Plan struct {
	Path          string       // of the output dataset
	Meta          formats.Meta // of the output dataset, as far as it is known before the run
	Bytes         int64        // of the source's images
	largest       int64        // bytes of the source's largest image
	expectedBytes int64        // bytes of the output's images: exact if they are copied, else an estimate
	copied        int64        // bytes of the images that are copied
	Shards        int          // number of files
	// Samples is the number of samples of the output if none is skipped.
	Samples int

	src     formats.Dataset
	format  formats.WritableFormat
	o       Options
	splits  *Splits
	order   indexList
	counts  map[string]int // of the samples in order, by split
	files   []outputFile
	ready   func(i int) bool // see Version; nil if no sample is
	unready int              // samples that are processed
	limit   doubts.Limit     // of those that may be skipped
	part    bool             // it is a part of a dataset, which is judged as a whole
	// fallback is that of Version.
	fallback func(i int) bool
	change   func(*formats.Info) // likewise
	base     string              // likewise
	asked    *asked              // likewise, for what is no Version
	added    []string            // the samples that the source has got since the unfinished dataset was begun

	version bool // NewVersion made it

	newBatcher func(gpudecode.BatcherConfig) (batcher, error) // of the GPU; nil if the plan needs none

	growing formats.Growing // the source, if its length is not known
	perFile int             // positions of a file then, if there are several

	removed []formats.RemovedSample // samples removed by hand; the dataset records them

	fingerprint uint64        // of the source's samples in this order
	sourceList  uint64        // see fingerprint.sourceList
	interval    int           // positions between two checkpoints
	saveEvery   time.Duration // what a kill loses at most
}

// New plans the conversion of src into a dataset of format f at path dst, and writes nothing. Errors
// about what was asked for are ErrOptions. The plan uses src until the end of Run; closing it is left
// to the caller.
func New(ctx context.Context, src formats.Dataset, f formats.WritableFormat, dst string, o Options) (*Plan, error) {
	var p *Plan
	err := guard.Do(func() (err error) { // src may be anybody's
		p, err = newPlan(ctx, src, f, dst, o)
		return err
	})
	if err != nil {
		return nil, asOptions(err)
	}
	return p, nil
}

func newPlan(ctx context.Context, src formats.Dataset, f formats.WritableFormat, dst string, o Options) (*Plan, error) {
	if err := checkArguments(ctx, src, f, dst); err != nil {
		return nil, err
	}
	as := asked{src, o}
	if err := errors.Join(o.validate(), compress(&o, f)); err != nil {
		return nil, err
	}
	o.Create.Memory = cmp.Or(o.Create.Memory, o.Memory)
	growing, isGrowing := src.(formats.Growing)
	if isGrowing {
		if err := o.CheckGrowing(f); err != nil {
			return nil, err
		}
	}
	splits, err := o.Split.assign(src, o.Memory)
	if err == nil {
		err = checkOnly(o.Only, splits.Names())
	}
	if err != nil {
		return nil, err
	}
	p := &Plan{Path: dst, src: src, format: f, o: o, splits: splits, counts: map[string]int{}, limit: o.limit(), saveEvery: time.Minute, growing: growing}
	p.asked = &as
	if err := p.setGPU(); err != nil {
		return nil, err
	}
	if o.GPU != nil {
		p.o.Recipe.Device = preprocess.DeviceOf(o.GPU.Info())
	}
	proc, err := preprocess.NewProcessor(p.o.Recipe, src.Meta().Schema)
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	if err := p.selectSamples(ctx); err != nil {
		return nil, err
	}
	if err := p.planShards(); err != nil {
		return nil, err
	}
	if p.interval = p.checkpointInterval(); isGrowing && !growing.Resumes() {
		p.interval = neverKept
	}
	p.Meta = formats.Meta{
		Format: f.Name(), Schema: proc.OutputSchema(), Columns: src.Meta().Columns, Recipe: p.recipe(),
	}
	p.Samples = p.Len()
	return p, p.copyHistory(src)
}

// copyHistory copies the source's record of edits to the plan.
func (p *Plan) copyHistory(src formats.Dataset) (err error) {
	p.Meta.Renamed = src.Meta().Renamed
	if p.Meta.History = src.Meta().History; p.Meta.History != nil {
		p.removed, err = formats.RemovedFrom(src)
	}
	return err
}

// compress decides what o.Create.Zstd applies to: the files, if the format compresses them, else
// the raw pixels of each image.
func compress(o *Options, f formats.WritableFormat) error {
	switch {
	case o.Create.Zstd == 0 || f.Traits().Zstd:
		return nil
	case o.Recipe.Encode.Encoding == formats.Raw:
		o.Recipe.Zstd, o.Create.Zstd = preprocess.Zstd(o.Create.Zstd), 0
		return nil
	}
	return fmt.Errorf("compress: zstd is for tars and for raw pixels; JPEG and PNG are compressed already")
}

// selectSamples selects the samples and puts their indices into the order of writing.
func (p *Plan) selectSamples(ctx context.Context) error {
	if p.growing != nil {
		return p.selectGrowing()
	}
	h := newFingerprint()
	patterns, err := p.o.Patterns.Compile()
	if err != nil {
		return err
	}
	sample := &randomSample{all: true}
	if p.o.Sample > 0 {
		included := func(in *formats.Info) bool { return patterns.IncludesFile(in.Name()) && ctx.Err() == nil }
		if sample, err = newRandomSample(p.src, p.o.Sample, p.o.SampleSeed, included); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	last := ""
	for i := range p.src.Len() {
		if p.o.Limit > 0 && i >= p.o.Limit {
			break
		}
		in, err := p.src.Info(i)
		if err != nil {
			return fmt.Errorf("sample %d of the source: %w", i, err)
		}
		if err := errors.Join(ctx.Err(), checkKey(i, in.Key, last)); err != nil {
			return err
		}
		last = in.Key
		if len(p.o.Only) > 0 && !slices.Contains(p.o.Only, p.splits.Of(i, in)) || !patterns.IncludesFile(in.Name()) || !sample.has(in.Key) {
			continue
		}
		if err := p.addInfo(i, &in, h); err != nil {
			return err
		}
	}
	p.fingerprint, p.sourceList = h.sum(), h.sourceList()
	if p.shuffled() {
		return p.order.arrange(p.o.Order)
	}
	return nil
}

// addSample appends sample i of the source to the order.
func (p *Plan) addSample(i int, h *fingerprint) error {
	in, err := p.src.Info(i)
	if err != nil {
		return err
	}
	return p.addInfo(i, &in, h)
}

// addInfo is addSample for a sample whose Info is in.
func (p *Plan) addInfo(i int, in *formats.Info, h *fingerprint) error {
	ready, split := p.isReady(i), p.splits.Of(i, *in)
	p.Bytes += in.Size
	p.largest = max(p.largest, in.Size)
	p.counts[split]++
	if _, expected := p.src.(formats.Unlabeled); !expected && (ready || p.o.Recipe.Passthrough()) {
		p.copied += in.Size
	}
	if ready {
		p.expectedBytes += in.Size
	} else {
		p.expectedBytes += p.estimate(in.Size)
	}
	if !ready {
		p.unready++
	}
	h.sample(in, labelSum(p.src, i, in), split, ready)
	return p.order.add(i, p.src.Len())
}

// infoAt returns the Info of the sample at a position, with its split in the output.
func (p *Plan) infoAt(pos int) (formats.Info, error) {
	i := p.order.at(pos)
	in, err := p.src.Info(i)
	if err == nil {
		in.Split = p.splits.Of(i, in)
	}
	return in, err
}

// isReady reports whether sample i of the source can be copied without processing.
func (p *Plan) isReady(i int) bool { return p.ready != nil && p.ready(i) }

// shuffled reports whether samples are written in shuffled order: the default for formats without
// random access.
func (p *Plan) shuffled() bool { return !p.format.Traits().Ordered && p.o.Order != KeyOrder }

// estimate returns the expected size of an output image from the size of its source.
func (p *Plan) estimate(size int64) int64 {
	r := p.o.Recipe
	if r.Passthrough() {
		return size
	}
	if r.Encode.Encoding == formats.Raw && r.Resize.W > 0 && r.Resize.H > 0 {
		channels := int64(3)
		if r.Color == pixel.ColorGray {
			channels = 1
		}
		return int64(r.Resize.W) * int64(r.Resize.H) * channels
	}
	if r.Encode.Encoding == formats.Raw {
		return 8 * size // a JPEG of a photo takes 1 to 2 bits of a pixel's 24
	}
	return size
}

func (p *Plan) planShards() error {
	if p.Len() == 0 {
		return fmt.Errorf("%s: no samples are selected: check the patterns, the limit and the splits", p.Path)
	}
	if err := p.countShards(); err != nil {
		return err
	}
	if p.growing != nil {
		p.fingerprint += uint64(p.perFile) // a run that is resumed divides them alike
		return nil
	}
	for i := range p.Shards {
		p.files = append(p.files, outputFile{end: ((i+1)*p.Len() + p.Shards - 1) / p.Shards})
	}
	return nil
}

func (p *Plan) countShards() error {
	p.Shards = 1
	s := p.o.Shards
	asked := s.Size > 0 || s.Count > 0 || s.Min > 0
	if !p.format.Traits().Sharded {
		if asked {
			return fmt.Errorf("the format %s has no shards: leave out the shard options", p.format.Name())
		}
		return nil
	}
	sp, err := sharded.ParseShardPath(p.Path)
	if err != nil {
		return err
	}
	if !sp.IsPattern() {
		if asked {
			return fmt.Errorf("%s is one file: use a pattern such as %s for shards", p.Path, patternFor(p.Path))
		}
		return nil
	}
	size := s.Size
	if size == 0 {
		size = defaultShardSize
	}
	if p.growing != nil {
		p.perFile = int(min(max(1, size/max(1, p.expectedBytes/int64(p.Len()))), math.MaxInt32))
		return nil
	}
	p.Shards = max(1, s.Min, int((p.expectedBytes+size-1)/size))
	if s.Count > 0 {
		p.Shards = s.Count
	}
	p.Shards = min(p.Shards, p.Len())
	return nil
}

func patternFor(path string) string {
	dir, base := filepath.Split(path)
	stem, ext, _ := strings.Cut(base, ".")
	return dir + stem + "-%06d." + ext
}

// recipe returns Meta.Recipe: all options that decide the bytes.
func (p *Plan) recipe() map[string]string {
	m := maps.Clone(p.o.Recipe.Map())
	for k, v := range p.src.Meta().Recipe {
		if p.src.Meta().Format == "folder" {
			m[k] = v
		} else {
			m["source."+k] = v
		}
	}
	maps.Copy(m, p.o.Patterns.Recipe())
	if p.o.Limit > 0 {
		m["limit"] = fmt.Sprint(p.o.Limit)
	}
	if p.o.Sample > 0 {
		m[SampleKey], m[SampleSeedKey] = fmt.Sprint(p.o.Sample), fmt.Sprint(p.o.SampleSeed)
	}
	m["source.format"] = p.src.Meta().Format
	if !p.o.Split.FromSource() {
		m["split"] = string(p.o.Split)
	}
	if len(p.o.Only) > 0 {
		m["only"] = strings.Join(p.o.Only, ",")
	}
	if !p.format.Traits().Ordered {
		m["order"] = p.o.Order.recipe()
	}
	if p.Shards > 1 {
		m["shards"] = fmt.Sprint(p.Shards)
	}
	if p.o.Checkpoint > 0 && p.o.Checkpoint != defaultCheckpointBytes {
		m["checkpoint"] = fmt.Sprint(p.o.Checkpoint)
	}
	if p.o.Create.Zstd > 0 && p.format.Traits().Zstd {
		m["compress"] = fmt.Sprintf("zstd:%d", p.o.Create.Zstd)
	}
	return recipepath.Relative(m, p.Path)
}

// Kept returns the number of files that are kept as they are.
func (p *Plan) Kept() int {
	n := 0
	for _, f := range p.files {
		if f.keep {
			n++
		}
	}
	return n
}

// Len returns the number of selected samples of the source.
func (p *Plan) Len() int { return p.order.n }

// Head returns the Info of the first n samples in the order of writing.
func (p *Plan) Head(n int) ([]formats.Info, error) {
	var head []formats.Info
	for pos := range min(n, p.Len()) {
		in, err := p.infoAt(pos)
		if err != nil {
			return nil, err
		}
		head = append(head, in)
	}
	return head, nil
}

// neverKept is the interval of a plan whose run is repeated from its start.
const neverKept = math.MaxInt

// defaultCheckpointBytes is about how much is written between two checkpoints.
const defaultCheckpointBytes = 256 << 20

// checkpointInterval returns the number of positions between two checkpoints. It depends only on
// the plan, because an LMDB's bytes depend on where it commits.
func (p *Plan) checkpointInterval() int {
	each := max(1, p.expectedBytes/int64(max(1, p.Len())))
	if p.o.Checkpoint > 0 {
		return int(min(max(p.o.Checkpoint/each, 1), 1<<16))
	}
	return int(min(max(defaultCheckpointBytes/each, 64), 1<<16))
}

// SplitCounts returns the splits of the selected samples.
func (p *Plan) SplitCounts() []formats.Split {
	var list []formats.Split
	for _, name := range slices.Sorted(maps.Keys(p.counts)) {
		if name != "" {
			list = append(list, formats.Split{Name: name, Count: p.counts[name]})
		}
	}
	return list
}
