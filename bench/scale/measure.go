//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// measurements are those of one dataset, of each round.
type measurements struct {
	Samples      int       `json:"samples"`
	WriteSeconds float64   `json:"write_seconds"`
	OpenSeconds  []float64 `json:"open_seconds"`
	OpenCPU      []float64 `json:"open_cpu_seconds"` // of all threads
	CloseSeconds []float64 `json:"close_seconds"`
	// Nanoseconds and CPU are those of a read, by the pass and its number of goroutines: the
	// time of a goroutine, and the processor time of its thread.
	Nanoseconds map[string][]float64 `json:"nanoseconds"`
	CPU         map[string][]float64 `json:"cpu_nanoseconds"`
	// Disk are nanoseconds of a read on two goroutines that began with no file in the page cache.
	Disk            map[string][]float64 `json:"disk_nanoseconds,omitempty"`
	DiskOpenSeconds []float64            `json:"disk_open_seconds,omitempty"`
}

// subject is an open dataset with what the passes need.
type subject struct {
	ds        formats.Dataset
	viewer    formats.Viewer
	indices   []int32
	addresses [][]byte // of the images that the indices name
	loader    *reader.Loader
	batch     reader.Batch
	m         *measurements
}

// round opens all datasets and makes the passes over them in turns.
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
				if err := s.pass(p, sub, workers); err != nil {
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
	ops := augment.Train(side)
	loader, err := reader.New(ds, reader.Config{BatchSize: 1, Workers: 1, Transforms: ops})
	if err != nil {
		return nil, errors.Join(err, ds.Close())
	}
	return &subject{ds: ds, viewer: viewer, indices: s.reads(ds.Len()), addresses: make([][]byte, s.Reads), loader: loader, m: m}, nil
}

func (sub *subject) close() error {
	err := sub.loader.Close()
	start := time.Now()
	err = errors.Join(err, sub.ds.Close())
	sub.m.CloseSeconds = append(sub.m.CloseSeconds, time.Since(start).Seconds())
	return err
}

// reads are the keyed random indices of a pass.
func (s *settings) reads(n int) []int32 {
	indices := make([]int32, s.Reads)
	for k := range indices {
		hi, _ := bits.Mul64(mix(uint64(k)), uint64(n))
		indices[k] = int32(hi)
	}
	return indices
}

// mix is SplitMix64's finalizer.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// kind is one kind of pass; read makes read k of it.
type kind struct {
	name string
	once bool // on one goroutine alone
	few  bool // with a part of the reads alone
	cold bool // other memory goes through the processor's caches before each batch
	read func(sub *subject, k int, smp *formats.Sample) error
}

var passes = []kind{
	{name: "first view", once: true, read: view},
	{name: "view", read: view},
	{name: "lookup", read: lookup},
	{name: "bytes", read: known},
	{name: "info", read: info},
	{name: "read", read: read},
	{name: "prefetch", once: true, read: prefetch},
	{name: "load", once: true, few: true, read: load},
	{name: "cold view", once: true, few: true, cold: true, read: view},
	{name: "cold bytes", once: true, few: true, cold: true, read: known},
	{name: "cold read", once: true, few: true, cold: true, read: read},
}

func view(sub *subject, k int, smp *formats.Sample) error {
	if err := lookup(sub, k, smp); err != nil {
		return err
	}
	return known(sub, k, smp)
}

func lookup(sub *subject, k int, smp *formats.Sample) error {
	if err := sub.viewer.View(int(sub.indices[k]), smp); err != nil {
		return err
	}
	sub.addresses[k] = smp.Values[0].Data
	return nil
}

func known(sub *subject, k int, _ *formats.Sample) error {
	if touch(sub.addresses[k]) == 0 {
		return fmt.Errorf("read %d: an image without a bit", k)
	}
	return nil
}

func info(sub *subject, k int, _ *formats.Sample) error {
	in, err := sub.ds.Info(int(sub.indices[k]))
	if err == nil && in.Size == 0 {
		err = fmt.Errorf("key %q: an image of no bytes", in.Key)
	}
	return err
}

func read(sub *subject, k int, smp *formats.Sample) error {
	return sub.ds.Read(int(sub.indices[k]), smp)
}

// load makes a batch of one.
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
