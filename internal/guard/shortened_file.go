package guard

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// SampleShortened is a *ReadError if a file that the sample's values were mapped from, which were
// used just now, was cut before a value's end. Of the page that such a file ends in the system
// shows the rest as zeros and sends no signal, so Check knows nothing of it. A look at the file's
// last page costs neither a lock nor a system call while the file is whole; only what lies in that
// page itself costs one. It is called within Do, while the files are mapped.
func SampleShortened(s *formats.Sample) error {
	var whole *region // that the value before lies in
	for i := range s.Values {
		r, err := shortened(s.Values[i].Data, whole)
		if err != nil {
			return err
		}
		whole = r
	}
	return nil
}

// Shortened is SampleShortened of bytes.
func Shortened(b []byte) error {
	_, err := shortened(b, nil)
	return err
}

// shortened is SampleShortened of bytes. The region whole was found whole just now; it gives back
// the one that is known of now.
func shortened(b []byte, whole *region) (*region, error) {
	if len(b) == 0 {
		return whole, nil
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	r := regionOf(at)
	if r == nil || r.write {
		return whole, nil
	}
	from := int(at - r.at)
	to, last := from+len(b), (len(r.data)-1)/pageSize
	if to <= last*pageSize && (r == whole || r.isWhole(last)) {
		return r, nil
	}
	return whole, r.cutBefore(from, to)
}

// isWhole reports whether the region's last page is there. Once it was not, each look could take a
// failing disk seconds.
func (r *region) isWhole(last int) bool {
	if r.suspect.Load() {
		return false
	}
	before := Now()
	if !canRead(r.data[last*pageSize:]) || Check(before, r.data[last*pageSize:]) != nil {
		r.suspect.Store(true)
		return false
	}
	return true
}

// cutBefore is the error that the file now ends before byte to, or that it cannot be told.
func (r *region) cutBefore(from, to int) error {
	var now unix.Stat_t
	switch err := unix.Stat(r.full, &now); {
	case err == nil && now.Dev == r.stat.Dev && now.Ino == r.stat.Ino:
		if now.Size >= int64(to) {
			return nil
		}
	case !r.suspect.Load():
		return nil // it was renamed or removed, and is still there for those who have it open
	default:
		now.Size = 0
	}
	return &ReadError{File: r.path, From: max(int64(from), now.Size), To: int64(to)}
}

// canRead reports whether the page that b begins with can be read without a panic. Where the
// handler puts zeros in its place, it can.
func canRead(b []byte) (ok bool) {
	defer func() { ok = recover() == nil }()
	// An ordinary load whose value nobody uses would be left out.
	atomic.LoadUint32((*uint32)(unsafe.Pointer(unsafe.SliceData(b))))
	return true
}
