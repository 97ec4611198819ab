package hdf5

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

// The file ends with the table of block checksums (checksum.Checksums) of all that HDF5 wrote, the
// table of extents (see extents.go) and a trailer that locates them:
//
//	offset  uint64  of the table of checksums: HDF5's own end of file
//	length  uint64  of the table of checksums; the table of extents takes the rest
//	magic   8 bytes
//	crc     uint32  CRC-32C of the trailer up to here
//
// Numbers are little-endian. The only file in the checksums is named footerName, whatever the
// dataset's name.
const (
	footerMagic   = "DSCH5SUM"
	trailerLength = 8 + 8 + len(footerMagic) + 4
	footerName    = "hdf5"
)

// encodeFooter returns the bytes after HDF5's end of file.
func encodeFooter(sums checksum.FileChecksums, p extents) []byte {
	table := checksum.Checksums{sums}.Encode()
	t := binary.LittleEndian.AppendUint64(nil, uint64(sums.Size))
	t = binary.LittleEndian.AppendUint64(t, uint64(len(table)))
	t = append(t, footerMagic...)
	t = binary.LittleEndian.AppendUint32(t, crc32.Checksum(t, checksum.Castagnoli))
	return append(append(table, p.encode()...), t...)
}

// footer is the bytes after HDF5's end of file, located but not parsed.
type footer struct {
	end                int64 // of what HDF5 wrote
	checksums, extents []byte
}

// findFooter locates the two tables at the end of the file. ErrNotDataset if it does not end
// like dsconv's files, ErrDamaged if it is damaged or truncated.
func findFooter(file []byte) (footer, error) {
	if !hasTrailer(file) {
		return footer{}, explainNoFooter(file)
	}
	t := file[len(file)-trailerLength:]
	if crc32.Checksum(t[:trailerLength-4], checksum.Castagnoli) != binary.LittleEndian.Uint32(t[trailerLength-4:]) {
		return footer{}, fmt.Errorf("%w: the checksum of the file's last %d bytes differs", formats.ErrDamaged, trailerLength)
	}
	off, n := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[8:])
	room := uint64(len(file) - trailerLength)
	if off == 0 || off > room || n > room-off {
		return footer{}, fmt.Errorf("%w: the end of the file has an impossible offset of the table of checksums", formats.ErrDamaged)
	}
	return footer{end: int64(off), checksums: file[off : off+n], extents: file[off+n : room]}, nil
}

// hasTrailer reports whether the file ends like dsconv's files, damaged or not.
func hasTrailer(file []byte) bool {
	return len(file) >= trailerLength && string(file[len(file)-4-len(footerMagic):len(file)-4]) == footerMagic
}

// explainNoFooter returns the error about a file without footer. It reads HDF5's own header, of
// the version that the library writes by default, to see whether the file was truncated.
func explainNoFooter(file []byte) error {
	const version, offsetSize, end = 8, 13, 40
	if len(file) >= end+8 && strings.HasPrefix(string(file[:version]), signature) && file[version] == 0 && file[offsetSize] == 8 {
		if n := binary.LittleEndian.Uint64(file[end:]); n > uint64(len(file)) && n != math.MaxUint64 {
			return fmt.Errorf("%w: the file is truncated: it has %d bytes, but HDF5 wrote %d", formats.ErrDamaged, len(file), n)
		}
	}
	return fmt.Errorf("%w: the footer is missing: dsconv did not write the file, or its end was cut off or damaged; a file of another program: %s", formats.ErrNotDataset, foreign.FromPython)
}

// readChecksums reads the block checksums; ErrDamaged if they are not what was written.
func (f footer) readChecksums() (checksum.FileChecksums, error) {
	sums, err := checksum.DecodeChecksums(f.checksums)
	if err != nil {
		return checksum.FileChecksums{}, err
	}
	if len(sums) != 1 || sums[0].Name != footerName || sums[0].Size != f.end {
		return checksum.FileChecksums{}, fmt.Errorf("%w: the table of checksums is not that of this file", formats.ErrDamaged)
	}
	return sums[0], nil
}

// readExtents reads the extents of the datasets; ErrDamaged if they are not what was written.
func (f footer) readExtents() (extents, error) { return decodeExtents(f.extents, f.end) }
