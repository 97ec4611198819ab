//go:build linux && cgo

package gpudecode

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/gpudecode/internal/kernels"
	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Decoder decodes batches. It belongs to one goroutine at a time; the Memory that it gives out does not.
type Decoder struct {
	gpu     *GPU
	config  Config
	stream  *cuda.Stream // decodes
	results *cuda.Stream // writes to the memory that is given out, after the work of whoever had it before
	pool    *cuda.Pool
	engine  *engine // nil if the GPU has none
	cores   *cores
	tally   Tally
	closing sync.Once

	table      workspace // values of elements
	pixels     workspace // decoded
	lists      workspace // canaries and what was found of them
	jobsMemory workspace // of the kernel that stores results
	batch      *kernels.Batch
	jobs       []job
	canaries   []kernels.Canary
	seed       uint64 // of the last canaries
	onCPU      []byte // a result of Image.CPU's
}

// Decode stores the results of images in out, and what became of each of them in outcomes, which is as long. It
// returns when all of it lies in the GPU's memory, complete and checked: whoever gets the memory needs to wait for
// nothing. An error is of the whole batch: of ctx, of the GPU (then the Decoder is of no use any more), or of wrong
// arguments. What an image alone is to blame for is its Outcome.Err.
func (d *Decoder) Decode(ctx context.Context, images []Image, out *Memory, outcomes []Outcome) error {
	if err := d.checkArguments(images, out, outcomes); err != nil {
		return err
	}
	for i := range images {
		d.jobs[i] = job{Image: &images[i], slot: i}
	}
	jobs := d.jobs[:len(images)]
	err := d.decode(ctx, jobs, out)
	// Whatever happened, nothing reads the images or writes to the memory any more when Decode returns.
	for _, s := range []*cuda.Stream{d.stream, d.results} {
		if waited := s.Sync(); err == nil {
			err = waited
		}
	}
	d.forget()
	if err != nil {
		return fmt.Errorf("decode on the GPU: %w", err)
	}
	for i := range jobs {
		outcomes[i] = jobs[i].outcome
	}
	clear(jobs) // which refer to the caller's memory
	d.tally.Add(outcomes...)
	return nil
}

// forget gives back the bytes of the JPEGs, which are pinned: a Decoder that is never closed must not keep them so.
func (d *Decoder) forget() {
	if d.engine != nil {
		for _, image := range d.engine.images {
			image.Forget()
		}
	}
	for _, w := range d.cores.workers {
		for _, image := range w.images {
			if image != nil {
				image.Forget()
			}
		}
	}
}

// checkArguments returns an error for nonsense.
func (d *Decoder) checkArguments(images []Image, out *Memory, outcomes []Outcome) error {
	if d.stream == nil {
		return errClosed
	}
	if len(images) > d.config.Batch || len(outcomes) != len(images) {
		return fmt.Errorf("gpudecode.Decode: %d images with %d outcomes; the Decoder was made for %d", len(images), len(outcomes), d.config.Batch)
	}
	if err := d.checkMemory(out); err != nil {
		return err
	}
	element := d.config.Spec.DType().Size()
	for i := range images {
		if err := images[i].check(element*d.config.Spec.Channels(), element, d.config.Bytes); err != nil {
			return fmt.Errorf("gpudecode.Decode: image %d: %w", i, err)
		}
	}
	return nil
}

// decode does what Decode does, without the last wait.
func (d *Decoder) decode(ctx context.Context, jobs []job, out *Memory) error {
	err := d.each(ctx, jobs, func(_ int, j *job) error {
		j.prepare(d.config.Spec.Channels(), d.config.Pixels)
		if j.outcome.Path == CUDA && d.engine != nil {
			return d.engine.prepare(j, d.config.Fast)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var gpu []*job
	for i := range jobs {
		if j := &jobs[i]; j.outcome.Path != CPU {
			gpu = append(gpu, j)
		}
	}
	for len(gpu) > 0 {
		n, err := d.place(gpu)
		if err == nil && n > 0 {
			err = d.part(ctx, gpu[:n], out)
		}
		if errors.Is(err, cuda.ErrMemory) { // for what is uploaded
			err = nil
			for _, j := range gpu[:n] {
				j.leave(ReasonMemory)
			}
		}
		if err != nil {
			return err
		}
		gpu = gpu[max(n, 1):]
	}
	return d.decodeOnCPU(ctx, jobs, out)
}

// place gives the first of jobs their places in the memory for pixels and returns how many of them fit; 0 if not even
// the first does, which is then left to the CPU.
func (d *Decoder) place(jobs []*job) (n int, err error) {
	for most := d.config.Pixels; ; most /= 2 {
		size := 0
		for n = 0; n < len(jobs) && size+jobs[n].bytes() <= most; n++ {
			jobs[n].place = size
			size += jobs[n].bytes()
		}
		if n == 0 {
			jobs[0].leave(ReasonMemory)
			return 0, nil
		}
		if err := d.pixels.grow(size); err == nil || !errors.Is(err, cuda.ErrMemory) {
			return n, err
		}
		most = size
	}
}

// part decodes jobs whose pixels fit into the memory at once, and stores their results.
func (d *Decoder) part(ctx context.Context, jobs []*job, out *Memory) error {
	planned := make(chan error, 1)
	go func() { planned <- d.plan(jobs, out) }()
	err := d.round(ctx, jobs)
	if planError := <-planned; err == nil {
		err = planError
	}
	if err != nil {
		return err
	}
	if again, replan := d.failed(jobs); len(again) > 0 {
		if err := d.round(ctx, again); err != nil {
			return err
		}
		d.failed(again)
		if replan {
			if err := d.plan(jobs, out); err != nil {
				return err
			}
		}
	}
	for _, j := range jobs {
		if j.tooStrong {
			j.leave(ReasonResize)
		}
	}
	return d.store()
}

// failed returns the jobs that another path of the GPU's has to decode, and whether that changes how their pixels lie.
func (d *Decoder) failed(jobs []*job) (again []*job, replan bool) {
	for _, j := range jobs {
		switch {
		case j.status != "":
			j.fail(j.status)
		case j.missing:
			j.fail(ReasonNotWritten)
		default:
			continue
		}
		if j.outcome.Path == CUDA {
			replan = replan || j.scale > 1
			j.decodes(j.region(j.asked), 1)
			again = append(again, j)
		}
	}
	return again, replan
}

// round decodes each job by the path that it is to try, and checks that all pixels were written.
func (d *Decoder) round(ctx context.Context, jobs []*job) error {
	d.seed++ // so that what is left of earlier pixels is no pattern of now
	if err := d.fill(jobs, d.seed); err != nil {
		return err
	}
	var engine, cores []*job
	for _, j := range jobs {
		j.status, j.missing = "", false
		if j.outcome.Path == Engine {
			engine = append(engine, j)
		} else {
			cores = append(cores, j)
		}
	}
	decoded := make(chan error, 1)
	go func() { decoded <- d.cores.decode(ctx, cores) }()
	var err error
	if len(engine) > 0 {
		err = d.engine.decode(ctx, engine)
	}
	if coresError := <-decoded; err == nil {
		err = coresError
	}
	if err != nil {
		return err
	}
	return d.check(jobs, d.seed)
}

// decodeOnCPU lets the callers decode what is left to the CPU, and copies that and what was ready. It comes last: a copy
// from the host's memory waits for whoever had the GPU's memory before.
func (d *Decoder) decodeOnCPU(ctx context.Context, jobs []job, out *Memory) error {
	pixelSize := d.config.Spec.DType().Size() * d.config.Spec.Channels()
	copied := false // from onCPU
	for i := range jobs {
		j := &jobs[i]
		if j.outcome.Path != CPU {
			continue
		}
		if j.JPEG == nil {
			if err := d.copy(j.Ready, j, out); err != nil {
				return err
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n := j.size(pixelSize)
		if copied { // the copy may still read it: CUDA says only that it might be done
			if err := d.results.Sync(); err != nil {
				return err
			}
		}
		if cap(d.onCPU) < n {
			d.onCPU = make([]byte, n)
		}
		dst := d.onCPU[:n]
		if j.outcome.Err = j.CPU(dst); j.outcome.Err != nil {
			continue
		}
		if err := d.copy(dst, j, out); err != nil {
			return err
		}
		copied = true
	}
	return nil
}

// copy copies j's result to the GPU.
func (d *Decoder) copy(result []byte, j *job, out *Memory) error {
	if len(result) == 0 {
		return nil
	}
	return d.results.ToDevice(out.block.Address()+cuda.Address(j.At), result)
}

// each calls do for all jobs on Config.Threads goroutines, whose number it passes, and waits for them. It returns the
// first error, or ctx's.
func (d *Decoder) each(ctx context.Context, jobs []job, do func(worker int, j *job) error) error {
	return spread(ctx, d.config.Threads, len(jobs), func(worker, i int) error { return do(worker, &jobs[i]) })
}

// spread calls do(worker, i) for i from 0 to n-1 on so many goroutines at most, and waits for them. It returns the first
// error, or ctx's.
func spread(ctx context.Context, threads, n int, do func(worker, i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, min(threads, n))
	for worker := range errs {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[worker] == nil; i = int(next.Add(1)) - 1 {
				if errs[worker] = ctx.Err(); errs[worker] == nil {
					errs[worker] = do(worker, i)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Counts returns how many images took which path so far. It may be called while Decode runs.
func (d *Decoder) Counts() Counts { return d.tally.Counts() }

// Close frees the Decoder. Memory that it gave out stays valid until it is released. A second call does nothing.
func (d *Decoder) Close() { d.closing.Do(d.free) }

// threads is Config.Threads with its default.
func (c *Config) threads() int {
	if c.Threads > 0 {
		return c.Threads
	}
	return parallel.Cores()
}
