package bench

// Rung is one step of the ladder of Options.Isolate: the same loader with one more stage replaced by memory.
type Rung struct {
	// Name says where the epoch's samples come from: stored-cold, stored, bytes, pixels, batches, batches-no-transfer.
	// What follows is one stage alone, without a loop: decode-only, augment-only.
	Name            string  `json:"name"`
	EpochSeconds    float64 `json:"epoch_seconds"`
	ImagesPerSecond float64 `json:"images_per_second"`
	// Saved is the time that the stage takes which this rung leaves out: seconds of an epoch.
	Saved float64 `json:"saved_seconds"`
	// Note says why it was not measured, or on how many samples.
	Note string `json:"note,omitempty"`
}

// Timeline is what the loop and the loader did in one epoch. Times are seconds since the epoch's start.
type Timeline struct {
	// Begin is when the epoch began, in the time of Report.Monitor.
	Begin   float64 `json:"begin_seconds,omitempty"`
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

// Sweep is the same subject with several values of one setting.
type Sweep struct {
	Setting string  `json:"setting"` // workers, batch, prefetch
	Dataset string  `json:"dataset"`
	Points  []Point `json:"points"`
	// Knee is the smallest value whose epoch is within 5 % of the fastest.
	Knee float64 `json:"knee"`
}

// Point is one value of a Sweep.
type Point struct {
	Value           float64 `json:"value"`
	EpochSeconds    float64 `json:"epoch_seconds"`
	ImagesPerSecond float64 `json:"images_per_second"`
	// MemoryEstimate is what was expected before, PeakMemory the most that all processes of the subject had. For datasets
	// in Go both are of this process, without pages of files, a cache's included.
	MemoryEstimate int64 `json:"memory_estimate_bytes,omitempty"`
	PeakMemory     int64 `json:"peak_memory_bytes,omitempty"`
}

// Rule is a rule of thumb, tested on this machine.
type Rule struct {
	Name     string  `json:"name"` // "more workers", "pinned memory"
	Dataset  string  `json:"dataset"`
	Measured bool    `json:"measured"`
	Helps    bool    `json:"helps"`
	Gain     float64 `json:"gain,omitempty"`         // share of the epoch that it saved; negative: it cost that much
	Memory   int64   `json:"memory_bytes,omitempty"` // more than without it
	Unclear  bool    `json:"unclear,omitempty"`      // the rounds differ too much to say
	Text     string  `json:"text"`                   // one sentence; why it was not measured, if it was not
}

// Applied is a recommendation that was carried out.
type Applied struct {
	Command   string  `json:"command"`
	Before    float64 `json:"before_seconds"`
	Predicted float64 `json:"predicted_seconds"`
	Measured  float64 `json:"measured_seconds"`
}
