package diff

// Report counts what Run found. The changes themselves go to Options.OnChange.
type Report struct {
	Common  int `json:"common"` // keys that both have
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"` // of the common ones
	// Aspects counts, of the changed samples, those with a difference of that aspect.
	Aspects map[Aspect]int `json:"aspects,omitempty"`
	// OnlyA and OnlyB are the fields and columns that only one dataset has.
	OnlyA OneSided `json:"-"`
	OnlyB OneSided `json:"-"`
}

// Same reports whether nothing differs: no sample, no field and no column.
func (r *Report) Same() bool {
	return r.Added+r.Removed+r.Changed == 0 && r.OnlyA.empty() && r.OnlyB.empty()
}

func (r *Report) add(c *Change) {
	switch c.Kind {
	case ChangeAdded:
		r.Added++
	case ChangeRemoved:
		r.Removed++
	case ChangeModified:
		r.Changed++
	}
	seen := map[Aspect]bool{}
	for _, d := range c.What {
		if !seen[d.Aspect] {
			seen[d.Aspect] = true
			r.Aspects[d.Aspect]++
		}
	}
}
