package trainer

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// run builds f's graph on x and w and returns its flat results.
func run(t *testing.T, f func(x, w *graph.Node) []*graph.Node, x, w *tensors.Tensor) [][]float32 {
	t.Helper()
	out, err := graph.CallOnceN(gobackend.GetBackend(), f, x, w)
	if err != nil {
		t.Fatal(err)
	}
	var flat [][]float32
	for _, o := range out {
		flat = append(flat, tensors.MustCopyFlatData[float32](o))
	}
	return flat
}

func random(r *rand.Rand, dims ...int) *tensors.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return tensors.FromFlatDataAndDimensions(v, dims...)
}

// The two convolutions and their gradients are the same.
func TestIm2col(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, w := random(r, 2, 5, 7, 3), random(r, 3, 3, 3, 4)
	with := func(conv convolution) func(x, w *graph.Node) []*graph.Node {
		return func(x, w *graph.Node) []*graph.Node {
			y := conv(x, w)
			return append([]*graph.Node{y}, graph.Gradient(graph.ReduceAllSum(graph.Mul(y, y)), x, w)...)
		}
	}
	got, want := run(t, with(im2col), x, w), run(t, with(nativeConvolution), x, w)
	for i, name := range []string{"output", "gradient of x", "gradient of w"} {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%s: %d elements, want %d", name, len(got[i]), len(want[i]))
		}
		for j := range got[i] {
			if !near(float64(got[i][j]), float64(want[i][j])) {
				t.Fatalf("%s: element %d is %v, want %v", name, j, got[i][j], want[i][j])
			}
		}
	}
}

func TestMaxPoolDropsOddSides(t *testing.T) {
	x := tensors.FromFlatDataAndDimensions([]float32{
		1, 2, 9,
		4, 3, 9,
		9, 9, 9,
	}, 1, 3, 3, 1)
	got := run(t, func(x, _ *graph.Node) []*graph.Node { return []*graph.Node{maxPool(x)} }, x, x)
	if len(got[0]) != 1 || got[0][0] != 4 {
		t.Errorf("pooled %v, want [4]", got[0])
	}
}

func TestSpaceToDepth(t *testing.T) {
	x := tensors.FromFlatDataAndDimensions([]float32{
		1, 2, 5, 6,
		3, 4, 7, 8,
	}, 1, 2, 4, 1)
	got := run(t, func(x, _ *graph.Node) []*graph.Node { return []*graph.Node{spaceToDepth(x)} }, x, x)
	for i, v := range got[0] {
		if v != float32(i+1) {
			t.Fatalf("got %v, want 1 to 8", got[0])
		}
	}
}
