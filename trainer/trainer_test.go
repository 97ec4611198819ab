package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newTrainer(t *testing.T, c Config, side, classes int) *Trainer {
	t.Helper()
	tr, err := New(c, [3]int{side, side, 3}, classes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(tr.Close(), tr.Close()); err != nil {
			t.Error(err)
		}
	})
	return tr
}

func step(t *testing.T, tr *Trainer, b *reader.Batch) float64 {
	t.Helper()
	loss, err := tr.Step(b)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*(1+math.Abs(a)) }

// A short batch, the same batch padded by the reader, and the same batch after a larger
// one have the same loss, and change the weights alike.
func TestShortBatch(t *testing.T) {
	whole := &memory{samples: 5, batch: 5, side: 12, classes: 3, draw: stripes}
	padded := &memory{samples: 5, batch: 8, side: 12, classes: 3, draw: stripes, pad: true}
	order := []int{4, 2, 0, 1, 3}
	a, b := newTrainer(t, Config{Seed: 3}, 12, 3), newTrainer(t, Config{Seed: 3}, 12, 3)
	for i := range 4 {
		la, lb := step(t, a, whole.collate(order)), step(t, b, padded.collate(order))
		if !near(la, lb) {
			t.Errorf("step %d: loss %v as it is, %v padded", i, la, lb)
		}
	}
	compiled := b.train.compile
	la, lb := step(t, a, whole.collate(order)), step(t, b, whole.collate(order))
	if !near(la, lb) {
		t.Errorf("loss %v, after a larger batch %v", la, lb)
	}
	if b.train.compile != compiled || compiled == 0 {
		t.Errorf("compiled again for a smaller batch")
	}
}

func TestPaddingAlone(t *testing.T) {
	m := &memory{samples: 4, batch: 4, side: 8, classes: 2, draw: ramps, pad: true}
	tr, same := newTrainer(t, Config{}, 8, 2), newTrainer(t, Config{}, 8, 2)
	if loss := step(t, tr, m.collate(nil)); loss != 0 {
		t.Errorf("loss %v of nothing", loss)
	}
	if a, b := step(t, tr, m.collate([]int{0, 1})), step(t, same, m.collate([]int{0, 1})); a != b {
		t.Errorf("a batch of padding changed the weights: loss %v, without %v", a, b)
	}
}

// Batches that the reader normalised like the graph give the same loss.
func TestFloat32Batch(t *testing.T) {
	m := &memory{samples: 6, batch: 6, side: 9, classes: 3, draw: stripes}
	b := m.collate([]int{0, 1, 2, 3, 4, 5})
	f, err := reader.NewBatch(b.Shape, formats.Float32, formats.Int64)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range reader.Pixels[uint8](b) {
		reader.Pixels[float32](f)[i] = (float32(v) - 127.5) / 64
	}
	copy(reader.Labels[int64](f), reader.Labels[int64](b))
	for _, model := range Models() {
		c := Config{Model: model, Seed: 1}
		if a, b := step(t, newTrainer(t, c, 9, 3), b), step(t, newTrainer(t, c, 9, 3), f); !near(a, b) {
			t.Errorf("%s: loss %v of uint8, %v of float32", model, a, b)
		}
	}
}

// Soft labels of one class give the loss of that class; those of two give the mean of both losses.
func TestSoftLabels(t *testing.T) {
	m := &memory{samples: 6, batch: 8, side: 8, classes: 3, draw: stripes, pad: true}
	order := []int{0, 1, 2, 3, 4, 5}
	loss := func(change func(b *reader.Batch)) float64 {
		b := m.collate(order)
		change(b)
		return step(t, newTrainer(t, Config{Seed: 2}, 8, 3), b)
	}
	soften := func(b *reader.Batch, share float32, shift int) {
		for i, label := range reader.Labels[int64](b)[:b.N] {
			b.Soft[3*i+(int(label)+shift)%3] += share
		}
	}
	hard := loss(func(*reader.Batch) {})
	next := loss(func(b *reader.Batch) {
		for i := range b.N {
			labels := reader.Labels[int64](b)
			labels[i] = (labels[i] + 1) % 3
		}
	})
	if got := loss(func(b *reader.Batch) { b.Soft = make([]float32, 24); soften(b, 1, 0) }); got != hard {
		t.Errorf("loss %v, of the same labels made soft %v", hard, got)
	}
	mixed := loss(func(b *reader.Batch) { b.Soft = make([]float32, 24); soften(b, 0.75, 0); soften(b, 0.25, 1) })
	if want := 0.75*hard + 0.25*next; !near(want, mixed) {
		t.Errorf("loss %v of mixed labels, want %v", mixed, want)
	}
}

// Labels of one byte give the same loss as labels of eight.
func TestLabelTypes(t *testing.T) {
	m := &memory{samples: 6, batch: 6, side: 8, classes: 3, draw: ramps}
	wide, narrow := m.collate([]int{0, 1, 2, 3, 4, 5}), m.collate([]int{0, 1, 2, 3, 4, 5})
	pixels := reader.Pixels[uint8](narrow)
	narrow = newBatch(narrow.Shape, formats.Uint8)
	copy(reader.Pixels[uint8](narrow), pixels)
	for i, x := range reader.Labels[int64](wide) {
		reader.Labels[uint8](narrow)[i] = uint8(x)
	}
	if a, b := step(t, newTrainer(t, Config{}, 8, 3), wide), step(t, newTrainer(t, Config{}, 8, 3), narrow); a != b {
		t.Errorf("loss %v, with labels of a byte %v", a, b)
	}
}

func TestBadBatch(t *testing.T) {
	m := &memory{samples: 4, batch: 4, side: 8, classes: 2, draw: ramps}
	tr := newTrainer(t, Config{Model: "mlp"}, 8, 2)
	for name, spoil := range map[string]func(b *reader.Batch){
		"NCHW":      func(b *reader.Batch) { b.Shape = [4]int{4, 3, 8, 8} },
		"pixels":    func(b *reader.Batch) { *b = *newBatch([4]int{4, 8, 7, 3}, formats.Int64); b.Shape[2] = 8 },
		"labels":    func(b *reader.Batch) { *b = *newBatch(b.Shape, "") },
		"empty":     func(b *reader.Batch) { *b = reader.Batch{Shape: [4]int{0, 8, 8, 3}} },
		"no label":  func(b *reader.Batch) { reader.Labels[int64](b)[2] = -1 },
		"beyond":    func(b *reader.Batch) { reader.Labels[int64](b)[2] = 2 },
		"multi-hot": func(b *reader.Batch) { b.MultiHot = make([]uint8, 8) },
		"soft":      func(b *reader.Batch) { b.Soft = make([]float32, 7) },
		"no pixels": func(b *reader.Batch) { b.TakeImages() },
	} {
		b := m.collate([]int{0, 1, 2, 3})
		spoil(b)
		if _, err := tr.Step(b); !errors.Is(err, ErrBatch) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDiverges(t *testing.T) {
	m := &memory{samples: 8, batch: 8, side: 8, classes: 2, draw: ramps}
	tr := newTrainer(t, Config{Model: "mlp", LearningRate: 1e30}, 8, 2)
	var err error
	for range 5 {
		if _, err = tr.Step(m.collate([]int{0, 1, 2, 3, 4, 5, 6, 7})); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrDiverged) {
		t.Errorf("error %v", err)
	}
}

// The mlp on MNIST's images is the tutorials' 784-128-64-10.
func TestParameters(t *testing.T) {
	tr, err := New(Config{Model: "mlp"}, [3]int{28, 28, 1}, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	step(t, tr, newBatch([4]int{1, 28, 28, 1}, formats.Int64))
	if n, want := tr.Parameters(), 784*128+128+128*64+64+64*10+10; n != want {
		t.Errorf("%d parameters, want %d", n, want)
	}
}

func TestCaught(t *testing.T) {
	cause := errors.New("shape mismatch")
	for _, p := range []any{cause, "shape mismatch"} {
		err := func() (err error) {
			defer caught(&err)
			panic(p)
		}()
		if err == nil || err.Error() != cause.Error() {
			t.Errorf("panic(%v) became %v", p, err)
		}
	}
}

func ExampleTrainer_Step() {
	loader := &memory{samples: 16, batch: 16, side: 8, classes: 2, draw: ramps}
	t, err := New(Config{Model: "mlp", Seed: 1}, loader.ImageShape(), len(loader.Classes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var losses []float64
	for epoch := range 10 {
		for batch, err := range loader.Epoch(context.Background(), epoch) {
			if err != nil {
				fmt.Println(err)
				return
			}
			loss, err := t.Step(batch)
			if err != nil {
				fmt.Println(err)
				return
			}
			losses = append(losses, loss)
		}
	}
	fmt.Println("the loss fell:", losses[len(losses)-1] < losses[0])
	// Output: the loss fell: true
}

// BenchmarkStep trains on batches of 64 at 32x32, on the pure-Go backend and on XLA where
// DSCONV_XLA_PLUGIN names a plugin.
func BenchmarkStep(b *testing.B) {
	backends := []string{"go"}
	if plugin := os.Getenv("DSCONV_XLA_PLUGIN"); plugin != "" {
		backends = append(backends, "xla:"+plugin)
	}
	m := &memory{samples: 64, batch: 64, side: 32, classes: 10, draw: stripes}
	batch := m.collate(rand.New(rand.NewPCG(1, 1)).Perm(64))
	for _, backend := range backends {
		for _, model := range Models() {
			kind, _, _ := strings.Cut(backend, ":")
			b.Run(string(model)+"/"+kind, func(b *testing.B) {
				t, err := New(Config{Model: model, Backend: backend}, m.ImageShape(), m.classes)
				if err != nil {
					b.Fatal(err)
				}
				defer t.Close()
				if _, err := t.Step(batch); err != nil { // compiles
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := t.Step(batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N*64)/b.Elapsed().Seconds(), "images/s")
			})
		}
	}
}
