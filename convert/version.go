package convert

import (
	"cmp"
	"context"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// Version describes a new version of a dataset.
type Version struct {
	// Meta has the schema, columns and recipe of the new version.
	Meta formats.Meta
	// Files are the files of a sharded dataset, in order. If it is nil, everything is written
	// again, in the order and the shards that Options ask for.
	Files []File
	// Ready reports whether sample i of the source is copied without processing; the recipe
	// applies to the others. An error of a ready sample always ends the run, because the sample
	// is in the dataset already.
	Ready func(i int) bool
	// Fallback makes sample i of the source, whose new image is bad, the ready sample that the version before has. It
	// returns false if that has none. It may be nil.
	Fallback func(i int) bool
	// Change edits the samples of files that are kept; see formats.FileReuser.
	Change func(*formats.Info)
	// Base is what staging.VersionAt returned before the dataset was read. Another version is not
	// replaced.
	Base string
}

// File is one file of a new version.
type File struct {
	Keep    bool    // the file is kept as it is
	Samples []int32 // if not kept: the file's samples, as indices of the source in the order of writing
}

// NewVersion plans a new version of the dataset at path, which stays readable until the new one
// is complete. src must have all samples of the files that are written; those of kept files may
// be missing.
func NewVersion(ctx context.Context, src formats.Dataset, v Version, f formats.WritableFormat, path string, o Options) (*Plan, error) {
	if err := checkArguments(ctx, src, f, path); err != nil {
		return nil, asOptions(err)
	}
	if err := o.validate(); err != nil {
		return nil, optionError{err}
	}
	o.Create.Replace, o.Create.Memory = true, cmp.Or(o.Create.Memory, o.Memory)
	p := &Plan{
		Path: path, Meta: v.Meta, src: src, format: f, o: o, ready: v.Ready, change: v.Change, base: v.Base, Samples: src.Len(), version: true,
		splits: &Splits{}, counts: map[string]int{}, limit: o.limit(), fallback: v.Fallback, saveEvery: time.Minute,
	}
	p.Meta.Format, p.o.Stats = f.Name(), false
	proc, err := preprocess.NewProcessor(o.Recipe, src.Meta().Schema)
	if err != nil {
		return nil, err
	}
	proc.Close()
	if v.Files == nil {
		if err := p.selectSamples(ctx); err != nil {
			return nil, err
		}
		if err := p.planShards(); err != nil {
			return nil, err
		}
	} else if err := p.addFiles(v.Files); err != nil {
		return nil, err
	}
	if err := p.setVersionGPU(); err != nil {
		return nil, err
	}
	p.interval = p.checkpointInterval()
	return p, p.copyHistory(src)
}

func (p *Plan) addFiles(files []File) error {
	h := newFingerprint()
	for _, f := range files {
		for _, i := range f.Samples {
			if err := p.addSample(int(i), h); err != nil {
				return err
			}
		}
		p.files = append(p.files, outputFile{keep: f.Keep, end: p.Len()})
		h.file(f.Keep, p.Len())
	}
	p.fingerprint, p.sourceList, p.Shards = h.sum(), h.sourceList(), len(files)
	return nil
}

// outputFile is one file of the output. It is kept, or it has the positions from the end of the
// previous file to its own end.
type outputFile struct {
	keep bool
	end  int
}

// fileOf returns the index of the file that has position pos, at least from.
func (p *Plan) fileOf(pos, from int) int {
	switch {
	case p.perFile > 0:
		return pos / p.perFile
	case p.growing != nil:
		return 0
	}
	for p.files[from].keep || pos >= p.files[from].end {
		from++
	}
	return from
}
