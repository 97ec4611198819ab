package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/wire"
)

// The table of extents has the location of each contiguous dataset in the file, so that the
// reader does not have to trust HDF5's own structures. All numbers but the CRCs are uvarints:
//
//	magic   8 bytes
//	count   of datasets, which follow in the order of their names:
//	  length and bytes of the name; type, a code as in dtypes; offset in the file; number
//	  of dimensions; dimensions; 1 if a CRC-32C of the dataset's bytes follows (uint32), 0
//	  for values, whose bytes the samples' checksums cover
//	crc     uint32  CRC-32C of the table up to here
const extentsMagic = "DSCPLAC1"

// maxDims is HDF5's limit of dimensions.
const maxDims = 32

// extent is the location of a dataset in the file.
type extent struct {
	name        string
	dtype       formats.DType
	offset      int64
	dims        []int
	hasChecksum bool   // false for values
	checksum    uint32 // CRC-32C
}

// length returns the dataset's number of bytes.
func (p *extent) length() int64 {
	n, _ := elements(p.dims, 1<<62)
	return n * int64(p.dtype.Size())
}

// extents are in the order of their names.
type extents []extent

// find returns the extent of a dataset, or nil.
func (p extents) find(name string) *extent {
	i, ok := slices.BinarySearchFunc(p, name, func(a extent, name string) int { return strings.Compare(a.name, name) })
	if !ok {
		return nil
	}
	return &p[i]
}

func (p extents) encode() []byte {
	b := []byte(extentsMagic)
	b = binary.AppendUvarint(b, uint64(len(p)))
	for i := range p {
		b = p[i].append(b)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, checksum.Castagnoli))
}

func (p *extent) append(b []byte) []byte {
	b = wire.AppendBytes(b, p.name)
	b = binary.AppendUvarint(b, uint64(slices.Index(typeCodes, p.dtype)))
	b = binary.AppendUvarint(b, uint64(p.offset))
	b = binary.AppendUvarint(b, uint64(len(p.dims)))
	for _, d := range p.dims {
		b = binary.AppendUvarint(b, uint64(d))
	}
	if !p.hasChecksum {
		return binary.AppendUvarint(b, 0)
	}
	return binary.LittleEndian.AppendUint32(binary.AppendUvarint(b, 1), p.checksum)
}

// decodeExtents reads what encode wrote. ErrDamaged if the table's checksum differs or an extent
// is not within the first end bytes of the file.
func decodeExtents(b []byte, end int64) (extents, error) {
	body, ok := bytes.CutPrefix(b, []byte(extentsMagic))
	if !ok || len(body) < 4 || crc32.Checksum(b[:len(b)-4], checksum.Castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return nil, fmt.Errorf("%w: the footer's table of datasets is not what was written", formats.ErrDamaged)
	}
	r := &wire.Cursor{B: body[:len(body)-4]}
	var all extents
	for range r.Number(int64(len(body))) {
		p := takeExtent(r, end)
		if r.Failed || len(all) > 0 && p.name <= all[len(all)-1].name {
			return nil, fmt.Errorf("%w: dataset %d in the footer's table is invalid", formats.ErrDamaged, len(all))
		}
		all = append(all, p)
	}
	if r.Failed || len(r.B) != 0 {
		return nil, fmt.Errorf("%w: the footer's table of datasets has another length than it says", formats.ErrDamaged)
	}
	return all, nil
}

// takeExtent reads an extent within the first end bytes of the file.
func takeExtent(r *wire.Cursor, end int64) extent {
	p := extent{name: string(r.Bytes())}
	p.dtype = typeCodes[r.Number(int64(len(typeCodes)-1))]
	p.offset = r.Number(end)
	p.dims = make([]int, r.Number(maxDims))
	for i := range p.dims {
		p.dims[i] = int(r.Number(1 << 62))
	}
	if r.Number(1) == 1 {
		p.hasChecksum, p.checksum = true, r.Uint32()
	}
	size := int64(p.dtype.Size())
	if size == 0 || len(p.dims) == 0 {
		r.Fail()
	} else if _, ok := elements(p.dims, (end-p.offset)/size); !ok {
		r.Fail()
	}
	return p
}

// elements returns the number of elements of a tensor of these dimensions; ok is false if a
// dimension is negative or there are more than limit.
func elements(dims []int, limit int64) (n int64, ok bool) {
	if slices.ContainsFunc(dims, func(d int) bool { return d < 0 }) {
		return 0, false
	}
	if slices.Contains(dims, 0) {
		return 0, true
	}
	n = 1
	for _, d := range dims {
		if int64(d) > limit/n {
			return 0, false
		}
		n *= int64(d)
	}
	return n, n <= limit
}
