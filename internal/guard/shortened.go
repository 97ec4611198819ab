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
// last page costs no system call while the file is whole; only what lies in that page itself
// costs one. It is called within Do.
func SampleShortened(s *formats.Sample) error {
	regions.RLock()
	defer regions.RUnlock()
	for i := range s.Values {
		if err := shortened(s.Values[i].Data); err != nil {
			return err
		}
	}
	return nil
}

// shortened is SampleShortened of one value. The list of regions must be locked.
func shortened(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	r := regionOf(at)
	if r == nil || r.write {
		return nil
	}
	from := int(at - r.at)
	end, last := from+len(b), (len(r.data)-1)/pageSize
	before := Now()
	if canRead(r.data[last*pageSize:]) && Quiet(before) && end <= last*pageSize {
		return nil
	}
	r.restore(last, last)
	var now unix.Stat_t
	if unix.Stat(r.path, &now) != nil || now.Dev != r.stat.Dev || now.Ino != r.stat.Ino || now.Size >= int64(end) {
		return nil
	}
	return &ReadError{File: r.path, From: max(int64(from), now.Size), To: int64(end)}
}

// canRead reports whether the page that b begins with can be read without a panic. Where the
// handler puts zeros in its place, it can.
func canRead(b []byte) (ok bool) {
	defer func() { ok = recover() == nil }()
	// An ordinary load whose value nobody uses would be left out.
	atomic.LoadUint32((*uint32)(unsafe.Pointer(unsafe.SliceData(b))))
	return true
}
