//go:build linux

package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// way is one way to read.
type way struct {
	name    string
	mapped  bool
	advice  int // madvise of the whole mapping, 0 for none
	ahead   bool
	workers int // 0 for those of the settings
}

var ways = []way{
	{name: "mmap", mapped: true},
	{name: "mmap-random", mapped: true, advice: unix.MADV_RANDOM},
	{name: "mmap-willneed", mapped: true, ahead: true},
	{name: "pread"},
	{name: "pread-16", workers: 16},
	{name: "pread-ahead", ahead: true},
}

// batchesAhead is how far the system is told ahead of the batch that is read.
const batchesAhead = 2

// source is the open file of a pass.
type source struct {
	way
	file *os.File
	data []byte // where mapped
	size int    // of a record
}

// pass drops the file from the page cache and reads it in one way.
func (s *settings) pass(path string, w way, m *measurement, seed uint64) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	cached, err := drop(f)
	if err != nil {
		return err
	}
	src := source{way: w, file: f, size: m.Record}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if w.mapped {
		if src.data, err = unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unix.Munmap(src.data)) }()
		if w.advice != 0 {
			if err := unix.Madvise(src.data, w.advice); err != nil {
				return err
			}
		}
	}
	places := make([]int64, m.Reads)
	for k := range places {
		hi, _ := bits.Mul64(mix(seed<<32|uint64(k)), uint64(st.Size()-int64(m.Record)+1))
		places[k] = int64(hi)
	}
	start, cpu := time.Now(), processTime()
	if err := src.readAll(places, s.Batch, cmp.Or(w.workers, s.Workers)); err != nil {
		return err
	}
	m.Seconds = append(m.Seconds, time.Since(start).Seconds())
	m.CPU = append(m.CPU, (processTime() - cpu).Seconds())
	m.Cached = append(m.Cached, cached)
	return nil
}

// readAll reads the records at those places on so many goroutines, which take one after another.
func (src *source) readAll(places []int64, batch, workers int) error {
	var next atomic.Int64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	if src.ahead {
		src.tell(places[:min(len(places), batchesAhead*batch)])
	}
	for w := range workers {
		wg.Go(func() {
			buf := make([]byte, src.size)
			for errs[w] == nil {
				k := int(next.Add(1) - 1)
				if k >= len(places) {
					return
				}
				if src.ahead && k%batch == 0 {
					from := min(len(places), k+batchesAhead*batch)
					src.tell(places[from:min(len(places), from+batch)])
				}
				errs[w] = src.read(places[k], buf)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// tell says that the records will be read, in order of place.
func (src *source) tell(places []int64) {
	page := int64(os.Getpagesize())
	for _, at := range slices.Sorted(slices.Values(places)) {
		from, to := at&^(page-1), at+int64(src.size)
		if src.mapped {
			_ = unix.Madvise(src.data[from:to], unix.MADV_WILLNEED)
		} else {
			_ = unix.Fadvise(int(src.file.Fd()), from, to-from, unix.FADV_WILLNEED)
		}
	}
}

func (src *source) read(at int64, buf []byte) error {
	if src.mapped {
		touch(src.data[at : at+int64(src.size)])
		return nil
	}
	_, err := src.file.ReadAt(buf, at)
	touch(buf)
	return err
}

// touch reads a word of each cache line of b.
//
//go:noinline
func touch(b []byte) (bits uint64) {
	for ; len(b) >= 64; b = b[64:] {
		bits |= binary.LittleEndian.Uint64(b)
	}
	return bits
}

// mix is SplitMix64's finalizer.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func processTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// writeNoise makes a file that does not compress, and brings it to the disk.
func writeNoise(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	x := uint64(0)
	for left := size; left > 0 && err == nil; left -= int64(len(buf)) {
		for i := 0; i < len(buf); i += 8 {
			x++
			binary.LittleEndian.PutUint64(buf[i:], mix(x))
		}
		_, err = f.Write(buf[:min(left, int64(len(buf)))])
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// drop removes the file from the page cache and tells what share of it is there still.
func drop(f *os.File) (cached float64, err error) {
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return 0, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	resident := make([]byte, (len(b)+os.Getpagesize()-1)/os.Getpagesize())
	err = mincore(b, resident)
	n := 0
	for _, r := range resident {
		n += int(r & 1)
	}
	return float64(n) / float64(len(resident)), errors.Join(err, unix.Munmap(b))
}
