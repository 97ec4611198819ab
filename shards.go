package dsconv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/shards"
	"github.com/dsconv/dsconv/preprocess"
)

// ShardPlanOptions are the options of PlanShards that Pack has not.
type ShardPlanOptions struct {
	// Program is the version of the program that makes the plan. PackShard with another one is an error.
	Program string
	// Discard drops another plan in the file, or for the same output, with the shards that were packed by it.
	Discard bool
}

// ShardPlan is a plan of shards.
type ShardPlan struct {
	File     string           `json:"plan"` // the absolute path
	ID       string           `json:"id"`   // plans with equal IDs make equal shards
	Samples  int              `json:"samples"`
	Shards   int              `json:"shards"` // of all datasets; they are numbered from 0, those of the first dataset first
	Datasets []PlannedDataset `json:"datasets"`
	// Report is what is known about the sources before an image is read.
	Report *Report `json:"-"`
}

// PlannedDataset is a dataset that a plan of shards makes.
type PlannedDataset struct {
	Path    string `json:"path"` // absolute
	Samples int    `json:"samples"`
	Shards  int    `json:"shards"`
}

// PlanShards plans what a pack of the sources to dst does, for any number of processes that pack the shards, on any number
// of machines that share a file system:
//
//	plan, err := dsconv.PlanShards(ctx, []string{"images"}, "out/train-%06d.tar", "plan.json", o, dsconv.ShardPlanOptions{})
//	...
//	result, err := dsconv.PackShard(ctx, "plan.json", 7, dsconv.ShardOptions{}) // and 0 to plan.Shards-1, anywhere
//	...
//	done, err := dsconv.CommitShards(ctx, "plan.json", dsconv.CommitOptions{})
//
// It writes the plan to file and the list of the samples beside it, and creates the folder DST.shards beside each dataset.
// All processes must see these, and the sources, at the same paths. The dataset is the one that Pack makes, byte for byte.
//
// dst is a pattern of tars or TFRecords, such as out/train-%06d.tar, or, with Options.Format, a folder for a dataset of each
// split. Options that say how a process works, such as Workers, are not used. The same call again changes nothing; the
// error is formats.ErrExists if another plan is in the file, or a dataset at dst, which shards never replace.
func PlanShards(ctx context.Context, sources []string, dst, file string, o Options, po ShardPlanOptions) (*ShardPlan, error) {
	if file == "" {
		return nil, wrongOptions{errors.New("dsconv.PlanShards: give the file for the plan, such as plan.json")}
	}
	if err := checkOutside(file, sources); err != nil {
		return nil, err
	}
	if o.Create.Replace {
		return nil, wrongOptions{errors.New("dsconv.PlanShards: Options.Create.Replace is set, and shards replace no dataset: choose another path")}
	}
	if o.Recipe.Decoder == preprocess.DecoderGPU {
		return nil, wrongOptions{errors.New("shards cannot be packed with decoder gpu: the pixels depend on the card, which other processes may not have; pack on one machine, or leave it out")}
	}
	if f, err := writableFormat(dst, o.Format); err == nil {
		if err := shards.CheckFormat(f, dst); err != nil {
			return nil, err
		}
	}
	recorded, absolute, err := recordOptions(sources, &o)
	if err != nil {
		return nil, err
	}
	if dst, err = filepath.Abs(dst); err != nil {
		return nil, err
	}
	recorded.Destination = dst
	p, err := PlanPack(ctx, absolute, dst, o)
	if err != nil {
		return nil, err
	}
	plan, err := p.shards(ctx, file, recorded, absolute, po)
	if err = errors.Join(err, p.Close()); err != nil {
		return nil, err
	}
	to := &ShardPlan{File: plan.File(), ID: plan.ID, Shards: plan.Shards}
	for _, d := range plan.Datasets {
		to.Samples += d.Samples
		to.Datasets = append(to.Datasets, PlannedDataset{d.Path, d.Samples, d.Shards})
	}
	to.Report, err = plannedReport(plan)
	return to, err
}

// recordOptions returns the options as a plan has them, and the sources with absolute paths. The patterns of o become those
// of its source too.
func recordOptions(sources []string, o *Options) (recorded shards.Options, absolute []string, err error) {
	if err := o.sharePatterns(); err != nil {
		return recorded, nil, err
	}
	recorded = shards.Options{Options: o.Options, Folder: o.Source, Format: o.Format, Read: o.Read}
	recorded.MakeAbsolute()
	if o.Table != "" {
		if recorded.Report, err = filepath.Abs(o.Table); err != nil {
			return recorded, nil, err
		}
	}
	for _, text := range sources {
		for _, source := range SplitSources(text) {
			if source.Path == "-" {
				absolute = append(absolute, source.Path)
				continue
			}
			path, err := filepath.Abs(source.Path)
			if err != nil {
				return recorded, nil, err
			}
			if source.name != "" {
				path = source.name + "=" + path
			}
			absolute = append(absolute, path)
		}
	}
	// What is read back from the plan must be what was asked for.
	b, err := json.Marshal(&recorded)
	var again shards.Options
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err == nil {
		var twice []byte
		if twice, err = json.Marshal(&again); err == nil && !bytes.Equal(b, twice) {
			err = errors.New("an option cannot be written to a plan")
		}
	}
	if err != nil {
		return recorded, nil, wrongOptions{fmt.Errorf("dsconv.PlanShards: %w", err)}
	}
	return again, absolute, nil
}

// shards writes the plan of the shards.
func (p *PackPlan) shards(ctx context.Context, file string, o shards.Options, sources []string, po ShardPlanOptions) (*shards.Plan, error) {
	if err := p.checkMissing(); err != nil {
		return nil, err
	}
	found, err := json.Marshal(p.Report)
	if err != nil {
		return nil, fmt.Errorf("dsconv.PlanShards: %w", err)
	}
	plan := &shards.Plan{Program: po.Program, Sources: sources, Options: o, Found: found}
	if f, ok := p.src.(*folder.Dataset); ok {
		if root, ok := f.ListedRoot(); ok {
			if plan.Root, err = filepath.Abs(root); err != nil {
				return nil, err
			}
		}
	}
	if plan.Root == "" && slices.Contains(sources, "-") {
		return nil, wrongOptions{errors.New("a list on standard input is not there for the processes of the shards: write it to a file")}
	}
	if p.folder != "" {
		if err := createFolder(p.folder); err != nil {
			return nil, err
		}
	}
	return plan, shards.Write(ctx, plan, file, p.src, p.Datasets, po.Discard)
}

// plannedReport returns what a plan has about its sources: the Report before an image is read.
func plannedReport(p *shards.Plan) (*Report, error) {
	r := &Report{}
	if err := json.Unmarshal(p.Found, r); err != nil {
		return r, fmt.Errorf("%s: %w: what was found in the sources cannot be read", p.File(), formats.ErrDamaged)
	}
	r.Listed = append(r.Listed, r.Skipped...) // only images that the listing skipped are known before a pack
	r.Found = len(r.Listed)
	return r, nil
}

// replan makes the plans of the plan's datasets again from the sources.
func replan(ctx context.Context, p *shards.Plan) ([]*convert.Plan, io.Closer, error) {
	o := Options{Options: p.Options.Options, Format: p.Options.Format, Source: p.Options.Folder, Read: p.Options.Read}
	planned, err := PlanPack(ctx, p.Sources, p.Options.Destination, o)
	if err != nil {
		return nil, nil, err
	}
	if f, ok := planned.src.(*folder.Dataset); ok {
		f.Freeze()
	}
	if len(planned.Datasets) != len(p.Datasets) {
		return nil, nil, errors.Join(fmt.Errorf("%w: the sources have other splits than the plan", formats.ErrChanged), planned.Close())
	}
	return planned.Datasets, planned, nil
}

// removed returns the samples that were removed from the sources by hand.
func removed(ctx context.Context, p *shards.Plan, d int) ([]formats.RemovedSample, error) {
	plans, closer, err := replan(ctx, p)
	if err != nil {
		return nil, err
	}
	return plans[d].Removed(), closer.Close()
}

// ShardOptions are the options of PackShard. The zero value is usual.
type ShardOptions = shards.PackOptions

// ShardResult is the result of PackShard.
type ShardResult = shards.Result

// PackShard packs a shard of the plan in file, unless it is there, which is no error. It may be called by several processes
// at once, and again after one was killed: the first attempt that is complete counts. An attempt that ends with an error
// removes what it wrote; that of a process that was killed stays until CommitShards. Bad images are no error unless
// Options.OnError was convert.Fail. The error is formats.ErrChanged, and names a file, if the sources are not those of the plan.
func PackShard(ctx context.Context, file string, shard int, o ShardOptions) (*ShardResult, error) {
	p, err := shards.Read(file)
	if err != nil {
		return nil, err
	}
	return p.Pack(ctx, Formats(), shard, o, replan)
}

// MissingShards returns the numbers of the shards that are not there yet, none if the plan was committed. Shards that are
// damaged are there: CommitShards finds them.
func MissingShards(ctx context.Context, file string) ([]int, error) {
	p, err := shards.Read(file)
	if err != nil {
		return nil, err
	}
	return p.Missing(ctx, Formats())
}

// CommitOptions are the options of CommitShards. The zero value is usual.
type CommitOptions = shards.CommitOptions

// CommittedShards is the result of CommitShards.
type CommittedShards struct {
	*Report          // as Pack returns it
	Sources []string // those of the plan
	Earlier bool     // the plan was committed before
	// Left is why a folder DST.shards was not removed: it has files that dsconv did not write. Nil if all were.
	Left error
}

// CommitShards checks all shards of the plan in file, publishes the datasets, writes the table of skipped images, and removes
// the folders DST.shards. No sample is copied: the data files are linked, where the file system can do that. Nothing is
// published unless all shards are there and whole; the error names those that are not. It may be repeated after a kill or an
// error, and after it is done. formats.ErrLocked if another process commits. The result is never nil.
func CommitShards(ctx context.Context, file string, o CommitOptions) (*CommittedShards, error) {
	to := &CommittedShards{Report: &Report{}}
	p, err := shards.Read(file)
	if err != nil {
		return to, err
	}
	to.Sources = p.Sources
	if to.Report, err = plannedReport(p); err != nil {
		return to, err
	}
	table, err := TablePath(p.Options.Report, p.Datasets[0].Path)
	if err != nil {
		return to, err
	}
	c, err := p.Commit(ctx, Formats(), o, removed)
	if err != nil {
		return to, err
	}
	to.Earlier, to.Left = c.Earlier, c.Left
	for _, one := range c.Datasets {
		to.Add(one)
	}
	if c.Earlier {
		if durable.Exists(table) {
			to.Table = table
		}
		return to, nil
	}
	return to, errors.Join(to.compareBytes(ctx, o.Memory), to.WriteTable(table, nil))
}
