package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

)

// ReadReport reads the JSON of a report: of [Run], or of a loop in Python.
func ReadReport(in io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return nil, fmt.Errorf("not a report of dsconv bench --json, or only a part of one: %w", err)
	}
	if len(r.Datasets) == 0 {
		return nil, errors.New("not a report of dsconv bench: it has no datasets")
	}
	return &r, nil
}

// Merge puts other runs under r. Their figures don't change: their ratios stay
// those to their own first dataset.
func (r *Report) Merge(others ...*Report) {
	for _, o := range others {
		alone := *o
		alone.Merged = nil
		r.Merged = append(r.Merged, alone)
		r.Merged = append(r.Merged, o.Merged...)
	}
}

// runs are the report and those merged into it.
func (r *Report) runs() []*Report {
	all := []*Report{r}
	for i := range r.Merged {
		all = append(all, &r.Merged[i])
	}
	return all
}
