package checksum

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// FuzzSums: body is what stands before the table's own checksum, so that the fuzzer gets
// past that.
func FuzzSums(f *testing.F) {
	for _, s := range []Checksums{nil, {{Name: "data.mdb", Size: 5, Blocks: []uint32{7}}}, {{Name: "x.tar", Size: 3 * BlockSize, Blocks: []uint32{1, 2, 3}}, {Name: "x.tar.dsconv/dataset.json"}}} {
		b := s.Encode()
		f.Add(b[:len(b)-4])
	}
	for _, size := range []uint64{math.MaxInt64, math.MaxInt64 - BlockSize + 2, math.MaxUint64, 1 << 62} {
		f.Add(binary.AppendUvarint([]byte(checksumsMagic+"\x01\x01x"), size))
	}
	f.Add([]byte(checksumsMagic + "\x01\x09../../etc\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		b := binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, Castagnoli))
		s, err := DecodeChecksums(b)
		if err != nil {
			if !errors.Is(err, formats.ErrDamaged) {
				t.Fatalf("%v is not ErrDamaged", err)
			}
			return
		}
		for _, fs := range s {
			if !filepath.IsLocal(fs.Name) || int64(len(fs.Blocks)) != (fs.Size+BlockSize-1)/BlockSize {
				t.Fatalf("%q: %d bytes in %d blocks", fs.Name, fs.Size, len(fs.Blocks))
			}
		}
		if again, err := DecodeChecksums(s.Encode()); err != nil || len(again) != len(s) {
			t.Fatalf("%d files became %d: %v", len(s), len(again), err)
		}
	})
}
