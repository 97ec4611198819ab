package convert

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// Version is a new version of a dataset.
type Version struct {
	// Meta is of the new version: schema, columns and recipe.
	Meta formats.Meta
	// Files are those of a sharded dataset, in order. With none all is written anew, in the
	// order and the shards that Options ask for.
	Files []File
	// Ready says of a sample of the source that it is as it is to be written: the recipe is
	// for the others. An error of a ready sample always ends the run, for it is in the dataset
	// already.
	Ready func(i int) bool
	// Change alters the samples of files that stay; see formats.Keeper.
	Change func(*formats.Info)
	// Base is what atrest.VersionAt told of the dataset before it was read: another version is not
	// replaced.
	Base string
}

// File is one file of a new version.
type File struct {
	Keep    bool    // it stays as it is
	Samples []int32 // what it is made of, if it does not: indices of the source, in order of writing
}

// Amend plans a new version of the dataset at path, which is there until the new one is
// complete. src has all samples of the new version but, if the caller likes, those of files
// that stay.
func NewVersion(src formats.Dataset, v Version, f formats.WritableFormat, path string, o Options) (*Plan, error) {
	o.Create.Replace = true
	p := &Plan{Path: path, Meta: v.Meta, src: src, format: f, o: o, ready: v.Ready, change: v.Change, base: v.Base, Samples: src.Len()}
	p.Meta.Format = f.Name()
	proc, err := preprocess.NewProcessor(o.Recipe, src.Meta().Schema)
	if err != nil {
		return nil, err
	}
	proc.Close()
	for i := range src.Len() {
		in, err := src.Info(i)
		if err != nil {
			return nil, err
		}
		p.splits = append(p.splits, in.Split)
	}
	if v.Files == nil {
		if err := p.selectSamples(nil); err != nil {
			return nil, err
		}
		if len(p.order) == 0 {
			return nil, fmt.Errorf("no sample to write to %s", path)
		}
		if err := p.planShards(); err != nil {
			return nil, err
		}
	} else if err := p.addFiles(v.Files); err != nil {
		return nil, err
	}
	p.interval = p.checkpointInterval()
	return p, p.copyHistory()
}

func (p *Plan) addFiles(files []File) error {
	h := newFingerprint()
	for _, f := range files {
		for _, i := range f.Samples {
			if err := p.addSample(int(i), h); err != nil {
				return err
			}
		}
		p.files = append(p.files, outputFile{keep: f.Keep, end: len(p.order)})
		h.file(f.Keep, len(p.order))
	}
	p.fingerprint, p.Shards = h.sum(), len(files)
	return nil
}

// file is one file of the output: it stays, or it has the positions up to end that the one
// before does not have.
type outputFile struct {
	keep bool
	end  int
}

// fileOf is the file that position pos belongs to.
func (p *Plan) fileOf(pos, from int) int {
	for p.files[from].keep || pos >= p.files[from].end {
		from++
	}
	return from
}
