// Package verdict names the one cause that holds an epoch back and predicts what a change would bring. It computes:
// it measures nothing, reads nothing and knows no clock.
//
// One model answers every question: how long an epoch takes of a loop and workers with given [Costs]. The cause is
// the one without which the modelled epoch would be shortest. A prediction is the same model with another
// loader's costs. The measured epoch calibrates the model, so that only differences are predicted.
//
//	v := verdict.Judge(costs)
//	advice := verdict.Advise(costs, v, []verdict.Candidate{tiled})
//	fmt.Printf("%s, %.0f %% of the epoch: %s\n", v.Cause, 100*v.Gain, advice.Text)
package verdict
