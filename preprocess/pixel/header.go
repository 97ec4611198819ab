package pixel

import "github.com/dsconv/dsconv/formats"

// Header is what the beginning of an image file tells. H, W, C and DType are what Decode
// gives with ColorKeep and without ApplyOrientation.
type Header struct {
	H, W, C int
	DType   formats.DType
	// Orientation is the EXIF orientation, 1 to 8, 1 if there is none. A TIFF's is part of
	// the format, so that H and W count it in (as Pillow does) and Orientation is 1.
	Orientation int
	// Palette says that pixels are indices of a colour table (PNG, BMP, GIF, TIFF).
	Palette bool
	// Coefficients is the bytes that decoding holds besides its pixels of a JPEG in several
	// scans, as progressive ones are; 0 for all others.
	Coefficients int
}
