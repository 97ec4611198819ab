//go:build linux && cgo

package gpudecode

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/gpudecode/internal/kernels"
	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
)

// NewDecoder makes a Decoder. Close it.
func (g *GPU) NewDecoder(c Config) (*Decoder, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Threads, c.Pixels = c.threads(), cmp.Or(c.Pixels, defaultPixels)
	if err := g.use(); err != nil {
		return nil, err
	}
	d := &Decoder{gpu: g, config: c, jobs: make([]job, c.Batch)}
	if err := d.open(); err != nil {
		d.Close()
		return nil, fmt.Errorf("prepare decoding on the GPU %s: %w", g.info.Card, err)
	}
	return d, nil
}

// check returns an error for nonsense.
func (c *Config) check() error {
	if c.Spec == nil {
		return errors.New("gpudecode.NewDecoder: Spec is nil")
	}
	if c.Batch < 1 || c.Bytes < 1 || c.Pixels < 0 || c.Threads < 0 {
		return fmt.Errorf("gpudecode.NewDecoder: batches of %d images and %d bytes, which must be positive; %d pixels and %d threads, which must not be negative",
			c.Batch, c.Bytes, c.Pixels, c.Threads)
	}
	return nil
}

// open allocates what all batches need. What depends on the images is allocated with them.
func (d *Decoder) open() (err error) {
	device := d.gpu.device
	for _, w := range []*workspace{&d.pixels, &d.table, &d.lists, &d.jobsMemory} {
		w.device = device
	}
	d.pixels.most = d.config.Pixels
	d.table.staged, d.lists.staged, d.jobsMemory.staged = true, true, true
	if d.batch, err = kernels.NewBatch(d.config.Spec); err != nil {
		return err
	}
	if d.stream, err = device.NewStream(); err != nil {
		return err
	}
	if d.results, err = device.NewStream(); err != nil {
		return err
	}
	if d.pool, err = device.NewPool(d.config.Bytes); err != nil {
		return err
	}
	if err := d.uploadTable(); err != nil {
		return err
	}
	if err := d.openCores(); err != nil || d.gpu.hardware == nil {
		return err
	}
	return d.openEngine()
}

// uploadTable uploads the values that elements take. For integers it is empty, and has an address nevertheless.
func (d *Decoder) uploadTable() error {
	table := d.config.Spec.Table()
	if err := d.table.grow(4*len(table) + 4); err != nil {
		return err
	}
	for i, v := range table {
		binary.NativeEndian.PutUint32(d.table.host.Bytes()[4*i:], v)
	}
	if err := d.stream.ToDevice(d.table.address, d.table.host.Bytes()); err != nil {
		return err
	}
	return d.stream.Sync()
}

// format is how nvJPEG stores pixels: grey batches have only images without colours.
func (d *Decoder) format() nvjpeg.Format {
	if d.config.Spec.Channels() == 1 {
		return nvjpeg.Y
	}
	return nvjpeg.RGBI
}

func (d *Decoder) base() cuda.Address { return d.pixels.address }

func (d *Decoder) openCores() error {
	decoder, err := d.gpu.handle.NewDecoder(nvjpeg.Hybrid)
	if err != nil {
		return err
	}
	d.cores = &cores{
		device: d.gpu.device, handle: d.gpu.handle, decoder: decoder, workers: make([]coresWorker, d.config.Threads),
		format: d.format(), base: d.base,
	}
	return nil
}

func (d *Decoder) openEngine() (err error) {
	g := d.gpu
	lock, _ := enginesInUse.LoadOrStore(g.info.UUID, new(sync.Mutex))
	e := &engine{
		handle: g.hardware, inUse: lock.(*sync.Mutex), format: d.format(), cores: g.info.Engines * g.info.Cores,
		most: d.config.Pixels, base: d.base,
		refill: func(jobs []*job) error { return d.fill(jobs, d.seed) },
	}
	d.engine = e
	if e.stream, err = g.device.NewStream(); err != nil {
		return err
	}
	if e.batch, err = e.handle.NewBatch(d.config.Batch); err != nil {
		return err
	}
	// However little it is, nvJPEG keeps memory from then on instead of allocating it in each call.
	if err := statusOnly(e.batch.PreAllocate(1, 1, 1, nvjpeg.CSS444, e.format)); err != nil {
		return err
	}
	for range d.config.Batch {
		image, err := e.handle.NewImage()
		if err != nil {
			return err
		}
		e.images = append(e.images, image)
	}
	return nil
}

// close frees everything. Errors tell nothing: a lost GPU has freed it.
func (e *engine) close() {
	for _, image := range e.images {
		_ = image.Close()
	}
	if e.batch != nil {
		_ = e.batch.Close()
	}
	if e.stream != nil {
		_ = e.stream.Close()
	}
}

// free frees what open allocated. Nothing is in flight: Decode waits.
func (d *Decoder) free() {
	if d.engine != nil {
		d.engine.close()
	}
	if d.cores != nil {
		d.cores.close()
	}
	for _, w := range []*workspace{&d.pixels, &d.table, &d.lists, &d.jobsMemory} {
		w.free()
	}
	if d.pool != nil {
		d.pool.Close()
	}
	for _, s := range []*cuda.Stream{d.stream, d.results} {
		if s != nil {
			_ = s.Close()
		}
	}
	d.stream = nil
	if d.gpu != nil {
		d.gpu.unuse()
	}
}
