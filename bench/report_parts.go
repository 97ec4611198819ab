package bench

// Timeline is what the loop and the loader did in one epoch. Times are seconds since the epoch's start.
type Timeline struct {
	Seconds float64 `json:"seconds"`
	// Batches are those of the loop, in order; of a long epoch the first ones.
	Batches []BatchTimes `json:"batches"`
	// Loads are the batches as workers made them.
	Loads []Load `json:"loads,omitempty"`
}

// BatchTimes are of a batch in the loop: it was asked for, was there, and the loop was done with it.
type BatchTimes struct {
	Asked float64 `json:"asked"`
	Ready float64 `json:"ready"`
	Done  float64 `json:"done"`
}

// Load is the time in which a worker made a batch or a part of one.
type Load struct {
	Worker int     `json:"worker"`
	Begin  float64 `json:"begin"`
	End    float64 `json:"end"`
}
