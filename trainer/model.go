package trainer

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// architecture is a network and the settings that suit it.
type architecture struct {
	learningRate float64
	minSide      int // the smallest height and width that it takes
	input        Input
	// logits builds the network on x, float32 (N,H,W,C), and returns (N,classes).
	logits func(scope *model.Scope, x *graph.Node, classes int, conv convolution) *graph.Node
}

var architectures = map[Model]architecture{
	ModelCNN: {learningRate: 3e-3, minSide: 8, input: Input{Size: 32, Batch: 32, Color: pixel.ColorRGB}, logits: cnn},
	ModelMLP: {learningRate: 1e-3, minSide: 1, input: Input{Size: 28, Batch: 64, Color: pixel.ColorGray}, logits: mlp},
}

// Input is what a model is made for: batches of square images. It takes others too, see New.
type Input struct {
	Size  int         // side of the images, in pixels
	Batch int         // images
	Color pixel.Color // three channels, or one
}

// InputOf returns a model's Input, to configure its loader; "" is ModelCNN. The error of an unknown model
// (ErrUnknownModel) lists the models.
func InputOf(model Model) (Input, error) {
	a, err := (&Config{Model: model}).architecture()
	return a.input, err
}

// CheckDType returns an error for a dtype of batches that the models do not take: they take uint8 and
// float32.
func CheckDType(d formats.DType) error {
	if d != formats.Uint8 && d != formats.Float32 {
		return fmt.Errorf("batches of %s: the trainer takes %s or %s", d, formats.Uint8, formats.Float32)
	}
	return nil
}

// check reports why images of this shape (H,W,C) and number of classes cannot be learnt.
func (a architecture) check(shape [3]int, classes int) error {
	switch {
	case classes < 2:
		return fmt.Errorf("%d classes: at least 2 are needed to learn from", classes)
	case shape[0] < a.minSide || shape[1] < a.minSide || shape[2] < 1:
		return fmt.Errorf("images of %dx%d with %d channels: at least %dx%d pixels and 1 channel are needed",
			shape[1], shape[0], shape[2], a.minSide, a.minSide)
	}
	return nil
}

// mlp is the network of PyTorch's and Keras's MNIST tutorials: the image flattened, two
// hidden layers of 128 and 64 units with ReLU, one output for each class.
func mlp(scope *model.Scope, x *graph.Node, classes int, _ convolution) *graph.Node {
	x = graph.Reshape(x, x.Shape().Dimensions[0], -1)
	x = relu(dense(scope.In("hidden1"), x, 128))
	x = relu(dense(scope.In("hidden2"), x, 64))
	return dense(scope.In("output"), x, classes)
}

// cnn scales each image to zero mean and unit variance, folds 2x2 pixels into channels,
// applies two blocks of 24 and 48 channels, and ends in one dense layer on the remaining
// eighth of the image's height and width.
func cnn(scope *model.Scope, x *graph.Node, classes int, conv convolution) *graph.Node {
	x = spaceToDepth(layerNorm(x))
	x = block(scope.In("block1"), x, 24, conv)
	x = block(scope.In("block2"), x, 48, conv)
	x = graph.Reshape(x, x.Shape().Dimensions[0], -1)
	return dense(scope.In("output"), x, classes)
}

// normalise scales uint8 to float32 around zero and leaves float32 as it is.
func normalise(x *graph.Node) *graph.Node {
	if x.DType() != dtypes.Uint8 {
		return x
	}
	x = graph.ConvertDType(x, dtypes.Float32)
	return graph.MulScalar(graph.AddScalar(x, -127.5), 1/64.0)
}
