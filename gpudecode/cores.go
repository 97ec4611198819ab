//go:build linux && cgo

package gpudecode

import (
	"context"
	"errors"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
)

// cores decodes images one by one on several goroutines: the Huffman codes on the CPU, the rest on the GPU's general
// cores.
type cores struct {
	device  *cuda.Device
	handle  *nvjpeg.Handle
	decoder *nvjpeg.Decoder
	workers []coresWorker
	format  nvjpeg.Format
	base    func() cuda.Address // where the pixels of jobs begin
}

// coresWorker is what one goroutine decodes with. It is made when it is needed.
type coresWorker struct {
	image  *nvjpeg.Image
	state  *nvjpeg.State
	stream *cuda.Stream
}

// decode decodes jobs and sets the status of those that fail.
func (c *cores) decode(ctx context.Context, jobs []*job) error {
	return spread(ctx, len(c.workers), len(jobs), func(worker, i int) error {
		w := &c.workers[worker]
		err := c.ready(w)
		if err == nil {
			err = c.one(w, jobs[i])
		}
		var status nvjpeg.Status
		switch {
		case errors.As(err, &status):
			jobs[i].status = status.String()
			return nil
		case errors.Is(err, cuda.ErrMemory):
			jobs[i].status = ReasonMemory
			return nil
		}
		return err
	})
}

// ready makes w if it is not yet made.
func (c *cores) ready(w *coresWorker) (err error) {
	if w.stream == nil {
		w.stream, err = c.device.NewStream()
	}
	if err == nil && w.image == nil {
		w.image, err = c.handle.NewImage()
	}
	if err == nil && w.state == nil {
		w.state, err = c.decoder.NewState()
	}
	return err
}

// one decodes an image and waits for it: nvJPEG's buffers are used again for the next one.
func (c *cores) one(w *coresWorker, j *job) error {
	h, err := w.image.Parse(j.JPEG)
	if err != nil {
		return err
	}
	if h.W != j.w || h.H != j.h {
		return nvjpeg.BadJPEG
	}
	if err := w.image.Set(j.request(c.format)); err != nil {
		return err
	}
	if ok, err := c.decoder.Supports(w.image); err != nil || !ok {
		return errors.Join(err, nvjpeg.JPEGNotSupported)
	}
	if err := w.state.Host(w.image); err != nil {
		return err
	}
	err = w.state.Device(nvjpeg.Job{Image: w.image, Address: uint64(c.base()) + uint64(j.place), Pitch: j.pitch}, w.stream.Handle())
	if waited := w.stream.Sync(); waited != nil {
		return waited
	}
	return err
}

// close frees everything. Errors tell nothing: a lost GPU has freed it.
func (c *cores) close() {
	for _, w := range c.workers {
		if w.state != nil {
			_ = w.state.Close()
		}
		if w.image != nil {
			_ = w.image.Close()
		}
		if w.stream != nil {
			_ = w.stream.Close()
		}
	}
	_ = c.decoder.Close()
}
