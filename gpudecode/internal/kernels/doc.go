// Package kernels has what runs on the GPU besides nvJPEG, as cubins that are embedded, and what the host uploads for
// it. It is not for users: gpudecode launches the kernels.
//
// kernels.h is the work of one thread, in C that is CUDA too; kernels.cu makes kernels of it; `make cubins` compiles
// them. Tests and the fake driver run the same functions on the CPU, by internal/emulate.
//
// The kernels and their arguments, each of 8 bytes:
//
//	dsconv_store          addresses of a Batch's jobs, of its weights and of the table, 0 for integers
//	dsconv_canary_fill    address of Canaries, seed
//	dsconv_canary_check   address of Canaries, seed, address of a uint32 for each, zero before
package kernels
