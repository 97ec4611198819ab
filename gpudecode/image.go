package gpudecode

import (
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Image is an image of a batch: what to decode, what becomes of it and where that goes.
type Image struct {
	// JPEG is the encoded image. It is only read, until Decode returns.
	JPEG []byte
	// Window is the part of the image that is used, in its own pixels, inside the image as it is stored: EXIF's
	// orientation is not looked at. The zero value is all of it.
	Window pixel.Rect
	// H and W are the size that Window is resampled to by Filter, in pixels, as Pillow does with antialiasing. If they
	// are Window's own, nothing is resampled.
	H, W   int
	Filter pixel.Filter
	// Region is the part of the resampled image that is stored; the zero value is all of it.
	Region pixel.Rect
	// Flip mirrors what is stored left to right, FlipV top to bottom.
	Flip, FlipV bool
	// At is where the result begins in the memory, in bytes: a multiple of the size of an element.
	At int
	// Ready is the result itself, in the Spec's type and layout, of an image that is not decoded here. JPEG is nil
	// then, and only At and Reason count of the rest.
	Ready []byte
	// Reason is why the image is Ready, for Counts; "" is not counted among the reasons.
	Reason string
	// CPU stores the result in dst, as Ready has it. Decode calls it on its own goroutine for an image that the GPU
	// cannot decode or did not decode; its error is the image's.
	CPU func(dst []byte) error
}

// Path is what decoded an image.
type Path string

// The paths, from the fastest on.
const (
	Engine Path = "engine" // the GPU's JPEG engine
	CUDA   Path = "cuda"   // the GPU's general cores, and the CPU for the Huffman codes
	CPU    Path = "cpu"    // Image.CPU, or Image.Ready
)

// Outcome is what became of an image.
type Outcome struct {
	Path Path
	// Reason is why an image took the path CPU, or the path CUDA after the engine failed: a short text of a small
	// fixed set, such as ReasonIrregular or a status of nvJPEG's ("JPEG_NOT_SUPPORTED"). It is "" for the others.
	Reason string
	// Err is why there is no result; the memory there is undefined.
	Err error
}
