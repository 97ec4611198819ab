package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SweepSpec is a setting of the loader and the values to measure it with.
type SweepSpec struct {
	// Setting is workers, batch or prefetch.
	Setting string
	// Values, at least one. 0 workers load each batch when the loop asks for it, and nothing before.
	Values []int
}

// sweepable are the settings of a SweepSpec.
var sweepable = []string{"workers", "batch", "prefetch"}

// ParseSweep reads "workers=0,1,2,4".
func ParseSweep(text string) (SweepSpec, error) {
	setting, values, _ := strings.Cut(text, "=")
	s := SweepSpec{Setting: setting}
	for v := range strings.SplitSeq(values, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			return SweepSpec{}, fmt.Errorf("sweep %q: write a setting and its values, such as workers=0,1,2,4", text)
		}
		s.Values = append(s.Values, n)
	}
	return s, s.check()
}

// check returns an error for settings and values that cannot be measured.
func (s SweepSpec) check() error {
	if !slices.Contains(sweepable, s.Setting) {
		return fmt.Errorf("sweep %q: unknown setting; use %s", s, strings.Join(sweepable, ", "))
	}
	if len(s.Values) == 0 {
		return fmt.Errorf("sweep %q: there are no values", s)
	}
	least := 1
	if s.Setting == "workers" {
		least = 0
	}
	for i, n := range s.Values {
		if n < least {
			return fmt.Errorf("sweep %q: %d: the values must be at least %d", s, n, least)
		}
		if slices.Contains(s.Values[:i], n) {
			return fmt.Errorf("sweep %q: %d is there twice", s, n)
		}
	}
	return nil
}

// String is what ParseSweep reads.
func (s SweepSpec) String() string {
	values := make([]string, len(s.Values))
	for i, n := range s.Values {
		values[i] = strconv.Itoa(n)
	}
	return s.Setting + "=" + strings.Join(values, ",")
}

// MarshalText implements encoding.TextMarshaler.
func (s SweepSpec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *SweepSpec) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSweep(string(text))
	return err
}
