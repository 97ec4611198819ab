package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// Loader is where batches come from, which can resume in the middle of an epoch; *reader.Loader is
// one.
type Loader interface {
	// Len is the number of batches in an epoch, Samples the number of samples.
	Len() int
	Samples() int
	Classes() []string
	// ImageShape is H,W,C of a batch's images.
	ImageShape() [3]int
	// Epoch gives the batches of an epoch, each valid until the loop's body ends.
	Epoch(ctx context.Context, epoch int) iter.Seq2[*reader.Batch, error]
	// State is where the epoch stands after b, which is still valid.
	State(epoch int, b *reader.Batch) reader.State
	// Resume gives the batches that are left of the State's epoch, as Epoch does.
	Resume(ctx context.Context, s reader.State) iter.Seq2[*reader.Batch, error]
}

var _ Loader = (*reader.Loader)(nil)

// Metrics are those of a network on some samples.
type Metrics struct {
	Loss     float64 `json:"loss"`     // mean cross-entropy in nats
	Accuracy float64 `json:"accuracy"` // 0 to 1
	Samples  int     `json:"samples"`
}

// Epoch is the outcome of one pass over the training set. Its times are those of
// training without evaluation and add up: Seconds is the sum of wait, compute, compile and
// checkpoint.
type Epoch struct {
	Number         int     `json:"epoch"`           // from 1
	Seconds        float64 `json:"seconds"`         // wall time
	WaitSeconds    float64 `json:"wait_seconds"`    // the step waited for the loader
	ComputeSeconds float64 `json:"compute_seconds"` // the step computed
	CompileSeconds float64 `json:"compile_seconds"` // graphs were compiled, at the start
	// CheckpointSeconds were spent in writing checkpoints in the middle of the epoch.
	CheckpointSeconds float64 `json:"checkpoint_seconds,omitempty"`
	// ImagesPerSecond excludes the times of compiling and of checkpoints.
	ImagesPerSecond float64 `json:"images_per_second"`
	// Train is of the weights as they changed; Val of those at the epoch's end, nil
	// without a validation set.
	Train Metrics  `json:"train"`
	Val   *Metrics `json:"val,omitempty"`
}

// Result is the outcome of a run.
type Result struct {
	Config     Config  `json:"config"`     // with the defaults filled in
	Parameters int     `json:"parameters"` // trained weights
	Steps      int     `json:"steps"`      // batches trained on, in all epochs
	Epochs     []Epoch `json:"epochs"`
	Seconds    float64 `json:"seconds"` // of this run alone, evaluation and start included
}

// Run trains a model on train for c.Epochs epochs and evaluates it on val, which may be
// nil, after each; then it calls c.OnEpoch. The loader's epochs are
// numbered from 0. Cancelling ctx ends the run between two steps. With an error comes the
// Result of the epochs that were finished; it is nil only if the arguments make no sense. The loaders
// stay open.
//
// With c.Checkpoint a stopped run is resumed with the samples that are left of its epoch. On
// the pure-Go backend weights and metrics end as those of a run that was never stopped, bit for
// bit, as long as the sizes of the batches are the same. Result includes the earlier epochs;
// c.OnEpoch is not called for them. A finished run is not repeated; with a larger c.Epochs it
// continues.
func Run(ctx context.Context, train, val Loader, c Config) (*Result, error) {
	start := time.Now()
	if ctx == nil || train == nil {
		return nil, errors.New("trainer.Run: the context or the loader train is nil")
	}
	if c.Epochs < 1 {
		return nil, fmt.Errorf("%d epochs: at least 1 is needed", c.Epochs)
	}
	if err := checkLoaders(train, val); err != nil {
		return nil, err
	}
	t, err := New(c, train.ImageShape(), len(train.Classes()))
	if err != nil {
		return nil, err
	}
	r := training{trainer: t, train: train, val: val, config: t.config}
	if err = r.resume(); err == nil {
		err = r.epochs(ctx)
	}
	result := &Result{Config: t.config, Parameters: t.Parameters(), Steps: r.progress.Steps, Epochs: r.progress.Epochs}
	err = errors.Join(err, t.Close())
	result.Seconds = time.Since(start).Seconds()
	return result, err
}

// Evaluate measures the network on the loader's epoch 0 and does not change it.
// Cancelling ctx ends it between two batches.
func (t *Trainer) Evaluate(ctx context.Context, l Loader) (Metrics, error) {
	var sum Tally
	if err := t.pass(ctx, &t.eval, l.Epoch(ctx, 0), &sum, func(*reader.Batch) error { return nil }); err != nil {
		return Metrics{}, fmt.Errorf("evaluate: %w", err)
	}
	if sum.Samples == 0 {
		return Metrics{}, fmt.Errorf("evaluate: %w", noBatch(l))
	}
	return sum.metrics(), nil
}

// pass runs the program on the batches and adds results and times to sum, the time blocked in
// the loader as Wait; stepped is called after each batch.
func (t *Trainer) pass(ctx context.Context, p *program, batches iter.Seq2[*reader.Batch, error], sum *Tally, stepped func(*reader.Batch) error) error {
	mark := time.Now()
	for b, err := range batches {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		ready, compiled := time.Now(), p.compile
		s, err := t.run(p, b)
		if err != nil {
			return err
		}
		compiled = p.compile - compiled
		sum.Loss += s.loss * float64(s.samples)
		sum.Samples += s.samples
		sum.Correct += s.correct
		sum.Wait += ready.Sub(mark)
		sum.Compute += time.Since(ready) - compiled
		sum.Compile += compiled
		if err := stepped(b); err != nil {
			return err
		}
		mark = time.Now()
	}
	sum.Wait += time.Since(mark)
	return ctx.Err()
}

// noBatch is the error of an epoch without a sample.
func noBatch(l Loader) error {
	return fmt.Errorf("the batch size is larger than the %d samples, so there is no batch", l.Samples())
}

// checkLoaders reports why one network cannot train on train and evaluate on val.
func checkLoaders(train, val Loader) error {
	if f, ok := train.(interface{ Frame() reader.Frame }); ok && f.Frame().Label == formats.Float32 {
		return errNumbers
	}
	if val == nil {
		return nil
	}
	if a, b := train.ImageShape(), val.ImageShape(); a != b {
		return fmt.Errorf("images of the training set are %v (height, width, channels), of the validation set %v", a, b)
	}
	a, b := train.Classes(), val.Classes()
	if len(a) != len(b) {
		return fmt.Errorf("the training set has %d classes, the validation set %d", len(a), len(b))
	}
	if i := firstDifference(a, b); i >= 0 {
		return fmt.Errorf("class %d is %q in the training set and %q in the validation set", i, a[i], b[i])
	}
	return nil
}

// firstDifference is the first index at which the names differ, up to the shorter length; -1 if none.
func firstDifference(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
