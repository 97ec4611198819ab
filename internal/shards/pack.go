package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// Replanner makes the plans of the datasets again from the sources. The caller closes what it returns.
type Replanner func(ctx context.Context, p *Plan) ([]*convert.Plan, io.Closer, error)

// PackOptions are the options of Plan.Pack. The zero value is usual.
type PackOptions struct {
	// Workers process images, IOWorkers read them; 0 chooses by the number of cores, and starts more
	// readers, up to 32, while reading waits for a disk or a network.
	Workers, IOWorkers int
	// Memory is about how many bytes each sort may take, 0 for 256 MiB.
	Memory int64
	// Again packs the shard also if it is there, and replaces it: for one that is damaged.
	Again bool
	// Progress is that of convert.Options.
	Progress func(convert.Progress)
	// Program is the version of this program; "" is not compared with the plan's.
	Program string
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
	Report *convert.Report `json:"report,omitempty"`
}

// resultOf returns the result of a shard whose folder is at path.
func resultOf(shard int, o Outcome, path string, r *convert.ShardReport) *Result {
	r.Path = path
	return &Result{shard, o, path, &r.Report}
}

// Pack packs a shard, unless it is there. It may be called by several processes at once, and again after a process was
// killed: the first attempt that is complete counts. An attempt that ends with an error removes what it wrote; that of a
// process that was killed stays until Commit. The error is formats.ErrChanged if the sources are not those of the plan.
// Plans without a Root need replan.
func (p *Plan) Pack(ctx context.Context, reg formats.Registry, shard int, o PackOptions, replan Replanner) (*Result, error) {
	if o.Program != "" {
		if err := p.checkProgram(o.Program); err != nil {
			return nil, err
		}
	}
	d, i, err := p.locate(shard)
	if err != nil {
		return nil, err
	}
	w := p.work(d)
	if err := w.check(); err != nil {
		return p.gone(ctx, reg, d, shard, err)
	}
	if !o.Again {
		switch u, err := w.read(i, d); {
		case err == nil:
			return resultOf(shard, Present, w.shard(i), u.Report), nil
		case !errors.Is(err, errMissing):
			return nil, fmt.Errorf("shard %d: %w: %s", shard, err, p.again(shard))
		}
	}
	r, err := p.attempt(ctx, reg, d, w, shard, i, o, replan)
	if err == nil {
		return r, nil
	}
	if werr := w.check(); ctx.Err() == nil && errors.Is(werr, errNoWork) { // another process committed the plan
		if r, err := p.gone(ctx, reg, d, shard, werr); err == nil {
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
func (p *Plan) gone(ctx context.Context, reg formats.Registry, d *Dataset, shard int, err error) (*Result, error) {
	if !errors.Is(err, errNoWork) {
		return nil, err
	}
	if _, err := p.committed(ctx, reg, d); err != nil {
		return nil, err
	}
	return &Result{Shard: shard, Outcome: Committed, Path: d.Path}, nil
}

// attempt packs a shard into a folder of its own, and makes that the shard's.
func (p *Plan) attempt(ctx context.Context, reg formats.Registry, d *Dataset, w *work, shard, i int, o PackOptions, replan Replanner) (_ *Result, err error) {
	dir := w.newAttempt(i)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	defer func() {
		if dir != "" {
			err = errors.Join(err, w.remove(dir))
		}
	}()
	file := filepath.Join(dir, d.dataFile())
	report, err := p.run(ctx, reg, d, shard, i, file, o, replan)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	report.Path = ""
	u := unit{Plan: p.ID, Shard: shard, Bytes: st.Size(), Report: report}
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
		return resultOf(shard, Packed, w.shard(i), report), durable.SyncDir(w.dir)
	}
	// Another attempt was first, or this one was and a network file system lost the answer.
	first, err := w.read(i, d)
	if err != nil {
		return nil, errors.Join(renamed, err)
	}
	return resultOf(shard, Outrun, w.shard(i), first.Report), nil
}

// run writes the shard as a dataset at path.
func (p *Plan) run(ctx context.Context, reg formats.Registry, d *Dataset, shard, i int, path string, o PackOptions, replan Replanner) (_ *convert.ShardReport, err error) {
	f, err := writable(reg, d.Format)
	if err != nil {
		return nil, err
	}
	c := p.Options.Options
	c.Workers, c.IOWorkers, c.Progress, c.Memory = o.Workers, o.IOWorkers, o.Progress, o.Memory
	c.Command = "dsconv shards pack"
	plan, closer, err := p.planShard(ctx, f, d, shard, i, path, c, replan)
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
