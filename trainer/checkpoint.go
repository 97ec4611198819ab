package trainer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/dsconv/dsconv/internal/safetensors"
)

// Checkpointing is where and when Run saves the state of a training, so that a stopped or killed
// one can be resumed.
type Checkpointing struct {
	// Path is the file, in the safetensors format; "" is none. If it exists, Run resumes
	// from it. It is replaced whole or not at all.
	Path string
	// Every is the number of steps after which it is written, in addition to the end of each
	// epoch and when Run is stopped; 0: at those times only.
	Every int
	// Discard starts over though the file exists: the first checkpoint replaces it.
	Discard bool
	// Recipe is what else must be the same in a resumed training, such as the batch size and
	// the augmentations.
	Recipe map[string]string
	// OnResume, if not nil, is called with the state that Run resumes from.
	OnResume func(Progress)
}

// header is what a checkpoint has in addition to the tensors, as JSON under headerKey.
type header struct {
	Version  int      `json:"version"`
	Settings settings `json:"settings"`
	// Rows are those of the largest batch in training and in evaluation. The graphs are
	// compiled for these sizes: with others the last bits of sums could differ.
	Rows     [2]int   `json:"rows"`
	Progress Progress `json:"progress"`
}

const (
	headerKey     = "dsconv.training"
	headerVersion = 1
)

// settings decide what the weights and Adam's state mean.
type settings struct {
	Model        Model   `json:"model"`
	Shape        [3]int  `json:"shape"` // H,W,C
	Classes      int     `json:"classes"`
	LearningRate float64 `json:"learning_rate"`
	Seed         uint64  `json:"seed"`
}

func (t *Trainer) settings() settings {
	return settings{t.config.Model, t.shape, t.classes, t.config.LearningRate, t.config.Seed}
}

// Save writes weights, Adam's state and p to the file at path and replaces one that exists.
// It is called between two steps, after the first. Other programs read the file as
// safetensors: the weights are the tensors below model/.
func (t *Trainer) Save(path string, p Progress) (err error) {
	defer caught(&err)
	h := header{headerVersion, t.settings(), [2]int{t.train.rows, t.eval.rows}, p}
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	f := &safetensors.File{Metadata: map[string]string{headerKey: string(text)}}
	for v := range t.store.IterVariables() {
		value, err := v.Value()
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		tensor, err := save(strings.TrimPrefix(v.Path(), "/"), value)
		if err != nil {
			return fmt.Errorf("checkpoint: %s: %w", v.Path(), err)
		}
		f.Tensors = append(f.Tensors, tensor)
	}
	if err := safetensors.Write(path, f); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// Load sets weights and Adam's state from a file that Save wrote and returns the Progress
// in it. ErrCheckpoint is in the error's chain if the file is damaged or from a training with
// another model, image shape, number of classes, learning rate or seed.
// The backend may be another one.
func (t *Trainer) Load(path string) (p Progress, err error) {
	defer caught(&err)
	f, err := safetensors.Read(path)
	if errors.Is(err, safetensors.ErrDamaged) {
		return p, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if err != nil {
		return p, fmt.Errorf("checkpoint: %w", err)
	}
	text, ok := f.Metadata[headerKey]
	if !ok {
		return p, fmt.Errorf("%w: %s has no state of a training, only tensors", ErrCheckpoint, path)
	}
	var h header
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields() // a setting that is not known cannot be compared
	if err := in.Decode(&h); err != nil {
		return p, fmt.Errorf("%w: %s: %w", ErrCheckpoint, path, err)
	}
	if h.Version != headerVersion {
		return p, fmt.Errorf("%w: %s has format version %d; this program reads %d", ErrCheckpoint, path, h.Version, headerVersion)
	}
	if d := h.Settings.differences(t.settings()); len(d) > 0 {
		return p, otherTraining(path, d)
	}
	for _, tensor := range f.Tensors {
		if err := t.restore(tensor); err != nil {
			return p, fmt.Errorf("%w: %s: tensor %s: %w", ErrCheckpoint, path, tensor.Name, err)
		}
	}
	t.train.rows, t.eval.rows = h.Rows[0], h.Rows[1]
	return h.Progress, nil
}

// differences are clauses on how a checkpoint differs from the training that resumes from it.
type differences []string

func (d *differences) compare(what string, saved, now any) {
	if saved != now {
		*d = append(*d, fmt.Sprintf("its %s is %v, not %v", what, saved, now))
	}
}

func (s settings) differences(now settings) (d differences) {
	d.compare("model", s.Model, now.Model)
	d.compare("shape of the images", s.Shape, now.Shape)
	d.compare("number of classes", s.Classes, now.Classes)
	d.compare("learning rate", s.LearningRate, now.LearningRate)
	d.compare("seed", s.Seed, now.Seed)
	return d
}

// differences compares what the caller of Run gives.
func (p *Progress) differences(classes []string, recipe map[string]string) (d differences) {
	if i := firstDifference(p.Classes, classes); i >= 0 {
		d = append(d, fmt.Sprintf("its class %d is %q, not %q", i, p.Classes[i], classes[i]))
	}
	all := map[string]string{}
	maps.Copy(all, p.Recipe)
	maps.Copy(all, recipe)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		d.compare(k, p.Recipe[k], recipe[k])
	}
	return d
}

// otherTraining is the error of a checkpoint that cannot be resumed from because of the differences.
func otherTraining(path string, d differences) error {
	return fmt.Errorf("%w: %s is of another training: %s", ErrCheckpoint, path, strings.Join(d, "; "))
}

// types are the names that a file has for the types of tensors.
var types = map[dtypes.DType]string{
	dtypes.Float32: "F32", dtypes.Float64: "F64", dtypes.Int32: "I32", dtypes.Int64: "I64", dtypes.Uint64: "U64",
}

// save copies a variable's value.
func save(name string, value *tensors.Tensor) (t safetensors.Tensor, err error) {
	shape := value.Shape()
	t = safetensors.Tensor{Name: name, DType: types[shape.DType], Shape: shape.Dimensions}
	err = value.ConstBytes(func(b []byte) { t.Data = slices.Clone(b) })
	return t, err
}

// restore sets a variable to its value and creates it if no graph was built yet.
func (t *Trainer) restore(from safetensors.Tensor) error {
	for dtype, name := range types {
		if name != from.DType {
			continue
		}
		value := tensors.FromShape(shapes.Make(dtype, from.Shape...))
		if err := value.MutableBytes(func(b []byte) { copy(b, from.Data) }); err != nil {
			return err
		}
		if v := t.store.GetVariable(from.Name); v != nil {
			return v.SetValue(value)
		}
		v, err := t.store.CreateVariable(from.Name, value)
		if err == nil {
			// Adam's moments are not trained.
			v.SetTrainable(strings.HasPrefix(from.Name, "model/"))
		}
		return err
	}
	return fmt.Errorf("unknown type %s", from.DType)
}
