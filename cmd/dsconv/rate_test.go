package main

import "testing"

func TestParseRate(t *testing.T) {
	for s, want := range map[string]float64{"3000/s": 3000, "0.5": 0.5, "": 0, "0": 0, "-1/s": 0, "NaN": 0, "Inf": 0, "3000/min": 0} {
		got, err := parseRate(s)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("parseRate(%q) = %g, %v, want %g", s, got, err, want)
		}
	}
}
