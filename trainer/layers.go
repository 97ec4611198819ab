package trainer

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// convolution convolves x (N,H,W,C) with w (3,3,C,K), stride 1, zeros around the image:
// (N,H,W,K).
type convolution func(x, w *graph.Node) *graph.Node

// nativeConvolution is the backend's own.
func nativeConvolution(x, w *graph.Node) *graph.Node {
	return graph.Convolve(x, w).PadSame().Done()
}

// im2col lays the 9 neighbours of each pixel side by side and multiplies matrices: on
// the pure-Go backend several times as fast as its own convolution.
func im2col(x, w *graph.Node) *graph.Node {
	d, k := x.Shape().Dimensions, w.Shape().Dimensions[3]
	x = surround(surround(x, 1), 2)
	patches := make([]*graph.Node, 0, 9)
	for i := range 3 {
		for j := range 3 {
			patches = append(patches, graph.Slice(x, graph.AxisRange(),
				graph.AxisRange(i, i+d[1]), graph.AxisRange(j, j+d[2])))
		}
	}
	columns := graph.Reshape(graph.Concatenate(patches, -1), -1, 9*d[3])
	y := graph.Dot(columns, graph.Reshape(w, 9*d[3], k)).Product()
	return graph.Reshape(y, d[0], d[1], d[2], k)
}

// surround puts one slice of zeros before and one after x along axis. GoMLX has no
// gradient for Pad.
func surround(x *graph.Node, axis int) *graph.Node {
	edge := x.Shape().Clone()
	edge.Dimensions[axis] = 1
	zeros := graph.Zeros(x.Graph(), edge)
	return graph.Concatenate([]*graph.Node{zeros, x, zeros}, axis)
}

// block is convolution, 2x2 max pooling, layer normalisation, bias and ReLU. The pooling
// comes first because the rest then costs a quarter.
func block(scope *model.Scope, x *graph.Node, channels int, conv convolution) *graph.Node {
	g, in := x.Graph(), x.Shape().Dimensions[3]
	x = layerNorm(maxPool(conv(x, weights(g, scope, 3, 3, in, channels))))
	return relu(graph.Add(x, bias(g, scope, 1, 1, 1, channels)))
}

// layerNorm gives every image of x (N,H,W,C) zero mean and unit variance over all its
// elements (Ba et al., 2016, arXiv:1607.06450). Unlike batch normalisation it needs no
// running statistics and does not mix padding into the samples.
func layerNorm(x *graph.Node) *graph.Node {
	x = graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, 1, 2, 3))
	variance := graph.ReduceAndKeep(graph.Square(x), graph.ReduceMean, 1, 2, 3)
	// Rsqrt has no gradient.
	return graph.Div(x, graph.Sqrt(graph.AddScalar(variance, 1e-3)))
}

// spaceToDepth turns (N,H,W,C) into (N,H/2,W/2,4C).
func spaceToDepth(x *graph.Node) *graph.Node {
	x = evenSides(x)
	d := x.Shape().Dimensions
	x = graph.Reshape(x, d[0], d[1]/2, 2, d[2]/2, 2, d[3])
	x = graph.TransposeAllAxes(x, 0, 1, 3, 2, 4, 5)
	return graph.Reshape(x, d[0], d[1]/2, d[2]/2, 4*d[3])
}

// maxPool takes the largest of each 2x2 pixels. The gradient of GoMLX's own pooling is
// missing in the pure-Go backend.
func maxPool(x *graph.Node) *graph.Node {
	x = evenSides(x)
	d := x.Shape().Dimensions
	return graph.ReduceMax(graph.Reshape(x, d[0], d[1]/2, 2, d[2]/2, 2, d[3]), 2, 4)
}

// evenSides drops the last row and column where their number is odd.
func evenSides(x *graph.Node) *graph.Node {
	h, w := x.Shape().Dimensions[1], x.Shape().Dimensions[2]
	if h%2 == 0 && w%2 == 0 {
		return x
	}
	return graph.Slice(x, graph.AxisRange(), graph.AxisRange(0, h-h%2), graph.AxisRange(0, w-w%2))
}

// dense maps x (N,in) to (N,out).
func dense(scope *model.Scope, x *graph.Node, out int) *graph.Node {
	g := x.Graph()
	x = graph.Dot(x, weights(g, scope, x.Shape().Dimensions[1], out)).Product()
	return graph.Add(x, bias(g, scope, 1, out))
}

func relu(x *graph.Node) *graph.Node { return graph.MaxScalar(x, 0) }

// weights are drawn from N(0, 2/fan-in) (He et al., 2015, arXiv:1502.01852).
func weights(g *graph.Graph, scope *model.Scope, dims ...int) *graph.Node {
	return variable(g, scope.WithInitializer(initializer.HeFn(scope)), "weights", dims)
}

func bias(g *graph.Graph, scope *model.Scope, dims ...int) *graph.Node {
	return variable(g, scope.WithInitializer(initializer.Zero), "bias", dims)
}

func variable(g *graph.Graph, scope *model.Scope, name string, dims []int) *graph.Node {
	return scope.VariableWithShape(name, shapes.Make(dtypes.Float32, dims...)).NodeValue(g)
}
