package order

import "fmt"

// Tail is how the samples at an epoch's end that do not fill a batch on every rank are handled; ""
// is Pad.
type Tail string

const (
	// Pad splits them evenly, so that all ranks get batches of the same size. Up to World-1
	// entries have no sample left: the epoch's first samples are repeated there, without a label
	// and marked as padding.
	Pad Tail = "pad"
	// Drop skips them.
	Drop Tail = "drop"
	// Uneven splits them as evenly as possible without padding, each sample once: for
	// evaluation. Sizes differ by at most one. If fewer samples than ranks are left, the
	// last ranks have one batch less than the others.
	Uneven Tail = "uneven"
	// Repeat is Pad for loops that do not know padding: the repeated samples keep their labels.
	Repeat Tail = "repeat"
)

// ParseTail reads "pad", "drop", "uneven" or "repeat"; "" is Pad.
func ParseTail(text string) (Tail, error) {
	switch t := Tail(text); t {
	case "":
		return Pad, nil
	case Pad, Drop, Uneven, Repeat:
		return t, nil
	}
	return "", fmt.Errorf("tail %q: wanted repeat, pad, drop or uneven", text)
}

// IsZero reports whether t is the default, which JSON leaves out.
func (t Tail) IsZero() bool { return t == "" || t == Pad }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Tail) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTail(string(text))
	return err
}
