//go:build linux && cgo

package gpudecode

import (
	"context"
	"errors"
	"sync"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// enginesInUse has a lock for each GPU by its UUID: whoever calls its engine holds it until the engine is done, in all
// Decoders of the process.
var enginesInUse sync.Map

// engine decodes on the GPU's JPEG engine. One call has as many images as memory allows: the first and the last images of
// a call leave cores idle, because nvJPEG reads, decodes and converts one after another, and its end is waited for.
type engine struct {
	handle *nvjpeg.Handle
	batch  *nvjpeg.Batch
	images []*nvjpeg.Image // one for each image of a Decoder's batch
	stream *cuda.Stream
	inUse  *sync.Mutex
	format nvjpeg.Format
	cores  int // of all engines: each call has a multiple of them, if it cannot have all images
	most   int // bytes of nvJPEG's own pixels
	// What was allocated ahead: n images of w x h.
	n, w, h int
	jobs    []nvjpeg.Job
	// base is where the pixels of jobs begin, refill fills those of some jobs with the canaries again.
	base   func() cuda.Address
	refill func([]*job) error
}

// prepare asks whether the engine decodes j, and lets it if so. It is for several goroutines, with a job each.
func (e *engine) prepare(j *job, fast bool) error {
	image := e.images[j.slot]
	h, err := image.Parse(j.JPEG)
	if err != nil {
		return statusOnly(err) // the other path says what is wrong
	}
	if h.W != j.w || h.H != j.h {
		j.leave(ReasonIrregular)
		return nil
	}
	if n := j.reduction(); fast && n > 1 {
		former := *j
		j.decodes(pixel.Rect{W: j.w, H: j.h}, n)
		if ok, err := e.supports(image, j); ok || err != nil {
			return err
		}
		*j = former
	}
	_, err = e.supports(image, j)
	return err
}

// supports lets the engine decode j as it stands, if it can and the pixels fit.
func (e *engine) supports(image *nvjpeg.Image, j *job) (bool, error) {
	if j.bytes() > e.most || j.rowBytes() < leastRow {
		return false, nil
	}
	r := j.request(e.format)
	r.Scale = map[int]nvjpeg.Scale{2: nvjpeg.Half, 4: nvjpeg.Quarter, 8: nvjpeg.Eighth}[j.scale]
	if err := image.Set(r); err != nil {
		return false, statusOnly(err)
	}
	ok, err := e.handle.Supports(image)
	if ok {
		j.outcome.Path = Engine
	}
	return ok, statusOnly(err)
}

// request is what nvJPEG decodes for j, without a scale.
func (j *job) request(f nvjpeg.Format) nvjpeg.Request {
	if j.part == (pixel.Rect{W: j.w, H: j.h}) {
		return nvjpeg.Request{Format: f}
	}
	return nvjpeg.Request{Format: f, X: j.part.X, Y: j.part.Y, W: j.part.W, H: j.part.H}
}

// statusOnly returns nil for nvJPEG's status, which concerns an image alone, and other errors.
func statusOnly(err error) error {
	var status nvjpeg.Status
	if errors.As(err, &status) {
		return nil
	}
	return err
}

// decode decodes jobs, which are prepared, and sets the status of those that fail.
func (e *engine) decode(ctx context.Context, jobs []*job) error {
	for len(jobs) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := e.fit(jobs)
		if err := e.some(jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// fit returns how many of jobs, from the first one on, a call has.
func (e *engine) fit(jobs []*job) int {
	w, h := 0, 0
	for n, j := range jobs {
		w, h = max(w, j.w), max(h, j.h)
		if n >= e.cores && (n+1)*bytesOfImage(w, h) > e.most {
			return n / e.cores * e.cores
		}
	}
	return len(jobs)
}

// bytesOfImage is what nvJPEG needs for an image before its colours are converted: at most a byte for each component.
func bytesOfImage(w, h int) int { return 3 * w * h }

// some decodes images in one call. nvJPEG does not say which image it failed for, nor how many would fit into memory: so
// both halves are tried, down to the image.
func (e *engine) some(jobs []*job) error {
	var status nvjpeg.Status
	err := e.call(jobs)
	switch {
	case !errors.As(err, &status):
		return err
	case len(jobs) == 1:
		jobs[0].status = status.String()
		return nil
	}
	// What the failed call wrote must not pass for what the next ones write.
	if err := e.refill(jobs); err != nil {
		return err
	}
	half := len(jobs) / 2
	if err := e.some(jobs[:half]); err != nil {
		return err
	}
	return e.some(jobs[half:])
}

// call makes one call of the engine and waits until it is done.
func (e *engine) call(jobs []*job) error {
	e.inUse.Lock()
	defer e.inUse.Unlock()
	e.jobs = e.jobs[:0]
	base := uint64(e.base())
	for _, j := range jobs {
		e.jobs = append(e.jobs, nvjpeg.Job{Image: e.images[j.slot], Address: base + uint64(j.place), Pitch: j.pitch})
	}
	if err := e.allocate(jobs); err != nil {
		return err
	}
	err := e.batch.Start(len(jobs), e.format)
	if err == nil {
		err = e.batch.Decode(e.jobs, e.stream.Handle())
	}
	// The engine does not follow the order of streams: a call before it is done corrupts pixels, as was seen on an H100.
	if waited := e.stream.Sync(); waited != nil {
		return waited
	}
	return err
}

// allocate allocates what calls with such images need, unless it is too much to have at all times. It is only for speed:
// a call allocates what is missing, and frees it, for which CUDA waits for all that the GPU does.
func (e *engine) allocate(jobs []*job) error {
	n, w, h := max(e.n, len(jobs)), e.w, e.h
	for _, j := range jobs {
		w, h = max(w, j.w), max(h, j.h)
	}
	if n == e.n && w == e.w && h == e.h {
		return nil
	}
	w, h = roundUp(w, sizeStep), roundUp(h, sizeStep) // so that images of many sizes soon fit
	if e.cores*bytesOfImage(w, h) > e.most {
		return nil
	}
	e.n, e.w, e.h = n, w, h
	return statusOnly(e.batch.PreAllocate(min(n, e.most/bytesOfImage(w, h)), w, h, nvjpeg.CSS444, e.format))
}

// sizeStep is what the widths and heights that are allocated ahead are multiples of.
const sizeStep = 256

func roundUp(n, step int) int { return (n + step - 1) / step * step }
