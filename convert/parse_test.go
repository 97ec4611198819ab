package convert

import (
	"math"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/legible"
)

// FuzzParse: a parsed option formats to text that parses to the same, and is within bounds.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "key", "shuffle", "shuffle:7", "shuffle:18446744073709551615", "shuffle:-1", "500MB", "1.5GiB", "1e18", "9223372036854775807", "NaN", "InfB", "0x1p60",
		"auto", "none", "train=0.9,val=0.1", "a=1", "a=0.5,a=0.5", "a=NaN,b=1", "=1", "../x=1", "column", "a=1e-300,b=1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if o := Order(s); o.Validate() == nil {
			again := Order(o.recipe())
			if was, _ := o.seed(); again.Validate() != nil || again.recipe() != o.recipe() || again != KeyOrder && again != Shuffled(was) {
				t.Errorf("order %q is recorded as %q", s, again)
			}
		}
		if n, err := legible.ParseSize(s); err == nil && (n < 1 || n >= 1<<62) {
			t.Errorf("size %q is %d", s, n)
		}
		shares, err := Splitter(s).shares()
		if err != nil {
			return
		}
		total := 0.0
		for _, p := range shares {
			if p.name == "" || strings.ContainsAny(p.name, "/\\") || !(p.fraction > 0) {
				t.Errorf("split %q has the part %+v", s, p)
			}
			total += p.fraction
		}
		if shares != nil && math.Abs(total-1) > 1e-6 {
			t.Errorf("split %q adds up to %g", s, total)
		}
	})
}
