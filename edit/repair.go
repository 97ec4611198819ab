package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/verify"
)

// RepairOptions are the options of Repair. The zero value is usual.
type RepairOptions struct {
	Options
	// Found is what verify.Run found, without its Quick; nil lets Repair call it.
	Found *verify.Report
}

// RepairReport is the result of Repair.
type RepairReport struct {
	Report
	Repaired `json:"what"`
}

// Repaired is what Repair found. With Options.DryRun nothing was changed.
type Repaired struct {
	// Description names the files that RepairDescription restored.
	Description []string `json:"description,omitempty"`
	Restored    []string `json:"restored"` // keys of samples taken from the source
	Lost        []Lost   `json:"lost"`     // samples that the source cannot restore; if there are any, nothing was changed
	// Rewritten are the data files that are written again; nil means all, empty only the metadata.
	Rewritten []string `json:"files"`
	// Forgotten is the number of samples in the list of samples removed by hand, if that list is
	// damaged. No source has it, so the repaired dataset lacks it.
	Forgotten int `json:"forgotten,omitempty"`
}

// Lost is a damaged sample that the source cannot restore.
type Lost struct {
	Key   string `json:"key"`
	Cause string `json:"cause"`
}

// Repair restores the dataset at path as it was before the damage. Damaged files are written again, from
// their undamaged samples and from src for the others: the images that the dataset was packed from, or any
// dataset with the same samples. It must give the same bytes by the dataset's recipe. If it does not for
// all samples, the report lists them as Lost, and nothing is changed. src stays open.
//
// A dataset without damage is not written, unless the names in its index files for other programs are
// outdated (verify.Report's Notes). With an error of the run comes a report.
func Repair(ctx context.Context, reg formats.Registry, path string, src formats.Dataset, o RepairOptions) (*RepairReport, error) {
	if err := o.check(ctx, "edit.Repair", path); err != nil {
		return nil, err
	}
	found := o.Found
	if found == nil {
		var err error
		if found, err = verify.Run(ctx, reg, path, verify.Options{Workers: o.Workers}); err != nil {
			return nil, err
		}
	}
	t, err := openDamaged(reg, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	r := &repairer{target: t, src: src}
	var p *convert.Plan
	if !found.Sound() || len(found.Notes) > 0 {
		if p, err = r.plan(ctx, found, o.converting()); err != nil {
			return nil, err
		}
	}
	done, err := finish(ctx, p, t.format, path, t.Len(), &o.Options)
	done.UpToDate = done.UpToDate && len(r.found.Lost) == 0
	return &RepairReport{Report: *done, Repaired: r.found}, err
}

// plan plans the dataset as it was. The plan is nil if samples are lost.
func (r *repairer) plan(ctx context.Context, found *verify.Report, o convert.Options) (_ *convert.Plan, err error) {
	t := r.target
	if r.recipe, _, err = recipeOf(t.Meta().Recipe, t.format.Traits().Zstd); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	v := t.subset(func(int) bool { return true })
	v.keepStats = true
	if err := r.selectFiles(v, found.Blocks, found.NoTable); err != nil {
		return nil, err
	}
	if err := r.copyRemoved(v); err != nil {
		return nil, err
	}
	if err := sameFields(t.Meta().Schema, r.src.Meta().Schema); err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	from, err := withRenamedClasses(r.src.Meta(), t.Meta().Renamed)
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	v.union.sources = append(v.union.sources, newUnionSourceAs(r.src, from, false, &v.union.meta), newUnionSourceAs(r.src, from, true, &v.union.meta))
	if err := r.restoreAll(ctx, v, &o); err != nil {
		return nil, err
	}
	if len(r.found.Lost) > 0 {
		return nil, nil
	}
	o.OnError = convert.Fail
	return v.plan(ctx, o)
}

type repairer struct {
	target  *target
	src     formats.Dataset
	recipe  preprocess.Recipe
	suspect []int32 // samples in damaged files
	mu      sync.Mutex
	found   Repaired
}

// selectFiles decides which files are written again, and which samples are in them.
func (r *repairer) selectFiles(v *version, damage []formats.Damage, all bool) error {
	if !r.target.hasShards() {
		if !all && r.target.inOneFile() && !slices.ContainsFunc(r.target.Meta().Files, func(name string) bool { return isDamaged(name, damage) }) {
			v.keepData, r.found.Rewritten = true, []string{}
			return nil
		}
		for i := range r.target.Len() {
			r.suspect = append(r.suspect, int32(i))
		}
		v.rewriteAll = true
		return nil
	}
	samples, err := r.target.samplesByFile()
	if err != nil {
		return err
	}
	v.rewriteFiles, r.found.Rewritten = map[int]bool{}, []string{}
	for i, name := range r.target.Meta().Files {
		if !all && !isDamaged(name, damage) {
			continue
		}
		v.rewriteFiles[i] = true
		r.found.Rewritten = append(r.found.Rewritten, name)
		r.suspect = append(r.suspect, samples[i]...)
	}
	return nil
}

// copyRemoved copies the list of samples removed by hand.
func (r *repairer) copyRemoved(v *version) (err error) {
	v.union.removed, err = formats.RemovedFrom(r.target.Dataset)
	if errors.Is(err, formats.ErrDamaged) {
		r.found.Forgotten, err = r.target.Meta().History.Removed, nil
	}
	return err
}

func isDamaged(file string, damage []formats.Damage) bool {
	return slices.ContainsFunc(damage, func(d formats.Damage) bool { return filepath.ToSlash(d.File) == file })
}

// restoreAll reads the samples in damaged files, and restores the damaged ones from the source.
func (r *repairer) restoreAll(ctx context.Context, v *version, o *convert.Options) error {
	var lost []int32
	err := parallel.Each(ctx, len(r.suspect), o.Workers, func() (func(int) error, func(), error) {
		var s formats.Sample
		return func(k int) error {
			i := r.suspect[k]
			err := guard.Do(func() error { return v.union.Read(int(i), &s) })
			if err == nil {
				return nil
			}
			if endsRun(err) && !errors.Is(err, syscall.EIO) { // that says that the disk has lost these bytes
				return fmt.Errorf("%s: %w", r.target.path, err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			lost = append(lost, i)
			return nil
		}, func() {}, nil
	})
	if err != nil {
		return err
	}
	infos := make([]formats.Info, len(lost))
	for k, i := range lost {
		if infos[k], err = r.target.Info(int(i)); err != nil {
			return err
		}
	}
	at, err := formats.Locate(r.src, infos)
	if err != nil {
		return err
	}
	gpu, closeGPU, err := r.openGPU(o, len(lost))
	if err != nil {
		return err
	}
	defer closeGPU()
	err = parallel.Each(ctx, len(lost), o.Workers, func() (func(int) error, func(), error) {
		proc, err := preprocess.NewProcessor(r.recipe, r.src.Meta().Schema)
		if err != nil {
			return nil, nil, err
		}
		p := &processor{ctx: ctx, gpu: gpu, Processor: proc}
		return func(k int) error { return r.restoreOne(&v.union.samples[lost[k]], &infos[k], at[k], p) }, proc.Close, nil
	})
	slices.Sort(r.found.Restored)
	slices.SortFunc(r.found.Lost, func(a, b Lost) int { return cmp.Compare(a.Key, b.Key) })
	return err
}

// processor processes samples of the source for one goroutine.
type processor struct {
	*preprocess.Processor
	ctx     context.Context
	gpu     *preprocess.GPUDecoder // nil if the recipe does not decode on a GPU
	decoded preprocess.Decoded
	s, out  formats.Sample
	failed  error // of the GPU, not of a sample
}

// process processes p.s to p.out.
func (p *processor) process() error {
	if p.gpu != nil {
		if p.failed = p.gpu.Decode(p.ctx, &p.s, &p.decoded); p.failed != nil {
			return p.failed
		}
	}
	return p.ProcessDecoded(&p.s, &p.decoded, &p.out)
}

// openGPU returns what decodes lost samples on a GPU, nil if the recipe does not or nothing is lost.
func (r *repairer) openGPU(o *convert.Options, lost int) (_ *preprocess.GPUDecoder, closeGPU func(), err error) {
	switch {
	case lost == 0 || r.recipe.Decoder != preprocess.DecoderGPU:
		return nil, func() {}, nil
	case o.GPU == nil:
		return nil, nil, fmt.Errorf("%s: %w", r.target.path, convert.ErrNoGPU)
	}
	if err := r.recipe.Device.Check(o.GPU.Info()); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.target.path, err)
	}
	b, err := o.GPU.NewBatcher(gpudecode.BatcherConfig{Bytes: preprocess.MaxGPUResult, Threads: o.Workers, Fast: r.recipe.Decode == codec.Fast})
	if err != nil {
		return nil, nil, err
	}
	d, err := preprocess.NewGPUDecoder(r.recipe, r.src.Meta().Schema, b)
	if err != nil {
		b.Close()
		return nil, nil, err
	}
	return d, b.Close, nil
}

// restoreOne sets to to sample at of the source, or records that the damaged sample in is lost.
func (r *repairer) restoreOne(to *unionSample, in *formats.Info, at int, p *processor) error {
	var it unionSample
	err := guard.Do(func() (err error) {
		it, err = r.restore(p, in, at)
		return err
	})
	// An error that is not the sample's fault must not make the user remove the sample.
	if panicked := new(guard.PanicError); endsRun(err) || errors.As(err, &panicked) || p.failed != nil {
		return fmt.Errorf("key %q: %w", in.Key, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.found.Lost = append(r.found.Lost, Lost{in.Key, err.Error()})
		return nil
	}
	r.found.Restored = append(r.found.Restored, in.Key)
	*to = it
	return nil
}

// restore builds the sample in from sample at of the source.
func (r *repairer) restore(p *processor, in *formats.Info, at int) (unionSample, error) {
	if at < 0 {
		return unionSample{}, errors.New("it is not in the source")
	}
	it, s := unionSample{source: 1, index: int32(at), change: r.manifestChange(in)}, &p.s
	if err := r.src.Read(at, s); err != nil {
		return it, err
	}
	schema := r.src.Meta().Schema
	if s.Checksum != [16]byte{} && s.Checksum == in.Checksum && checksum.SampleChecksum(schema, s) == in.Checksum {
		it.source = 2
		return it, nil
	}
	if err := p.process(); err != nil {
		return it, err
	}
	switch {
	case checksum.SampleChecksum(schema, &p.out) == in.Checksum:
		return it, nil
	case p.gpu != nil: // which may have left the image to the CPU then, for lack of memory
		return it, errors.New("the source has changed since it was packed, or the GPU decodes it otherwise than then")
	}
	return it, errors.New("the source has changed since it was packed")
}

// manifestChange returns a change to the values that the manifest has for a sample.
func (r *repairer) manifestChange(in *formats.Info) *change {
	c := &change{split: &in.Split, source: &in.Source, mark: &in.Provenance, columns: map[int]string{}}
	for j, text := range in.Columns {
		c.columns[j] = text
	}
	schema := r.target.Meta().Schema
	if l := schema.LabelIndex(); l >= 0 && schema[l].Kind == formats.Label {
		c.setLabel(l, in.Label)
	}
	return c
}

// RepairDescription restores dataset.json and the table of checksums of the dataset at path, without which nothing opens. It
// returns the names of the files that it wrote again, or would write with dryRun; none if the dataset opens. A flipped bit is
// found. A table that is missing, or has more damage, is made of the files as they are, if the dataset then opens; rebuilt is set. The
// index vouches for the manifest then, and verify.Run compares each sample with the checksum that it was written with.
//
// Repair and verify.Run need what this restores. Formats of one file, HDF5, have no such files.
func RepairDescription(ctx context.Context, reg formats.Registry, path string, dryRun bool) (names []string, rebuilt bool, err error) {
	f, err := reg.ByExistingPath(path)
	if err != nil {
		return nil, false, err
	}
	if _, ok := f.(formats.WritableFormat); !ok {
		return nil, false, nil
	}
	if err := opens(f, path); !errors.Is(err, formats.ErrDamaged) {
		return nil, false, nil // it opens, or another error than this function's is in the way
	}
	if _, err := staging.Recover(path); err != nil {
		return nil, false, err
	}
	dir := path
	if p, err := sharded.ParseShardPath(path); err == nil && !durable.IsDir(path) {
		dir = p.Sidecar()
	}
	if !durable.IsDir(dir) {
		return nil, false, nil
	}
	done, err := sidecar.Mend(ctx, dir, dryRun)
	if err != nil {
		return nil, false, fmt.Errorf("%s: the dataset's description is lost: pack it again: %w", path, err)
	}
	if done.Rebuilt && !dryRun {
		if err := opens(f, path); err != nil {
			return nil, false, errors.Join(fmt.Errorf("%s: the table of checksums is lost, and nothing else tells whether the description is what was written: pack it again: %w", path, err),
				os.Remove(filepath.Join(dir, checksum.ChecksumsName)))
		}
	}
	return done.Names, done.Rebuilt, nil
}

// opens returns the error of opening the dataset at path.
func opens(f formats.Format, path string) error {
	ds, err := f.Open(path)
	if err != nil {
		return err
	}
	return ds.Close()
}
