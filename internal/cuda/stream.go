//go:build linux && cgo

package cuda

/*
#include "calls.h"
*/
import "C"

import "errors"

// Stream is a queue of work on the GPU, which does not wait for the default stream's. It has the greatest priority: its
// kernels are short, and the training's, which fill the GPU, would be waited for before each of them.
type Stream struct {
	device *Device
	c      C.uintptr_t
	done   *Event // for Sync
}

// NewStream creates a stream. Close it.
func (d *Device) NewStream() (*Stream, error) {
	done, err := d.NewEvent()
	if err != nil {
		return nil, err
	}
	s := &Stream{device: d, done: done}
	if err := d.driver.check(C.dsconv_cuda_stream_new(d.c, &s.c), "create a stream"); err != nil {
		return nil, errors.Join(err, done.Close())
	}
	return s, nil
}

// Handle is the CUstream, as PyTorch and DLPack take it.
func (s *Stream) Handle() uintptr { return uintptr(s.c) }

// Sync waits until all work of the stream is done. The thread sleeps meanwhile. Its error may be that of earlier work.
func (s *Stream) Sync() error {
	return s.device.driver.check(C.dsconv_cuda_stream_sync(s.device.c, s.c, s.done.c), "wait for a stream")
}

// Close frees the stream once its work is done. It does not wait.
func (s *Stream) Close() error {
	return errors.Join(s.device.driver.check(C.dsconv_cuda_stream_free(s.device.c, s.c), "free a stream"), s.done.Close())
}

// Event marks a point in a stream's work.
type Event struct {
	device *Device
	c      C.uintptr_t
}

// NewEvent creates an event that nothing was recorded in: it counts as reached. Close it.
func (d *Device) NewEvent() (*Event, error) {
	e := &Event{device: d}
	if err := d.driver.check(C.dsconv_cuda_event_new(d.c, &e.c), "create an event"); err != nil {
		return nil, err
	}
	return e, nil
}

// Record makes the event mark the end of what the stream, a CUstream, has to do by now.
func (e *Event) Record(stream uintptr) error {
	return e.device.driver.check(C.dsconv_cuda_event_record(e.device.c, e.c, C.uintptr_t(stream)), "record an event")
}

// Sync waits until the event is reached. The thread sleeps meanwhile.
func (e *Event) Sync() error {
	return e.device.driver.check(C.dsconv_cuda_event_sync(e.device.c, e.c), "wait for an event")
}

// Close frees the event.
func (e *Event) Close() error {
	return e.device.driver.check(C.dsconv_cuda_event_free(e.device.c, e.c), "free an event")
}
