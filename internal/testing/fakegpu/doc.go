// Package fakegpu has a GPU for tests: a libcuda.so.1 and a libnvjpeg.so.13 in C, with NVIDIA's functions,
// which need no GPU. libjpeg-turbo decodes behind nvJPEG's functions, and the kernels of gpudecode run as C code. They are written
// by NVIDIA's documentation, not by what dsconv does.
//
// They make mistakes visible that a GPU might hide:
//
//   - A stream works late: as far as somebody waits for it, or by chance. Who does not wait reads a fill pattern.
//   - The engine does not wait for what its stream still has to do. A batch that begins before the host has waited for
//     the last one spoils that one. It reads the JPEGs late, too.
//   - Addresses of the GPU's memory and handles crash whoever reads them. Memory behind an allocation, and memory that
//     was freed, is guarded. Neither an address nor a handle is given out twice.
//   - A call without a current context fails. After a fork every call fails.
//   - nvJPEG takes three components for YCbCr whatever an Adobe marker says, and turns some truncated JPEGs into grey
//     without an error.
//
// What is against the rules is counted, which [Load] reports. What was not freed is counted, see [Live]. A process of its own,
// see [Environment], ends with the first violation, or reports them in a file.
//
// The command go run ./internal/testing/fakegpu/build DIR compiles the libraries for tests that are not Go's. They are found by
// LD_LIBRARY_PATH, and without it by whoever opens them by path first: then by their names too. Such tests can call the
// functions of fake.h, such as fake_read, which reads the GPU's memory.
//
// # Modes
//
// Modes say what goes wrong. They come from [Load] and [Set], or from the environment variable DSCONV_FAKEGPU of a
// process of its own, as a list with commas. Each is NAME, NAME:VALUE, and may end with @N for the Nth time alone, /N
// for each Nth time, or +N for the Nth time and all after it:
//
//	cuMemAlloc_v2:2+10   a function returns a status, here: out of memory from the 10th call on
//	cu*:719+200          the same for all functions that begin so; 214, 700, 710 and 714 to 719 stay: the GPU is lost
//	cuInit:100           no GPU; 803: driver and library do not belong together
//	nvjpegDecodeBatchedEx:6@2
//	kernel:719@3         a kernel fails while it runs; the GPU is lost
//	image:3/4            the status of an image, in both ways of decoding; a batch fails with it
//	skip/3               an image is not written, and success reported
//	partial/3            a part of an image is not written, and success reported
//	unsupported/2        the engine refuses an image
//	pinned@1             nvJPEG gets no pinned memory
//	slow                 the engine begins as late as it may
//	direct               copies from pageable memory read it when they run, not when they are called
//	eager                streams work at once
//	engines:0            no engine (default 2); cores:1 (default 3)
//	devices:0            how many GPUs there are (default 1)
//	driver:11000         CUDA's version of the driver (default 13000)
//	nvjpeg:120400        nvJPEG's version (default 130302)
//	sm:75                compute capability (default 90)
//	memory:1000000       bytes of the GPU's memory (default 1 GiB)
//	seed:7               of all that is left to chance
package fakegpu
