package edit

import (
	"cmp"
	"context"
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Options are the options of every edit. The zero value is usual.
type Options struct {
	// Workers is how many goroutines decode and encode images; 0 is the number of cores.
	Workers int
	// Checkpoint is about how many bytes are written between two checkpoints; 0 is 256 MiB.
	Checkpoint int64
	// Memory is about how many bytes each sort may take, 0 is 256 MiB; what does not fit is sorted in
	// temporary files. The result does not depend on it.
	Memory int64
	// Discard drops an unfinished new version, which an interrupted edit left, instead of resuming it.
	Discard bool
	// DryRun plans the edit and changes nothing: the report tells what would be done.
	DryRun bool
	// GPU decodes images that are added to a dataset whose recipe has preprocess.DecoderGPU. It must be the card, and
	// have the library, that decoded the others. It is not closed, and other datasets do not use it.
	GPU *gpudecode.GPU
	// Progress, if not nil, is called every 100 ms and once at the end, by one goroutine at a time. While
	// an edit is planned, only Add calls it, if it compares images for long: see convert.StepCompare.
	Progress func(convert.Progress)
	// Command is what the user repeats to resume the edit; messages about an unfinished version name
	// it. It may be "".
	Command string
}

// check returns an error if an argument that each edit has makes no sense.
func (o *Options) check(ctx context.Context, function, path string) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%s: ctx is nil: give context.Background()", function)
	case path == "":
		return fmt.Errorf("%s: the path of the dataset is empty", function)
	}
	return cmp.Or(notNegative(function, "Options.Workers", int64(o.Workers)), notNegative(function, "Options.Checkpoint", o.Checkpoint),
		notNegative(function, "Options.Memory", o.Memory), ctx.Err())
}

// notNegative returns an error if n, the value of the field of the options, is negative.
func notNegative(function, field string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%s: %s is %d: it must not be negative; 0 is the default", function, field, n)
	}
	return nil
}

// converting returns the options of the conversion that makes the new version.
func (o *Options) converting() convert.Options {
	return convert.Options{GPU: o.GPU, Workers: o.Workers, Memory: o.Memory, Checkpoint: o.Checkpoint, Discard: o.Discard, Progress: o.Progress, Command: o.Command}
}

// endsRun reports whether err is not about one sample of a source, or says nothing about its bytes: then the sample must
// count neither as changed nor as lost.
func endsRun(err error) bool { return pixel.EndsRun(err) || formats.Unreadable(err) }
