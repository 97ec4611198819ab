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
	// ErrBatch is returned for a batch that does not fit the Trainer.
	ErrBatch = errors.New("bad batch")
	// ErrDiverged is returned when the loss is no longer a finite number.
	ErrDiverged = errors.New("training diverged")
	// ErrCheckpoint is returned for a checkpoint that is damaged or from another training.
	ErrCheckpoint = errors.New("unusable checkpoint")
)

// Config is how to train. Its zero value is the cnn.
type Config struct {
	// Model is the network; "" is ModelCNN.
	Model Model `json:"model"`
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
