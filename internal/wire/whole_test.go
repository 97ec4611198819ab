package wire

import (
	"math"
	"testing"
)

func TestWhole(t *testing.T) {
	for _, x := range []float64{0, 1, 7, 100} {
		if n, ok := Whole(x, 100); !ok || float64(n) != x {
			t.Errorf("%v: %d, %v", x, n, ok)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0.5, 101, 1e300, 1 << 63} {
		if n, ok := Whole(x, 100); ok {
			t.Errorf("%v is the whole number %d", x, n)
		}
	}
	if _, ok := Whole(1<<63, math.MaxInt64); ok {
		t.Error("2^63 is taken for an int64")
	}
}
