package hdf5

import (
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// blocks compares a mapped file's blocks with their checksums when they are first used.
type blocks struct {
	file            []byte          // what HDF5 wrote
	checksums       []uint32        // nil if they are damaged
	intact, damaged []atomic.Uint64 // a bit for each block that was compared
}

func newBlocks(file []byte, checksums []uint32) *blocks {
	words := (len(checksums) + 63) / 64
	return &blocks{file: file, checksums: checksums, intact: make([]atomic.Uint64, words), damaged: make([]atomic.Uint64, words)}
}

// areIntact reports whether the blocks of the bytes from from to to, at least one, are as they were
// written. A block that cannot be read is compared again at the next use.
func (f *blocks) areIntact(from, to int64) bool {
	for i := from / checksum.BlockSize; i*checksum.BlockSize < to; i++ {
		if i >= int64(len(f.checksums)) || !f.isIntact(i) {
			return false
		}
	}
	return true
}

func (f *blocks) isIntact(i int64) bool {
	word, bit := i/64, uint64(1)<<(i%64)
	if f.intact[word].Load()&bit != 0 {
		return true
	}
	if f.damaged[word].Load()&bit != 0 {
		return false
	}
	same, err := hasChecksum(f.file[i*checksum.BlockSize:min((i+1)*checksum.BlockSize, int64(len(f.file)))], f.checksums[i])
	switch {
	case err != nil:
	case same:
		f.intact[word].Or(bit)
	default:
		f.damaged[word].Or(bit)
	}
	return same
}

// hasChecksum compares b with its checksum; an error if b cannot be read.
func hasChecksum(b []byte, want uint32) (same bool, err error) {
	err = guard.Read(b, func() error {
		same = crc32.Checksum(b, checksum.Castagnoli) == want
		return nil
	})
	return same && err == nil, err
}

// rows is a dataset that describes values, in mapped memory. It is compared with its checksums when
// it is used.
type rows struct {
	*extent
	bytes  []byte
	size   int // of a row
	blocks *blocks

	mu    sync.Mutex
	whole atomic.Int32 // what is known of the dataset as a whole
}

// The states of rows.whole.
const (
	unknown = iota
	intact
	damaged
)

// at returns n rows, from row i on; ErrDamaged if they are not what was written.
func (r *rows) at(i, n int) ([]byte, error) {
	from, to := i*r.size, (i+n)*r.size
	if from < 0 || to > len(r.bytes) || from > to {
		return nil, fmt.Errorf("%w: dataset %s has no rows %d to %d", formats.ErrDamaged, r.name, i, i+n)
	}
	b := r.bytes[from:to:to]
	if from == to || r.blocks.areIntact(r.offset+int64(from), r.offset+int64(to)) {
		return b, nil
	}
	return b, r.checkWhole()
}

// checkWhole compares all of the dataset with its own checksum: a block of its first and last rows
// also has bytes of others, which may be the damaged ones.
func (r *rows) checkWhole() error {
	if r.whole.Load() == unknown {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	if r.whole.Load() == unknown {
		same, err := hasChecksum(r.bytes, r.checksum)
		switch {
		case err != nil:
			return err
		case same && r.hasChecksum:
			r.whole.Store(intact)
		default:
			r.whole.Store(damaged)
		}
	}
	if r.whole.Load() == damaged {
		return fmt.Errorf("%w: the checksum of dataset %s differs", formats.ErrDamaged, r.name)
	}
	return nil
}
