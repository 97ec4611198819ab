// Package resample scales images and rectangles of them, and maps them affinely, as Pillow does, bit for
// bit. A [Resampler] can write to a batch: its last pass flips, normalises and converts the pixels as
// a [TensorSpec] says and writes them to a [Target]. The C kernels have versions for AVX2, AVX-512 and
// any processor. All of them, and the pure-Go version in builds without cgo, give the same bits.
package resample
