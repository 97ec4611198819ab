package dsconv

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Options say how a dataset is packed. The zero value copies the images' bytes into the format that
// the suffix of the destination names. The options of package convert are embedded, and set through
// their fields or as a whole:
//
//	var o dsconv.Options
//	o.Split = "train=0.9,val=0.1"
//
//	o := dsconv.Options{Format: "lmdb", Options: convert.Options{Split: "train=0.9,val=0.1"}}
type Options struct {
	convert.Options
	// Format is the name of the format: "lmdb", "hdf5", "shard" or "tfrecord"; "" goes by the suffix of
	// the destination. With Format the destination may be a folder, in which each split becomes a dataset.
	Format string
	// Source says how a folder of images is read. Its Patterns are those of Options if they are empty.
	Source folder.Config
	// Read says how a dataset of another program is read.
	Read formats.ReadOptions
	// Table is the file for the list of what was skipped, failed or irregular, as CSV.
	// "" is DST.report.csv beside the first dataset.
	Table string
}

// Pack converts src, a folder of images or a dataset, into the dataset dst: see PlanPack. The Report is
// never nil; with an error it has the work until then.
//
// When ctx ends, the error has ctx.Err() in its chain. A cancelled run keeps what was written; one that is
// killed, what was written a minute before. A later Pack with the same arguments goes on from there, and
// ends with the same bytes.
//
// The error is formats.ErrExists if a finished dataset is at dst and Options.Create.Replace is not set, and
// convert.ErrOptions if what was asked for is impossible; nothing is written then. Bad images are no error
// unless Options.OnError is convert.Fail: Report.Skipped lists them. More than Options.MaxSkipped of them are one, and so is
// what could not be read (formats.Unreadable): nothing is left out for that.
//
// Package formats/folder says which folders give the images labels and splits.
func Pack(ctx context.Context, src, dst string, o Options) (*Report, error) {
	p, err := PlanPack(ctx, []string{src}, dst, o)
	if err != nil {
		return &Report{}, err
	}
	r, err := p.Run(ctx)
	return r, errors.Join(err, p.Close())
}

// PackDataset is Pack for a Dataset that is open, perhaps one of the caller's own. It stays open.
// Options.Source is not used. An interrupted pack resumes if keys, sizes and times in Info are unchanged;
// a Dataset whose Read may change must implement formats.Identifier, or set Options.Discard.
//
// A formats.Growing is written as it comes. Where that cannot be, such as for a split by shares or an LMDB of keys that do not ascend,
// its samples are first collected in a file beside dst.
func PackDataset(ctx context.Context, src formats.Dataset, dst string, o Options) (*Report, error) {
	if g, ok := src.(formats.Growing); ok && ctx != nil {
		collected, err := mustCollect(g, dst, &o)
		if err != nil {
			return &Report{}, err
		}
		if collected {
			return packCollected(ctx, src, dst, o)
		}
	}
	p, err := planDataset(ctx, src, dst, o)
	if err != nil {
		return &Report{}, err
	}
	return p.Run(ctx)
}

// PackPlan is a pack that has not started yet.
type PackPlan struct {
	Datasets []*convert.Plan // what will be written
	Report   *Report         // what is known before an image is read; Found counts all images
	src      formats.Dataset
	options  Options
	folder   string // to create; "" if the destination is one dataset
	closed   bool
}

// PlanPack plans what Pack does, of several folders and archives as OpenSources opens them, and writes nothing. dst is the
// path of one dataset. If o.Format is set, dst may also be a folder: then each split becomes a dataset in it, such as
// dst/train.lmdb and dst/val.lmdb. It is created if it is missing; the folder above dst must exist. dst must not be in
// a source. Errors about what was asked for are convert.ErrOptions. The caller must close the plan.
func PlanPack(ctx context.Context, sources []string, dst string, o Options) (*PackPlan, error) {
	if ctx == nil {
		return nil, wrongOptions{errors.New("dsconv.PlanPack: the context is nil: give context.Background()")}
	}
	if err := o.sharePatterns(); err != nil {
		return nil, err
	}
	if o.Table != "" {
		if _, err := TablePath(o.Table, dst); err != nil {
			return nil, err
		}
	}
	ds, err := OpenSources(ctx, sources, o.Source, o.Read)
	if err != nil {
		return nil, err
	}
	p, err := planFrom(ctx, ds, sources, dst, o)
	if err != nil {
		return nil, errors.Join(err, ds.Close())
	}
	return p, nil
}

// checkLikeClasses returns an error if labels have classes that those of like, the schema of another dataset, do not have.
func checkLikeClasses(schema, like formats.Schema) error {
	for _, f := range like {
		k := schema.Index(f.Name)
		if k < 0 || len(schema[k].Classes) <= len(f.Classes) {
			continue
		}
		added := schema[k].Classes[len(f.Classes):]
		return fmt.Errorf("the field %s has classes that the other dataset does not have: %q: a model trained on that one does not know them", f.Name, added[:min(len(added), 5)])
	}
	return nil
}

// planFrom plans to pack ds, the dataset of the sources.
func planFrom(ctx context.Context, ds formats.Dataset, sources []string, dst string, o Options) (*PackPlan, error) {
	if err := checkOutside(dst, sources); err != nil {
		return nil, err
	}
	if err := checkListed(ds, o.OnError); err != nil {
		return nil, err
	}
	if f, ok := ds.(*folder.Dataset); ok {
		if err := f.Question(); err != nil {
			return nil, wrongOptions{err}
		}
	}
	if err := checkLikeClasses(ds.Meta().Schema, o.Source.Like); err != nil {
		return nil, wrongOptions{err}
	}
	p, err := planDataset(ctx, ds, dst, o)
	if err != nil {
		return nil, err
	}
	for _, one := range p.Datasets {
		if err := checkOutside(one.Path, sources); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// checkListed returns an error if ds is a list of images of which some cannot be packed, and errors end the pack.
func checkListed(ds formats.Dataset, onError convert.OnError) error {
	list, ok := ds.(*folder.Dataset)
	if !ok || !list.IsList() || onError != convert.Fail || len(list.Skips()) == 0 {
		return nil
	}
	first := list.Skips()[0]
	return fmt.Errorf("%d of the listed images cannot be packed, such as %s: %s. Nothing was packed, since errors end the pack; to skip them, use --on-error skip", len(list.Skips()), first.Path, first.Cause)
}

// sharePatterns makes the patterns of the source and of the conversion the same.
func (o *Options) sharePatterns() error {
	none := func(p formats.Patterns) bool { return len(p.Include)+len(p.Exclude) == 0 }
	switch {
	case none(o.Source.Patterns):
		o.Source.Patterns = o.Patterns
	case none(o.Patterns):
		o.Patterns = o.Source.Patterns
	case !reflect.DeepEqual(o.Patterns, o.Source.Patterns):
		return wrongOptions{errors.New("dsconv: Options.Patterns and Options.Source.Patterns differ: set only one of them")}
	}
	return nil
}

func planDataset(ctx context.Context, src formats.Dataset, dst string, o Options) (*PackPlan, error) {
	if ctx == nil || src == nil {
		return nil, wrongOptions{errors.New("dsconv.PackDataset: the context or the source is nil")}
	}
	var outs *outputList
	err := guard.Do(func() (err error) { // src may be anybody's
		outs, err = outputs(src, dst, &o)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &PackPlan{src: src, options: o, folder: outs.folder}
	if p.Report, err = NewReport(src, o.Patterns); err != nil {
		return nil, err
	}
	for _, out := range outs.list {
		if outs.folder != "" {
			o.Only = []string{out.split}
		}
		one, err := convert.New(ctx, src, outs.format, out.path, o.Options)
		if err != nil {
			return nil, err
		}
		p.Datasets = append(p.Datasets, one)
		p.Report.Found += one.Len()
	}
	p.countSplits(p.Report)
	return p, nil
}

// unusedSplit says that a column of the source has splits, where it is not used as the split.
func (p *PackPlan) unusedSplit() (list []string) {
	for k, name := range p.src.Meta().Columns {
		if !p.options.Split.FromSource() || !slices.Contains([]string{"split", "subset", "set", "partition"}, strings.ToLower(name)) {
			continue
		}
		in, err := p.src.Info(0)
		if err == nil && k < len(in.Columns) && formats.IsSplitWord(in.Columns[k]) {
			list = append(list, fmt.Sprintf("the column %s has %s and is a column of each sample, not its split: --split %s makes it the split", name, in.Columns[k], name))
		}
	}
	return list
}

// countSplits sets r.Splits and r.SplitsFrom.
func (p *PackPlan) countSplits(r *Report) {
	r.LabelNotices = append(r.LabelNotices, p.unusedSplit()...)
	counts := map[string]int{}
	for _, one := range p.Datasets {
		for _, s := range one.SplitCounts() {
			if counts[s.Name] == 0 {
				r.Splits = append(r.Splits, formats.Split{Name: s.Name})
			}
			counts[s.Name] += s.Count
		}
	}
	for i := range r.Splits {
		r.Splits[i].Count = counts[r.Splits[i].Name]
	}
	if len(r.Splits) == 0 {
		return
	}
	_, isFolder := p.src.(*folder.Dataset)
	switch split := p.options.Split; {
	case split.ByShares():
		r.SplitsFrom = SplitsFromShares
	case split.Column() != "":
		r.SplitsFrom = SplitsFromColumn
	case !isFolder:
		r.SplitsFrom = SplitsFromDataset
	case folder.IsDescription(p.options.Source.Labels):
		r.SplitsFrom = SplitsFromTable
	default:
		r.SplitsFrom = SplitsFromFolders
	}
}

// Run packs the datasets one after another, and writes the table of what was skipped. Datasets that an
// interrupted Pack of the same plan finished are not written again. The Report is never nil; with an
// error it has the work until then.
func (p *PackPlan) Run(ctx context.Context) (*Report, error) {
	if p.closed {
		return &Report{}, closedPlan{errors.New("dsconv.PackPlan.Run: the plan is closed: PlanPack makes another")}
	}
	r := p.Report.begin()
	if err := p.checkMissing(); err != nil {
		return r, err
	}
	table, err := TablePath(p.options.Table, p.Datasets[0].Path)
	if err == nil && p.folder != "" {
		err = createFolder(p.folder)
	}
	if err != nil {
		return r, err
	}
	done := p.finished()
	for i, one := range p.Datasets {
		if done[i] == nil && err == nil {
			done[i], err = one.Run(ctx)
		} else if done[i] == nil {
			r.Found += one.Len()
			r.NotReached += one.Len()
			continue
		}
		r.Add(done[i])
	}
	if err == nil {
		err = r.compareBytes(ctx, p.options.Memory)
	}
	return r, errors.Join(err, r.WriteTable(table, err))
}

// checkMissing returns an error if too many images of the source are missing, as when a disk is not mounted that links or a
// list lead to. What else the listing left out is no sign of that: a table may list few images of a folder.
func (p *PackPlan) checkMissing() error {
	f, ok := p.src.(*folder.Dataset)
	limit, err := doubts.ParseLimit(p.options.MaxSkipped)
	if !ok || err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(f.Skips()), func(k formats.Skip) bool { return !k.Missing })
	if len(missing) == 0 {
		return nil
	}
	return limit.Check(len(missing), p.Report.Found, missing[0].Path+": "+missing[0].Cause)
}

// closedPlan is a formats.ErrClosed; its text is the error's own.
type closedPlan struct{ error }

func (closedPlan) Is(target error) bool { return target == formats.ErrClosed }

// Close closes the source. A second Close does nothing.
func (p *PackPlan) Close() error {
	if p.src == nil || p.closed {
		return nil
	}
	p.closed = true
	return p.src.Close()
}

// finished returns the reports of the datasets that an interrupted run of the same plan finished, nil
// for the others. It is a new run, without such reports, if all are finished, or with Create.Replace if
// none is unfinished.
func (p *PackPlan) finished() []*convert.Report {
	done := make([]*convert.Report, len(p.Datasets))
	interrupted := false
	for i, one := range p.Datasets {
		unfinished := durable.IsDir(one.Path + sidecar.PartialSuffix)
		if r, ok := one.Finished(); ok && !unfinished {
			done[i] = r
			continue
		}
		interrupted = interrupted || unfinished || !p.options.Create.Replace
	}
	if !interrupted {
		clear(done)
	}
	return done
}
