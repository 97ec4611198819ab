package main

import (
	"fmt"
	"math"
	"strings"
)

// result is all that was predicted and measured.
type result struct {
	Options options `json:"options"`
	Rows    []row   `json:"rows"`
}

// row is a recommendation for a set. A figure that was not predicted is 0.
type row struct {
	Set     string `json:"set"`
	Images  int    `json:"images"`
	Command string `json:"command"` // flags of dsconv pack, or a setting
	// Advice and Plan are what bench and dsconv plan predicted.
	Advice *figures `json:"advice,omitempty"`
	Plan   *figures `json:"plan,omitempty"`
}

// figures are predictions beside what was measured.
type figures struct {
	Epoch figure `json:"epoch_seconds"`
	Bytes figure `json:"bytes"`
	Pack  figure `json:"pack_seconds"`
}

// figure is a value that was predicted, and then measured. Ratio is predicted divided by measured; of epochs,
// each is first divided by the folder's epoch of the same time, so that a machine that became slower or faster between
// both changes nothing.
type figure struct {
	Predicted float64 `json:"predicted"`
	Measured  float64 `json:"measured"`
	Ratio     float64 `json:"ratio"`
}

func figureOf(predicted, measured float64) figure {
	if measured <= 0 {
		return figure{Predicted: predicted}
	}
	return figure{Predicted: predicted, Measured: measured, Ratio: predicted / measured}
}

// epoch is the figure of an epoch: predicted from one of the folder that took before, and measured beside one that
// took again. gain is the median over the rounds of the measured epoch divided by the folder's.
func epoch(predicted, before, again, gain float64) figure {
	return figure{Predicted: predicted, Measured: gain * again, Ratio: predicted / before / gain}
}

func (r *row) text() string {
	text := fmt.Sprintf("%s, %s:", r.Set, r.Command)
	for _, by := range []struct {
		name string
		*figures
	}{{"advice", r.Advice}, {"plan", r.Plan}} {
		if by.figures != nil {
			text += fmt.Sprintf(" %s: epoch %.3g s for %.3g s (%+.0f %%), bytes %+.0f %%, packing %+.0f %%;", by.name,
				by.Epoch.Predicted, by.Epoch.Measured, by.Epoch.off(), by.Bytes.off(), by.Pack.off())
		}
	}
	return strings.TrimSuffix(text, ";")
}

// off is by how many percent the prediction is too high.
func (f figure) off() float64 {
	if f.Measured == 0 {
		return 0
	}
	return 100 * (f.Ratio - 1)
}

// check returns an error if an epoch or the bytes are off by more than limit, a share of what was measured.
func (r *result) check(limit float64) error {
	var wrong []string
	for i := range r.Rows {
		row := &r.Rows[i]
		for name, by := range map[string]*figures{"advice": row.Advice, "plan": row.Plan} {
			if by != nil && math.Max(math.Abs(by.Epoch.off()), math.Abs(by.Bytes.off())) > 100*limit {
				wrong = append(wrong, fmt.Sprintf("%s of %s, %s", name, row.Set, row.Command))
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%d predictions are off by more than %g %%: %s", len(wrong), 100*limit, strings.Join(wrong, "; "))
}
