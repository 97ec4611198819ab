// Package preprocess turns the bytes of an image into pixels and back: header and
// structure checks, decoding, EXIF orientation, crop and resize, encoding. A [Recipe] says
// what is to be done to a dataset's images, a [Processor] does it to one sample.
//
// # Same pixels
//
// What comes out is what Pillow gives, bit for bit: PIL.Image.open(p).convert("RGB") for
// [pixel.ColorRGB], .convert("L") for [pixel.ColorGray], the file's own channels and depth for
// [pixel.ColorKeep]; Image.resize for [resample.Resampler]; Image.save(quality=Q) for JPEG. JPEGs go
// through libjpeg-turbo by cgo with the accurate DCT and fancy upsampling. A build with
// CGO_ENABLED=0 decodes with image/jpeg instead, which is a little off: [jpeg.DecoderName]
// tells which it is and a recipe records it.
//
// A [resample.Resampler] can end in a batch: a [resample.Store] says how flip, normalisation, layout and element
// type are part of its last pass, a [resample.Target] where it goes. The kernels in C have versions
// for AVX2 and AVX-512, taken where the processor has them, and for any processor; all of
// them, and Go's in builds without cgo, give the same bits.
//
// # Threads and lifetime
//
// [codec.Decoder], [codec.Encoder], [resample.Resampler] and [Processor] hold scratch memory and C handles: one
// a goroutine, reused for many images, closed at the end. An [pixel.Image] owns its pixels and
// reuses them from image to image.
package preprocess
