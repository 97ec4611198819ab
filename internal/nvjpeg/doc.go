// Package nvjpeg calls NVIDIA's JPEG library, which [Open] finds and loads when it is called: a program needs nothing
// of NVIDIA's to be built or to start.
//
// A [Handle] belongs to a GPU and may be used by several goroutines at a time. Each [Image], [Batch] and [State]
// belongs to one at a time. All that a Handle created must be closed before it, and before the GPU.
//
// Nothing here waits for the GPU: the caller's stream does. Until it has done a decoding, the images, batches and
// states of it must not be used for another one.
//
// Only builds with cgo for Linux have more than [Search] and [Open], which fails in the others.
package nvjpeg
