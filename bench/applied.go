package bench

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/figures"
)

// Apply adds what came of carrying out the report's Advice: the dataset that was packed, and the times beside the prediction.
func (r *Report) Apply(a Applied, packed Dataset) {
	if r == nil {
		return
	}
	r.Datasets = append(r.Datasets, packed)
	r.Applied = &a
}

// String says what was predicted and what it was, in one sentence.
func (a *Applied) String() string {
	if a == nil {
		return "nothing was applied"
	}
	return fmt.Sprintf("applied: %s: an epoch takes %s s instead of %s s; predicted were %s s (%+.0f %%)",
		printable(a.Command), figures.Digits(a.Measured), figures.Digits(a.Before), figures.Digits(a.Predicted), 100*(ratio(a.Predicted, a.Measured)-1))
}
