// Package gpudecode decodes JPEGs on an NVIDIA GPU: nvJPEG makes pixels of them, and one kernel crops, resizes,
// mirrors, normalises and stores them in the layout and type of a batch, in the GPU's memory.
//
// No library of NVIDIA's is needed to build or to start a program. [Open] looks for the driver (libcuda.so.1) and
// for nvJPEG when it is called; its error says what is missing and what provides it.
//
// Each image takes the first of three paths that can decode it: the GPU's JPEG engine, CUDA's cores, or the CPU, by
// [Image.CPU] or [Request.CPU]. Nothing falls back silently: an [Outcome] says for each image which path it took and why. Loaders and package convert
// use it by reader.Config.Decoder and convert.Options.GPU. By itself:
//
//	gpu, err := gpudecode.Open(gpudecode.Options{})
//	if errors.Is(err, gpudecode.ErrUnavailable) {
//		fmt.Println(err) // what is missing, and what provides it
//		return
//	}
//	defer gpu.Close()
//	batcher, err := gpu.NewBatcher(gpudecode.BatcherConfig{})
//
// A Batcher's Decode is called from many goroutines, and decodes together what they ask for at a time. A [Decoder] has
// batches in [Memory] of the GPU.
package gpudecode
