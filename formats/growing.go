package formats

import "errors"

// Unlabeled is a Dataset that knows the label of a sample only once it is read, such as one whose samples a program makes. Info
// has the label NoLabel, and may have an expected Size.
type Unlabeled interface{ Unlabeled() }

// Growing is an Unlabeled Dataset of which not even the number of samples is known. Len is the most that there may be.
// Each sample is read once, in the order of the indices and one at a time, and its key and split are those that Read gives. After
// the last one Read returns ErrEnd. It may also return a *Keep, to ask that what was written be made durable: then Kept is called, and
// the same sample is read again.
type Growing interface {
	Unlabeled
	// Ascending reports whether the keys come in bytewise order.
	Ascending() bool
	// Resumes reports whether the samples can be read from any index on. Else an interrupted pack starts over.
	Resumes() bool
	// Begin is called before the first Read, which is of sample i. state is that of the last Keep before an interruption.
	Begin(i int, state []byte) error
	// Kept is called after a Keep, when all before sample i is durable.
	Kept(i int) error
}

// ErrEnd is the error of a Growing's Read after the last sample.
var ErrEnd = errors.New("there are no more samples")

// Keep is an error of a Growing's Read that is no error of a sample: what was written is to be made durable.
type Keep struct {
	State []byte // what the source wants to know when it goes on from here, or later; stored with the checkpoints
}

func (*Keep) Error() string { return "what was written is to be made durable" }

// Skip is something in a source that is no sample of the dataset, such as a sample without an image.
type Skip struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
	// Missing: a table, a list or a link names it, and there is no such file.
	Missing bool `json:"-"`
}

// Filed is a Dataset whose path does not tell which files it has, such as those of other programs.
type Filed interface {
	// DataFiles lists the paths of the data files. The caller owns the list.
	DataFiles() []string
}

// Skipper is a Dataset that knows what its source has besides its samples. A pack counts and lists it.
type Skipper interface {
	// Skips lists what was left out, and why. The caller must not change it.
	Skips() []Skip
}
