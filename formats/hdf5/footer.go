package hdf5

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// The file ends with the table of block checksums (atrest.Checksums) of all that HDF5 wrote, the
// table of places (see places.go) and a trailer that finds them:
//
//	offset  uint64  where the table of checksums starts: HDF5's own end of file
//	length  uint64  of the table of checksums; that of places takes the rest
//	magic   8 bytes
//	crc     uint32  CRC-32C of the trailer up to here
//
// Numbers are little-endian. The checksums' one file is called footerName whatever the
// dataset is called.
const (
	footerMagic   = "DSCH5SUM"
	trailerLength = 8 + 8 + len(footerMagic) + 4
	footerName    = "hdf5"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeFooter is what follows HDF5's end of file.
func encodeFooter(sums atrest.FileChecksums, p extents) []byte {
	table := atrest.Checksums{sums}.Encode()
	t := binary.LittleEndian.AppendUint64(nil, uint64(sums.Size))
	t = binary.LittleEndian.AppendUint64(t, uint64(len(table)))
	t = append(t, footerMagic...)
	t = binary.LittleEndian.AppendUint32(t, crc32.Checksum(t, castagnoli))
	return append(append(table, p.encode()...), t...)
}

// footer is what follows HDF5's end of file, found and not yet read.
type footer struct {
	end                int64 // of what HDF5 wrote
	checksums, extents []byte
}

// findFooter finds the two tables at the end of the file. ErrNotDataset if it does not end
// as dsconv's files do, ErrDamaged if it is damaged or was cut short.
func findFooter(file []byte) (footer, error) {
	if !hasTrailer(file) {
		return footer{}, explainNoFooter(file)
	}
	t := file[len(file)-trailerLength:]
	if crc32.Checksum(t[:trailerLength-4], castagnoli) != binary.LittleEndian.Uint32(t[trailerLength-4:]) {
		return footer{}, fmt.Errorf("%w: the checksum of the file's last %d bytes differs", formats.ErrDamaged, trailerLength)
	}
	off, n := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[8:])
	room := uint64(len(file) - trailerLength)
	if off == 0 || off > room || n > room-off {
		return footer{}, fmt.Errorf("%w: the table of checksums is not where the file's end says", formats.ErrDamaged)
	}
	return footer{end: int64(off), checksums: file[off : off+n], extents: file[off+n : room]}, nil
}

// hasTrailer says whether the file ends as only dsconv's do, damaged or not.
func hasTrailer(file []byte) bool {
	return len(file) >= trailerLength && string(file[len(file)-4-len(footerMagic):len(file)-4]) == footerMagic
}

// withoutFooter says why the file has no footer, as far as HDF5's own header tells: that of
// the version that the library writes by default.
func explainNoFooter(file []byte) error {
	const version, offsetSize, end = 8, 13, 40
	if len(file) >= end+8 && strings.HasPrefix(string(file[:version]), signature) && file[version] == 0 && file[offsetSize] == 8 {
		if n := binary.LittleEndian.Uint64(file[end:]); n > uint64(len(file)) && n != math.MaxUint64 {
			return fmt.Errorf("%w: the file was cut short: it has %d bytes, HDF5 wrote %d", formats.ErrDamaged, len(file), n)
		}
	}
	return fmt.Errorf("%w: the footer is missing at its end: dsconv did not write the file, or the end was cut off or damaged", formats.ErrNotDataset)
}

// readSums reads the checksums of blocks. ErrDamaged if they do not check.
func (f footer) readChecksums() (atrest.FileChecksums, error) {
	sums, err := atrest.DecodeChecksums(f.checksums)
	if err != nil {
		return atrest.FileChecksums{}, err
	}
	if len(sums) != 1 || sums[0].Name != footerName || sums[0].Size != f.end {
		return atrest.FileChecksums{}, fmt.Errorf("%w: the table of checksums is not that of this file", formats.ErrDamaged)
	}
	return sums[0], nil
}

// readPlaces reads where the datasets lie. ErrDamaged if they do not check.
func (f footer) readExtents() (extents, error) { return decodeExtents(f.extents, f.end) }
