package legible

import "testing"

func TestParse(t *testing.T) {
	for s, want := range map[string]int64{"1GB": 1e9, "500MB": 5e8, "1.5KiB": 1536, "7": 7, "12 B": 12, "x": 0, "": 0, "-1MB": 0, "NaN": 0, "1e30GB": 0} {
		if got, err := ParseSize(s); got != want || (err == nil) != (want > 0) {
			t.Errorf("size %q: %d, %v", s, got, err)
		}
	}
}
