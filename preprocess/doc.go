// Package preprocess turns the bytes of an image into pixels and back: header and
// structure checks, decoding, EXIF orientation, crop and resize, encoding. A [Recipe] says
// what is done to a dataset's images, a [Processor] applies it to one sample.
//
// # Same pixels
//
// The pixels equal Pillow's bit for bit: PIL.Image.open(p).convert("RGB") for
// [pixel.ColorRGB], .convert("L") for [pixel.ColorGray], the file's own channels and depth for
// [pixel.ColorKeep]; Image.resize for [resample.Resampler]; Image.save(quality=Q) for JPEG. JPEGs are decoded
// and encoded by libjpeg-turbo with the accurate DCT and fancy upsampling. A build with
// CGO_ENABLED=0 decodes with image/jpeg instead, whose pixels differ slightly: [jpeg.DecoderName]
// names the decoder, and a recipe records it.
//
// A [resample.Resampler] can write to a batch: its last pass flips, normalises and converts the pixels as
// a [resample.TensorSpec] says and writes them to a [resample.Target]. The C kernels have versions for AVX2,
// AVX-512 and any processor; the best that the processor has is chosen. All of them, and the
// pure-Go version in builds without cgo, give the same bits.
//
// # Threads and lifetime
//
// [codec.Decoder], [codec.Encoder], [resample.Resampler] and [Processor] hold scratch memory and C handles. Use one a
// goroutine for many images, and close it at the end. An [pixel.Image] owns its pixels and reuses
// their memory from image to image.
package preprocess
