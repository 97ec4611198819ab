package figures

import (
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{7, 1, 2}, 2}} {
		given := slices.Clone(c.values)
		if got := Median(given); got != c.want || !slices.Equal(given, c.values) {
			t.Errorf("Median(%v) = %g, want %g; the values are now %v", c.values, got, c.want, given)
		}
	}
}

func TestTexts(t *testing.T) {
	for x, want := range map[float64]string{0: "0.00", 0.126: "0.13", 9.996: "10.0", 12.34: "12.3", 99.96: "100", 1234.5: "1234"} {
		if got := Digits(x); got != want {
			t.Errorf("Digits(%g) = %q, want %q", x, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 epochs", 1: "1 epoch", 12: "12 epochs"} {
		if got := Counted(n, "epoch"); got != want {
			t.Errorf("Counted(%d) = %q", n, got)
		}
	}
	if got := Percent(0.624); got != "62 %" {
		t.Errorf("Percent(0.624) = %q", got)
	}
}
