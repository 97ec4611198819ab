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
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
)

// job is one position of the plan on its way from the source to the writer. There is a
// fixed number of them, so memory is flat.
type job struct {
	pos         int
	in, out     formats.Sample
	bytesIn     int64
	err         error
	warning     string
	orientation int
	tiled       int
	untiled     []string
	done        chan struct{} // takes one token a round
	begun       atomic.Bool   // a worker has it
	held        int64         // bytes of out, see held
	later       bool          // it was put off
}

// run is one execution of a plan.
type run struct {
	*Plan
	schema  formats.Schema
	w       formats.Writer
	note    note
	file    int // that is being written, -1 before the first
	report  Report
	started time.Time
	shown   time.Time

	free, read, process, ordered chan *job
	held                         held
	stop                         preprocess.Stop
	late                         *preprocess.Processor // of the goroutine that commits, for what was put off
	room                         preprocess.Room       // of what it writes

	readNS, processNS atomic.Int64
	writeNS, waitNS   int64
}

// Run carries the plan out. The report is there with an error too: what was done until
// then. When ctx ends, what was checkpointed stays in DST.partial and a later Run of an
// equal plan goes on from it.
func (p *Plan) Run(ctx context.Context) (*Report, error) {
	r := &run{Plan: p, schema: p.src.Meta().Schema, started: time.Now()}
	r.report = Report{Path: p.Path, Shards: p.Shards, Found: p.Len()}
	var err error
	if r.w, r.note, err = p.open(); errors.Is(err, formats.ErrPublished) {
		return r.published()
	} else if err != nil {
		return &r.report, err
	}
	r.report.Resumed = r.note.Next
	if r.file = -1; r.note.Next > 0 {
		r.file = r.fileOf(r.note.Next-1, 0)
	}
	err = r.pipeline(ctx)
	if err == nil {
		err = r.keepUpTo(len(r.files))
	}
	if err == nil {
		err = r.timedWrite(r.commitDataset)
	}
	err = errors.Join(err, r.w.Close())
	r.finish(err)
	return &r.report, err
}

// commitDataset makes the dataset visible, with what it remembers of edits.
func (r *run) commitDataset() error {
	if len(r.removed) > 0 {
		w, ok := r.w.(formats.RemovalWriter)
		if !ok {
			return fmt.Errorf("%s: a %s cannot remember which samples were removed", r.Path, r.format.Name())
		}
		w.SetRemoved(r.removed)
	}
	if r.o.KeepOld {
		w, ok := r.w.(formats.OldKeeper)
		if !ok {
			return fmt.Errorf("%s: a %s cannot keep the version before", r.Path, r.format.Name())
		}
		w.KeepOld()
	}
	return r.w.Commit()
}

// published reports on a dataset that an earlier run had finished but for the last step.
func (r *run) published() (*Report, error) {
	ds, err := r.format.Open(r.Path)
	if err != nil {
		return &r.report, err
	}
	r.note.Next, r.note.Written = r.Len(), ds.Len()
	r.report.Found, r.report.Resumed = ds.Len(), ds.Len()
	r.finish(nil)
	return &r.report, ds.Close()
}

func (r *run) finish(err error) {
	r.report.Written, r.report.BytesIn, r.report.BytesOut = r.note.Written, r.note.BytesIn, r.note.BytesOut
	r.report.Varying = r.note.Varying && r.o.Recipe.Encode.Encoding == formats.Raw
	r.report.Skipped, r.report.Warnings, r.report.Oriented = r.note.Skipped, r.note.Warnings, r.note.Oriented
	r.report.Tiling = r.note.Tiling
	if err != nil {
		r.report.Failed = r.report.Found - r.report.Written - len(r.report.Skipped)
	}
	elapsed := time.Since(r.started)
	r.report.Seconds = elapsed.Seconds()
	r.report.Stages = Stages{
		Read: seconds(r.readNS.Load()), Process: seconds(r.processNS.Load()), Write: seconds(r.writeNS), Waited: seconds(r.waitNS),
	}
	r.show(true)
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
	jobs := r.jobs(workers + readers)
	r.free, r.ordered = make(chan *job, jobs), make(chan *job, jobs)
	r.read, r.process = make(chan *job, jobs), make(chan *job, jobs)
	for range jobs {
		r.free <- &job{done: make(chan struct{}, 1)}
	}
	g, ctx := errgroup.WithContext(ctx)
	defer r.stop.When(ctx)()
	defer r.held.stopWith(ctx)()
	g.Go(func() error { return r.dispatch(ctx) })
	var reading atomic.Int64
	reading.Store(int64(readers))
	for range readers {
		g.Go(func() error {
			defer func() {
				if reading.Add(-1) == 0 {
					close(r.process)
				}
			}()
			r.readAll()
			return nil
		})
	}
	for range workers {
		g.Go(r.processAll)
	}
	g.Go(func() error { return r.commitAll(ctx) })
	return g.Wait()
}

// jobs is how many samples are under way: many small ones, so that a sync of the disk
// does not stop the readers; few large ones, so that memory stays small.
func (r *run) jobs(goroutines int) int {
	const memory = 8 << 20
	each := max(1, (r.Bytes+r.Expect)/int64(max(1, r.Len())))
	return max(goroutines+2, int(min(memory/each, 512)))
}

func (r *run) dispatch(ctx context.Context) error {
	defer close(r.ordered)
	defer close(r.read)
	for pos := r.note.Next; pos < r.Len(); pos++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case j := <-r.free:
			j.pos = pos
			j.begun.Store(false)
			r.read <- j
			r.ordered <- j
		}
	}
	return nil
}

func (r *run) readAll() {
	for j := range r.read {
		start := time.Now()
		j.err = guard.Do(func() error { return r.src.Read(int(r.order[j.pos]), &j.in) })
		r.readNS.Add(int64(time.Since(start)))
		r.process <- j
	}
}

func (r *run) processAll() error {
	proc, err := preprocess.NewProcessor(r.o.Recipe, r.schema)
	if err != nil {
		return err
	}
	defer func() { proc.Close() }()
	var current *job
	prepare := func() {
		proc.StopBy(&r.stop)
		proc.Hold = func(n int64) bool { return r.held.take(current, n) }
	}
	prepare()
	for j := range r.process {
		current = j
		r.held.begin(j)
		if j.err == nil {
			start := time.Now()
			err := guard.Do(func() error { r.processOne(proc, j); return nil })
			if err != nil { // nobody knows what a panic left of the processor
				j.err = err
				proc.Close()
				if proc, err = preprocess.NewProcessor(r.o.Recipe, r.schema); err != nil {
					return err
				}
				prepare()
			}
			r.processNS.Add(int64(time.Since(start)))
		}
		j.done <- struct{}{}
	}
	return nil
}

func (r *run) processOne(proc *preprocess.Processor, j *job) {
	img := r.schema.ImageIndex()
	j.bytesIn = int64(len(j.in.Values[img].Data))
	if r.isReady(int(r.order[j.pos])) {
		r.pass(j)
		return
	}
	if j.in.Source.Hash == [16]byte{} {
		j.in.Source.Hash = atrest.Hash(j.in.Values[img].Data)
	}
	j.err = proc.Process(&j.in, &j.out)
	if errors.Is(j.err, preprocess.ErrLater) {
		j.err, j.later = nil, true
	}
	if j.err != nil || j.later {
		return
	}
	j.warning, j.orientation = proc.Warning(), proc.Orientation()
	tiled, untiled := proc.Tiled()
	j.tiled, j.untiled = tiled, append(j.untiled[:0], untiled...)
	j.out.Split = r.splits[r.order[j.pos]]
	j.out.Sum = atrest.Sum(r.schema, &j.out)
}

// pass hands a sample on that is ready.
func (r *run) pass(j *job) {
	j.warning, j.orientation, j.tiled, j.untiled = "", 1, 0, j.untiled[:0]
	j.out.Key, j.out.Split, j.out.Source, j.out.Mark = j.in.Key, j.in.Split, j.in.Source, j.in.Mark
	j.out.Columns = append(j.out.Columns[:0], j.in.Columns...)
	j.in.Values, j.out.Values = j.out.Values, j.in.Values
	j.out.Sum = atrest.Sum(r.schema, &j.out)
}

func (r *run) commitAll(ctx context.Context) error {
	defer func() {
		r.room.Free()
		if r.late != nil {
			r.late.Close()
		}
	}()
	for {
		start := time.Now()
		j, ok := <-r.ordered
		if !ok {
			return ctx.Err()
		}
		r.held.await(j)
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.later {
			if err := r.processLate(j); err != nil {
				return err
			}
		}
		r.waitNS += int64(time.Since(start))
		if err := r.timedWrite(func() error { return r.commit(j) }); err != nil {
			return err
		}
		if r.o.Recipe.Passthrough() || r.isReady(int(r.order[j.pos])) {
			// The Processor exchanged the buffers: back, so that a job needs memory for one image.
			j.in.Values, j.out.Values = j.out.Values, j.in.Values
		}
		r.held.drop(j)
		r.room.Free()
		r.free <- j
		if r.note.Next%r.every == 0 && r.note.Next < r.Len() {
			if err := r.timedWrite(r.checkpoint); err != nil {
				return err
			}
		}
		r.show(false)
	}
}

func (r *run) timedWrite(f func() error) error {
	start := time.Now()
	err := f()
	r.writeNS += int64(time.Since(start))
	return err
}

// enter goes on to a file of the output.
func (r *run) enter(file int) error {
	if file == r.file {
		return nil
	}
	if c, ok := r.w.(formats.Cutter); ok && r.file >= 0 {
		if err := c.Cut(); err != nil {
			return err
		}
	}
	if err := r.keepUpTo(file); err != nil {
		return err
	}
	r.file = file
	return nil
}

// keepUpTo keeps the files that stay between the current one and end.
func (r *run) keepUpTo(end int) error {
	for i := r.file + 1; i < end; i++ {
		if !r.files[i].keep {
			continue
		}
		k, ok := r.w.(formats.Keeper)
		if !ok {
			return fmt.Errorf("%s: a %s is written anew as a whole", r.Path, r.format.Name())
		}
		if err := k.Keep(i, r.change); err != nil {
			return err
		}
	}
	return nil
}

// commit writes the sample of j, or names it among the skipped.
func (r *run) commit(j *job) error {
	if err := r.enter(r.fileOf(j.pos, max(r.file, 0))); err != nil {
		return err
	}
	r.note.Next = j.pos + 1
	path, err := r.pathOf(j)
	if err != nil {
		return err
	}
	if j.err != nil {
		return r.refuse(j, path)
	}
	if err := r.w.Write(&j.out); err != nil {
		return fmt.Errorf("write %s to %s: %w", path, r.Path, err)
	}
	r.note.Written++
	r.note.BytesIn += j.bytesIn
	img := &j.out.Values[r.schema.ImageIndex()]
	r.note.BytesOut += int64(len(img.Data))
	if r.note.Shape == nil {
		r.note.Shape = slices.Clone(img.Shape)
	}
	r.note.Varying = r.note.Varying || !slices.Equal(r.note.Shape, img.Shape)
	if j.warning != "" {
		r.note.Warnings = append(r.note.Warnings, Warning{Path: path, Cause: j.warning})
	}
	if j.orientation > 1 {
		r.note.Oriented++
	}
	r.note.add(j.tiled, j.untiled)
	return nil
}

// pathOf is what the user calls the sample of j.
func (r *run) pathOf(j *job) (string, error) {
	if j.err == nil && j.in.Source.Path != "" {
		return j.in.Source.Path, nil
	}
	in, err := r.src.Info(int(r.order[j.pos]))
	if err != nil {
		return "", err
	}
	if in.Source.Path != "" {
		return in.Source.Path, nil
	}
	return in.Key, nil
}

func (r *run) checkpoint() error {
	b, err := r.note.encode()
	if err != nil {
		return err
	}
	return r.w.Checkpoint(b)
}

// showEvery is how often Progress is called.
const showEvery = 100 * time.Millisecond

func (r *run) show(last bool) {
	if r.o.Progress == nil || !last && time.Since(r.shown) < showEvery {
		return
	}
	r.shown = time.Now()
	r.o.Progress(Progress{
		Done: r.note.Next, Total: r.Len(), Skipped: len(r.note.Skipped), BytesIn: r.note.BytesIn, Elapsed: time.Since(r.started),
	})
}
