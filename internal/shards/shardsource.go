package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// planShard plans the shard from the listing, or from the sources.
func (p *Plan) planShard(ctx context.Context, f formats.WritableFormat, d *Dataset, shard, i int, path string, o convert.Options, replan Replanner) (*convert.Plan, io.Closer, error) {
	if p.Root != "" {
		return p.planListed(ctx, f, d, shard, path, o)
	}
	if replan == nil {
		return nil, nil, errors.New("shards: this plan needs a Replanner, since its listing does not describe the samples completely")
	}
	plans, closer, err := replan(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	whole := plans[slices.IndexFunc(p.Datasets, func(one Dataset) bool { return one.Path == d.Path })]
	err = p.compare(whole, d, shard, i)
	var plan *convert.Plan
	if err == nil {
		whole.SetRunOptions(o)
		plan, err = whole.Shard(i, path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	return plan, closer, nil
}

// planListed plans the shard from the listing alone.
func (p *Plan) planListed(ctx context.Context, f formats.WritableFormat, d *Dataset, shard int, path string, o convert.Options) (*convert.Plan, io.Closer, error) {
	var rows []folder.Listed // the plan says how many, but the listing's bytes decide
	err := p.eachRow(shard, func(r *row) error {
		rows = append(rows, r.Listed)
		return ctx.Err()
	})
	if err != nil {
		return nil, nil, err
	}
	order, sorted := byKey(rows)
	src, err := folder.OpenListed(p.Root, *p.Source, sorted)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: shard %d: %w", p.listingFile(), shard, err)
	}
	plan, err := convert.NewShard(ctx, src, order, d.Meta, f, path, o)
	if err == nil {
		err = sameRecipe(d.Meta.Recipe, o.Recipe.Map())
	}
	if err != nil {
		return nil, nil, errors.Join(err, src.Close())
	}
	return plan, src, nil
}

// sameRecipe returns an error if this program would make other pixels than the one that made the plan.
func sameRecipe(planned, here map[string]string) error {
	for key, value := range here {
		if was, ok := planned[key]; ok && was != value {
			return fmt.Errorf("%w: the plan was made with %s %q, this dsconv has %q: use one build of dsconv for all shards", convert.ErrOptions, key, was, value)
		}
	}
	return nil
}

// byKey returns the rows in the order of their keys, and for each of the given rows its position there.
func byKey(rows []folder.Listed) (order []int32, sorted []folder.Listed) {
	at := make([]int32, len(rows)) // by key
	for i := range at {
		at[i] = int32(i)
	}
	slices.SortFunc(at, func(a, b int32) int { return cmp.Compare(rows[a].Key, rows[b].Key) })
	order, sorted = make([]int32, len(rows)), make([]folder.Listed, len(rows))
	for rank, i := range at {
		order[i], sorted[rank] = int32(rank), rows[i]
	}
	return order, sorted
}

// compare returns formats.ErrChanged, with what differs, if the sources are not those of the plan.
func (p *Plan) compare(now *convert.Plan, d *Dataset, shard, i int) error {
	if fmt.Sprintf("%016x", now.Fingerprint()) == d.Fingerprint && now.Len() == d.Samples {
		return nil
	}
	pos, to := now.ShardRange(i)
	changed := ""
	err := p.eachRow(shard, func(was *row) error {
		if pos >= to {
			return nil
		}
		_, in, err := now.PlannedSample(pos)
		pos++
		if err != nil {
			return err
		}
		if changed == "" {
			changed = difference(was, &in)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if now.Len() != d.Samples {
		changed = fmt.Sprintf("they have %d samples, and had %d", now.Len(), d.Samples)
	}
	if changed == "" {
		return nil // other shards may see a difference; files that were copied or touched are read as they are
	}
	return changedSource{fmt.Sprintf("the sources have changed since the plan was made: %s: restore them, or make a new plan", changed)}
}

// difference says how a sample differs from its row, apart from the file's time; "" if it does not.
func difference(was *row, in *formats.Info) string {
	now := rowOf(in)
	name := cmp.Or(was.Path, was.Key)
	switch {
	case was.Key != now.Key:
		return fmt.Sprintf("%s is in the place of %s", cmp.Or(now.Path, now.Key), name)
	case was.Size != now.Size:
		return fmt.Sprintf("%s has %d bytes, and had %d", name, now.Size, was.Size)
	case !slices.Equal(was.Labels, now.Labels):
		return name + " has another label"
	case !slices.Equal(was.Columns, now.Columns):
		return name + " has other columns"
	case was.Checksum != now.Checksum:
		return name + " has another checksum"
	case was.Split != now.Split:
		return fmt.Sprintf("%s is in the split %q, and was in %q", name, now.Split, was.Split)
	}
	return ""
}

// changedSource is a formats.ErrChanged.
type changedSource struct{ text string }

func (e changedSource) Error() string { return e.text }

func (changedSource) Is(target error) bool { return target == formats.ErrChanged }
