package atrest

import (
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// row is a row of a Table: what reading an image needs in the first cache line of 64 bytes,
// what else a sample has in the second.
type row struct {
	keyAt          uint64 // in Table.keys
	label, size    int64
	offset, length int64 // Place
	keyLen         uint32
	shard          int32
	shape          [3]int32
	split          uint16 // in Table.splits
	encoding       uint16

	checksum, hash [16]byte
	pathAt         uint64 // in Table.paths
	srcSize, mod   int64
	pathLen        uint32
	provenance     formats.Provenance
}

func (r *row) dims() [3]int { return [3]int{int(r.shape[0]), int(r.shape[1]), int(r.shape[2])} }

// rows are many rows in chunks, which growing does not copy.
type rows struct {
	n      int
	chunks [][]row // of chunkRows, but for the last
}

const chunkRows = 1 << 12

func (r *rows) at(i int) *row { return &r.chunks[uint(i)/chunkRows][uint(i)%chunkRows] }

// last is a copy of the last row, zero if there is none.
func (r *rows) last() row {
	if r.n == 0 {
		return row{}
	}
	return *r.at(r.n - 1)
}

// add gives a new row.
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

// reserve makes all n rows at once.
func (r *rows) reserve(n int) {
	all := make([]row, n)
	AdviseHugePages(all)
	*r = rows{n: n, chunks: slices.Collect(slices.Chunk(all, chunkRows))}
}

// words are strings of which there are few different ones.
type dictionary []string

// of gives the place of s among the words, which it is added to. last is the place of the
// row before, nearly always the one wanted: samples come class by class.
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

// stringColumn keeps many strings in one piece of memory.
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
