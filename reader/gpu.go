package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Decoder is what decodes a Loader's images.
type Decoder string

const (
	// DecodeOnCPU decodes by libjpeg-turbo and others, in the workers.
	DecodeOnCPU Decoder = "cpu"
	// DecodeOnGPU decodes JPEGs on an NVIDIA GPU, and crops, resizes, mirrors and stores them there: Batch.Device is
	// the memory that they lie in. What is more than a crop, one resize, another crop and a mirroring, and what
	// package gpudecode leaves to the CPU, the workers do; Stats counts which and why. MixUp, CutMix and
	// RandomErasing are left to the consumer: see Batch.Rest. It excludes Deferred, AnySize, ColorKeep, DType Uint16
	// and a cache of decoded images.
	DecodeOnGPU Decoder = "gpu"
)

// checkDecoder reports an unknown decoder, and what the GPU does not do.
func (c *Config) checkDecoder() error {
	switch c.Decoder {
	case "", DecodeOnCPU:
		return nil
	case DecodeOnGPU:
	default:
		return fmt.Errorf("decoder %q: unknown; use %s or %s", c.Decoder, DecodeOnCPU, DecodeOnGPU)
	}
	switch {
	case c.Deferred:
		return errors.New("deferred with the decoder gpu, which finishes images on the device itself: leave out deferred")
	case c.AnySize:
		return errors.New("the decoder gpu with images of any size: it makes batches; leave out one of them")
	case c.Color == pixel.ColorKeep:
		return fmt.Errorf("the decoder gpu with the color %s: choose %s or %s", c.Color, pixel.ColorRGB, pixel.ColorGray)
	case c.DType == formats.Uint16:
		return fmt.Errorf("the decoder gpu makes no batches of %s: choose another type", c.DType)
	case c.Cache.Kind == Decoded:
		return fmt.Errorf("the decoder gpu with a cache of decoded images, which are not decoded again: choose the cache %s", Encoded)
	}
	return nil
}

// deviceMemory is a gpudecode.Memory, or a test's.
type deviceMemory interface{ Release() }

// imageDecoder is a gpudecode.Decoder of its own GPU, or a test's.
type imageDecoder interface {
	Memory() (deviceMemory, error)
	Decode(context.Context, []gpudecode.Image, deviceMemory, []gpudecode.Outcome) error
	Close() error
}

// openFunc opens a GPU and at most so many imageDecoders of it. They are closed together, in their order.
type openFunc func(gpudecode.Options, gpudecode.Config, int) ([]imageDecoder, gpudecode.Info, error)

// nvidia is a Decoder. The last one of a GPU closes that.
type nvidia struct {
	*gpudecode.Decoder
	gpu *gpudecode.GPU
}

func openGPU(o gpudecode.Options, c gpudecode.Config, n int) (all []imageDecoder, _ gpudecode.Info, _ error) {
	opened, err := gpudecode.Open(o)
	if err != nil {
		return nil, gpudecode.Info{}, err
	}
	info := opened.Info()
	if info.Engines == 0 {
		n = 1
	}
	for len(all) < n {
		d, err := opened.NewDecoder(c)
		if err != nil {
			for _, d := range all {
				_ = d.Close()
			}
			return nil, info, errors.Join(err, opened.Close())
		}
		all = append(all, nvidia{Decoder: d})
	}
	all[n-1] = nvidia{all[n-1].(nvidia).Decoder, opened}
	return all, info, nil
}

func (n nvidia) Memory() (deviceMemory, error) { return n.Decoder.Memory() }

func (n nvidia) Decode(ctx context.Context, images []gpudecode.Image, m deviceMemory, o []gpudecode.Outcome) error {
	return n.Decoder.Decode(ctx, images, m.(*gpudecode.Memory), o)
}

func (n nvidia) Close() error {
	n.Decoder.Close()
	if n.gpu == nil {
		return nil
	}
	return n.gpu.Close()
}

// devicePixels is the most bytes of a GPU's memory for decoded pixels before they are resized. An image that needs more is
// decoded on the CPU, and a batch that does in parts.
const devicePixels = 512 << 20

// overlapping is how many batches are on a GPU with a JPEG engine at once: while the engine decodes one, another is
// prepared, or resized and checked. Cores have no such gaps.
const overlapping = 2

// gpu decodes for all runs of a Loader.
type gpu struct {
	info gpudecode.Info
	busy atomic.Int64 // nanoseconds that batches took

	decoders []imageDecoder
	free     chan imageDecoder // those that decode nothing

	decoded gpudecode.Tally
}

// openDecoders is openGPU, but in tests.
var openDecoders openFunc = openGPU

// openDecoder opens the GPU if it decodes.
func (l *Loader) openDecoder() error {
	c := &l.config
	if c.Decoder != DecodeOnGPU {
		return nil
	}
	spec := l.views[0].pipeline.Store()
	for k := range l.views {
		if !slices.Equal(l.views[k].pipeline.Store().Table(), spec.Table()) {
			return c.ofView(k, errors.New("the decoder gpu normalises all views alike: give them the same normalize, or leave it out"))
		}
	}
	n := overlapping
	if c.Synchronous {
		n = 1
	}
	all, info, err := openDecoders(c.GPU, gpudecode.Config{
		Spec: spec, Batch: (c.BatchSize + l.frame.previous) * len(l.views), Bytes: l.MemorySize(), Pixels: devicePixels, Fast: c.FastDecode,
		Threads: max(c.Workers, 1), // as many as the user allows; none are asked for with Synchronous
	}, n)
	if err != nil {
		return fmt.Errorf("decoder gpu: %w", err)
	}
	l.gpu = &gpu{info: info, decoders: all, free: make(chan imageDecoder, len(all))}
	for _, d := range all {
		l.gpu.free <- d
	}
	l.held.gpu = l.gpu
	return nil
}

// close frees the decoders. Nobody uses them any more.
func (g *gpu) close() error {
	if g == nil {
		return nil
	}
	var errs []error
	for _, d := range g.decoders {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// GPU describes the GPU that decodes; nil with DecodeOnCPU.
func (l *Loader) GPU() *gpudecode.Info {
	if l.gpu == nil {
		return nil
	}
	info := l.gpu.info
	return &info
}

// Device is the GPU's memory that the batch's images lie in, with DecodeOnGPU; nil otherwise and after TakeDevice. It is
// complete: nothing needs to be waited for. It is lent until the batch is over, and must not be released. Shape says
// what lies there; the images of other views begin at the Offset of their ViewFrame, and one more follows those of the
// first if Rest mixes. It panics if the batch is no longer valid.
func (b *Batch) Device() *gpudecode.Memory {
	_, _ = b.memory("Device")
	m, _ := b.device.(*gpudecode.Memory)
	return m
}

// TakeDevice takes Device out of the batch and gives it to the caller, who releases it or hands it over by DLPack. It
// panics if the batch is no longer valid.
func (b *Batch) TakeDevice() *gpudecode.Memory {
	m := b.Device()
	b.device = nil
	if b.lease != nil {
		b.lease.memory.device = nil
		b.lease.forgotten.Stop()
	}
	return m
}

// freeDevice releases the memory that the images lie in.
func (b *Batch) freeDevice() {
	if b.device != nil {
		b.device.Release()
		b.device = nil
	}
}
