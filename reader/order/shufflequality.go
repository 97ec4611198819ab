package order

import "fmt"

// ShuffleQuality is how well an order shuffles what is stored side by side: batches of the order
// compared with as many of a full shuffle of the same samples.
type ShuffleQuality struct {
	Batches int `json:"batches"` // measured
	// Classes is the number of classes in a batch, Entropy the entropy of the class frequencies in
	// a batch, in bits: means over the batches. Both are 0 without labels.
	Classes     float64 `json:"classes"`
	FullClasses float64 `json:"full_classes"` // of a full shuffle
	Entropy     float64 `json:"entropy"`
	FullEntropy float64 `json:"full_entropy"` // of a full shuffle
	// Neighbours compares how often two samples less than a batch apart in storage share a batch
	// with a full shuffle: 1 is equally often, 10 ten times as often, 0 that there are no pairs.
	Neighbours float64 `json:"neighbours"`
}

// String is one line for a user.
func (m ShuffleQuality) String() string {
	s := fmt.Sprintf("neighbours share a batch %.3g times as often as in a full shuffle", m.Neighbours)
	if m.FullClasses == 0 {
		return s
	}
	entropy := "" // 0 if all labels are equal
	if m.FullEntropy > 0 {
		entropy = fmt.Sprintf(", entropy %.2f of %.2f bits (%.0f %%)", m.Entropy, m.FullEntropy, 100*m.Entropy/m.FullEntropy)
	}
	return fmt.Sprintf("%.1f classes a batch, %.1f in a full shuffle (%.0f %%)%s; %s",
		m.Classes, m.FullClasses, 100*m.Classes/m.FullClasses, entropy, s)
}
