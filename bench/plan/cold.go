package plan

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/bench/internal/pagecache"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

const (
	// coldShare is the most of the files that may still be in memory for a read to count as one from the disk.
	coldShare = 0.05
	// coldSeconds is about how long the disk is read.
	coldSeconds = 0.5
	// coldReaders read at the same time: a disk is slower for one.
	coldReaders = 8
	// coldAhead is how many samples are asked for before they are read, as a Loader does.
	coldAhead = 64
)

// errNotCold is returned if the files stay in memory: of a file system in memory, or where the system doesn't tell.
var errNotCold = errors.New("the page cache of the sample cannot be dropped")

// readCold drops the dataset at path from the page cache and reads its samples from the disk, in an order that
// jumps. It returns the microseconds of the disk for each. The dataset must not be open.
func readCold(ctx context.Context, f formats.Format, path string) (float64, error) {
	files, err := filesIn(path)
	if err != nil {
		return 0, err
	}
	left, err := pagecache.Drop(ctx, files)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil || left > coldShare {
		return 0, errNotCold
	}
	ds, err := f.Open(path)
	if err != nil {
		return 0, err
	}
	each, err := readAll(ctx, ds)
	return each, errors.Join(err, ds.Close())
}

// readAll reads ds's samples, until it has taken coldSeconds, and returns the microseconds for each.
func readAll(ctx context.Context, ds formats.Dataset) (float64, error) {
	n := ds.Len()
	indices := make([]int32, n)
	step := stride(n)
	for k := range indices {
		indices[k] = int32(k * step % n)
	}
	ahead, _ := ds.(formats.Prefetcher)
	begin, read := time.Now(), 0
	for read < n && time.Since(begin).Seconds() < coldSeconds {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		some := indices[read:min(read+coldAhead, n)]
		if ahead != nil {
			ahead.Prefetch(some)
		}
		var g errgroup.Group
		for r := range coldReaders {
			g.Go(func() error {
				var s formats.Sample
				for k := r; k < len(some); k += coldReaders {
					if err := guard.Do(func() error { return ds.Read(int(some[k]), &s) }); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		read += len(some)
	}
	return 1e6 * time.Since(begin).Seconds() / float64(max(read, 1)), nil
}

// stride is a step through n numbers that comes to each of them once, far from the one before.
func stride(n int) int {
	for step := n*5/8 + 1; ; step++ {
		if common(step, n) == 1 {
			return step
		}
	}
}

// common is the greatest common divisor.
func common(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// filesIn are the regular files at path or below it.
func filesIn(path string) (files []string, err error) {
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, file)
		}
		return err
	})
	return files, err
}
