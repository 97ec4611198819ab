//go:build linux && cgo

package gpudecode

import (
	"errors"

	"github.com/dsconv/dsconv/gpudecode/internal/kernels"
	"github.com/dsconv/dsconv/internal/cuda"
)

// plan computes how the decoded pixels of jobs become results: the weights of each resize. It needs no GPU, so that it
// is done while that decodes.
func (d *Decoder) plan(jobs []*job, out *Memory) error {
	d.batch.Reset()
	for _, j := range jobs {
		err := d.batch.Add(kernels.Job{
			Source: uint64(d.pixels.address) + uint64(j.place), Pitch: j.pitch,
			Window: j.window, H: j.H, W: j.W, Filter: j.Filter, Region: j.Region, Flip: j.Flip, FlipV: j.FlipV,
			Result: uint64(out.block.Address()) + uint64(j.At),
		})
		if err != nil && !errors.Is(err, kernels.ErrReduction) {
			return err
		}
		j.tooStrong = err != nil
	}
	return nil
}

// store makes results of the decoded pixels. An image that was not decoded gets some result too: it is overwritten by
// the CPU's, or is an error.
func (d *Decoder) store() error {
	if d.batch.Len() == 0 {
		return nil
	}
	n := d.batch.Size()
	if err := d.jobsMemory.grow(n + 4); err != nil { // without weights too, these have an address
		return err
	}
	d.batch.Write(d.jobsMemory.host.Bytes())
	if err := d.results.ToDevice(d.jobsMemory.address, d.jobsMemory.host.Bytes()[:n]); err != nil {
		return err
	}
	weights := d.jobsMemory.address + cuda.Address(d.batch.Weights())
	err := launch(d.results, d.gpu.store, d.batch.Launch(), uint64(d.jobsMemory.address), uint64(weights), uint64(d.table.address))
	if err != nil {
		return err
	}
	return d.results.Sync() // before the pinned memory is written again
}
