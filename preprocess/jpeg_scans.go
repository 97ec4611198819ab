package preprocess

import "fmt"

// Every scan of a JPEG goes through all of its blocks, and may hold nothing: a small file of
// thousands of scans is the work of minutes. Encoders write about ten scans. The limits are those of
// jpeg_watch.c.
const (
	maxScans       = 500
	scansOfAnySize = 100     // whatever the size
	maxScanPixels  = 4 << 30 // of all scans together
)

var errScans = fmt.Errorf("%w: a JPEG with more than %d scans, or more than %d that have more than %d million pixels together",
	ErrUnsupported, maxScans, scansOfAnySize, maxScanPixels/1_000_000)
