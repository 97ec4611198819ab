//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// measurements are those of one dataset, from each round.
type measurements struct {
	Samples      int       `json:"samples"`
	WriteSeconds float64   `json:"write_seconds"`
	OpenSeconds  []float64 `json:"open_seconds"`
	OpenCPU      []float64 `json:"open_cpu_seconds"` // of all threads
	CloseSeconds []float64 `json:"close_seconds"`
	// Nanoseconds and CPU are those per read, by the pass and its number of goroutines: the
	// time of a goroutine, and the processor time of its thread.
	Nanoseconds map[string][]float64 `json:"nanoseconds"`
	CPU         map[string][]float64 `json:"cpu_nanoseconds"`
	// Disk are nanoseconds per read on two goroutines that begin with no file in the page cache.
	Disk            map[string][]float64 `json:"disk_nanoseconds,omitempty"`
	DiskOpenSeconds []float64            `json:"disk_open_seconds,omitempty"`
	// Processes are those that opened the dataset each for itself, first those that loaded an epoch.
	Processes []process `json:"processes,omitempty"`
}

// subject is an open dataset with all that the passes need.
type subject struct {
	ds        formats.Dataset
	viewer    formats.Viewer
	indices   []int32
	addresses [][]byte // of the images that the indices name
	plain     *plain   // the same bytes in mappings of the program's own
	loader    *reader.Loader
	batch     reader.Batch
	m         *measurements
}

// round opens all datasets and runs the passes over them in turns.
func (s *settings) round(f formats.WritableFormat, dirs []string, m []measurements) (err error) {
	subjects := make([]*subject, len(dirs))
	for k, dir := range dirs {
		if subjects[k], err = s.open(f, dir, &m[k]); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, subjects[k].close()) }()
	}
	for _, workers := range s.Workers {
		for _, p := range passes {
			if p.once && workers != s.Workers[0] {
				continue
			}
			for _, sub := range subjects {
				if err := s.run(p, sub, workers); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *settings) open(f formats.WritableFormat, dir string, m *measurements) (*subject, error) {
	start, cpu := time.Now(), processTime()
	ds, err := f.Open(pathOf(f, dir))
	if err != nil {
		return nil, err
	}
	m.OpenSeconds = append(m.OpenSeconds, time.Since(start).Seconds())
	m.OpenCPU = append(m.OpenCPU, (processTime() - cpu).Seconds())
	viewer, ok := ds.(formats.Viewer)
	if !ok {
		return nil, errors.Join(errors.New("the dataset is not a Viewer"), ds.Close())
	}
	ops := augment.Train(s.Side)
	loader, err := reader.New(ds, reader.Config{BatchSize: 1, Workers: 1, Transforms: ops})
	if err != nil {
		return nil, errors.Join(err, ds.Close())
	}
	return &subject{ds: ds, viewer: viewer, indices: s.reads(ds.Len()), addresses: make([][]byte, s.Reads), loader: loader, m: m}, nil
}

func (sub *subject) close() error {
	err := errors.Join(sub.loader.Close(), sub.plain.close())
	start := time.Now()
	err = errors.Join(err, sub.ds.Close())
	sub.m.CloseSeconds = append(sub.m.CloseSeconds, time.Since(start).Seconds())
	return err
}

// reads are the random indices of a pass, the same in each.
func (s *settings) reads(n int) []int32 {
	indices, random := make([]int32, s.Reads), rand.New(rand.NewPCG(1, 2))
	for k := range indices {
		indices[k] = random.Int32N(int32(n))
	}
	return indices
}

// pass is a way to read; read does read k of it.
type pass struct {
	name string
	once bool // on one goroutine only
	few  bool // with fewer reads
	cold bool // other memory goes through the processor's caches before each batch
	// prepare does what is not timed; nil if there is nothing to do.
	prepare func(sub *subject) error
	read    func(sub *subject, k int, smp *formats.Sample) error
}

var passes = []pass{
	{name: "first view", once: true, read: view},
	{name: "view", read: view},
	{name: "lookup", read: lookup},
	{name: "first plain", once: true, prepare: (*subject).mapPlain, read: touchPlain},
	{name: "plain", read: touchPlain},
	{name: "info", read: info},
	{name: "read", read: read},
	{name: "prefetch", once: true, read: prefetch},
	{name: "load", once: true, few: true, read: load},
	{name: "cold view", once: true, few: true, cold: true, read: view},
	{name: "cold plain", once: true, few: true, cold: true, read: touchPlain},
	{name: "cold read", once: true, few: true, cold: true, read: read},
}

func (sub *subject) mapPlain() (err error) {
	sub.plain, err = mapPlain(sub.addresses)
	return err
}

func view(sub *subject, k int, smp *formats.Sample) error {
	if err := lookup(sub, k, smp); err != nil {
		return err
	}
	if touch(sub.addresses[k]) == 0 {
		return fmt.Errorf("read %d: the image is all zeros", k)
	}
	return nil
}

func lookup(sub *subject, k int, smp *formats.Sample) error {
	if err := sub.viewer.View(int(sub.indices[k]), smp); err != nil {
		return err
	}
	sub.addresses[k] = smp.Values[0].Data
	return nil
}

func touchPlain(sub *subject, k int, _ *formats.Sample) error {
	if touch(sub.plain.bytes(k)) == 0 {
		return fmt.Errorf("read %d: the file has only zeros there", k)
	}
	return nil
}

func info(sub *subject, k int, _ *formats.Sample) error {
	in, err := sub.ds.Info(int(sub.indices[k]))
	if err == nil && in.Size == 0 {
		err = fmt.Errorf("key %q: the image is empty", in.Key)
	}
	return err
}

func read(sub *subject, k int, smp *formats.Sample) error {
	return sub.ds.Read(int(sub.indices[k]), smp)
}

// load builds a batch of one sample.
func load(sub *subject, k int, _ *formats.Sample) error {
	return sub.loader.At(int(sub.indices[k]), &sub.batch)
}

// prefetch calls Prefetch for each batch of reads.
func prefetch(sub *subject, k int, _ *formats.Sample) error {
	if p, ok := sub.ds.(formats.Prefetcher); ok && k%batch == 0 {
		p.Prefetch(sub.indices[k:min(k+batch, len(sub.indices))])
	}
	return nil
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
