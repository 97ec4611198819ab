//go:build linux && cgo

package gpudecode

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/gpudecode/internal/kernels"
	"github.com/dsconv/dsconv/internal/cuda"
)

// listed uploads where the pixels of jobs lie. A number for each job follows, at the offset it returns.
func (d *Decoder) listed(jobs []*job) (counts int, launch kernels.Launch, err error) {
	list := d.canaries[:0]
	for _, j := range jobs {
		list = append(list, kernels.Canary{Address: uint64(d.pixels.address) + uint64(j.place), Pitch: int32(j.pitch), Width: int32(j.rowBytes()), Rows: int32(j.decodedH)})
	}
	d.canaries = list
	data := kernels.CanaryBytes(list)
	if err := d.lists.grow(len(data) + 4*len(jobs)); err != nil {
		return 0, launch, err
	}
	copy(d.lists.host.Bytes(), data)
	return len(data), kernels.CanaryLaunch(list), d.stream.ToDevice(d.lists.address, d.lists.host.Bytes()[:len(data)])
}

// fill fills the memory for the pixels of jobs with a pattern, and waits for that: the engine does not follow the order
// of streams.
func (d *Decoder) fill(jobs []*job, seed uint64) error {
	_, l, err := d.listed(jobs)
	if err != nil {
		return err
	}
	if err := launch(d.stream, d.gpu.fill, l, uint64(d.lists.address), seed); err != nil {
		return err
	}
	return d.stream.Sync()
}

// check sets missing of the jobs of which pixels were not written since fill with the same seed.
func (d *Decoder) check(jobs []*job, seed uint64) error {
	counts, l, err := d.listed(jobs)
	if err != nil {
		return err
	}
	at := d.lists.address + cuda.Address(counts)
	if err := d.stream.Set32(at, 0, len(jobs)); err != nil {
		return err
	}
	if err := launch(d.stream, d.gpu.check, l, uint64(d.lists.address), seed, uint64(at)); err != nil {
		return err
	}
	numbers := d.lists.host.Bytes()[counts:][:4*len(jobs)]
	if err := d.stream.ToHost(numbers, at); err != nil {
		return err
	}
	if err := d.stream.Sync(); err != nil {
		return err
	}
	for i, j := range jobs {
		j.missing = binary.NativeEndian.Uint32(numbers[4*i:]) > 0
	}
	return nil
}

// launch starts a kernel on a stream.
func launch(s *cuda.Stream, f *cuda.Function, l kernels.Launch, arguments ...uint64) error {
	return f.Launch(s, l.Grid, l.Block, l.Shared, arguments...)
}
