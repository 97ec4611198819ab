package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsconv/dsconv/internal/safetensors"
	"github.com/dsconv/dsconv/reader"
)

// errKilled stands for the end of a process: Run stops there.
var errKilled = errors.New("killed")

// resumable is a small set and the settings to train on it, with a checkpoint in dir.
func resumable(t *testing.T, model Model, every int) (train, val *memory, c Config) {
	t.Helper()
	train = &memory{samples: 22, batch: 4, side: 8, classes: 3, draw: stripes}
	val = &memory{samples: 7, batch: 4, side: 8, classes: 3, draw: stripes, offset: 100}
	c = Config{Model: model, Epochs: 3, Seed: 4}
	c.Checkpoint = Checkpointing{Path: filepath.Join(t.TempDir(), "run.safetensors"), Every: every}
	return train, val, c
}

// figures are a run's results without its times.
func figures(r *Result) (f []string) {
	for _, e := range r.Epochs {
		f = append(f, fmt.Sprint(e.Number, e.Train, *e.Val))
	}
	return append(f, fmt.Sprint(r.Steps, r.Parameters))
}

// saved are the tensors of a checkpoint.
func saved(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := safetensors.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, x := range f.Tensors {
		m[x.Name] = fmt.Sprint(x.DType, x.Shape, string(x.Data))
	}
	return m
}

// A run that is stopped at any step, or several times, sees each sample once per epoch in
// the same order, and ends with the same bits as an uninterrupted run.
func TestResume(t *testing.T) {
	if underRace {
		t.Skip("GoMLX is 30 times slower under the race detector, and the other tests run the same code")
	}
	for _, model := range Models() {
		train, val, c := resumable(t, model, 0)
		var order []int
		train.onSamples = func(s []int) { order = append(order, s...) }
		whole, err := runWith(t.Context(), train, val, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := saved(t, c.Checkpoint.Path)
		for epoch := range 3 {
			once := slices.Sorted(slices.Values(order[22*epoch:][:22]))
			if len(order) != 3*22 || len(slices.Compact(once)) != 22 {
				t.Fatalf("epoch %d does not have each sample once: %v", epoch+1, order)
			}
		}
		for _, stops := range [][]int{{1}, {5}, {6}, {7}, {17}, {1, 2, 3, 9, 12, 16}} {
			train, val, c := resumable(t, model, 1)
			var seen []int
			for _, stop := range append(stops, -1) {
				r, steps, err := until(t.Context(), train, val, c, stop, &seen)
				if stop >= 0 {
					if !errors.Is(err, context.Canceled) || steps != stop {
						t.Fatalf("%s, stop at %d: after %d: %v", model, stop, steps, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(figures(whole), figures(r)); d != "" {
					t.Errorf("%s, stopped at %v: %s", model, stops, d)
				}
			}
			if d := cmp.Diff(order, seen); d != "" {
				t.Errorf("%s, stopped at %v: other samples: %s", model, stops, d)
			}
			if got := saved(t, c.Checkpoint.Path); !maps.Equal(got, want) {
				t.Errorf("%s, stopped at %v: other weights", model, stops)
			}
		}
	}
}

// until runs until that many steps are done in all, and records their samples.
func until(ctx context.Context, train, val *memory, c Config, stop int, seen *[]int) (*Result, int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps := 0
	c.Checkpoint.OnResume = func(p Progress) { steps = p.Steps }
	train.onSamples = func(s []int) {
		if steps == stop {
			cancel()
			return
		}
		steps++
		*seen = append(*seen, s...)
	}
	r, err := runWith(ctx, train, val, c, nil)
	return r, steps, err
}

// Steps after the last checkpoint are lost with the process, and done again.
func TestKilledBetweenCheckpoints(t *testing.T) {
	train, val, c := resumable(t, "mlp", 0)
	whole, err := runWith(t.Context(), train, val, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := saved(t, c.Checkpoint.Path)
	for _, every := range []int{0, 4} {
		train, val, c := resumable(t, "mlp", every)
		at := Progress{}
		killed := filepath.Join(t.TempDir(), "copy")
		steps := 0
		train.onBatch = func(int) error {
			if steps++; steps == 12 { // 11 steps are done
				b, err := os.ReadFile(c.Checkpoint.Path)
				return errors.Join(err, os.WriteFile(killed, b, 0o600), errKilled)
			}
			return nil
		}
		if _, err := runWith(t.Context(), train, val, c, nil); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		train.onBatch = nil
		c.Checkpoint.Path = killed
		c.Checkpoint.OnResume = func(p Progress) { at = p }
		r, err := runWith(t.Context(), train, val, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[int]int{0: 6, 4: 8}[every]; at.Steps != want || len(at.Epochs) != 1 {
			t.Errorf("every %d: resumed from step %d, want %d", every, at.Steps, want)
		}
		if d := cmp.Diff(figures(whole), figures(r)); d != "" {
			t.Errorf("every %d: %s", every, d)
		}
		if !maps.Equal(saved(t, killed), want) {
			t.Errorf("every %d: other weights", every)
		}
	}
}

// A run that ended with an error of the loader resumes after the last step; a run that
// diverged keeps the last checkpoint.
func TestCheckpointAfterError(t *testing.T) {
	train, val, c := resumable(t, "mlp", 0)
	broken := errors.New("disk on fire")
	train.onBatch = func(i int) error {
		if i == 2 {
			return broken
		}
		return nil
	}
	if _, err := runWith(t.Context(), train, val, c, nil); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	train.onBatch = nil
	at := -1
	c.Checkpoint.OnResume = func(p Progress) { at = p.State.Position }
	if _, err := runWith(t.Context(), train, val, c, nil); err != nil || at != 8 {
		t.Errorf("resumed from %d: %v", at, err)
	}

	_, _, c = resumable(t, "mlp", 1)
	c.LearningRate = 1e30
	if _, err := runWith(t.Context(), train, nil, c, nil); !errors.Is(err, ErrDiverged) {
		t.Fatal(err)
	}
	f, err := safetensors.Read(c.Checkpoint.Path)
	if err != nil {
		t.Fatal(err)
	}
	var h header
	if err := json.Unmarshal([]byte(f.Metadata[headerKey]), &h); err != nil || h.Progress.Running.Samples != 4*h.Progress.Steps {
		t.Errorf("a step that diverged was kept: %+v %v", h, err)
	}
}

// A run that is stopped while it evaluates does not train on the epoch again.
func TestStoppedInEvaluation(t *testing.T) {
	train, val, c := resumable(t, "mlp", 0)
	whole, err := runWith(t.Context(), train, val, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := saved(t, c.Checkpoint.Path)
	_, _, c = resumable(t, "mlp", 0)
	ctx, cancel := context.WithCancel(t.Context())
	val.onSamples = func([]int) { cancel() }
	if _, err := runWith(ctx, train, val, c, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	val.onSamples = nil
	batches := 0
	train.onBatch = func(int) error { batches++; return nil }
	r, err := runWith(t.Context(), train, val, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(figures(whole), figures(r)); d != "" || batches != 12 {
		t.Errorf("%d more batches: %s", batches, d)
	}
	if !maps.Equal(saved(t, c.Checkpoint.Path), want) {
		t.Error("other weights")
	}
}

// More epochs continue a finished run; the same number does nothing.
func TestFinished(t *testing.T) {
	train, val, c := resumable(t, "mlp", 0)
	long := c
	long.Checkpoint.Path += "2"
	long.Epochs = 5
	want, err := runWith(t.Context(), train, val, long, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runWith(t.Context(), train, val, c, nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(c.Checkpoint.Path)
	if err != nil {
		t.Fatal(err)
	}
	train.onBatch = func(int) error { return errors.New("nothing may be read") }
	r, err := runWith(t.Context(), train, val, c, func(Epoch) { t.Error("an epoch was done again") })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(figures(want)[:3], figures(r)[:3]); d != "" || r.Parameters != want.Parameters {
		t.Errorf("%d parameters: %s", r.Parameters, d)
	}
	after, err := os.ReadFile(c.Checkpoint.Path)
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("the checkpoint changed: %v", err)
	}
	train.onBatch = nil
	c.Epochs = 5
	if r, err = runWith(t.Context(), train, val, c, nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(figures(want), figures(r)); d != "" {
		t.Error(d)
	}
}

func TestCheckpointRefuses(t *testing.T) {
	train, val, c := resumable(t, "mlp", 2)
	c.Epochs = 1
	c.Checkpoint.Recipe = map[string]string{"batch": "4"}
	if _, err := runWith(t.Context(), train, val, c, nil); err != nil {
		t.Fatal(err)
	}
	path := c.Checkpoint.Path
	damaged := filepath.Join(t.TempDir(), "damaged")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-3] ^= 16
	if err := os.WriteFile(damaged, b, 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := safetensors.Write(foreign, &safetensors.File{}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		spoil func(train *memory, c *Config)
		want  []string
	}{
		{"model", func(_ *memory, c *Config) { c.Model = "cnn" }, []string{path, "model is mlp, not cnn", "learning rate"}},
		{"learning rate", func(_ *memory, c *Config) { c.LearningRate = 0.5 }, []string{"learning rate is 0.001, not 0.5"}},
		{"seed", func(_ *memory, c *Config) { c.Seed = 9 }, []string{"seed is 4, not 9"}},
		{"shape", func(m *memory, _ *Config) { m.side = 9 }, []string{"shape of the images is [8 8 3], not [9 9 3]"}},
		{"classes", func(m *memory, _ *Config) { m.classes = 2 }, []string{"number of classes is 3, not 2"}},
		{"class", func(m *memory, _ *Config) { m.prefix = "k" }, []string{`its class 0 is "class00", not "kclass00"`}},
		{"recipe", func(_ *memory, c *Config) { c.Checkpoint.Recipe = map[string]string{"batch": "8"} }, []string{"batch is 4, not 8"}},
		{"samples", func(m *memory, _ *Config) { m.samples = 21 }, []string{path, "belongs to another order", "of 22", "of 21"}},
		{"damaged", func(_ *memory, c *Config) { c.Checkpoint.Path = damaged }, []string{damaged, "damaged"}},
		{"foreign", func(_ *memory, c *Config) { c.Checkpoint.Path = foreign }, []string{foreign, "no state of a training"}},
	} {
		train, c := *train, c
		c.Epochs = 2
		x.spoil(&train, &c)
		_, err := runWith(t.Context(), &train, nil, c, nil)
		if !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s: error %v", x.name, err)
			continue
		}
		for _, want := range x.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", x.name, err, want)
			}
		}
	}
	c.Checkpoint.Path = filepath.Join(t.TempDir(), "none", "x")
	if _, err := runWith(t.Context(), train, nil, c, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	c.Checkpoint.Path = filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, c.Checkpoint.Path); err != nil {
		t.Fatal(err)
	}
	if r, err := runWith(t.Context(), train, nil, c, nil); err == nil || r.Steps != 0 || !strings.Contains(err.Error(), c.Checkpoint.Path) {
		t.Errorf("a link: %d steps, %v", r.Steps, err)
	}
	c.Checkpoint.Path, c.Checkpoint.Discard = damaged, true
	if r, err := runWith(t.Context(), train, val, c, nil); err != nil || r.Steps != 6 {
		t.Errorf("discard: %d steps, %v", r.Steps, err)
	}
	c.Checkpoint.Every = -1
	if _, err := runWith(t.Context(), train, nil, c, nil); err == nil {
		t.Error("every -1 steps: no error")
	}
}

// A Trainer can resume in a caller's own loop too, also after it has taken steps.
func TestSaveAndLoad(t *testing.T) {
	m := &memory{samples: 8, batch: 8, side: 8, classes: 2, draw: ramps}
	path := filepath.Join(t.TempDir(), "c")
	batch := m.collate([]int{0, 1, 2, 3, 4, 5, 6, 7})
	a, used, fresh := newTrainer(t, Config{}, 8, 2), newTrainer(t, Config{}, 8, 2), newTrainer(t, Config{}, 8, 2)
	for range 3 {
		step(t, a, batch)
	}
	if err := a.Save(path, Progress{Steps: 3}); err != nil {
		t.Fatal(err)
	}
	want := step(t, a, batch)
	step(t, used, batch)
	for _, b := range []*Trainer{used, fresh} {
		p, err := b.Load(path)
		if err != nil || p.Steps != 3 {
			t.Fatal(p, err)
		}
		if b.Parameters() != a.Parameters() {
			t.Errorf("%d parameters, want %d", b.Parameters(), a.Parameters())
		}
		if got := step(t, b, batch); got != want {
			t.Errorf("loss %v, want %v", got, want)
		}
	}
}

func (m *memory) State(epoch int, b *reader.Batch) reader.State {
	return reader.State{Epoch: epoch, Position: b.End, Order: m.order()}
}

func (m *memory) order() string { return fmt.Sprintf("of %d", m.samples) }

func (m *memory) Resume(ctx context.Context, s reader.State) iter.Seq2[*reader.Batch, error] {
	if s.Order != m.order() {
		return func(yield func(*reader.Batch, error) bool) {
			yield(nil, fmt.Errorf("%w: it was %q, not %q", reader.ErrState, s.Order, m.order()))
		}
	}
	return m.from(ctx, s.Epoch, s.Position)
}
