package hdf5

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// The file ends with the table of block checksums (atrest.Sums) of all that HDF5 wrote and
// a trailer that finds it:
//
//	offset  uint64  where the table starts: HDF5's own end of file
//	length  uint64  of the table
//	magic   8 bytes
//	crc     uint32  CRC-32C of the trailer up to here
//
// Numbers are little-endian. The table's one file is called footerName whatever the
// dataset is called.
const (
	footerMagic   = "DSCH5SUM"
	trailerLength = 8 + 8 + len(footerMagic) + 4
	footerName    = "hdf5"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeFooter is what follows HDF5's end of file.
func encodeFooter(sums atrest.FileSums) []byte {
	table := atrest.Sums{sums}.Encode()
	t := binary.LittleEndian.AppendUint64(nil, uint64(sums.Size))
	t = binary.LittleEndian.AppendUint64(t, uint64(len(table)))
	t = append(t, footerMagic...)
	t = binary.LittleEndian.AppendUint32(t, crc32.Checksum(t, castagnoli))
	return append(table, t...)
}

// parseFooter finds the checksums at the end of the file. ErrNotDataset if there is no
// trailer, ErrDamaged if it or the table does not check.
func parseFooter(file []byte) (atrest.FileSums, error) {
	var none atrest.FileSums
	if len(file) < trailerLength {
		return none, fmt.Errorf("%w: it does not end as dsconv's files do", formats.ErrNotDataset)
	}
	t := file[len(file)-trailerLength:]
	body, crc := t[:trailerLength-4], binary.LittleEndian.Uint32(t[trailerLength-4:])
	if crc32.Checksum(body, castagnoli) != crc {
		return none, fmt.Errorf("%w: dsconv did not write its end, or it is damaged", formats.ErrNotDataset)
	}
	off, n := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[8:])
	room := uint64(len(file) - trailerLength)
	if string(body[16:]) != footerMagic || off > room || n != room-off {
		return none, fmt.Errorf("%w: the table of checksums is not where the trailer says", formats.ErrDamaged)
	}
	sums, err := atrest.DecodeSums(file[off : off+n])
	if err != nil {
		return none, err
	}
	if len(sums) != 1 || sums[0].Name != footerName || uint64(sums[0].Size) != off || off == 0 {
		return none, fmt.Errorf("%w: the table of checksums is not that of this file", formats.ErrDamaged)
	}
	return sums[0], nil
}
