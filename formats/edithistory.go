package formats


// Provenance records the origin of a sample and which of its values were edited by hand, so that
// adding from the source again does not undo the edits.
type Provenance struct {
	// Edited has a bit for each value (split, label field, column) that was set by hand: see
	// EditedSplit, Meta.EditedField, Meta.EditedColumn.
	Edited uint16
	// Origin is the number of the collection that the sample came from; 0 is the one packed
	// first. Samples that are no longer in SRC can so be dropped without touching other collections.
	Origin uint16
}

// EditedSplit is the bit of Provenance.Edited for the split.
const EditedSplit uint16 = 1

// EditedField is the bit of Provenance.Edited for field k of the schema.
func (m *Meta) EditedField(k int) uint16 { return editedBit(1 + k) }

// EditedColumn is the bit of Provenance.Edited for column j of Meta.Columns.
func (m *Meta) EditedColumn(j int) uint16 { return editedBit(1 + len(m.Schema) + j) }

// editedBit is bit n, at most 15: all later values share the last bit.
func editedBit(n int) uint16 { return 1 << min(n, 15) }

// RemovedSample is a sample that was removed by hand.
type RemovedSample struct {
	Key    string
	Source Source
}

// History counts the edits that a dataset records.
type History struct {
	Edited  int `json:"edited"`  // samples of which a label, the split or a column was set by hand
	Removed int `json:"removed"` // samples that were removed by hand
	Origins int `json:"origins"` // collections that were added after the first
}

// Removals is a Dataset that records which samples were removed from it by hand. A wrapper that embeds a
// Dataset as this package's interface hides the method: what is written from it forgets the list, so
// that edit.Add adds those samples again. Give it a Removed of its own that returns RemovedFrom.
type Removals interface {
	// Removed lists them by key. The caller owns the slice.
	Removed() ([]RemovedSample, error)
}

// RemovalWriter is a Writer that records which samples were removed by hand.
type RemovalWriter interface {
	// SetRemoved is called before Commit with the list in the order of keys.
	SetRemoved(list []RemovedSample)
}

// RemovedFrom returns the samples that were removed from ds by hand.
func RemovedFrom(ds Dataset) ([]RemovedSample, error) {
	if r, ok := ds.(Removals); ok {
		return r.Removed()
	}
	return nil, nil
}
