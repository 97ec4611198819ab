package shards

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
)

// Replanner makes the plans of the datasets again from the sources. The caller closes what it returns.
type Replanner func(ctx context.Context, p *Plan) ([]*convert.Plan, io.Closer, error)

// PackOptions are the options of Plan.Pack.
type PackOptions struct {
	// Workers process images, IOWorkers read them; 0 chooses by the number of cores.
	Workers, IOWorkers int
	// Memory is about how many bytes each sort may take, 0 for 256 MiB.
	Memory int64
	// Again packs the shard also if it is there, and replaces it: for one that is damaged.
	Again bool
	// Progress is that of convert.Options.
	Progress func(convert.Progress)
	// Replan is needed for plans without a Root.
	Replan Replanner
}

// Outcome says how it came that a shard is there.
type Outcome string

// The outcomes of Plan.Pack.
const (
	Packed    Outcome = "packed"
	Present   Outcome = "there already"
	Outrun    Outcome = "packed by another attempt meanwhile"
	Committed Outcome = "committed already"
)

// Result is the result of Plan.Pack.
type Result struct {
	Shard   int     `json:"shard"`
	Outcome Outcome `json:"outcome"`
	// Path is the folder of the shard until the plan is committed, then the dataset.
	Path string `json:"path"`
	// Report is nil if the dataset was committed before.
	Report *convert.ShardReport `json:"report,omitempty"`
}

// unit is the content of a shard's unitName.
type unit struct {
	Plan   string               `json:"plan"` // its ID
	Shard  int                  `json:"shard"`
	File   string               `json:"file"`  // the data file
	Bytes  int64                `json:"bytes"` // its size
	Report *convert.ShardReport `json:"report"`
}

// Pack packs a shard, unless it is there. It may be called by several processes at once, and again after a process was
// killed: the first attempt that is complete counts. An attempt that ends with an error removes what it wrote; that of a
// process that was killed stays until Commit. The error is formats.ErrChanged if the sources are not those of the plan.
func (p *Plan) Pack(ctx context.Context, reg formats.Registry, shard int, o PackOptions) (*Result, error) {
	d, i, err := p.locate(shard)
	if err != nil {
		return nil, err
	}
	w := p.work(d)
	if err := w.check(); err != nil {
		return p.gone(reg, d, shard, err)
	}
	if !o.Again {
		switch u, err := w.read(i, d); {
		case err == nil:
			return &Result{shard, Present, w.shard(i), u.Report}, nil
		case !errors.Is(err, errMissing):
			return nil, fmt.Errorf("shard %d: %w: %s", shard, err, p.again(shard))
		}
	}
	r, err := p.attempt(ctx, reg, d, w, shard, i, o)
	if err == nil {
		return r, nil
	}
	if werr := w.check(); ctx.Err() == nil && errors.Is(werr, errNoWork) { // another process committed the plan
		if r, err := p.gone(reg, d, shard, werr); err == nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("shard %d of %s: %w", shard, d.Path, err)
}

// again is the advice to pack a damaged shard.
func (p *Plan) again(shard int) string {
	return fmt.Sprintf("pack it again with dsconv shards pack --again %s %d", p.file, shard)
}

// gone is the result of a shard whose folder is not this plan's.
func (p *Plan) gone(reg formats.Registry, d *Dataset, shard int, err error) (*Result, error) {
	if !errors.Is(err, errNoWork) {
		return nil, err
	}
	if ds, err := p.published(reg, d); err == nil {
		return &Result{Shard: shard, Outcome: Committed, Path: d.Path}, ds.Close()
	}
	return nil, fmt.Errorf("%s%s: %w, and %s is not there: make the plan again with dsconv shards plan", d.Path, workSuffix, err, d.Path)
}

// attempt packs a shard into a folder of its own, and makes that the shard's.
func (p *Plan) attempt(ctx context.Context, reg formats.Registry, d *Dataset, w *work, shard, i int, o PackOptions) (_ *Result, err error) {
	dir, err := w.attempt(i)
	if err != nil {
		return nil, err
	}
	defer func() {
		if dir != "" {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	file := "shard" + suffixOf(d.Path)
	report, err := p.run(ctx, reg, d, shard, i, filepath.Join(dir, file), o)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	report.Path = ""
	u := unit{Plan: p.ID, Shard: shard, File: file, Bytes: st.Size(), Report: report}
	if err := errors.Join(durable.WriteJSON(filepath.Join(dir, unitName), &u), ctx.Err()); err != nil {
		return nil, err
	}
	if o.Again {
		if err := w.setAside(i); err != nil {
			return nil, err
		}
	}
	renamed := os.Rename(dir, w.shard(i))
	if renamed == nil {
		dir = ""
		return &Result{shard, Packed, w.shard(i), report}, durable.SyncDir(w.dir)
	}
	// Another attempt was first, or this one was and a network file system lost the answer.
	first, err := w.read(i, d)
	if err != nil {
		return nil, errors.Join(renamed, err)
	}
	return &Result{shard, Outrun, w.shard(i), first.Report}, nil
}

// suffixOf returns the suffix of a dataset's files: the one by which their format is known.
func suffixOf(path string) string {
	ext := filepath.Ext(path)
	if strings.EqualFold(ext, ".zst") {
		ext = filepath.Ext(strings.TrimSuffix(path, ext)) + ext
	}
	return ext
}

// run writes the shard as a dataset at path.
func (p *Plan) run(ctx context.Context, reg formats.Registry, d *Dataset, shard, i int, path string, o PackOptions) (_ *convert.ShardReport, err error) {
	f, err := writable(reg, d.Format)
	if err != nil {
		return nil, err
	}
	c := p.Options.Convert()
	c.Workers, c.IOWorkers, c.Progress, c.Memory = o.Workers, o.IOWorkers, o.Progress, o.Memory
	c.Command = "dsconv shards pack"
	plan, closer, err := p.planShard(ctx, f, d, shard, i, path, c, o.Replan)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	return plan.RunShard(ctx)
}

func writable(reg formats.Registry, name string) (formats.WritableFormat, error) {
	f, err := reg.Writable().ByName(name)
	if err != nil {
		return nil, err
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return nil, fmt.Errorf("the format %s cannot be written", name)
	}
	return w, nil
}

// planShard plans the shard from the listing, or from the sources.
func (p *Plan) planShard(ctx context.Context, f formats.WritableFormat, d *Dataset, shard, i int, path string, o convert.Options, replan Replanner) (*convert.Plan, io.Closer, error) {
	if p.Root != "" {
		return p.planListed(ctx, f, d, shard, path, o)
	}
	if replan == nil {
		return nil, nil, errors.New("shards: this plan needs PackOptions.Replan, since its listing does not describe the samples completely")
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
	rows := make([]folder.Listed, 0, p.Listing[shard].Samples)
	err := p.eachRow(shard, func(r *Row) error {
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
	err := p.eachRow(shard, func(was *Row) error {
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
	return changedSource{fmt.Sprintf("the sources have changed since the plan was made: %s: restore them, or make a new plan", cmp.Or(changed, "other samples than those of this shard"))}
}

// difference says how a sample differs from its row, "" if it does not.
func difference(was *Row, in *formats.Info) string {
	now := rowOf(in)
	name := cmp.Or(was.Path, was.Key)
	switch {
	case was.Key != now.Key:
		return fmt.Sprintf("%s is in the place of %s", cmp.Or(now.Path, now.Key), name)
	case was.Size != now.Size:
		return fmt.Sprintf("%s has %d bytes, and had %d", name, now.Size, was.Size)
	case was.ModTime != now.ModTime:
		return name + " was written to"
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

// errMissing is the error of read for a shard that is not there.
var errMissing = errors.New("it is missing")

// read returns what the folder of shard i has, if it is complete: errMissing if it is not there, ErrOtherPlan, or
// formats.ErrDamaged.
func (w *work) read(i int, d *Dataset) (*unit, error) {
	dir := w.shard(i)
	b, err := os.ReadFile(filepath.Join(dir, unitName))
	switch {
	case durable.IsMissing(err) && !durable.Exists(dir):
		return nil, errMissing
	case durable.IsMissing(err):
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, formats.ErrDamaged, unitName)
	case err != nil:
		return nil, err
	}
	u := &unit{}
	if err := json.Unmarshal(b, u); err != nil || u.Report == nil {
		return nil, fmt.Errorf("%s: %w: its %s cannot be read", dir, formats.ErrDamaged, unitName)
	}
	if u.Plan != w.id {
		return nil, fmt.Errorf("%s: %w", dir, ErrOtherPlan)
	}
	st, err := os.Stat(filepath.Join(dir, "shard"+suffixOf(d.Path)))
	switch {
	case durable.IsMissing(err):
		return nil, fmt.Errorf("%s: %w: its data file is missing", dir, formats.ErrDamaged)
	case err != nil:
		return nil, err
	case st.Size() != u.Bytes:
		return nil, fmt.Errorf("%s: %w: its data file has %d bytes, and had %d", dir, formats.ErrDamaged, st.Size(), u.Bytes)
	}
	return u, nil
}

// setAside makes a shard that is packed again an attempt, which Commit removes.
func (w *work) setAside(i int) error {
	dir, err := w.attempt(i)
	if err != nil {
		return err
	}
	err = os.Rename(w.shard(i), dir) // over the empty folder
	if durable.IsMissing(err) {
		return nil
	}
	return err
}
