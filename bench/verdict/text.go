package verdict

import "fmt"

// text is the verdict in one sentence.
func text(c *Costs, v *Verdict) string {
	return fmt.Sprintf("%s: %.0f %% of the epoch", v.Cause, 100*v.Gain)
}

// evidence are the measurements that speak for the verdict.
func evidence(c *Costs, v *Verdict) []string {
	return nil
}
