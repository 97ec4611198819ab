package dsconv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/shards"
)

// ShardPlanOptions are the options of PlanShards that are not those of Pack.
type ShardPlanOptions struct {
	// Program is the version of dsconv that makes the plan. PackShard by another one is an error.
	Program string
	// Discard drops an earlier plan in the file, or for the same output, with the shards that were packed by it.
	Discard bool
}

// PlanShards plans what PackSources does, for any number of processes that pack the shards: see package shards. It writes
// the plan to file, and the list of the samples beside it, and creates the folder DST.shards beside each dataset. All
// processes must see these, and the sources, at the same paths.
//
// dst is a pattern of tars or TFRecords, such as out/train-%06d.tar, or, with Options.Format, a folder for a dataset of each
// split. Options that say how a process works, such as Workers, are not used. Nothing changes if the plan is there
// already; the error is formats.ErrExists if another one is.
func PlanShards(ctx context.Context, sources []string, dst, file string, o Options, po ShardPlanOptions) (*shards.Plan, error) {
	if ctx == nil {
		return nil, errNilContext("PlanShards")
	}
	if file == "" {
		return nil, wrongOptions{errors.New("dsconv.PlanShards: give the file for the plan, such as plan.json")}
	}
	if err := checkOutside(file, sources); err != nil {
		return nil, err
	}
	if o.Recipe.Decoder == preprocess.DecoderGPU {
		return nil, wrongOptions{errors.New("shards cannot be packed with decoder gpu: the pixels depend on the card, which other processes may not have; pack on one machine, or leave it out")}
	}
	recorded, absolute, err := recordOptions(sources, &o)
	if err != nil {
		return nil, err
	}
	if dst, err = filepath.Abs(dst); err != nil {
		return nil, err
	}
	recorded.Destination = dst
	p, err := PlanPackSources(ctx, absolute, dst, o)
	if err != nil {
		return nil, err
	}
	plan, err := p.shards(ctx, file, recorded, absolute, po)
	return plan, errors.Join(err, p.Close())
}

// recordOptions returns the options as a plan has them, and the sources with absolute paths. o gets absolute paths too.
func recordOptions(sources []string, o *Options) (recorded shards.Options, absolute []string, err error) {
	if err := o.sharePatterns(); err != nil {
		return recorded, nil, err
	}
	recorded = shards.OfPack(&o.Options)
	recorded.Folder, recorded.Format, recorded.Read = shards.OfFolder(&o.Source), o.Format, o.Read
	recorded.Augment = o.Augment.recorded()
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
			if source.Name != "" {
				path = source.Name + "=" + path
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
		if twice, err = json.Marshal(&again); err == nil && !reflect.DeepEqual(b, twice) {
			err = errors.New("an option cannot be written to a plan")
		}
	}
	if err != nil {
		return recorded, nil, wrongOptions{fmt.Errorf("dsconv.PlanShards: %w", err)}
	}
	return recorded, absolute, nil
}

// recorded returns the copies as a plan has them.
func (a *Augmentation) recorded() shards.AugmentOptions {
	return shards.AugmentOptions{Ops: a.Ops, Copies: a.Copies, Seed: a.Seed, Only: a.Only}
}

// shards writes the plan of the shards.
func (p *PackPlan) shards(ctx context.Context, file string, o shards.Options, sources []string, po ShardPlanOptions) (*shards.Plan, error) {
	found, err := json.Marshal(p.Report)
	if err != nil {
		return nil, fmt.Errorf("dsconv.PlanShards: %w", err)
	}
	plan := &shards.Plan{Program: po.Program, Sources: sources, Options: o, Found: found}
	if f, ok := p.src.(*folder.Dataset); ok && p.options.Copies.Count == 0 {
		if root, ok := f.ListedRoot(); ok {
			if plan.Root, err = filepath.Abs(root); err != nil {
				return nil, err
			}
		}
	}
	if plan.Root == "" {
		for _, source := range sources {
			if source == "-" {
				return nil, wrongOptions{errors.New("a list on standard input is not there for the processes of the shards: write it to a file")}
			}
		}
	}
	if p.folder != "" {
		if err := createFolder(p.folder); err != nil {
			return nil, err
		}
	}
	return plan, shards.Write(ctx, plan, file, p.src, p.Datasets, po.Discard)
}

// ShardOptions are the options of PackShard: shards.PackOptions, whose Replan is not used.
type ShardOptions struct {
	shards.PackOptions
	// Program is the version of dsconv; "" is not compared with the plan's.
	Program string
}

// PackShard packs a shard of the plan in file, unless it is there: see shards.Plan.Pack.
func PackShard(ctx context.Context, file string, shard int, o ShardOptions) (*shards.Result, error) {
	if ctx == nil {
		return nil, errNilContext("PackShard")
	}
	p, err := shards.Read(file)
	if err != nil {
		return nil, err
	}
	if o.Program != "" {
		if err := p.CheckProgram(o.Program); err != nil {
			return nil, err
		}
	}
	o.Replan = replan
	return p.Pack(ctx, Formats(), shard, o.PackOptions)
}

// MissingShards returns the numbers of the shards that are not there yet: see shards.Plan.Missing.
func MissingShards(file string) ([]int, error) {
	p, err := shards.Read(file)
	if err != nil {
		return nil, err
	}
	return p.Missing(Formats())
}

// CommitShards publishes the datasets of the plan in file: see shards.Plan.Commit. It writes the table of skipped images
// and returns the Report that Pack would return.
func CommitShards(ctx context.Context, file string, o shards.CommitOptions) (*Report, *shards.Commitment, error) {
	if ctx == nil {
		return &Report{}, nil, errNilContext("CommitShards")
	}
	p, err := shards.Read(file)
	if err != nil {
		return &Report{}, nil, err
	}
	r, err := PlannedReport(p)
	if err != nil {
		return r, nil, err
	}
	table, err := TablePath(p.Options.Report, p.Datasets[0].Path)
	if err != nil {
		return r, nil, err
	}
	o.Removed = removed
	c, err := p.Commit(ctx, Formats(), o)
	if err != nil {
		return r, c, err
	}
	for _, one := range c.Datasets {
		r.Add(one)
	}
	if c.Earlier {
		return r, c, nil
	}
	return r, c, r.WriteTable(table, nil)
}

// PlannedReport returns what a plan of shards has about its sources: the Report before an image is read.
func PlannedReport(p *shards.Plan) (*Report, error) {
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
	o := Options{Options: p.Options.Convert(), Format: p.Options.Format, Source: p.Options.Folder.Config(), Read: p.Options.Read}
	o.Source.Patterns = p.Options.Folder.Patterns
	a := p.Options.Augment
	o.Augment = Augmentation{Ops: a.Ops, Copies: a.Copies, Seed: a.Seed, Only: a.Only}
	planned, err := PlanPackSources(ctx, p.Sources, p.Options.Destination, o)
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
