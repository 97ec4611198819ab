package formattest

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/conformance"
)

// Run checks every property of f. name is the base name of the datasets that it makes,
// such as "x.lmdb" or "x-%03d.tar"; they lie in temporary folders of their own, and so does the
// user's cache, in which damaged datasets get an index. Therefore t must not be parallel.
func Run(t *testing.T, f formats.WritableFormat, name string) { conformance.Run(t, f, name) }

// Bench measures writing, reading and viewing 2,000 samples of about 30 KB. Write counts
// a whole dataset an operation, Read and View one sample in random order.
func Bench(b *testing.B, f formats.WritableFormat, name string) { conformance.Bench(b, f, name) }
