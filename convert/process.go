package convert

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// readJob reads the sample of a job, unless ctx ended, and returns how long that took.
func (r *run) readJob(ctx context.Context, j *job) time.Duration {
	alone := r.budget.admit(j)
	start := time.Now()
	if j.err = ctx.Err(); j.err == nil {
		j.err = guard.Do(func() error { return r.readSample(j, &j.in) })
	}
	took := time.Since(start)
	r.budget.keep(j, r.schema.ImageIndex(), alone)
	r.readNS.Add(int64(took))
	return took
}

// readSample reads the sample of a job into s, and checks what a Dataset that is not dsconv's own may
// get wrong.
func (r *run) readSample(j *job, s *formats.Sample) error {
	i := r.order.at(j.pos)
	blank(s)
	if err := r.src.Read(i, s); err != nil {
		return err
	}
	in, err := r.src.Info(i)
	if err != nil {
		return fmt.Errorf("sample %d of the source: %w", i, err)
	}
	if r.growing != nil {
		in.Key, in.Split = s.Key, s.Split
	}
	j.split = r.splits.Of(i, in)
	if err := r.checkSample(&in, s, r.isReady(i)); err != nil || r.isReady(i) {
		return err
	}
	return r.checkPlain(s)
}

// checkPlain returns an error if a text or JSON of s, which another program wrote, is none: that is the sample's fault.
func (r *run) checkPlain(s *formats.Sample) error {
	for k, f := range r.src.Meta().Schema {
		if err := legible.CheckPlain(f.Kind, s.Values[k].Data); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

// processAll processes jobs until there are no more, or until ctx ends: then a reader may hang, and more never come.
func (r *run) processAll(ctx context.Context) error {
	var current *job
	reserve := func(n int64) bool { return r.budget.reserve(current, n) }
	proc, err := r.newProcessor(reserve)
	if err != nil {
		return err
	}
	defer func() { proc.Close() }()
	for {
		var j *job
		select {
		case j = <-r.process:
		case <-ctx.Done():
		}
		if j == nil {
			return nil
		}
		current = j
		r.budget.started(j)
		if j.err == nil {
			start := time.Now()
			err := guard.Do(func() error { r.processOne(proc, j); return nil })
			if err != nil { // after a panic the processor's state is unknown
				j.err = err
				proc.Close()
				again, err := r.newProcessor(reserve)
				if err != nil {
					return err
				}
				proc = again
			}
			r.processNS.Add(int64(time.Since(start)))
		}
		r.gpu.release(j)
		j.done <- struct{}{}
	}
}

// newProcessor returns a Processor that asks reserve before it makes large results; nil for none.
func (r *run) newProcessor(reserve func(n int64) bool) (*preprocess.Processor, error) {
	p, err := preprocess.NewProcessor(r.o.Recipe, r.schema)
	if err != nil {
		return nil, err
	}
	p.StopBy(&r.stop)
	p.ReserveOutput = reserve
	return p, nil
}

func (r *run) processOne(proc *preprocess.Processor, j *job) {
	img := r.schema.ImageIndex()
	j.bytesIn = int64(len(j.in.Values[img].Data))
	if r.isReady(r.order.at(j.pos)) {
		r.pass(j)
		r.sumPixels(proc, j)
		return
	}
	if j.in.Source.Hash == [16]byte{} {
		j.in.Source.Hash = checksum.Hash(j.in.Values[img].Data)
	}
	j.err = proc.ProcessDecoded(&j.in, j.decoded, &j.out)
	if errors.Is(j.err, pixel.ErrPostponed) {
		j.err, j.deferred = nil, true
	}
	if j.err != nil || j.deferred {
		return
	}
	j.warning, j.narrowed, j.orientation = proc.Warning(), proc.Narrowed(), proc.Orientation()
	tiled, untiled := proc.Tiled()
	j.tiled, j.untiled = tiled, append(j.untiled[:0], untiled...)
	if w := sourceWarning(r.src, j.in.Source.Path); w != "" && j.warning == "" {
		j.warning = w
	}
	r.sumPixels(proc, j)
	j.out.Split = j.split
	j.out.Checksum = checksum.SampleChecksum(r.schema, &j.out)
}

// pass passes a ready sample on without processing it.
func (r *run) pass(j *job) {
	j.warning, j.narrowed, j.orientation, j.tiled, j.untiled = "", "", 1, 0, j.untiled[:0]
	j.out.Key, j.out.Split, j.out.Source, j.out.Provenance = j.in.Key, j.in.Split, j.in.Source, j.in.Provenance
	j.out.SetColumns(j.in.Columns...)
	j.out.SwapValues(&j.in)
	j.out.Checksum = checksum.SampleChecksum(r.schema, &j.out)
}

// warner is a source that finds doubtful what it reads.
type warner interface {
	Warning(path string) string
}

// sourceWarning returns what a source found to be doubtful when it read the sample of the file at a path.
func sourceWarning(src formats.Dataset, path string) string {
	if w, ok := src.(warner); ok {
		return w.Warning(path)
	}
	return ""
}

const (
	maxReaders   = 32
	readersBytes = 64 << 20 // of samples that additional readers may have in memory
	slowRead     = 2 * time.Millisecond
	slowReads    = 8 // decide about one more reader
)

// readers are the goroutines that read. If reading waits for a disk or a network, and nothing else does, more of them are
// started: they wait at the same time. What is written does not depend on their number.
type readers struct {
	*run
	ctx     context.Context
	g       *errgroup.Group
	to      chan *job
	running atomic.Int64
	left    atomic.Int64 // how many more may be started
	slow    atomic.Int64 // slow reads since the last decision
	since   atomic.Pointer[usage]
}

// usage is what the process used of the processors.
type usage struct {
	at  time.Time
	cpu time.Duration
}

func usageNow() *usage {
	u := &usage{at: time.Now()}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err == nil {
		u.cpu = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return u
}

// moreReaders returns how many readers may be started besides those n, none if the user said how many.
func (r *run) moreReaders(n int) int {
	if r.o.IOWorkers > 0 || r.growing != nil {
		return 0
	}
	return max(0, int(min(int64(maxReaders-n), readersBytes/r.jobBytes())))
}

// startReaders starts n goroutines that read samples and send them to to, which the last of them closes.
func (r *run) startReaders(ctx context.Context, g *errgroup.Group, n int, to chan *job) {
	rs := &readers{run: r, ctx: ctx, g: g, to: to}
	rs.left.Store(int64(r.moreReaders(n)))
	rs.since.Store(usageNow())
	rs.running.Store(int64(n))
	for range n {
		g.Go(rs.read)
	}
}

func (rs *readers) read() error {
	defer func() {
		if rs.running.Add(-1) == 0 {
			close(rs.to)
		}
	}()
	for j := range rs.run.read {
		if rs.readJob(rs.ctx, j) >= slowRead && len(rs.to) == 0 && rs.slow.Add(1)%slowReads == 0 {
			rs.start()
		}
		rs.readAgain(rs.ctx, j)
		rs.to <- j
	}
	return nil
}

// start starts one more reader, with a job for it, unless the processors have enough to do.
func (rs *readers) start() {
	now := usageNow()
	before := rs.since.Swap(now)
	if (now.cpu-before.cpu)*2 > now.at.Sub(before.at)*time.Duration(parallel.Cores()) || rs.left.Add(-1) < 0 {
		return
	}
	rs.running.Add(1)
	rs.idle <- newJob() // there is room for the jobs of all
	rs.g.Go(rs.read)
}
