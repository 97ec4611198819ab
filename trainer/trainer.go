package trainer

import (
	"fmt"
	"math"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// Trainer is a network with its weights, on a backend. It belongs to one goroutine. After
// an error other than ErrBatch it can only be closed.
type Trainer struct {
	config  Config
	shape   [3]int // H,W,C of the images
	classes int

	backend     compute.Backend
	store       *model.Store
	train, eval program
	failed      bool // a step failed: the weights must not be saved
}

// program is a graph.
type program struct {
	exec     *model.Exec
	rows     int           // of the largest batch that it ran
	compiled shapes.Shape  // of the images that it was last compiled for
	compile  time.Duration // spent so far in building and compiling
}

// sums are a graph's results for the samples of a batch.
type sums struct {
	loss    float64 // mean
	correct int
	samples int
}

// New returns a Trainer for images of shape (H,W,C) and that many classes. It starts the
// backend, which compiles the graphs for the first batch. Close frees it.
func New(c Config, shape [3]int, classes int) (*Trainer, error) {
	arch, err := c.architecture()
	if err != nil {
		return nil, err
	}
	if err := arch.check(shape, classes); err != nil {
		return nil, fmt.Errorf("model %s: %w", c.Model, err)
	}
	backend, conv, err := openBackend(c.Backend)
	if err != nil {
		return nil, err
	}
	t := &Trainer{config: c, shape: shape, classes: classes, backend: backend, store: model.NewStore()}
	if err := t.build(arch, conv); err != nil {
		t.Close()
		return nil, fmt.Errorf("model %s: %w", c.Model, err)
	}
	return t, nil
}

// build sets the seed and builds the two programs on the same weights.
func (t *Trainer) build(arch architecture, conv convolution) (err error) {
	defer caught(&err)
	if err := t.store.SetRNGStateFromSeed(int64(t.config.Seed)); err != nil {
		return err
	}
	adam := optimizer.Adam().LearningRate(t.config.LearningRate).Done()
	measure := func(scope *model.Scope, images, targets, mask *graph.Node) (loss, correct *graph.Node) {
		logits := arch.logits(scope, normalise(images), t.classes, conv)
		return crossEntropy(logits, targets, mask), countCorrect(logits, targets, mask)
	}
	t.train.exec, err = model.NewExec(t.backend, t.store,
		func(scope *model.Scope, images, targets, mask *graph.Node) (loss, correct *graph.Node) {
			loss, correct = measure(scope.In("model"), images, targets, mask)
			adam.UpdateGraph(scope, loss.Graph(), loss)
			return loss, correct
		})
	if err != nil {
		return err
	}
	t.eval.exec, err = model.NewExec(t.backend, t.store,
		func(scope *model.Scope, images, targets, mask *graph.Node) (loss, correct *graph.Node) {
			return measure(scope.In("model"), images, targets, mask)
		})
	return err
}

// Step trains on one batch and returns its mean loss from before the weights changed. It
// copies the batch, so that the caller may reuse it. It skips a batch of padding only, whose
// loss is 0. ErrBatch is in the error's chain for
// a batch that does not fit, ErrDiverged if the loss is no longer finite.
func (t *Trainer) Step(b *reader.Batch) (loss float64, err error) {
	s, err := t.run(&t.train, b)
	return s.loss, err
}

// Parameters is the number of trained weights; 0 before the first batch.
func (t *Trainer) Parameters() int {
	n := 0
	for v := range t.store.IterVariables() {
		if v.Trainable {
			n += v.Shape().Size()
		}
	}
	return n
}

// Close frees the weights, the graphs and the backend. It may be called again.
func (t *Trainer) Close() (err error) {
	defer caught(&err)
	if t.backend.IsFinalized() {
		return nil
	}
	for _, p := range []*program{&t.train, &t.eval} {
		if p.exec != nil {
			p.exec.Finalize()
		}
	}
	t.store.Finalize()
	t.backend.Finalize()
	return nil
}

// run checks the batch, runs the program on it and checks the result.
func (t *Trainer) run(p *program, b *reader.Batch) (s sums, err error) {
	defer caught(&err)
	if t.backend.IsFinalized() {
		return s, fmt.Errorf("the trainer: %w: make another one with trainer.New", formats.ErrClosed)
	}
	if err := checkBatch(b, t.shape, t.classes); err != nil {
		return s, err
	}
	if s.samples = samples(b); s.samples == 0 {
		return s, nil
	}
	p.rows = max(p.rows, b.Shape[0])
	in, err := stage(t.backend, b, p.rows, t.classes)
	if err != nil {
		return s, err
	}
	defer in.free()
	t.failed = true
	if s.loss, s.correct, err = p.run(in); err != nil {
		return s, fmt.Errorf("model %s: %w", t.config.Model, err)
	}
	if math.IsNaN(s.loss) || math.IsInf(s.loss, 0) {
		return s, fmt.Errorf("%w: the loss is %g at learning rate %g; try a smaller one",
			ErrDiverged, s.loss, t.config.LearningRate)
	}
	t.failed = false
	return s, nil
}

// run compiles the graph if the batch is larger than all before, executes it and waits for the results.
func (p *program) run(in inputs) (loss float64, correct int, err error) {
	if shape := in[0].Shape(); !p.compiled.Equal(shape) {
		start := time.Now()
		if _, err := p.exec.Compile(shape, in[1].Shape(), in[2].Shape()); err != nil {
			return 0, 0, fmt.Errorf("compile for batches of %d: %w", p.rows, err)
		}
		p.compile += time.Since(start)
		p.compiled = shape
	}
	out, err := p.exec.Exec(in[0], in[1], in[2])
	if err != nil {
		return 0, 0, fmt.Errorf("run: %w", err)
	}
	loss, correct = float64(tensors.ToScalar[float32](out[0])), int(tensors.ToScalar[int32](out[1]))
	for _, o := range out {
		o.MustFinalizeAll()
	}
	return loss, correct, nil
}

// crossEntropy is the mean over the samples, not the padding, of -sum(target * log p).
func crossEntropy(logits, targets, mask *graph.Node) *graph.Node {
	loss := graph.Neg(graph.ReduceSum(graph.Mul(targets, graph.LogSoftmax(logits)), -1))
	return graph.Div(graph.ReduceAllSum(graph.Mul(loss, mask)), graph.ReduceAllSum(mask))
}

// countCorrect is the number of samples whose largest logit is that of the largest target.
func countCorrect(logits, targets, mask *graph.Node) *graph.Node {
	hit := graph.Equal(graph.ArgMax(logits, -1, dtypes.Int32), graph.ArgMax(targets, -1, dtypes.Int32))
	return graph.ConvertDType(graph.ReduceAllSum(graph.Mul(graph.ConvertDType(hit, dtypes.Float32), mask)), dtypes.Int32)
}

// caught, deferred, turns a panic into an error: GoMLX panics where a graph cannot be built.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = p
	default:
		*err = fmt.Errorf("%v", p)
	}
}
