// Package resample scales images and parts of them, and maps them affinely, as Pillow does, bit for
// bit. A [Resampler] can end in a batch: a [Store] says how flip, normalisation, layout and element
// type are part of the last pass, a [Target] where the result goes. The kernels in C have versions
// for AVX2, AVX-512 and any processor; all of them, and the one in Go for builds without cgo, give
// the same bits.
package resample
