package guard

import (
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// Mark is a point in time before mapped memory is used.
type Mark uint64

// Now is the present point in time.
func Now() Mark { return Mark(events.Load()) }

// Quiet reports whether all mapped memory of the process was readable since mark. It costs two
// loads; false does not say which memory was unreadable.
func Quiet(mark Mark) bool {
	// In this order: mapping a page again counts the event first.
	return replaced.Load() == 0 && events.Load() == uint64(mark)
}

// Check returns a *ReadError if b, part of memory from Map, was unreadable at some time since
// mark. For other memory it returns nil.
func Check(mark Mark, b []byte) error {
	if Quiet(mark) {
		return nil
	}
	return check(mark, b)
}

//go:noinline // Check is inlined
func check(mark Mark, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	regions.RLock()
	defer regions.RUnlock()
	r := regionOf(at)
	if r == nil {
		return nil
	}
	from := int(at - r.at)
	first, last, hit := r.faulted(mark, from/pageSize, (from+len(b)-1)/pageSize)
	if !hit {
		return nil
	}
	if !r.write {
		r.restore(first, last)
	}
	return r.unreadable(first, last)
}

// CheckSample is Check of the sample's values.
func CheckSample(mark Mark, s *formats.Sample) error {
	if Quiet(mark) {
		return nil
	}
	for i := range s.Values {
		if err := Check(mark, s.Values[i].Data); err != nil {
			return err
		}
	}
	return nil
}

// Read calls read, which reads b and perhaps more, and returns panics and unreadable memory as
// errors.
func Read(b []byte, read func() error) error {
	mark := Now()
	return Since(mark, b, Do(read))
}

// Since returns the error that b was unreadable at some time since mark, else err. The former may
// be the cause of the latter.
func Since(mark Mark, b []byte, err error) error {
	if Quiet(mark) {
		return err
	}
	if unreadable := check(mark, b); unreadable != nil {
		return unreadable
	}
	return err
}

// Use calls use, which uses mapped memory lent to s, and returns panics and unreadable memory as
// errors.
func Use(s *formats.Sample, use func() error) error {
	mark := Now()
	err := Do(use)
	if Quiet(mark) {
		return err
	}
	if unreadable := CheckSample(mark, s); unreadable != nil {
		return unreadable
	}
	return err
}
