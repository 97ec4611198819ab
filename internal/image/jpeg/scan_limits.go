package jpeg

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Each scan of a JPEG goes through all of its blocks, though its data may be a few bytes: a small
// file of thousands of scans would take minutes. Encoders write about ten scans. jpeg_watch.c has the
// same limits.
const (
	maxScans       = 500
	scansOfAnySize = 100     // whatever the size
	maxScanPixels  = 4 << 30 // of all scans together
)

// ErrScans is returned for a JPEG with so many scans that decoding it would take too long.
var ErrScans = fmt.Errorf("%w: a JPEG with more than %d scans, or more than %d that have more than %d million pixels together",
	pixel.ErrUnsupported, maxScans, scansOfAnySize, maxScanPixels/1_000_000)
