// Package codec decodes and encodes images of every encoding: JPEG through package jpeg, and PNG, GIF,
// BMP, TIFF, WebP and raw pixels. [Inspect] reads headers, [CheckStructure] checks a file without
// decoding it, a [Decoder] gives the pixels of an image or of a region, an [Encoder] writes them. The
// pixels equal Pillow's bit for bit.
//
// A Decoder or Encoder is for one goroutine. Use it for many images, and close it at the end.
package codec
