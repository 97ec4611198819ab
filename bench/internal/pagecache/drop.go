package pagecache

import (
	"context"
	"errors"
	"fmt"
)

// ErrUnknown is returned where the system cannot drop files from its cache, or doesn't tell what is in it.
var ErrUnknown = errors.New("the system does not tell which files it has in memory")

// probed is how many of the files are asked for what is left in memory: enough for a share in percent.
const probed = 2000

// Drop removes the files from the page cache and returns the share of their bytes that is still in memory: 0 is
// none, 1 is all. Pages that some process has mapped stay, and all of them on a file system in memory (tmpfs).
// Bytes that are not written yet are written first. The caller must not have the files mapped.
func Drop(ctx context.Context, files []string) (left float64, err error) {
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return 1, context.Cause(ctx)
		}
		if err := drop(file); err != nil {
			return 1, fmt.Errorf("drop %s from the page cache: %w", file, err)
		}
	}
	return resident(ctx, files)
}

// resident is the share of the files' bytes that is in memory, of up to 2,000 of them, evenly spread. ErrUnknown if
// the system doesn't tell: Linux tells it to those who own a file or may write to it.
func resident(ctx context.Context, files []string) (float64, error) {
	var in, all int64
	step := max(1, len(files)/probed)
	for i := 0; i < len(files); i += step {
		if ctx.Err() != nil {
			return 1, context.Cause(ctx)
		}
		held, pages, err := residentPages(files[i])
		if err != nil {
			return 1, fmt.Errorf("%s: %w", files[i], err)
		}
		in += held
		all += pages
	}
	if all == 0 {
		return 0, nil
	}
	return float64(in) / float64(all), nil
}
