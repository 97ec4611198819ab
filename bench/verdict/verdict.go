package verdict

// Cause is what holds an epoch back.
type Cause string

// The causes.
const (
	OfStorage  Cause = "storage"
	OfDecode   Cause = "decode"
	OfAugment  Cause = "augment"
	OfCollate  Cause = "collate"
	OfPython   Cause = "python" // a transform or dataset in Python
	OfTransfer Cause = "transfer"
	OfCompute  Cause = "compute" // the loop itself
	OfCores    Cause = "cores"
	OfSwap     Cause = "swap"
	OfStart    Cause = "start"
	OfLoading  Cause = "loading"  // the loop waits for data, and the measured parts do not tell why
	Balanced   Cause = "balanced" // nothing alone saves 5 % of the epoch
)

// Verdict is the one cause, with what speaks for it.
type Verdict struct {
	Cause    Cause    `json:"cause"`
	Part     string   `json:"part,omitempty"` // that the cause is, where it is one
	Gain     float64  `json:"gain"`           // share of the epoch that would be saved if the cause cost nothing
	Text     string   `json:"text"`           // one sentence
	Evidence []string `json:"evidence,omitempty"`
	Others   []Other  `json:"others,omitempty"` // the largest first
}

// Other is a cause that would save less.
type Other struct {
	Cause Cause   `json:"cause"`
	Part  string  `json:"part,omitempty"`
	Gain  float64 `json:"gain"`
}

// Candidate is something to do, with what it is predicted to bring.
type Candidate struct {
	Command  string `json:"command"`            // as it is typed: dsconv pack SRC DST --encode jpeg-tiled; DataLoader(num_workers=4)
	Setting  bool   `json:"setting,omitempty"`  // of the loader: nothing is packed
	Lossless bool   `json:"lossless,omitempty"` // the same pixels reach training

	Disk        int64   `json:"disk_bytes,omitempty"`        // of the dataset
	Extra       float64 `json:"extra_disk,omitempty"`        // Disk beside the source's: 0.01 is 1 % more
	PackSeconds float64 `json:"pack_seconds,omitempty"`      // predicted
	Before      float64 `json:"before_seconds"`              // of an epoch, measured
	After       float64 `json:"after_seconds"`               // of an epoch, predicted
	BreakEven   float64 `json:"break_even_epochs,omitempty"` // after which packing has paid; 0: never or at once
	Costs       *Costs  `json:"costs,omitempty"`             // of the loader that it would be
}

// Advice is the one recommendation and what else was considered.
type Advice struct {
	// Text is one sentence: the command with its predicted gain, or "do not convert" and why.
	Text string `json:"text"`
	// Best is what the text recommends; nil is to leave things as they are.
	Best *Candidate `json:"best,omitempty"`
	// Candidates are those that were measured: the lossless first, then by predicted time.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Kind is what a part of a worker's time is spent on.
type Kind string

// The kinds of parts.
const (
	Read    Kind = "read"
	Decode  Kind = "decode"
	Augment Kind = "augment"
	Collate Kind = "collate"
	Rest    Kind = "other" // code between the other parts: a dataset's own __getitem__
)

// Part is one step of a worker, such as a transform. Its times are microseconds per image, without those of
// the parts that it calls.
type Part struct {
	Name   string  `json:"name"` // "read", "RandomResizedCrop", "train.Cutout"
	Kind   Kind    `json:"kind"`
	Wall   float64 `json:"wall_us"`            // from its begin to its end
	CPU    float64 `json:"cpu_us,omitempty"`   // of the worker's thread
	Queue  float64 `json:"queue_us,omitempty"` // of Wall: ready to run, while no core was free
	Calls  int64   `json:"calls,omitempty"`    // of all images that were measured
	Python bool    `json:"python,omitempty"`   // it runs in the user's Python process, not in dsconv
	Native string  `json:"native,omitempty"`   // dsconv's equal of a Python transform, as --augment writes it
}

// Costs are what an epoch of a loader and the loop that uses it consists of. They are measured;
// nothing in them is a guess. Times per image are microseconds.
type Costs struct {
	Samples   int     `json:"samples"` // of an epoch
	Batch     int     `json:"batch,omitempty"`
	Workers   int     `json:"workers"`             // that load; 0: the loop loads each batch itself
	Processes bool    `json:"processes,omitempty"` // the workers are processes, not threads
	Cores     float64 `json:"cores"`               // that the run may use: affinity or, if it is less, the control group's quota
	Parts     []Part  `json:"parts,omitempty"`     // of the workers, in the order of their use

	Loader float64 `json:"loader_us,omitempty"`     // the loader alone, once it runs; 0 is unknown
	GPU    bool    `json:"gpu,omitempty"`           // a GPU decodes; what that takes is in no part
	Start  float64 `json:"start_seconds,omitempty"` // of an epoch: the time to its first batch, less that of a later one

	Loop     bool    `json:"loop,omitempty"`        // there is a loop; otherwise the loader alone is judged
	Step     float64 `json:"step_us,omitempty"`     // of the loop, on batches in memory, while nothing is loaded
	StepCPU  float64 `json:"step_cpu_us,omitempty"` // of its CPU time
	Transfer float64 `json:"transfer_us,omitempty"` // in which the loop waits for copies to the device

	Epoch   float64 `json:"epoch_seconds"`     // as measured
	Starved float64 `json:"starved,omitempty"` // share of the epoch in which the loop waited

	SwapStall float64 `json:"swap_us,omitempty"` // in which workers waited for memory to be read back
	SwapIn    int64   `json:"swap_in_bytes,omitempty"`
	OtherCPU  float64 `json:"other_cores,omitempty"` // that other programs kept busy

	Rank       int `json:"rank,omitempty"`        // of Ranks: the slowest one, whose costs these are
	Ranks      int `json:"ranks,omitempty"`       // that were measured; 0 is one
	LocalRanks int `json:"local_ranks,omitempty"` // of this machine, which share Cores; 0 is one
}
