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
// page itself costs a call. It is called within Do, while the files are mapped.
func SampleShortened(s *formats.Sample) error {
	var whole *region // that the value before lies in
	for i := range s.Values {
		b := s.Values[i].Data
		if len(b) == 0 {
			continue
		}
		at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
		r := regionOf(at)
		if r == nil || r.write {
			continue
		}
		from := int(at - r.at)
		last := (len(r.data) - 1) / pageSize
		if from+len(b) <= last*pageSize && (r == whole || r.isWhole(last)) {
			whole = r
			continue
		}
		if err := r.shortened(from, from+len(b), last); err != nil {
			return err
		}
	}
	return nil
}

// isWhole reports whether the region's last page is still there.
func (r *region) isWhole(last int) bool {
	before := Now()
	return canRead(r.data[last*pageSize:]) && Quiet(before)
}

// shortened is the error that the file now ends before byte to.
func (r *region) shortened(from, to, last int) error {
	r.restore(last, last)
	var now unix.Stat_t
	if unix.Stat(r.path, &now) != nil || now.Dev != r.stat.Dev || now.Ino != r.stat.Ino || now.Size >= int64(to) {
		return nil
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
