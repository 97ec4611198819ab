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

// Tally adds up outcomes. It is safe for concurrent use.
type Tally struct {
	mu     sync.Mutex
	counts Counts
}

// Add counts outcomes.
func (t *Tally) Add(outcomes ...Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts.Reasons == nil {
		t.counts.Reasons = map[string]int64{}
	}
	for _, o := range outcomes {
		switch o.Path {
		case Engine:
			t.counts.Engine++
		case CUDA:
			t.counts.CUDA++
		default:
			t.counts.CPU++
		}
		if o.Reason != "" {
			t.counts.Reasons[o.Reason]++
		}
	}
}

// Counts returns the counts so far; Reasons is never nil.
func (t *Tally) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	c.Reasons = map[string]int64{}
	maps.Copy(c.Reasons, t.counts.Reasons)
	return c
}
