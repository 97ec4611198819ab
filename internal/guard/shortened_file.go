package guard

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// SampleShortened returns a *ReadError if a mapped file was shortened so that it ends before one of
// the sample's values, which were used just now. The system shows the rest of the page in which such
// a file ends as zeros and sends no signal, so Check does not notice. While the file is whole, a look
// at its last page needs neither a lock nor a system call; only a value in that page itself needs
// one. Call it within Do, while the files are mapped.
func SampleShortened(s *formats.Sample) error {
	var whole *region // of the value before
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

// shortened is SampleShortened of bytes. The caller found the region whole to be whole just now, nil
// if none; shortened returns the last region that it found to be whole.
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

// isWhole reports whether the region's last page is readable. Once it was not, it is not read again:
// on a failing disk that could take seconds each time.
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

// cutBefore returns an error if the file now ends before byte to, or if that is unknown.
func (r *region) cutBefore(from, to int) error {
	var now unix.Stat_t
	cut := false
	switch err := unix.Stat(r.full, &now); {
	case err == nil && now.Dev == r.stat.Dev && now.Ino == r.stat.Ino:
		if now.Size >= int64(to) {
			return nil
		}
		cut = true
	case !r.suspect.Load():
		return nil // it was renamed or removed, and still exists for processes that have it open
	default:
		now.Size = 0
	}
	return &ReadError{File: r.path, From: max(int64(from), now.Size), To: int64(to), shortened: cut}
}

// canRead reports whether the page at the beginning of b can be read without a panic. If the
// handler replaces it by zeros, it can.
func canRead(b []byte) (ok bool) {
	defer func() { ok = recover() == nil }()
	// The compiler would leave out an ordinary load whose value nobody uses.
	atomic.LoadUint32((*uint32)(unsafe.Pointer(unsafe.SliceData(b))))
	return true
}
