// Package jpeg decodes, encodes and inspects JPEGs, decodes a region of one, and rewrites JPEGs as
// restart-tiled ones without loss ([Transcoder]). It uses libjpeg-turbo through cgo, with a Huffman
// decoder of its own if libjpeg's layout allows. A build without cgo has none of that:
// its functions return pixel.ErrNoCgo.
//
// Decoders and encoders hold C memory. Use one a goroutine for many images, and close it at the end.
package jpeg
