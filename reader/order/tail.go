package order

import (
	"fmt"
	"slices"
)

var tailNames = [...]string{Pad: "pad", Drop: "drop", Uneven: "uneven", Repeat: "repeat"}

// MarshalText implements encoding.TextMarshaler.
func (t Tail) MarshalText() ([]byte, error) { return []byte(tailNames[t]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Tail) UnmarshalText(text []byte) error {
	k := slices.Index(tailNames[:], string(text))
	if k < 0 {
		return fmt.Errorf("tail %q: wanted repeat, pad, drop or uneven", text)
	}
	*t = Tail(k)
	return nil
}
