package trainer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/dsconv/dsconv/reader"
)

// Loader is where batches come from; *reader.Loader is one.
type Loader interface {
	// Len is the number of batches in an epoch, Samples the number of samples.
	Len() int
	Samples() int
	Classes() []string
	// ImageShape is H,W,C of a batch's images.
	ImageShape() [3]int
	// Epoch gives the batches of an epoch, each valid until the loop's body ends.
	Epoch(ctx context.Context, epoch int) iter.Seq2[*reader.Batch, error]
}

var _ Loader = (*reader.Loader)(nil)

// Metrics is how well a network did on some samples.
type Metrics struct {
	Loss     float64 `json:"loss"`     // mean cross-entropy in nats
	Accuracy float64 `json:"accuracy"` // 0 to 1
	Samples  int     `json:"samples"`
}

// Epoch is what one pass over the training set took and gave. Its times are about the
// training alone, not the evaluation, and add up: Seconds is Wait, Compute and Compile.
type Epoch struct {
	Number         int     `json:"epoch"`           // from 1
	Seconds        float64 `json:"seconds"`         // wall time
	WaitSeconds    float64 `json:"wait_seconds"`    // the step waited for the loader
	ComputeSeconds float64 `json:"compute_seconds"` // the step computed
	CompileSeconds float64 `json:"compile_seconds"` // graphs were compiled, in the first epoch
	// ImagesPerSecond leaves the time of compiling out.
	ImagesPerSecond float64 `json:"images_per_second"`
	// Train is about the weights as they changed; Val about those at the epoch's end, nil
	// without a validation set.
	Train Metrics  `json:"train"`
	Val   *Metrics `json:"val,omitempty"`
}

// Result is what a run gave.
type Result struct {
	Config     Config  `json:"config"`     // with the defaults filled in
	Parameters int     `json:"parameters"` // trained weights
	Epochs     []Epoch `json:"epochs"`
	Seconds    float64 `json:"seconds"` // all of it, evaluation and start included
}

// Run trains a model on train for c.Epochs epochs and evaluates it on val, which may be
// nil, after each; onEpoch, which may be nil, is called then. The loader's epochs are
// numbered from 0. Cancelling ctx ends the run between two steps. With an error comes the
// Result of the epochs that were finished.
func Run(ctx context.Context, train, val Loader, c Config, onEpoch func(Epoch)) (Result, error) {
	start := time.Now()
	if c.Epochs < 1 {
		return Result{Config: c}, fmt.Errorf("%d epochs: at least 1 is needed", c.Epochs)
	}
	if err := checkLoaders(train, val); err != nil {
		return Result{Config: c}, err
	}
	t, err := New(c, train.ImageShape(), len(train.Classes()))
	if err != nil {
		return Result{Config: c}, err
	}
	r := Result{Config: t.config}
	for n := 1; n <= c.Epochs; n++ {
		var e Epoch
		if e, err = t.epoch(ctx, train, val, n); err != nil {
			err = fmt.Errorf("epoch %d: %w", n, err)
			break
		}
		r.Epochs = append(r.Epochs, e)
		if onEpoch != nil {
			onEpoch(e)
		}
	}
	r.Parameters = t.Parameters()
	err = errors.Join(err, t.Close())
	r.Seconds = time.Since(start).Seconds()
	return r, err
}

// epoch trains on all of train, then evaluates on val.
func (t *Trainer) epoch(ctx context.Context, train, val Loader, number int) (Epoch, error) {
	var wait, compute time.Duration
	compiled := t.train.compile
	m, err := t.pass(ctx, &t.train, train, number-1, &wait, &compute)
	if err != nil {
		return Epoch{}, fmt.Errorf("train: %w", err)
	}
	compiled = t.train.compile - compiled
	compute -= compiled
	e := Epoch{
		Number:          number,
		Seconds:         (wait + compute + compiled).Seconds(),
		WaitSeconds:     wait.Seconds(),
		ComputeSeconds:  compute.Seconds(),
		CompileSeconds:  compiled.Seconds(),
		ImagesPerSecond: float64(m.Samples) / (wait + compute).Seconds(),
		Train:           m,
	}
	if val != nil {
		m, err := t.Evaluate(ctx, val)
		if err != nil {
			return e, err
		}
		e.Val = &m
	}
	return e, nil
}

// Evaluate measures the network on the loader's epoch 0 and leaves it as it is.
// Cancelling ctx ends it between two batches.
func (t *Trainer) Evaluate(ctx context.Context, l Loader) (Metrics, error) {
	var wait, compute time.Duration
	m, err := t.pass(ctx, &t.eval, l, 0, &wait, &compute)
	if err != nil {
		return m, fmt.Errorf("evaluate: %w", err)
	}
	return m, nil
}

// pass runs the program on every batch of an epoch and adds the time blocked in the
// loader to wait and the rest to compute.
func (t *Trainer) pass(ctx context.Context, p *program, l Loader, epoch int, wait, compute *time.Duration) (Metrics, error) {
	var m Metrics
	correct, mark := 0, time.Now()
	for b, err := range l.Epoch(ctx, epoch) {
		if err != nil {
			return m, err
		}
		if err := ctx.Err(); err != nil {
			return m, err
		}
		ready := time.Now()
		*wait += ready.Sub(mark)
		s, err := t.run(p, b)
		if err != nil {
			return m, err
		}
		m.Loss += s.loss * float64(s.samples)
		m.Samples += s.samples
		correct += s.correct
		mark = time.Now()
		*compute += mark.Sub(ready)
	}
	*wait += time.Since(mark)
	if err := ctx.Err(); err != nil {
		return m, err
	}
	if m.Samples == 0 {
		return m, fmt.Errorf("no batch came from %d samples: the batches are larger than the set", l.Samples())
	}
	m.Loss /= float64(m.Samples)
	m.Accuracy = float64(correct) / float64(m.Samples)
	return m, nil
}

// checkLoaders reports how the two sets differ in what one network takes.
func checkLoaders(train, val Loader) error {
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
	for i := range a {
		if a[i] != b[i] {
			return fmt.Errorf("class %d is %q in the training set and %q in the validation set", i, a[i], b[i])
		}
	}
	return nil
}
