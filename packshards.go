package dsconv

import (
	"context"
	"errors"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/shards"
)

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
