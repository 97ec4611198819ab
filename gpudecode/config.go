package gpudecode

import (
	"errors"

	"github.com/dsconv/dsconv/internal/image/resample"
)

// ErrUnavailable is in the chain of Open's error where there is no driver, no GPU, no nvJPEG, or a build without cgo.
// Its message says what is missing and what provides it.
var ErrUnavailable = errors.New("no GPU decoding here")

// Options say which GPU decodes, and by which library.
type Options struct {
	// Device is CUDA's number of the GPU.
	Device int `json:"device,omitempty"`
	// NVJPEG is the path of libnvjpeg.so; "" looks where it usually is, and in Packages.
	NVJPEG string `json:"nvjpeg,omitempty"`
	// Packages are folders of Python packages, in which pip puts nvidia-nvjpeg.
	Packages []string `json:"packages,omitempty"`
}

// Info describes a GPU and what decodes on it.
type Info struct {
	Card    string `json:"card"`    // such as "NVIDIA H200"
	UUID    string `json:"uuid"`    // of the GPU
	Compute string `json:"sm"`      // compute capability, such as "9.0"
	Driver  string `json:"driver"`  // CUDA's version that the driver supports, such as "13.0"
	Library string `json:"library"` // path of nvJPEG
	NVJPEG  string `json:"nvjpeg"`  // version of nvJPEG, such as "13.3.2"
	// Engines is how many JPEG engines the GPU has, Cores how many images each of them decodes at once; 0 is none.
	Engines int `json:"engines"`
	Cores   int `json:"cores"`
	// NoEngine is why none is used.
	NoEngine string `json:"no_engine,omitempty"`
	Memory   int64  `json:"memory"` // bytes of the GPU's memory
}

// Config is what all batches of a Decoder have in common.
type Config struct {
	// Spec is how results are stored: channels (1 or 3), type, layout, normalisation.
	Spec *resample.TensorSpec
	// Batch is the most images of a batch, Bytes the most bytes of all its results.
	Batch int
	Bytes int
	// Pixels is the most bytes of the GPU's memory for decoded pixels before they are resized, 3 for a pixel; 0 is
	// 512 MiB. A batch that needs more is decoded in parts; an image that alone needs more is left to the CPU.
	Pixels int
	// Threads is how many goroutines decode Huffman codes for the path CUDA; 0 is one for each core.
	Threads int
	// Fast lets the engine reduce images that Image.H and Image.W make smaller than a half while it decodes them: the
	// pixels are near, not equal.
	Fast bool
}

// defaultPixels is Config.Pixels's default.
const defaultPixels = 512 << 20
