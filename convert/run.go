package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// job is one position of the plan on its way from the source to the writer. The number of jobs is
// fixed, so memory is too.
type job struct {
	pos         int
	in, out     formats.Sample
	bytesIn     int64
	split       string // in the output
	err         error
	warning     string
	narrowed    string
	orientation int
	tiled       int
	untiled     []string
	done        chan struct{} // gets one token when the job is processed
	started     atomic.Bool   // a worker has it
	reserved    int64         // bytes of out, see outputBudget
	inputBytes  int64         // of in that are counted, see limitInputs
	fieldBytes  int64         // of in and out that are counted, see fieldBytes
	deferred    bool          // processed when it is committed
	// What a GPU decoded, the bytes of the gpuStage's room that it takes, and afterwards what decoded it.
	decoded      *preprocess.Decoded
	decodedBytes int64
	outcomes     []gpudecode.Outcome
	sums         pixelsum.Image // with Options.Stats
	summed       bool           // the image could be decoded for them
}

// run is one execution of a plan.
type run struct {
	*Plan
	schema  formats.Schema
	w       formats.Writer
	state   checkpoint
	file    int // the current file, -1 before the first
	report  Report
	started time.Time
	shown   time.Time
	kept    int // positions that a repeated run need not do again
	keptAt  time.Time
	unsure  bool // a call of the writer has not ended, or failed
	silent  bool // Progress panicked: it is not called again
	step    Step
	ended   atomic.Int64  // 1 + the number of samples of a growing source, once it is known
	again   chan struct{} // gets one token when a growing source may be read again

	idle, read, decode, process, ordered chan *job

	gpu *gpuStage // nil without a GPU

	budget       outputBudget
	inputs       *budget.Inputs // nil if no image is large
	stop         pixel.Stop
	deferredProc *preprocess.Processor // of the goroutine that commits, for deferred jobs
	room         budget.Reservation    // memory for deferred jobs

	readNS, processNS atomic.Int64
	writeNS, waitNS   int64
}

// Run plans and runs a conversion: see New and Plan.Run.
func Run(ctx context.Context, src formats.Dataset, f formats.WritableFormat, dst string, o Options) (*Report, error) {
	p, err := New(ctx, src, f, dst, o)
	if err != nil {
		return &Report{Path: dst}, err
	}
	return p.Run(ctx)
}

// Run executes the plan. It returns a report also with an error: of the work until then. When ctx
// ends, the error has ctx.Err() in its chain. A run that ends with an error keeps what was written, in
// DST.partial; one that is killed, what was written a minute before. A later Run of an equal plan goes
// on from there; Report.Resumable says how much that is. The folder that DST is in must exist; the error
// for a missing one is fs.ErrNotExist.
//
// A Plan may run more than once, but writes its dataset once: while one Run writes, others return
// formats.ErrLocked, and afterwards formats.ErrExists, unless Options.Create.Replace is set.
func (p *Plan) Run(ctx context.Context) (*Report, error) {
	r := &run{Plan: p, again: make(chan struct{}, 1)}
	return r.execute(ctx)
}

func (r *run) execute(ctx context.Context) (*Report, error) {
	p := r.Plan
	r.started = time.Now()
	r.report = Report{Path: p.Path, Shards: p.Shards, Found: r.total(), NotReached: r.total()}
	if err := errors.Join(ctx.Err(), durable.CheckParent(p.Path), p.checkSpace()); err != nil {
		return &r.report, err
	}
	r.schema = p.src.Meta().Schema
	var err error
	if r.gpu, err = r.openGPU(); err != nil {
		return &r.report, err
	}
	defer r.gpu.close()
	r.w, r.state, err = r.open(ctx)
	r.report.Found, r.report.NotReached, r.report.Shards, r.report.AddedLater = r.total(), r.total(), r.Shards, r.added
	if errors.Is(err, formats.ErrPublished) {
		return r.published()
	} else if err != nil {
		return &r.report, err
	}
	if r.o.Stats { // rather now than after hours
		if _, err := statsWriter(r.w, r.Path, r.format.Name()); err != nil {
			return &r.report, errors.Join(err, r.w.Close())
		}
	}
	r.report.Resumed, r.kept, r.keptAt = r.state.Next, r.state.Next, time.Now()
	if r.file = -1; r.state.Next > 0 {
		r.file = r.fileOf(r.state.Next-1, 0)
	}
	if err = r.begin(); err == nil {
		err = r.pipeline(ctx)
	}
	if err == nil {
		err = r.setLength()
	}
	if err != nil {
		err = r.stopped(ctx, errors.Join(err, r.saveAtStop()))
	}
	if err == nil {
		err = r.checkWritten()
	}
	if err == nil {
		err = r.keepFilesBefore(len(r.files))
	}
	if err == nil {
		r.step = StepFinish
		err = r.showProgress(true)
	}
	if err == nil {
		err = r.timedWrite(r.commitDataset)
	}
	if err == nil {
		r.step = StepWrite // which has no name: all is done
	}
	err = errors.Join(err, r.w.Close())
	if err != nil {
		r.report.Resumable = r.kept
	}
	r.finish()
	return &r.report, errors.Join(err, r.showProgress(true))
}

// stopped returns err, the error of the pipeline. If ctx ended it, it says how far the run came.
func (r *run) stopped(ctx context.Context, err error) error {
	cause := ctx.Err()
	if cause == nil || !errors.Is(err, cause) && !errors.Is(err, context.Canceled) && !errors.Is(err, formats.ErrClosed) {
		return err
	}
	r.report.Failure = nil // a source that was closed because ctx ended is no failure
	at := fmt.Sprintf("stopped at %d of %d", r.state.Next, r.Len())
	if r.growing != nil {
		at = fmt.Sprintf("stopped at %d", r.state.Next)
	}
	if r.kept < r.state.Next {
		at += fmt.Sprintf(", of which %d are kept", r.kept)
	}
	return fmt.Errorf("%s: %s: %w", r.Path, at, cause)
}

// commitDataset publishes the dataset, with its record of edits.
func (r *run) commitDataset() error {
	if err := r.setStats(); err != nil {
		return err
	}
	return commitWith(r.w, r.Path, r.format, r.removed)
}

// commitWith commits w, the writer of a dataset of format f at path, with a record of the samples that were removed by
// hand.
func commitWith(w formats.Writer, path string, f formats.Format, removed []formats.RemovedSample) error {
	if len(removed) > 0 {
		to, ok := w.(formats.RemovalWriter)
		if !ok {
			return fmt.Errorf("%s: the format %s cannot record which samples were removed", path, f.Name())
		}
		to.SetRemoved(removed)
	}
	return w.Commit()
}

// published returns the report on a dataset that was complete but not published; opening it did that.
func (r *run) published() (*Report, error) {
	ds, err := r.format.Open(r.Path)
	if err != nil {
		return &r.report, err
	}
	if r.growing != nil {
		r.order.n = ds.Len()
	}
	r.state.Next, r.state.Written = r.Len(), ds.Len()
	r.report.PixelStats = ds.Meta().PixelStats
	r.report.Found, r.report.Resumed = ds.Len(), ds.Len()
	r.finish()
	return &r.report, errors.Join(ds.Close(), r.showProgress(true))
}

// finish completes the report.
func (r *run) finish() {
	r.report.Results, r.report.Narrowed, r.report.Kept = r.state.Results, r.problems(r.state.Narrowed), r.problems(r.state.KeptSpans)
	r.report.Skipped = r.skipped()
	r.report.Warnings = slices.Concat(r.report.Warnings, r.problems(r.state.Fallbacks))
	r.report.Varying = r.state.Varying && r.o.Recipe.Encode.Encoding == formats.Raw
	if r.report.Failure != nil {
		r.report.Failed = 1
	}
	if r.growing != nil {
		r.report.Found = r.report.Written + len(r.report.Skipped) + r.report.Failed
	}
	r.report.NotReached = r.report.Found - r.report.Written - len(r.report.Skipped) - r.report.Failed
	elapsed := time.Since(r.started)
	r.report.Seconds = elapsed.Seconds()
	r.report.Stages = Stages{
		Read: seconds(r.readNS.Load()), Process: seconds(r.processNS.Load()), Write: seconds(r.writeNS), Waited: seconds(r.waitNS),
	}
}

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }

func (r *run) pipeline(ctx context.Context) error {
	workers, readers := r.o.Workers, r.o.IOWorkers
	if workers <= 0 {
		workers = parallel.Cores()
	}
	if readers <= 0 {
		readers = max(4, workers)
	}
	if r.growing != nil {
		readers = 1 // its samples come in order
	}
	jobs := r.jobs(workers + readers + r.asking())
	r.limitInputs(jobs, workers+readers+r.asking()/2)
	room := jobs + r.moreReaders(readers)
	r.idle, r.ordered = make(chan *job, room), make(chan *job, room)
	r.read, r.decode, r.process = make(chan *job, room), make(chan *job, room), make(chan *job, room)
	for range jobs {
		r.idle <- newJob()
	}
	g, ctx := errgroup.WithContext(ctx)
	defer r.stop.When(ctx)()
	defer r.budget.stopWith(ctx)()
	g.Go(func() error { return r.dispatch(ctx) })
	to := r.process
	if r.gpu != nil {
		to = r.decode
		goAll(g, r.asking(), func() error { return r.decodeAll(ctx) }, func() { close(r.process) })
	}
	reading := new(errgroup.Group)
	r.startReaders(ctx, reading, readers, to)
	processing := ctx
	if r.gpu != nil {
		processing = context.WithoutCancel(ctx) // what the GPU has decoded must be freed
	}
	for range workers {
		g.Go(func() error { return r.processAll(processing) })
	}
	g.Go(func() error { return guard.Do(func() error { return r.commitAll(ctx) }) })
	err := g.Wait()
	_ = lifetime.Wait(ctx, reading.Wait) // its error is the context's: g has it
	return err
}

func newJob() *job { return &job{done: make(chan struct{}, 1)} }

// goAll calls f in n goroutines of g, and end after the last of them.
func goAll(g *errgroup.Group, n int, f func() error, end func()) {
	var running atomic.Int64
	running.Store(int64(n))
	for range n {
		g.Go(func() error {
			defer func() {
				if running.Add(-1) == 0 {
					end()
				}
			}()
			return f()
		})
	}
}

// jobs returns the number of jobs: many for small samples, so that a sync of the disk does not
// stop the readers; few for large ones, to save memory.
func (r *run) jobs(goroutines int) int {
	const memory = 8 << 20
	return max(goroutines+2, int(min(memory/r.jobBytes(), 512)))
}

// jobBytes is about the bytes of the images of a job.
func (r *run) jobBytes() int64 { return max(1, (r.Bytes+r.expectedBytes)/int64(max(1, r.Len()))) }

func (r *run) dispatch(ctx context.Context) error {
	defer close(r.ordered)
	defer close(r.read)
	for pos := r.state.Next; pos < r.Len(); pos++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case j := <-r.idle:
			if r.ended.Load() > 0 {
				return nil
			}
			j.pos = pos
			j.started.Store(false)
			if err := guard.Do(func() error { return r.reserveInput(ctx, j) }); err != nil {
				return err
			}
			r.read <- j
			r.ordered <- j
		}
	}
	return nil
}

// showProgress calls Options.Progress, unless it was called a moment ago and the call may be left out.
func (r *run) showProgress(always bool) error {
	if r.o.Progress == nil || r.silent || !always && time.Since(r.shown) < parallel.ProgressInterval {
		return nil
	}
	r.shown = time.Now()
	err := guard.Do(func() error {
		r.o.Progress(Progress{
			Path: r.Path, Step: r.step, Done: r.state.Next, Total: r.total(), Resumed: r.report.Resumed, Skipped: r.state.skips,
			BytesIn: r.state.BytesIn, Elapsed: time.Since(r.started),
		})
		return nil
	})
	var panicked *guard.PanicError
	if errors.As(err, &panicked) {
		r.silent = true
		return fmt.Errorf("Options.Progress panicked: %v (%s)", panicked.Value, panicked.Stack)
	}
	return err
}
