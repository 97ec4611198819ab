package diff

// Kind says what happened to a key on the way from A to B.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"   // only B has the key
	Removed Kind = "removed" // only A has it
	Changed Kind = "changed" // both have it, with what the differences say
)

// Aspect is a part of a sample that can differ.
type Aspect string

// The aspects of a sample.
const (
	// Bytes: what is stored of an image, a mask, a text or another value is not the same.
	Bytes Aspect = "bytes"
	// Pixels: what an image or mask decodes to, in its own channels and depth, is not the
	// same, or only one of the two can be decoded. Where neither can, Bytes stands alone.
	Pixels Aspect = "pixels"
	Label  Aspect = "label"
	Split  Aspect = "split"
	Column Aspect = "column"
)

// Change is what differs of one key.
type Change struct {
	Key  string       `json:"key"`
	Kind Kind         `json:"change"`
	What []Difference `json:"what,omitempty"` // of Changed, at least one
}

// Difference is one aspect of a sample that differs.
type Difference struct {
	Aspect Aspect `json:"aspect"`
	// Field is the field or column concerned, as A calls it; "" for the designated image, the
	// designated label and the split.
	Field string `json:"field,omitempty"`
	// From and To are what A and B have: class names or indices, splits, cells; nil for
	// Bytes and Pixels, empty for none.
	From []string `json:"from,omitempty"`
	To   []string `json:"to,omitempty"`
}

// Summary counts what Compare found.
type Summary struct {
	Common  int `json:"common"` // keys that both have
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	// Of the changed samples, those with a difference of that aspect.
	Aspects map[Aspect]int `json:"aspects,omitempty"`
}

// Empty says that nothing was found.
func (s *Summary) Empty() bool { return s.Added+s.Removed+s.Changed == 0 }

func (s *Summary) add(c *Change) {
	switch c.Kind {
	case Added:
		s.Added++
	case Removed:
		s.Removed++
	case Changed:
		s.Changed++
	}
	seen := map[Aspect]bool{}
	for _, d := range c.What {
		if !seen[d.Aspect] {
			seen[d.Aspect] = true
			s.Aspects[d.Aspect]++
		}
	}
}
