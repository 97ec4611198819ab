//go:build cgo && emulate_avx512

package resample

// The tag is for tests on processors without AVX-512.

// #cgo CFLAGS: -w -DDSCONV_EMULATE_AVX512
import "C"
