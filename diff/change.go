package diff

// Kind is how a key changed from A to B.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"   // only B has the key
	Removed Kind = "removed" // only A has it
	Changed Kind = "changed" // both have it, with differences
)

// Aspect is what of a sample can differ.
type Aspect string

// The aspects of a sample.
const (
	// Bytes: the stored bytes of an image, mask, text or other value differ.
	Bytes Aspect = "bytes"
	// Pixels: the decoded pixels of an image or mask, in its own channels and depth, differ, or
	// only one of the two can be decoded. If neither can, only Bytes is reported.
	Pixels Aspect = "pixels"
	Label  Aspect = "label"
	Split  Aspect = "split"
	Column Aspect = "column"
)

// Change is the differences of one key.
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

// Empty reports whether nothing was found.
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
