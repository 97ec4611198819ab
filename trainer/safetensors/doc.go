// Package safetensors reads and writes named tensors in the safetensors format
// (https://huggingface.co/docs/safetensors): eight bytes of length, a header of JSON, and
// the elements as they lie in memory, little-endian and in row-major order. Readers for it
// are there in Python, Rust and elsewhere.
//
// A file that this package writes has its own checksum among the metadata, under
// [ChecksumKey]: SHA-256 of the whole file with '0' in the digest's place. [Read] takes
// only files whose checksum is right, so a flipped bit or a lost end is found. Other
// readers pass over it.
package safetensors
