package formats

// Mark is what a dataset remembers of how a sample came to be what it is, so that adding from
// the source again does not undo what the user did.
type Provenance struct {
	// Edited has a bit for each of split, label fields and columns that was set by hand
	// (EditedSplit, Meta.EditedField, Meta.EditedColumn).
	Edited uint16
	// Origin is the number of the collection that the sample came from: 0 is the one that was
	// packed first. What SRC lacks can be dropped without touching samples of other collections.
	Origin uint16
}

// EditedSplit is the bit of Provenance.Edited for the split.
const EditedSplit uint16 = 1

// EditedField is the bit of Provenance.Edited for field k of the schema.
func (m *Meta) EditedField(k int) uint16 { return editedBit(1 + k) }

// EditedColumn is the bit of Provenance.Edited for column j of the user's.
func (m *Meta) EditedColumn(j int) uint16 { return editedBit(1 + len(m.Schema) + j) }

// markBit is bit n; what comes after the last one shares it.
func editedBit(n int) uint16 { return 1 << min(n, 15) }

// Removed is a sample that was removed by hand.
type RemovedSample struct {
	Key    string
	Source Source
}

// History sums up what a dataset remembers of its edits.
type History struct {
	Edited  int `json:"edited"`  // samples of which a label, the split or a column was set by hand
	Removed int `json:"removed"` // samples that were removed by hand
	Origins int `json:"origins"` // collections that were added after the first
}

// Removals is a Dataset that remembers which samples were removed from it by hand.
type Removals interface {
	// Removed lists them by key. The slice is the caller's.
	Removed() ([]RemovedSample, error)
}

// OldKeeper is a Writer that can keep the dataset which it replaces.
type PreviousKeeper interface {
	// KeepOld has Commit keep it, in a folder with the dataset's name and ".old".
	KeepPrevious()
}

// RemovalWriter is a Writer that keeps with its dataset which samples were removed by hand.
type RemovalWriter interface {
	// SetRemoved is called before Commit with the list in the order of keys.
	SetRemoved(list []RemovedSample)
}
