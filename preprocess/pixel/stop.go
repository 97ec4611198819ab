package pixel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/dsconv/dsconv/formats"
)

// ErrMemory is returned when the machine has no memory to process an image. The image may be fine.
var ErrMemory = errors.New("out of memory: free some, or use fewer workers")

// ErrLibrary is returned when the libjpeg that is loaded is not the one dsconv was built for.
var ErrLibrary = errors.New("the loaded libjpeg is not the one dsconv was built for: install that version, or build dsconv again")

// ErrNoCgo is returned by a build without cgo where an image is decoded or changed.
var ErrNoCgo = fmt.Errorf("%w: this build of dsconv, with CGO_ENABLED=0, keeps images as they are: to decode or change them, build it with CGO_ENABLED=1", ErrUnsupported)

// EndsRun reports whether an error is not about one sample: other samples would fail as well, so that
// the run must end instead of skipping them.
func EndsRun(err error) bool {
	for _, end := range []error{ErrMemory, ErrLibrary, context.Canceled, context.DeadlineExceeded, syscall.ENOMEM, formats.ErrChanged} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// Stop ends the processing of images early, also in the middle of one: it then returns an error with
// context.Canceled in the chain. The zero value is ready. Many users may share a Stop; nil never
// stops.
type Stop struct{ set uint32 }

// Set stops all users of s.
func (s *Stop) Set() { atomic.StoreUint32(&s.set, 1) }

// When stops all users of s once ctx ends, until release is called.
func (s *Stop) When(ctx context.Context) (release func()) {
	stop := context.AfterFunc(ctx, s.Set)
	return func() { stop() }
}

// Flag returns the flag that C code reads, which is not 0 once s is set; nil without a Stop. It is Go
// memory, lent for the duration of a call.
func (s *Stop) Flag() *uint32 {
	if s == nil {
		return nil
	}
	return &s.set
}

// Err returns context.Canceled once s is set.
func (s *Stop) Err() error {
	if s != nil && atomic.LoadUint32(&s.set) != 0 {
		return context.Canceled
	}
	return nil
}
