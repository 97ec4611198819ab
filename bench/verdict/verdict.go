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
