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
// with CGO_ENABLED=0 decodes and encodes them with image/jpeg, whose pixels differ slightly. The EXIF
// orientation is ignored, as Pillow does, unless [DecodeOptions] say otherwise.
//
// # Many images
//
// The functions are for single images and for any goroutine. A [Decoder] or [Encoder] keeps its memory
// from image to image: use one a goroutine for many images, and close it at the end. All images of a
// process share a memory budget, so that files that claim to be huge wait for each other or are
// refused.
//
// # Errors
//
// [pixel.ErrNotImage], [pixel.ErrTruncated], [pixel.ErrCorrupt], [pixel.ErrTooLarge] and
// [pixel.ErrUnsupported] are about the image: skip it. Errors of a reader or writer that is given, such as an
// *fs.PathError, are passed on in the chain. For what other images would meet as well, such as a lack of
// memory, [pixel.EndsRun] reports true.
package codec
