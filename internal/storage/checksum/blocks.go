package checksum

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
	"github.com/dsconv/dsconv/internal/wire"
)

// BlockSize is the number of bytes that one checksum covers.
const BlockSize = 1 << 20

const checksumsMagic = "DSCSUMS1"

// Castagnoli is the table of CRC-32C.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FileChecksums are the CRC-32C checksums of one file's blocks; the last block may be short.
type FileChecksums struct {
	Name   string // relative to the dataset, '/'-separated
	Size   int64
	Blocks []uint32
}

// Checksums are the block checksums of all files of a dataset.
type Checksums []FileChecksums

// Encode returns the table's bytes: magic, files, blocks, and a CRC-32C of all that.
func (s Checksums) Encode() []byte {
	b := []byte(checksumsMagic)
	b = binary.AppendUvarint(b, uint64(len(s)))
	for _, f := range s {
		b = binary.AppendUvarint(b, uint64(len(f.Name)))
		b = append(b, f.Name...)
		b = binary.AppendUvarint(b, uint64(f.Size))
		for _, x := range f.Blocks {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, Castagnoli))
}

// DecodeChecksums reads what Encode wrote; ErrDamaged if the table's own checksum differs.
func DecodeChecksums(b []byte) (Checksums, error) {
	bad := fmt.Errorf("%w: the table of block checksums is not what was written", formats.ErrDamaged)
	if len(b) < len(checksumsMagic)+4 || !bytes.HasPrefix(b, []byte(checksumsMagic)) {
		return nil, bad
	}
	body := b[:len(b)-4]
	if crc32.Checksum(body, Castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return nil, bad
	}
	r := &wire.Cursor{B: body[len(checksumsMagic):]}
	n := r.Length(1)
	s := make(Checksums, 0, n)
	for range n {
		f := FileChecksums{Name: string(r.Bytes()), Size: r.Varint()}
		blocks := f.Size / BlockSize
		if f.Size%BlockSize != 0 {
			blocks++
		}
		// Otherwise a name could make a check read files outside the dataset.
		if f.Size < 0 || blocks > int64(len(r.B)/4) || !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return nil, bad
		}
		f.Blocks = make([]uint32, blocks)
		for i := range f.Blocks {
			f.Blocks[i] = r.Uint32()
		}
		s = append(s, f)
	}
	if r.Failed || len(r.B) != 0 {
		return nil, bad
	}
	return s, nil
}

// Digest returns the CRC-32C of the checksums of blocks.
func Digest(blocks []uint32) uint32 {
	b := make([]byte, 0, 4*len(blocks))
	for _, x := range blocks {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return crc32.Checksum(b, Castagnoli)
}

// OfFile reads the file at path and computes its checksums; name goes into the result.
// limit, if not negative, is the number of bytes to cover.
func OfFile(path, name string, limit int64) (FileChecksums, error) {
	f, err := unblocked.Open(path)
	if err != nil {
		return FileChecksums{}, err
	}
	defer f.Close()
	fs := FileChecksums{Name: name}
	var src io.Reader = f
	if limit >= 0 {
		src = io.LimitReader(f, limit)
	}
	buf := make([]byte, BlockSize)
	for {
		n, err := io.ReadFull(src, buf)
		if n > 0 {
			fs.Size += int64(n)
			fs.Blocks = append(fs.Blocks, crc32.Checksum(buf[:n], Castagnoli))
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fs, nil
		case err != nil:
			return FileChecksums{}, err
		}
	}
}

// Verify compares content, all of the file's bytes, with its checksums; ErrDamaged if they
// differ.
func (fs FileChecksums) Verify(content []byte) error {
	if int64(len(content)) != fs.Size {
		return fmt.Errorf("%w: it has %d bytes, but %d were written", formats.ErrDamaged, len(content), fs.Size)
	}
	return fs.verifyRange(content, 0, fs.Size)
}

// verifyRange is Verify of only the blocks that contain the n bytes at off; content begins
// with the file's first byte.
func (fs FileChecksums) verifyRange(content []byte, off, n int64) error {
	if off < 0 || n < 0 || off > fs.Size || n > fs.Size-off || fs.Size > int64(len(content)) {
		return fmt.Errorf("%w: the file ends before byte %d", formats.ErrDamaged, off+n)
	}
	for i := off / BlockSize; n > 0 && i*BlockSize < off+n; i++ {
		block := content[i*BlockSize : min((i+1)*BlockSize, fs.Size)]
		if crc32.Checksum(block, Castagnoli) != fs.Blocks[i] {
			return fmt.Errorf("%w: the checksum of the bytes %d to %d differs", formats.ErrDamaged, i*BlockSize, i*BlockSize+int64(len(block)))
		}
	}
	return nil
}

// ChecksumsByName maps file names to checksums.
type ChecksumsByName map[string]FileChecksums

// ByName returns the checksums of each file by its name.
func (s Checksums) ByName() ChecksumsByName {
	m := make(ChecksumsByName, len(s))
	for _, fs := range s {
		if _, twice := m[fs.Name]; !twice {
			m[fs.Name] = fs
		}
	}
	return m
}

// ForFile returns the checksums of the named file.
func (m ChecksumsByName) ForFile(name string) (FileChecksums, error) {
	fs, ok := m[name]
	if !ok {
		return fs, fmt.Errorf("%w: %s is not in the table of checksums", formats.ErrDamaged, name)
	}
	return fs, nil
}

// CorrectBit flips the one bit of b that makes its CRC-32C that of what was written, sum. It reports whether there is one: two
// different bits of less than 256 MiB never have the same effect on a CRC-32C.
func CorrectBit(b []byte, sum uint32) bool {
	wrong := crc32.Checksum(b, Castagnoli) ^ sum
	var effects [8]uint32 // of the bits of a byte on the sum
	for bit := range effects {
		effects[bit] = Castagnoli[1<<bit]
	}
	for i := len(b) - 1; i >= 0; i-- {
		if bit := slices.Index(effects[:], wrong); bit >= 0 {
			b[i] ^= 1 << bit
			return true
		}
		for bit, x := range effects {
			effects[bit] = Castagnoli[byte(x)] ^ x>>8
		}
	}
	return false
}

// Correct returns the table whose bytes b have one flipped bit.
func Correct(b []byte) (Checksums, error) {
	if end := len(b) - 4; end > 0 {
		b = slices.Clone(b)
		sum := binary.LittleEndian.Uint32(b[end:])
		if now := crc32.Checksum(b[:end], Castagnoli); bits.OnesCount32(now^sum) == 1 {
			binary.LittleEndian.PutUint32(b[end:], now)
		} else {
			CorrectBit(b[:end], sum)
		}
	}
	return DecodeChecksums(b)
}
