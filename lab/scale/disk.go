//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

const (
	diskReads   = 10_000
	diskWorkers = 2
	batch       = 64
	distance    = 2 // batches between the one that is prefetched and the one that is read
)

// disk reads at random from the dataset, after its files were dropped from the page cache, with
// Prefetch and without, and records the time per read.
func (s *settings) disk(f formats.WritableFormat, dir string, m *measurements) error {
	for _, name := range []string{"disk view", "disk view, prefetch"} {
		if err := drop(dir); err != nil {
			return err
		}
		start := time.Now()
		sub, err := s.open(f, dir, &measurements{})
		if err != nil {
			return err
		}
		m.DiskOpenSeconds = append(m.DiskOpenSeconds, time.Since(start).Seconds())
		start = time.Now()
		err = sub.fromDisk(name == "disk view, prefetch")
		m.Disk[name] = append(m.Disk[name], float64(time.Since(start))/float64(min(diskReads, s.Reads)))
		if err := errors.Join(err, sub.ds.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (sub *subject) fromDisk(withPrefetch bool) error {
	n := min(diskReads, len(sub.indices))
	p, ok := sub.ds.(formats.Prefetcher)
	if !ok {
		return errors.New("the dataset is not a Prefetcher")
	}
	prefetch := func(from, to int) {
		if withPrefetch {
			p.Prefetch(sub.indices[min(n, from):min(n, to)])
		}
	}
	prefetch(0, distance*batch)
	var next atomic.Int64
	errs := make([]error, diskWorkers)
	var wg sync.WaitGroup
	for w := range diskWorkers {
		wg.Go(func() {
			var smp formats.Sample
			for errs[w] == nil {
				k := int(next.Add(1) - 1)
				if k >= n {
					return
				}
				if k%batch == 0 {
					prefetch(k+distance*batch, k+(distance+1)*batch)
				}
				errs[w] = view(sub, k, &smp)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// drop removes the files in dir from the page cache.
func drop(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return fmt.Errorf("drop %s from the page cache: %w", path, err)
		}
		return nil
	})
}
