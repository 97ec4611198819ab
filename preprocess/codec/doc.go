// Package codec decodes and encodes images of every encoding: JPEG through package jpeg, and PNG,
// GIF, BMP, TIFF, WebP and raw pixels. [Inspect] reads headers, [CheckStructure] judges a file
// without decoding it, a [Decoder] gives pixels or a region of them, an [Encoder] writes them. Pixels
// are Pillow's, bit for bit.
//
// A Decoder or Encoder belongs to one goroutine, is used for many images and is closed at the end.
package codec
