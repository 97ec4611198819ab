package manifest

import (
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// row is a row of a Manifest: what reading an image needs is in the first cache line of 64
// bytes, the rest in the second.
type row struct {
	keyAt          uint64 // in Manifest.keys
	label, size    int64
	offset, length int64 // Location
	keyLen         uint32
	shard          int32
	shape          [3]int32
	split          uint16 // in Manifest.splits
	encoding       uint16

	checksum, hash [16]byte
	pathAt         uint64 // in Manifest.paths
	srcSize, mod   int64
	pathLen        uint32
	provenance     formats.Provenance
}

func (r *row) dims() [3]int { return [3]int{int(r.shape[0]), int(r.shape[1]), int(r.shape[2])} }

// rows holds rows in chunks, which are not copied as it grows.
type rows struct {
	n      int
	chunks [][]row // of chunkRows, except the last
}

const chunkRows = 1 << 12

func (r *rows) at(i int) *row { return &r.chunks[uint(i)/chunkRows][uint(i)%chunkRows] }

// last returns a copy of the last row, zero if there is none.
func (r *rows) last() row {
	if r.n == 0 {
		return row{}
	}
	return *r.at(r.n - 1)
}

// add appends a zero row and returns it.
func (r *rows) add() *row {
	switch k := r.n / chunkRows; {
	case k < len(r.chunks):
		r.chunks[k] = append(r.chunks[k], row{})
	case k == 0:
		r.chunks = [][]row{{row{}}}
	default:
		r.chunks = append(r.chunks, make([]row, 1, chunkRows))
	}
	r.n++
	return r.at(r.n - 1)
}

// dictionary holds the different values of a column that has few.
type dictionary []string

// index returns the index of s, which it adds if it is new. last is the previous row's index,
// nearly always the right one: samples come class by class.
func (w *dictionary) index(s string, last uint16) uint16 {
	if int(last) < len(*w) && (*w)[last] == s {
		return last
	}
	i := slices.Index(*w, s)
	if i < 0 {
		i = len(*w)
		*w = append(*w, strings.Clone(s))
	}
	return uint16(i)
}

// stringColumn holds many strings in one slice.
type stringColumn struct {
	data []byte
	end  []uint64
}

func (c *stringColumn) append(s string) {
	c.data = append(c.data, s...)
	c.end = append(c.end, uint64(len(c.data)))
}

func (c *stringColumn) bounds(i int) (from, to uint64) {
	if i > 0 {
		from = c.end[i-1]
	}
	return from, c.end[i]
}

func (c *stringColumn) at(i int) string {
	from, to := c.bounds(i)
	return unsafeString(c.data[from:to])
}
