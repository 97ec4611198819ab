// Package jpeg decodes, encodes and inspects JPEGs, decodes a region of one, and rewrites JPEGs as
// restart-tiled ones without loss ([Transcoder]). It goes through libjpeg-turbo by cgo, with a Huffman
// decoder of its own where libjpeg's layout allows; a build without cgo uses image/jpeg, whose
// pixels are a little off ([DecoderName]).
//
// Decoders and encoders hold C memory: one for each goroutine, used for many images, closed at the end.
package jpeg
