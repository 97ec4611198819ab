package diff

// ChangeKind is how a key changed from A to B.
type ChangeKind string

// The kinds of changes.
const (
	ChangeAdded    ChangeKind = "added"   // only B has the key
	ChangeRemoved  ChangeKind = "removed" // only A has it
	ChangeModified ChangeKind = "changed" // both have it, with differences
)

// Aspect is what of a sample can differ.
type Aspect string

// The aspects of a sample.
const (
	// AspectBytes: the stored bytes of an image, mask, text or other value differ.
	AspectBytes Aspect = "bytes"
	// AspectPixels: the decoded pixels of an image or mask, in its own channels and depth, differ, or
	// only one of the two can be decoded. If neither can, only AspectBytes is reported.
	AspectPixels Aspect = "pixels"
	// AspectLabel: the classes differ by name, or by index if a dataset has no names; or the numbers to predict.
	AspectLabel  Aspect = "label"
	AspectSplit  Aspect = "split"
	AspectColumn Aspect = "column" // a column of the user's table
	// AspectUnreadable: a file of the sample, in a folder, could not be read, so that nothing of its values is known.
	AspectUnreadable Aspect = "unreadable"
)

// Change is the differences of one key.
type Change struct {
	Key  string       `json:"key"`
	Kind ChangeKind   `json:"change"`
	What []Difference `json:"what,omitempty"` // at least one with ChangeModified, else none
}

// Difference is one aspect of a sample that differs.
type Difference struct {
	Aspect Aspect `json:"aspect"`
	// Field is the field or column concerned, as A calls it; "" for the designated image, the
	// designated label and the split.
	Field string `json:"field,omitempty"`
	// From and To are what A and B have: class names or indices, splits, cells, why they could not be read; nil for
	// AspectBytes and AspectPixels, empty for none.
	From []string `json:"from,omitempty"`
	To   []string `json:"to,omitempty"`
}
