package plan

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// misfit says why the whole dataset by t's recipe could not be used here, "" if it could: it must fit on the disk and,
// if it is pixels, which are slow from a disk, in memory, unless it is no larger than the source.
func (p *packer) misfit(t *trial) string {
	memory := p.here.Memory
	switch raw := t.recipe.Encode.Encoding == formats.Raw; {
	case p.here.Free > 0 && t.images > p.here.Free:
		return fmt.Sprintf("it needs %s of disk, and %s are free", gigabytes(t.images), gigabytes(p.here.Free))
	case raw && memory > 0 && t.images > max(memory, p.src.bytes):
		return fmt.Sprintf("pixels are fast only from memory: it needs %s of it, and there are %s", gigabytes(t.images), gigabytes(memory))
	}
	return ""
}

func gigabytes(n int64) string { return fmt.Sprintf("%.3g GB", float64(n)/1e9) }
