package order

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is a way to order an epoch; "" is None.
type Kind string

const (
	// None gives each sample once, in order of key.
	None Kind = "none"
	// Full gives each sample once, shuffled.
	Full Kind = "full"
	// Block gives each sample once: blocks of neighbours are shuffled, then the samples within
	// each window of successive blocks.
	Block Kind = "block"
	// Weighted draws samples by weight, with replacement.
	Weighted Kind = "weighted"
	// Balanced draws samples so that all classes are equally frequent, with replacement.
	Balanced Kind = "balanced"
)

// Spec is the kind of order of a dataset's epochs. The zero value is None.
type Spec struct {
	Kind Kind
	// Block is the number of neighbours that stay together, Window the number of blocks that
	// are shuffled with one another; of Block alone.
	Block, Window int
	// Draws is the number of positions of an epoch of Weighted or Balanced; 0 is the number
	// of samples.
	Draws int
}

// String is what Parse reads: none, full, block:BLOCK:WINDOW, weighted, weighted:DRAWS, balanced
// or balanced:DRAWS.
func (s Spec) String() string {
	switch {
	case s.Kind == Block:
		return fmt.Sprintf("%s:%d:%d", s.Kind, s.Block, s.Window)
	case s.Draws > 0:
		return fmt.Sprintf("%s:%d", s.Kind, s.Draws)
	default:
		return string(cmp.Or(s.Kind, None))
	}
}

// MarshalText implements encoding.TextMarshaler.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Spec) UnmarshalText(text []byte) (err error) {
	*s, err = Parse(string(text))
	return err
}

// Parse reads what String writes.
func Parse(text string) (Spec, error) {
	name, rest, some := strings.Cut(text, ":")
	switch kind := Kind(name); kind {
	case None, Full, Block, Weighted, Balanced:
		s, err := parseNumbers(kind, rest, some)
		if err != nil {
			return Spec{}, fmt.Errorf("order %q: %w", text, err)
		}
		return s, nil
	}
	return Spec{}, fmt.Errorf("order %q: unknown; use %s, %s, %s:BLOCK:WINDOW, %s[:DRAWS] or %s[:DRAWS]",
		text, None, Full, Block, Weighted, Balanced)
}

// parseNumbers reads what follows a kind, if there is some.
func parseNumbers(k Kind, text string, some bool) (Spec, error) {
	var numbers []int
	if some {
		for field := range strings.SplitSeq(text, ":") {
			n, err := strconv.ParseUint(field, 10, 31)
			if err != nil || n == 0 {
				return Spec{}, fmt.Errorf("%q is not a number from 1 to %d", field, math.MaxInt32)
			}
			numbers = append(numbers, int(n))
		}
	}
	switch s := (Spec{Kind: k}); {
	case k == Block && len(numbers) == 2:
		s.Block, s.Window = numbers[0], numbers[1]
		return s, nil
	case k == Block:
		return s, fmt.Errorf("write %s:BLOCK:WINDOW", k)
	case len(numbers) == 0:
		return s, nil
	case len(numbers) == 1 && (k == Weighted || k == Balanced):
		s.Draws = numbers[0]
		return s, nil
	default:
		return s, fmt.Errorf("it takes no %q", text)
	}
}

// Check returns an error for an unknown Kind, and for numbers that it does not take.
func (s Spec) Check() error {
	draws := s.Kind == Weighted || s.Kind == Balanced
	outside := func(x int) bool { return x < 1 || x > math.MaxInt32 }
	switch {
	case !slices.Contains([]Kind{"", None, Full, Block, Weighted, Balanced}, s.Kind):
		return fmt.Errorf("order %q: unknown; use %s, %s, %s, %s or %s", s.Kind, None, Full, Block, Weighted, Balanced)
	case s.Kind == Block && (outside(s.Block) || outside(s.Window)):
		return fmt.Errorf("block order: block %d and window %d must be from 1 to %d", s.Block, s.Window, math.MaxInt32)
	case s.Kind != Block && (s.Block != 0 || s.Window != 0):
		return fmt.Errorf("%s order: Block and Window are for %s order", cmp.Or(s.Kind, None), Block)
	case s.Draws != 0 && (!draws || outside(s.Draws)):
		return fmt.Errorf("%s order of %d draws", cmp.Or(s.Kind, None), s.Draws)
	default:
		return nil
	}
}

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
