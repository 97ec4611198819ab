package pixel

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"syscall"
)

// ErrMemory is returned when the machine has no memory for the work on an image, which says nothing
// of the image.
var ErrMemory = errors.New("out of memory: free some, or let fewer workers run")

// ErrLibrary is returned when the libjpeg that is loaded is not the one that dsconv was built for.
var ErrLibrary = errors.New("the libjpeg that is loaded is not the one that dsconv was built for")

// EndsRun reports whether an error is not about one sample: no other sample would fare better, so
// that none is to be skipped because of it.
func EndsRun(err error) bool {
	for _, end := range []error{ErrMemory, ErrLibrary, context.Canceled, context.DeadlineExceeded, syscall.ENOMEM} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// Stop ends the work on images early, also in the middle of one: what has it then returns an error
// with context.Canceled in the chain. The zero value is ready; many may share one, and nil never
// stops.
type Stop struct{ set uint32 }

// Set stops all that have s.
func (s *Stop) Set() { atomic.StoreUint32(&s.set, 1) }

// When stops all that have s when ctx ends, until release is called.
func (s *Stop) When(ctx context.Context) (release func()) {
	stop := context.AfterFunc(ctx, s.Set)
	return func() { stop() }
}

// Flag is what C code looks at: not 0 once s is set, nil without a Stop. It is Go's memory, lent for
// a call.
func (s *Stop) Flag() *uint32 {
	if s == nil {
		return nil
	}
	return &s.set
}

// Err is context.Canceled once s is set.
func (s *Stop) Err() error {
	if s != nil && atomic.LoadUint32(&s.set) != 0 {
		return context.Canceled
	}
	return nil
}

// StopReader reads until it is stopped.
type StopReader struct {
	bytes.Reader
	Stop *Stop
}

func (r *StopReader) Read(p []byte) (int, error) {
	if err := r.Stop.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func (r *StopReader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.Stop.Err(); err != nil {
		return 0, err
	}
	return r.Reader.ReadAt(p, off)
}
