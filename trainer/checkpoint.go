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

	"github.com/dsconv/dsconv/trainer/safetensors"
)

// Checkpointing says where Run keeps the state of a training, to go on from after it was
// stopped or killed.
type Checkpointing struct {
	// Path is the file, in the safetensors format; "" is none. If it is there, Run goes on
	// from it. It is replaced whole or not at all.
	Path string
	// Every is after how many steps it is written, besides at the end of each epoch and when
	// Run is stopped; 0 is not in between.
	Every int
	// Discard begins anew, though there is a file: the first checkpoint replaces it.
	Discard bool
	// Recipe is what else must be the same for a training to go on, such as the size of the
	// batches and the augmentations.
	Recipe map[string]string
	// OnResume, if not nil, is told where Run goes on.
	OnResume func(Progress)
}

// header is what a checkpoint has beside the tensors, as JSON under headerKey.
type header struct {
	Version  int      `json:"version"`
	Settings settings `json:"settings"`
	// Rows are the most that a batch had in training and in evaluation. The graphs are
	// compiled for them: for others the sums' last bits could be others too.
	Rows     [2]int   `json:"rows"`
	Progress Progress `json:"progress"`
}

const (
	headerKey     = "dsconv.training"
	headerVersion = 1
)

// settings are what the weights and Adam's state were made with.
type settings struct {
	Model        string  `json:"model"`
	Shape        [3]int  `json:"shape"` // H,W,C
	Classes      int     `json:"classes"`
	LearningRate float64 `json:"learning_rate"`
	Seed         uint64  `json:"seed"`
}

func (t *Trainer) settings() settings {
	return settings{t.config.Model, t.shape, t.classes, t.config.LearningRate, t.config.Seed}
}

// Save writes weights, Adam's state and p to the file at path, in place of the one that is
// there. It is called between two steps, after the first. Other programs read the file as
// safetensors: the weights are the tensors below model/.
func (t *Trainer) Save(path string, p Progress) (err error) {
	defer caught(&err)
	h := header{headerVersion, t.settings(), [2]int{t.train.feed.rows, t.eval.feed.rows}, p}
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

// Load takes weights and Adam's state from a file that Save made, and gives the Progress
// that came with them. ErrCheckpoint is in the error's chain for a file that is damaged or
// of another training: of another model, shape, number of classes, learning rate or seed.
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
		return p, fmt.Errorf("%w: %s has tensors and no training", ErrCheckpoint, path)
	}
	var h header
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return p, fmt.Errorf("%w: %s: %w", ErrCheckpoint, path, err)
	}
	if h.Version != headerVersion {
		return p, fmt.Errorf("%w: %s is of version %d, this program knows %d", ErrCheckpoint, path, h.Version, headerVersion)
	}
	if d := h.Settings.differences(t.settings()); len(d) > 0 {
		return p, another(path, d)
	}
	for _, tensor := range f.Tensors {
		if err := t.restore(tensor); err != nil {
			return p, fmt.Errorf("%w: %s: tensor %s: %w", ErrCheckpoint, path, tensor.Name, err)
		}
	}
	t.train.feed.rows, t.eval.feed.rows = h.Rows[0], h.Rows[1]
	return h.Progress, nil
}

// differences tells how the settings of a checkpoint are others than those here.
func (s settings) differences(here settings) (d []string) {
	for _, c := range []struct {
		what        string
		there, here any
	}{
		{"model", s.Model, here.Model},
		{"shape of the images", s.Shape, here.Shape},
		{"number of classes", s.Classes, here.Classes},
		{"learning rate", s.LearningRate, here.LearningRate},
		{"seed", s.Seed, here.Seed},
	} {
		if c.there != c.here {
			d = append(d, fmt.Sprintf("its %s is %v, not %v", c.what, c.there, c.here))
		}
	}
	return d
}

// match tells how the caller's part of a checkpoint is other than it is here.
func (p *Progress) match(classes []string, recipe map[string]string) (d []string) {
	if i := unlike(p.Classes, classes); i >= 0 {
		d = append(d, fmt.Sprintf("its class %d is %q, not %q", i, p.Classes[i], classes[i]))
	}
	all := maps.Clone(p.Recipe)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, recipe)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if p.Recipe[k] != recipe[k] {
			d = append(d, fmt.Sprintf("its %s is %s, not %s", k, p.Recipe[k], recipe[k]))
		}
	}
	return d
}

// another is the error of a checkpoint that does not fit.
func another(path string, differences []string) error {
	return fmt.Errorf("%w: %s is of another training: %s", ErrCheckpoint, path, strings.Join(differences, "; "))
}

// types are those of the tensors in a file.
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

// restore gives a variable its value, and makes it if no graph was built yet.
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
			// Adam's moments are nothing to train.
			v.SetTrainable(strings.HasPrefix(from.Name, "model/"))
		}
		return err
	}
	return fmt.Errorf("its type is %s", from.DType)
}
