package trainer

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Errors that callers tell apart; they are wrapped with details.
var (
	// ErrUnknownModel is returned for a Config.Model that Models does not list.
	ErrUnknownModel = errors.New("unknown model")
	// ErrUnknownBackend is returned for a Config.Backend that is neither "go" nor "xla:PATH".
	ErrUnknownBackend = errors.New("unknown backend")
	// ErrNoBackend is returned where the plugin of "xla:PATH" sees no GPU.
	ErrNoBackend = errors.New("the backend is not available here")
	// ErrBatch is returned for a batch that does not fit the Trainer.
	ErrBatch = errors.New("bad batch")
	// ErrDiverged is returned when the loss is no longer a finite number.
	ErrDiverged = errors.New("training diverged")
	// ErrCheckpoint is returned for a checkpoint that is damaged or from another training.
	ErrCheckpoint = errors.New("unusable checkpoint")
)

// Config is how to train. Its zero value is the cnn on the pure-Go backend.
type Config struct {
	// Model is the network; "" is ModelCNN.
	Model Model `json:"model"`
	// Backend is "go" (or ""), GoMLX's pure-Go backend, or "xla:PATH" with the path of a PJRT plugin.
	// go-xla's options may be added after a comma. A CUDA plugin uses the first visible GPU
	// (CUDA_VISIBLE_DEVICES), and TF32 for products of float32 unless the options have tf32=false. XLA looks for CUDA's
	// libdevice in /usr/local/cuda, unless XLA_FLAGS has --xla_gpu_cuda_data_dir.
	Backend string `json:"backend"`
	// Epochs is how often Run goes through the training set, at least 1.
	Epochs int `json:"epochs"`
	// LearningRate is Adam's step size; 0 is the model's own.
	LearningRate float64 `json:"learning_rate"`
	// Seed decides the initial weights; the loader's seed decides the order of samples.
	Seed uint64 `json:"seed"`
	// Checkpoint is where Run saves the training's state.
	Checkpoint Checkpointing `json:"-"`
	// OnEpoch, if not nil, is called by Run after each epoch, on its caller's goroutine.
	OnEpoch func(Epoch) `json:"-"`
}

// Model is a network's name.
type Model string

// The models: a small convolutional network, and a perceptron with two hidden layers.
const (
	ModelCNN Model = "cnn"
	ModelMLP Model = "mlp"
)

// Models lists the models, sorted.
func Models() []Model {
	return slices.Sorted(maps.Keys(architectures))
}

func listModels() string {
	var names []string
	for _, m := range Models() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// architecture looks up the model and fills in the defaults.
func (c *Config) architecture() (architecture, error) {
	if c.Model == "" {
		c.Model = ModelCNN
	}
	if c.Backend == "" {
		c.Backend = "go"
	}
	a, ok := architectures[c.Model]
	if !ok {
		return a, fmt.Errorf("%w %q: choose one of %s", ErrUnknownModel, c.Model, listModels())
	}
	if !(c.LearningRate >= 0) || math.IsInf(c.LearningRate, 0) {
		return a, fmt.Errorf("learning rate %g: it must be positive, or 0 for the model's own", c.LearningRate)
	}
	if c.LearningRate == 0 {
		c.LearningRate = a.learningRate
	}
	return a, nil
}
