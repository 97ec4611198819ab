package guard

import (
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// Mark is a moment before mapped memory is used.
type Mark uint64

// Now is the present moment.
func Now() Mark { return Mark(events.Load()) }

// Quiet reports that no mapped memory of the process was unreadable since mark. It costs two
// loads; false does not say which memory was.
func Quiet(mark Mark) bool {
	// In this order: who maps a page anew counts the event first.
	return replaced.Load() == 0 && events.Load() == uint64(mark)
}

// Check is a *ReadError if b, of memory that Map gave, could not be read at some time since
// mark. Memory of others never is that.
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

// Read calls read, which reads b and perhaps more, and makes an error of what goes wrong.
func Read(b []byte, read func() error) error {
	mark := Now()
	return Since(mark, b, Do(read))
}

// Since is the error that b could not be read at some time since mark, else err, to which that
// may have led.
func Since(mark Mark, b []byte, err error) error {
	if Quiet(mark) {
		return err
	}
	if unreadable := check(mark, b); unreadable != nil {
		return unreadable
	}
	return err
}

// Use calls use, which uses mapped memory lent to s, and makes an error of what goes wrong.
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
