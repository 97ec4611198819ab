// Package codec decodes and encodes single images: JPEG, PNG, GIF, BMP, TIFF, WebP and raw pixels. It
// has the image files' own formats and the pixels that Pillow gives, in memory of image.Image or of
// [pixel.Image].
//
//	img, err := codec.DecodeImage(file, codec.DecodeOptions{EXIF: pixel.EXIFApply}) // an image.Image
//	...
//
//	m, err := codec.Decode(data, codec.DecodeOptions{Region: pixel.Rect{X: 10, Y: 10, W: 64, H: 64}})
//	...
//	err = codec.Encode(out, m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90})
//
// # Pixels
//
// The pixels equal Pillow's bit for bit: Image.open(p).convert("RGB") for [pixel.ColorRGB],
// convert("L") for [pixel.ColorGray], the file's own channels and depth for [pixel.ColorKeep].
// JPEGs are decoded and encoded by libjpeg-turbo with the accurate DCT and fancy upsampling. A build
// with CGO_ENABLED=0 returns [pixel.ErrNoCgo] for them, and for WebP and TIFF. The EXIF
// orientation is ignored, as Pillow does, unless [DecodeOptions] say otherwise.
//
// # Memory
//
// The functions are for any goroutine. All images of a process share a memory budget, so that files that claim to be huge wait for each other or are
// refused.
//
// # Errors
//
// [pixel.ErrNotImage], [pixel.ErrTruncated], [pixel.ErrCorrupt], [pixel.ErrTooLarge] and
// [pixel.ErrUnsupported] are about the image: skip it. Errors of a reader or writer that is given, such as an
// *fs.PathError, are passed on in the chain. For what other images would meet as well, such as a lack of
// memory, [pixel.EndsRun] reports true.
package codec
