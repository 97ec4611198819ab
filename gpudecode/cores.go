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

// coresWorker is what one goroutine decodes with. It is made when it is needed. It decodes the codes of an image while
// the GPU decodes the one before.
type coresWorker struct {
	images [2]*nvjpeg.Image // in turn
	turn   int
	state  *nvjpeg.State
	stream *cuda.Stream
	done   *cuda.Event // the last image, for a wait that leaves the core to others
}

// decode decodes jobs and sets the status of those that fail.
func (c *cores) decode(ctx context.Context, jobs []*job) error {
	err := spread(ctx, len(c.workers), len(jobs), func(worker, i int) error {
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
	for i := range c.workers {
		if w := &c.workers[i]; w.done != nil {
			err = errors.Join(err, w.done.Sync())
		}
	}
	return err
}

// ready makes w if it is not yet made.
func (c *cores) ready(w *coresWorker) (err error) {
	if w.stream == nil {
		w.stream, err = c.device.NewStream()
	}
	if err == nil && w.done == nil {
		w.done, err = c.device.NewEvent()
	}
	for i := range w.images {
		if err == nil && w.images[i] == nil {
			w.images[i], err = c.handle.NewImage()
		}
	}
	if err == nil && w.state == nil {
		w.state, err = c.decoder.NewState()
	}
	return err
}

// one decodes an image and waits for the one before, which the GPU reads from the same memory.
func (c *cores) one(w *coresWorker, j *job) error {
	image := w.images[w.turn]
	h, err := image.ParseAll(j.JPEG)
	if err != nil {
		return err
	}
	if h.W != j.w || h.H != j.h {
		return nvjpeg.BadJPEG
	}
	if err := image.Set(j.request(c.format)); err != nil {
		return err
	}
	if ok, err := c.decoder.Supports(image); err != nil || !ok {
		return errors.Join(err, nvjpeg.JPEGNotSupported)
	}
	if err := w.state.Host(image); err != nil {
		return err
	}
	if err := w.done.Sync(); err != nil {
		return err
	}
	w.turn = 1 - w.turn
	err = w.state.Device(nvjpeg.Job{Image: image, Address: uint64(c.base()) + uint64(j.place), Pitch: j.pitch}, w.stream.Handle())
	if recorded := w.done.Record(w.stream.Handle()); recorded != nil {
		return recorded
	}
	return err
}

// close frees everything. Errors tell nothing: a lost GPU has freed it.
func (c *cores) close() {
	for _, w := range c.workers {
		if w.state != nil {
			_ = w.state.Close()
		}
		for _, image := range w.images {
			if image != nil {
				_ = image.Close()
			}
		}
		if w.done != nil {
			_ = w.done.Close()
		}
		if w.stream != nil {
			_ = w.stream.Close()
		}
	}
	_ = c.decoder.Close()
}
