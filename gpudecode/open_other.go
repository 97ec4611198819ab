//go:build !linux || !cgo

package gpudecode

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// GPU is an open GPU, which this build does not have.
type GPU struct{}

// Open fails: this build cannot load the libraries.
func Open(Options) (*GPU, error) {
	_, err := cuda.Open()
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Info describes the GPU.
func (*GPU) Info() Info { return Info{} }

// Close closes the GPU.
func (*GPU) Close() error { return nil }

// Decoder decodes batches.
type Decoder struct{}

// NewDecoder fails: there is no GPU.
func (*GPU) NewDecoder(Config) (*Decoder, error) { return nil, ErrUnavailable }

// Decode fails: there is no GPU.
func (*Decoder) Decode(context.Context, []Image, *Memory, []Outcome) error { return ErrUnavailable }

// Memory fails: there is no GPU.
func (*Decoder) Memory() (*Memory, error) { return nil, ErrUnavailable }

// Counts returns no counts.
func (*Decoder) Counts() Counts { return Counts{Reasons: map[string]int64{}} }

// Close does nothing.
func (*Decoder) Close() {}

// Memory is memory of a GPU, which there is none of.
type Memory struct{}

// Pointer is 0.
func (*Memory) Pointer() uintptr { return 0 }

// Stream is 0.
func (*Memory) Stream() uintptr { return 0 }

// Release does nothing.
func (*Memory) Release() {}

// DLPack returns 0.
func (*Memory) DLPack(uintptr) uintptr { return 0 }

// Batcher decodes single images.
type Batcher struct{}

// NewBatcher fails: there is no GPU.
func (*GPU) NewBatcher(BatcherConfig) (*Batcher, error) { return nil, ErrUnavailable }

// Decode fails: there is no GPU.
func (*Batcher) Decode(context.Context, *Request, *pixel.Image) (Outcome, error) {
	return Outcome{}, ErrUnavailable
}

// Counts returns no counts.
func (*Batcher) Counts() Counts { return Counts{Reasons: map[string]int64{}} }

// Close does nothing.
func (*Batcher) Close() {}
