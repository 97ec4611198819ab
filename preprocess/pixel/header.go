package pixel

import "github.com/dsconv/dsconv/formats"

// Header is what the beginning of an image file says. H, W, C and DType are those of Decode with
// ColorKeep and without ApplyOrientation.
type Header struct {
	H, W, C int
	DType   formats.DType
	// Orientation is the EXIF orientation, 1 to 8, 1 if there is none. A TIFF's orientation is
	// already applied to H and W (as in Pillow), so that Orientation is 1.
	Orientation int
	// Palette reports whether pixels are indices of a palette (PNG, BMP, GIF, TIFF).
	Palette bool
	// CoefficientBytes is the memory that decoding a JPEG of several scans, such as a progressive
	// one, takes in addition to its pixels; 0 for all other images.
	CoefficientBytes int
}
