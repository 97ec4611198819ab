package gpudecode

import (
	"maps"
	"sync"
)

// Counts are how many images took which path.
type Counts struct {
	Engine int64 `json:"engine"`
	CUDA   int64 `json:"cuda"`
	CPU    int64 `json:"cpu"`
	// Reasons are how many images took a slower path for which reason (see Outcome.Reason).
	Reasons map[string]int64 `json:"reasons"`
}

// tally adds up outcomes. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	counts Counts
}

// add counts outcomes.
func (t *tally) add(outcomes []Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range outcomes {
		t.one(&outcomes[i])
	}
}

func (t *tally) one(o *Outcome) {
	switch o.Path {
	case Engine:
		t.counts.Engine++
	case CUDA:
		t.counts.CUDA++
	case CPU:
		t.counts.CPU++
	}
	if o.Reason == "" {
		return
	}
	if t.counts.Reasons == nil {
		t.counts.Reasons = map[string]int64{}
	}
	t.counts.Reasons[o.Reason]++
}

// get returns the counts so far; Reasons is never nil.
func (t *tally) get() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	c.Reasons = maps.Clone(c.Reasons)
	if c.Reasons == nil {
		c.Reasons = map[string]int64{}
	}
	return c
}
