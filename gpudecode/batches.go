//go:build linux && cgo

package gpudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// NewBatcher returns a Batcher. Close it.
func (g *GPU) NewBatcher(c BatcherConfig) (*Batcher, error) {
	if min(c.Batch, c.Bytes, c.Threads) < 0 {
		return nil, fmt.Errorf("gpudecode.NewBatcher: Batch %d, Bytes %d, Threads %d: none may be negative; 0 is the default", c.Batch, c.Bytes, c.Threads)
	}
	c.Batch, c.Bytes = cmp.Or(c.Batch, 64), cmp.Or(c.Bytes, 64<<20)
	d := &batches{gpu: g, config: c, decoders: map[int]*Decoder{}}
	if _, err := d.decoder(3); err != nil {
		return nil, err
	}
	var err error
	if d.host, err = g.device.AllocPinned(c.Bytes); err != nil {
		d.close()
		return nil, err
	}
	b := newBatcher(c, d.decode)
	go func() {
		defer close(b.ended)
		b.run()
		d.close()
	}()
	return b, nil
}

// batches decodes a Batcher's batches, on its goroutine.
type batches struct {
	gpu      *GPU
	config   BatcherConfig
	decoders map[int]*Decoder // by channels
	host     *cuda.Pinned     // results
	copying  sync.WaitGroup   // requests that copy theirs
	images   []Image
	outcomes []Outcome
}

// decoder returns the Decoder for results of so many channels.
func (d *batches) decoder(channels int) (*Decoder, error) {
	if have := d.decoders[channels]; have != nil {
		return have, nil
	}
	spec, err := resample.NewTensorSpec(channels, formats.Uint8, pixel.NHWC, nil, nil)
	if err != nil {
		return nil, err
	}
	made, err := d.gpu.NewDecoder(Config{Spec: spec, Batch: d.config.Batch, Bytes: d.config.Bytes, Threads: d.config.Threads, Fast: d.config.Fast})
	if err == nil {
		d.decoders[channels] = made
	}
	return made, err
}

// errAsker is what Image.CPU returns: the goroutine that asked decodes the image.
var errAsker = errors.New("decoded by whoever asked")

// decode decodes tickets, of the same channels, and tells each that it is done.
func (d *batches) decode(tickets []*ticket) {
	err := d.run(tickets)
	for _, t := range tickets {
		if errors.Is(err, cuda.ErrMemory) {
			t.outcome = Outcome{Path: CPU, Reason: ReasonMemory}
		} else {
			t.err = err
		}
	}
	for _, t := range tickets {
		close(t.done)
	}
}

func (d *batches) run(tickets []*ticket) error {
	decoder, err := d.decoder(tickets[0].Channels)
	if err != nil {
		return err
	}
	out, err := decoder.Memory()
	if err != nil {
		return err
	}
	defer out.Release()
	d.images, d.outcomes = d.images[:0], d.outcomes[:0]
	at := 0
	for _, t := range tickets {
		d.images = append(d.images, Image{
			JPEG: t.JPEG, Window: t.Window, H: t.H, W: t.W, Filter: t.Filter, At: at,
			CPU: func([]byte) error { return errAsker },
		})
		at += t.bytes()
	}
	d.outcomes = append(d.outcomes, make([]Outcome, len(tickets))...)
	err = decoder.Decode(context.Background(), d.images, out, d.outcomes)
	d.copying.Wait() // the former batch's results lie in the same memory
	if err == nil {
		err = d.toHost(decoder, out, at)
	}
	if err != nil {
		return err
	}
	for i, t := range tickets {
		t.outcome = d.outcomes[i]
		if t.outcome.Path == CPU {
			continue
		}
		t.pixels, t.copied = d.host.Bytes()[d.images[i].At:][:t.bytes()], &d.copying
		d.copying.Add(1)
	}
	clear(d.images) // which refer to the callers' memory
	return nil
}

// toHost copies the first n bytes of out to the host.
func (d *batches) toHost(decoder *Decoder, out *Memory, n int) error {
	if err := decoder.stream.ToHost(d.host.Bytes()[:n], out.block.Address()); err != nil {
		return err
	}
	return decoder.stream.Sync()
}

// close frees everything once the last results were copied.
func (d *batches) close() {
	d.copying.Wait()
	for _, decoder := range d.decoders {
		decoder.Close()
	}
	if d.host != nil {
		_ = d.host.Free()
	}
}
