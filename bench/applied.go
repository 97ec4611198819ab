package bench

import "fmt"

// String says what was predicted and what it was, in one sentence.
func (a *Applied) String() string {
	if a == nil {
		return "nothing was applied"
	}
	return fmt.Sprintf("applied: %s: an epoch takes %s s instead of %s s; predicted were %s s (%+.0f %%)",
		printable(a.Command), decimals(a.Measured), decimals(a.Before), decimals(a.Predicted), 100*(ratio(a.Predicted, a.Measured)-1))
}
