//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/procmemory"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/reader/order"
)

const indexName = "index"

// writeIndex writes an index of the samples.
func writeIndex(s *settings, r *result) (err error) {
	d, err := newMadeUp(s.Samples)
	if err != nil {
		return err
	}
	each := func(do func(row *sampleindex.Row) error) error {
		for i := range d.n {
			row, err := d.row(i, s.Shards)
			if err == nil {
				err = do(&row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	p := sampleindex.NewProfile(nil, 0)
	if err := r.timed("profile", func() error { return each(func(row *sampleindex.Row) error { p.Add(row); return nil }) }); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(s.dir, indexName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = r.timed("write", func() error {
		w, err := sampleindex.NewWriter(f, p)
		if err == nil {
			err = each(w.Append)
		}
		if err == nil {
			err = w.Finish(sampleindex.ID{1})
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.sizes(s, map[string]string{"index": f.Name()})
}

// sizes records the sizes of files, and the memory.
func (r *result) sizes(s *settings, files map[string]string) error {
	r.Bytes["samples"] = int64(s.Samples)
	for name, file := range files {
		st, err := os.Stat(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // by the code of a commit that wrote no such file
		}
		if err != nil {
			return err
		}
		r.Bytes[name] = st.Size()
	}
	var err error
	r.Memory, err = procmemory.Own()
	return err
}

// openIndex opens the index and looks up samples in it.
func openIndex(s *settings, r *result) (err error) {
	d, err := newMadeUp(s.Samples)
	if err != nil {
		return err
	}
	start := time.Now()
	m, err := mapped.Map(filepath.Join(s.dir, indexName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	x, err := sampleindex.Open(m.Data, indexName)
	if err != nil {
		return err
	}
	r.Seconds["open"] = time.Since(start).Seconds()
	if r.Seconds["order"], err = drawOrder(x.Len()); err != nil {
		return err
	}
	err = r.lookups(s, d, func(i int) (label int64, err error) {
		e, err := x.At(i)
		if err != nil || e.Location().Length == 0 {
			return 0, errors.Join(err, fmt.Errorf("sample %d is nowhere", i))
		}
		return e.Label(), nil
	}, x.Find)
	if err != nil {
		return err
	}
	return r.sizes(s, nil)
}

// drawOrder returns the time to begin a shuffled epoch of n samples and to draw the first thousand.
func drawOrder(n int) (seconds float64, err error) {
	start := time.Now()
	p, err := order.New(order.Spec{Kind: order.Full}, order.Data{Samples: n})
	if err != nil {
		return 0, err
	}
	o := p.Epoch(1, 0)
	for k := range min(n, 1000) {
		if i := o.At(k); i < 0 || i >= n {
			return 0, fmt.Errorf("position %d has sample %d of %d", k, i, n)
		}
	}
	return time.Since(start).Seconds(), nil
}

// warmRounds is how often the samples are looked up again: the least time counts.
const warmRounds = 3

// lookups looks up the same random samples by rank and by key, each several times.
func (r *result) lookups(s *settings, d *madeUp, at func(i int) (label int64, err error), find func(key string) (int, bool, error)) error {
	random := rand.New(rand.NewPCG(1, 2))
	samples, keys := make([]int, s.Lookups), make([]string, s.Lookups)
	for k := range samples {
		samples[k] = random.IntN(d.n)
		keys[k] = d.key(samples[k])
	}
	byRank := func(k int) error {
		label, err := at(samples[k])
		if err == nil && label != int64(d.class(samples[k])) {
			err = fmt.Errorf("sample %d has the label %d", samples[k], label)
		}
		return err
	}
	byKey := func(k int) error {
		i, ok, err := find(keys[k])
		if err == nil && (!ok || i != samples[k]) {
			err = fmt.Errorf("key %s is found at %d, %v", keys[k], i, ok)
		}
		return err
	}
	for _, kind := range []struct {
		name   string
		lookUp func(k int) error
	}{{"rank", byRank}, {"key", byKey}} {
		for round := range 1 + warmRounds {
			wall, cpu, err := eachTimed(s.Lookups, kind.lookUp)
			if err != nil {
				return err
			}
			t := lookupTime{wall / float64(s.Lookups), cpu / float64(s.Lookups)}
			switch name := kind.name + ", warm"; round {
			case 0:
				r.Lookups[kind.name] = t
			case 1:
				r.Lookups[name] = t
			default:
				r.Lookups[name] = lookupTime{min(t.Wall, r.Lookups[name].Wall), min(t.CPU, r.Lookups[name].CPU)}
			}
		}
	}
	return nil
}

// eachTimed calls do for 0 to n-1 and returns the microseconds that it took, and those of the processor.
func eachTimed(n int, do func(k int) error) (wall, cpu float64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var from, to unix.Timespec
	start := time.Now()
	err = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &from)
	for k := 0; k < n && err == nil; k++ {
		err = do(k)
	}
	err = errors.Join(err, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &to))
	return float64(time.Since(start)) / 1e3, float64(to.Nano()-from.Nano()) / 1e3, err
}
