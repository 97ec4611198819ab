package convert

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/preprocess"
)

// Plan is a conversion that is decided but not begun.
type Plan struct {
	Path   string       // of the dataset to be written
	Meta   formats.Meta // of it, as far as it is known before
	Bytes  int64        // of the source's images
	ExpectedBytes int64        // bytes of the images to be written: exact if they pass through, else an estimate
	Shards int          // files
	// Samples is the number that the dataset will have if none is skipped.
	Samples int

	src    formats.Dataset
	format formats.WritableFormat
	o      Options
	splits []string // by index of the source
	order  []int32  // position to index of the source
	files  []outputFile
	ready  func(i int) bool    // see Version; nil if no sample is
	change func(*formats.Info) // likewise
	base   string              // likewise

	removed []formats.Removed // by hand, which the dataset remembers

	command     string // see BegunBy
	fingerprint uint64 // of the source's samples in this order
	interval       int    // positions between two checkpoints
}

// New plans the conversion of the samples of src whose split is among only (all, if only
// is empty), into a dataset of the format at path. splits are of Split.Assign.
func New(src formats.Dataset, splits, only []string, f formats.WritableFormat, path string, o Options) (*Plan, error) {
	if err := compress(&o, f); err != nil {
		return nil, err
	}
	if err := CheckSplits(src, splits); err != nil {
		return nil, err
	}
	p := &Plan{Path: path, src: src, format: f, o: o, splits: splits}
	proc, err := preprocess.NewProcessor(o.Recipe, src.Meta().Schema)
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	if err := p.selectSamples(only); err != nil {
		return nil, err
	}
	if len(p.order) == 0 {
		return nil, fmt.Errorf("no sample to write to %s", path)
	}
	if err := p.planShards(); err != nil {
		return nil, err
	}
	p.interval = p.checkpointInterval()
	p.Meta = formats.Meta{
		Format: f.Name(), Schema: proc.OutputSchema(), Columns: src.Meta().Columns, Recipe: p.recipe(only),
	}
	p.Samples = len(p.order)
	return p, p.copyHistory()
}

// remember takes over what the source remembers of edits.
func (p *Plan) copyHistory() (err error) {
	if p.Meta.History = p.src.Meta().History; p.Meta.History == nil {
		return nil
	}
	if r, ok := p.src.(formats.Removals); ok {
		p.removed, err = r.Removed()
	}
	return err
}

// compress decides what a level of zstd means: the files of a format that compresses them,
// else the raw pixels of each image.
func compress(o *Options, f formats.WritableFormat) error {
	switch {
	case o.Create.Zstd == 0 || f.Traits().Zstd:
		return nil
	case o.Recipe.Encode.Encoding == formats.Raw:
		o.Recipe.Zstd, o.Create.Zstd = o.Create.Zstd, 0
		return nil
	}
	return fmt.Errorf("compress: zstd is for tars and for --encode raw: JPEG and PNG are compressed already")
}

// choose puts the samples' indices into the order of writing.
func (p *Plan) selectSamples(only []string) error {
	h := newFingerprint()
	take, err := p.o.Patterns.Chooser()
	if err != nil {
		return err
	}
	for i := range p.src.Len() {
		if p.o.Limit > 0 && i >= p.o.Limit {
			break
		}
		if len(only) > 0 && !slices.Contains(only, p.splits[i]) {
			continue
		}
		in, err := p.src.Info(i)
		if err != nil {
			return err
		}
		if !take.File(in.Name()) {
			continue
		}
		if err := p.addSample(i, h); err != nil {
			return err
		}
	}
	p.fingerprint = h.sum()
	if p.shuffled() {
		p.o.Order.Arrange(p.order)
	}
	return nil
}

// take adds sample i of the source to the end of the order.
func (p *Plan) addSample(i int, h *fingerprint) error {
	in, err := p.src.Info(i)
	if err != nil {
		return err
	}
	ready := p.isReady(i)
	p.order = append(p.order, int32(i))
	p.Bytes += in.Size
	if ready {
		p.ExpectedBytes += in.Size
	} else {
		p.ExpectedBytes += p.estimate(in.Size)
	}
	h.sample(&in, p.splits[i], ready)
	return nil
}

// isReady says that sample i of the source is as it is to be written.
func (p *Plan) isReady(i int) bool { return p.ready != nil && p.ready(i) }

// shuffled says whether samples are written in a permutation: what cannot be read at
// random is, unless the user wants it otherwise.
func (p *Plan) shuffled() bool {
	if p.format.Traits().Ordered {
		return false
	}
	return p.o.Order.Shuffle || !p.o.Order.Set
}

// estimate is the size of an image of the output, from the size of its source.
func (p *Plan) estimate(size int64) int64 {
	r := p.o.Recipe
	if r.Passthrough() {
		return size
	}
	if r.Encode.Encoding == formats.Raw && r.Resize.W > 0 && r.Resize.H > 0 {
		channels := int64(3)
		if r.Color == preprocess.ColorGray {
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
	if err := p.countShards(); err != nil {
		return err
	}
	for i := range p.Shards {
		p.files = append(p.files, outputFile{end: ((i+1)*len(p.order) + p.Shards - 1) / p.Shards})
	}
	return nil
}

func (p *Plan) countShards() error {
	p.Shards = 1
	s := p.o.Shards
	asked := s.Size > 0 || s.Count > 0 || s.Min > 0
	if !p.format.Traits().Sharded {
		if asked {
			return fmt.Errorf("%s has no shards: leave the shard options out", p.format.Name())
		}
		return nil
	}
	sp, err := atrest.ParseShardPath(p.Path)
	if err != nil {
		return err
	}
	if !sp.Many() {
		if asked {
			return fmt.Errorf("%s is one file: write a pattern such as %s for shards", p.Path, patternFor(p.Path))
		}
		return nil
	}
	size := s.Size
	if size == 0 {
		size = DefaultShardSize
	}
	p.Shards = max(1, s.Min, int((p.ExpectedBytes+size-1)/size))
	if s.Count > 0 {
		p.Shards = s.Count
	}
	p.Shards = min(p.Shards, len(p.order))
	return nil
}

func patternFor(path string) string {
	dir, base := filepath.Split(path)
	stem, ext, _ := strings.Cut(base, ".")
	return dir + stem + "-%06d." + ext
}

// recipe is what decides the bytes, for Meta.Recipe.
func (p *Plan) recipe(only []string) map[string]string {
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
	m["source.format"] = p.src.Meta().Format
	if p.o.Split.spec != "" && p.o.Split.spec != "auto" {
		m["split"] = p.o.Split.spec
	}
	if len(only) > 0 {
		m["only"] = strings.Join(only, ",")
	}
	if !p.format.Traits().Ordered {
		m["order"] = Order{Shuffle: p.shuffled(), Seed: p.o.Order.Seed}.String()
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
	return m
}

// Kept is the number of files that stay as they are.
func (p *Plan) Kept() int {
	n := 0
	for _, f := range p.files {
		if f.keep {
			n++
		}
	}
	return n
}

// Len is the number of samples of the source that the plan takes.
func (p *Plan) Len() int { return len(p.order) }

// Head gives what the first n samples are, in the order of writing.
func (p *Plan) Head(n int) ([]formats.Info, error) {
	var head []formats.Info
	for _, i := range p.order[:min(n, len(p.order))] {
		in, err := p.src.Info(int(i))
		if err != nil {
			return nil, err
		}
		in.Split = p.splits[i]
		head = append(head, in)
	}
	return head, nil
}

// checkpointBytes is about how much is written between two checkpoints.
const defaultCheckpointBytes = 256 << 20

// checkpointEvery is the number of positions between two checkpoints. It depends on the
// plan alone, since where LMDB commits shows in its file.
func (p *Plan) checkpointInterval() int {
	each := max(1, p.ExpectedBytes/int64(max(1, len(p.order))))
	if p.o.Checkpoint > 0 {
		return int(min(max(p.o.Checkpoint/each, 1), 1<<16))
	}
	return int(min(max(defaultCheckpointBytes/each, 64), 1<<16))
}

// Show makes f the plan's progress function.
func (p *Plan) OnProgress(f func(Progress)) *Plan {
	p.o.Progress = f
	return p
}

// BegunBy tells who finds the dataset unfinished which command began it.
func (p *Plan) WithCommand(command string) *Plan {
	p.command = command
	return p
}

// SplitCounts are the splits of the samples that the plan takes.
func (p *Plan) SplitCounts() []formats.Split {
	counts := map[string]int{}
	for _, i := range p.order {
		counts[p.splits[i]]++
	}
	var list []formats.Split
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if name != "" {
			list = append(list, formats.Split{Name: name, Count: counts[name]})
		}
	}
	return list
}
