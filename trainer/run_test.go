package trainer

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// runWith is Run with a callback.
func runWith(ctx context.Context, train, val Loader, c Config, onEpoch func(Epoch)) (*Result, error) {
	c.OnEpoch = onEpoch
	return Run(ctx, train, val, c)
}

func TestRunLearns(t *testing.T) {
	if underRace {
		t.Skip("GoMLX is 30 times slower under the race detector, and the other tests run the same code")
	}
	for _, c := range []struct {
		model Model
		draw  func(*memory, []uint8, int)
		steps int
	}{
		{"cnn", stripes, 5},
		{"mlp", ramps, 3},
	} {
		t.Run(string(c.model), func(t *testing.T) {
			train := &memory{samples: 400, batch: 32, side: 16, classes: 4, draw: c.draw}
			val := &memory{samples: 100, batch: 32, side: 16, classes: 4, draw: c.draw, offset: 1000, pad: true}
			var seen []Epoch
			r, err := runWith(t.Context(), train, val, Config{Model: c.model, Epochs: c.steps, Seed: 1},
				func(e Epoch) { seen = append(seen, e) })
			if err != nil {
				t.Fatal(err)
			}
			if len(seen) != c.steps || len(r.Epochs) != c.steps || r.Parameters == 0 {
				t.Fatalf("%d calls, %d epochs, %d parameters", len(seen), len(r.Epochs), r.Parameters)
			}
			last := seen[c.steps-1]
			if last.Number != c.steps || last.Train.Samples != 400 || last.Val.Samples != 100 {
				t.Errorf("epoch %+v, validation %+v", last, last.Val)
			}
			if last.Val.Accuracy < 0.95 || last.Train.Loss >= seen[0].Train.Loss {
				t.Errorf("learnt %v on held-out images, loss %v after %v", last.Val.Accuracy, last.Train.Loss, seen[0].Train.Loss)
			}
			for _, e := range seen {
				parts := e.WaitSeconds + e.ComputeSeconds + e.CompileSeconds
				if math.Abs(parts-e.Seconds) > 1e-6 || e.ComputeSeconds <= 0 || e.ImagesPerSecond <= 0 {
					t.Errorf("epoch %d: times %+v", e.Number, e)
				}
			}
		})
	}
}

func TestRunIsDeterministic(t *testing.T) {
	losses := func(seed uint64) (l []float64) {
		train := &memory{samples: 40, batch: 32, side: 16, classes: 4, draw: stripes}
		r, err := runWith(t.Context(), train, train, Config{Epochs: 2, Seed: seed}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Epochs {
			l = append(l, e.Train.Loss, e.Train.Accuracy, e.Val.Loss, e.Val.Accuracy)
		}
		return l
	}
	a, b, c := losses(5), losses(5), losses(6)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("same seed: %v and %v", a, b)
		}
	}
	if a[0] == c[0] {
		t.Errorf("another seed gives the same loss %v", a[0])
	}
}

func TestRunCancels(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	batches := 0
	train := &memory{samples: 64, batch: 16, side: 8, classes: 2, draw: ramps}
	train.onBatch = func(int) error {
		if batches++; batches == 6 {
			cancel()
		}
		return nil
	}
	r, err := runWith(ctx, train, nil, Config{Model: "mlp", Epochs: 100}, nil)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "epoch 2") {
		t.Errorf("error %v", err)
	}
	if len(r.Epochs) != 1 || batches != 6 {
		t.Errorf("%d finished epochs, %d batches", len(r.Epochs), batches)
	}
}

func TestRunReportsLoader(t *testing.T) {
	broken := errors.New("disk on fire")
	train := &memory{samples: 64, batch: 16, side: 8, classes: 2, draw: ramps}
	train.onBatch = func(i int) error {
		if i == 2 {
			return broken
		}
		return nil
	}
	if _, err := runWith(t.Context(), train, nil, Config{Model: "mlp", Epochs: 1}, nil); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	good := &memory{samples: 8, batch: 4, side: 8, classes: 2, draw: ramps}
	if _, err := Run(t.Context(), nil, nil, Config{Epochs: 1}); err == nil {
		t.Error("no training set")
	}
	for _, c := range []struct {
		name       string
		train, val *memory
		config     Config
		want       []string
	}{
		{"no epoch", good, good, Config{}, []string{"0 epochs"}},
		{"one class", &memory{samples: 8, batch: 4, side: 8, classes: 1}, nil, Config{Epochs: 1}, []string{"1 classes"}},
		{"too small", &memory{samples: 8, batch: 4, side: 7, classes: 2}, nil, Config{Epochs: 1}, []string{"cnn", "7x7", "8x8"}},
		{"no samples", &memory{batch: 4, side: 8, classes: 2}, nil, Config{Epochs: 1}, []string{"no batch"}},
		{"other shape", good, &memory{samples: 8, batch: 4, side: 9, classes: 2}, Config{Epochs: 1}, []string{"[8 8 3]", "[9 9 3]"}},
		{"other classes", good, &memory{samples: 8, batch: 4, side: 8, classes: 3}, Config{Epochs: 1}, []string{"2 classes", "3"}},
		{"model", good, good, Config{Epochs: 1, Model: "vit"}, []string{"vit", "cnn, mlp"}},
		{"learning rate", good, good, Config{Epochs: 1, LearningRate: -1}, []string{"-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var val Loader
			if c.val != nil {
				val = c.val
			}
			_, err := runWith(t.Context(), c.train, val, c.config, nil)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}
