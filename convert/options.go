package convert

import (
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess"
)

// Options are the options of a Plan. The zero value copies the bytes in the format's default order.
// New returns an ErrOptions for values that have no meaning. JSON has those that decide the bytes, and what becomes of bad images.
type Options struct {
	Recipe preprocess.Recipe
	// GPU decodes images, if Recipe.Decoder is preprocess.DecoderGPU. It is not closed.
	GPU *gpudecode.GPU `json:"-"`
	// Split assigns splits to the samples. Only are the splits whose samples are written, all if it
	// is empty.
	Split  Splitter
	Only   []string
	Order  Order
	Shards Sharding
	Create formats.CreateOptions
	// Patterns chooses samples by their source's path. Limit takes the first by key; 0 means all.
	Patterns formats.Patterns
	Limit    int
	// Sample is the size of a random sample of the chosen samples, which SampleSeed decides; 0 means all.
	// The samples are the same for every order of the source and any number of workers.
	Sample     int
	SampleSeed uint64
	// Checkpoint is about how many bytes are written between two checkpoints; 0 means 256 MiB,
	// and at least 64 samples. An equal value gives equal bytes; an LMDB's depend on it. What is kept when a
	// run stops, and once a minute, does not.
	Checkpoint int64 `json:"-"`
	// Memory is about how many bytes each sort may take: of the samples by class and key hash, and of the
	// rows of the manifest unless Create.Memory is set. 0 means 256 MiB. What does not fit is sorted in
	// temporary files; the dataset's bytes do not depend on it.
	Memory int64 `json:"-"`
	// Discard drops an unfinished dataset at the plan's path instead of resuming it.
	Discard bool `json:"-"`
	// Workers process images, IOWorkers read them; 0 chooses by the number of cores, and starts more
	// readers, up to 32, while reading waits for a disk or a network.
	Workers, IOWorkers int `json:"-"`
	// OnError says what happens to bad images. They are skipped and listed in Report.Skipped, and the
	// error is nil, unless OnError is Fail.
	OnError OnError
	// MaxSkipped is how many bad images may be skipped before the run ends with an error: "N" images or "P%" of all; "" is
	// 1 %, and at least 10. If all are bad, nothing is published.
	MaxSkipped string
	// Stats records statistics of the pixels in the dataset (formats.Meta.PixelStats). Each image is decoded for
	// them as it is stored; one that cannot be decoded is left out of them, with a warning. Edits and NewVersion
	// record none.
	Stats bool
	// Progress, if not nil, is called about every 100 ms, when StepFinish begins, and once at the end. The
	// calls come one after another, from the goroutine that writes, which waits meanwhile. If Progress
	// panics, the run ends with an error.
	Progress func(Progress) `json:"-"`
	// Command is what the user typed or called to start the conversion. Messages about the unfinished
	// dataset name it. It may be empty.
	Command string `json:"-"`
}

// OnError says what happens to a bad image: one whose bytes cannot be decoded. Errors that are not
// about one image, such as a full disk, always end the run, and so do bytes that could not be read
// (formats.Unreadable), and a Dataset whose Read breaks its contract.
type OnError string

// What happens to a bad image. The report names it in any case.
const (
	Skip OnError = "skip" // it is left out; the default, as is ""
	Fail OnError = "fail" // the run ends with its error
)

// Sharding limits the files of a sharded format. Shards are planned by the number of samples, so
// they do not depend on skipped samples or on timing.
type Sharding struct {
	Size  int64 // bytes of a file, estimated from the source; 0 means 1 GB
	Count int   // exactly this many files, if not 0; then Size must be 0
	Min   int   // at least this many files
}

const defaultShardSize = 1e9 // bytes

// Step is what a run or an edit is doing.
type Step string

// The steps. An edit that finds nothing to change ends after the comparison.
const (
	StepWrite   Step = ""          // samples are read, processed and written
	StepCompare Step = "comparing" // only edit.Add: which images of the source have changed
	StepFinish  Step = "finishing" // all samples are written; the index and the last files are written and synced
)

// Progress is the progress of a run.
type Progress struct {
	Path        string // of the dataset that is written
	Step        Step
	Done, Total int   // samples of the plan
	Resumed     int   // of Done: an interrupted run before this one wrote them
	Skipped     int   // samples of the plan; not the files that were skipped when a folder was listed
	BytesIn     int64 // of the images read so far
	Elapsed     time.Duration
}
