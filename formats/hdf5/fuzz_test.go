package hdf5

import (
	"bytes"
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

func FuzzFooter(f *testing.F) {
	some := extents{{name: "bytes", dtype: formats.Uint8, offset: 2, dims: []int{8}}}
	f.Add(append([]byte("0123456789"), encodeFooter(checksum.FileChecksums{Name: footerName, Size: 10, Blocks: []uint32{1}}, some)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		foot, err := findFooter(b)
		if err != nil {
			return
		}
		if foot.end <= 0 || foot.end > int64(len(b)) {
			t.Errorf("HDF5 ends at byte %d of %d", foot.end, len(b))
		}
		if sums, err := foot.readChecksums(); err == nil && sums.Size != foot.end {
			t.Errorf("checksums of %d bytes, want %d", sums.Size, foot.end)
		}
		if p, err := foot.readExtents(); err == nil {
			inside(t, p, foot.end)
		}
	})
}

// inside wants all places in the first end bytes, and no larger than they are.
func inside(t *testing.T, all extents, end int64) {
	t.Helper()
	for i := range all {
		p := &all[i]
		if n := p.length(); p.offset < 0 || n < 0 || p.offset > end || n > end-p.offset {
			t.Errorf("%+v lies outside of %d bytes", p, end)
		}
		if all.find(p.name) != p {
			t.Errorf("%q is not found", p.name)
		}
	}
}

// FuzzPlaces makes tables up whose checksum is right.
func FuzzPlaces(f *testing.F) {
	whole, err := loadBytes(readFixture(f), false)
	if err != nil {
		f.Fatal(err)
	}
	table := whole.in.extents.encode()
	f.Add(table[len(extentsMagic):len(table)-4], uint32(whole.checksums.Size))
	f.Fuzz(func(t *testing.T, body []byte, end uint32) {
		b := append([]byte(extentsMagic), body...)
		b = appendCRC(b)
		p, err := decodeExtents(b, int64(end))
		if err != nil {
			return
		}
		inside(t, p, int64(end))
		if again, err := decodeExtents(p.encode(), int64(end)); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v becomes %+v, %v", p, again, err)
		}
	})
}

func appendCRC(b []byte) []byte {
	sum := crc32.Checksum(b, checksum.Castagnoli)
	return append(b, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
}

// FuzzMadeUp changes a dataset that says where or what values are, and puts all checksums
// right: whatever it says, nothing outside is read, and shapes fit their bytes.
func FuzzMadeUp(f *testing.F) {
	content := readFixture(f)
	whole, err := loadBytes(content, false)
	if err != nil {
		f.Fatal(err)
	}
	for i := range whole.in.extents {
		f.Add(uint8(i), uint16(0), []byte("\xff\xff\xff\xff\xff\xff\xff\x7f"))
	}
	f.Add(uint8(1), uint16(8), []byte{1, 0, 0, 0, 0, 0, 0, 0x80})
	f.Fuzz(func(t *testing.T, which uint8, at uint16, with []byte) {
		d, err := loadBytes(madeUp(content, whole, which, at, with), false)
		if err != nil {
			return
		}
		var s formats.Sample
		for i := range d.Len() {
			_ = d.Read(i, &s) // its error is right or not, but it must not panic
			if d.View(i, &s) != nil {
				continue
			}
			for k := range s.Values {
				if v := &s.Values[k]; v.Encoding == formats.Raw && len(v.Shape) > 0 && checkShape(v) != nil {
					t.Errorf("sample %d: field %d: %d bytes of %s in %v", i, k, len(v.Data), v.DType, v.Shape)
				}
			}
		}
	})
}

// madeUp is the content with some bytes of a dataset replaced.
func madeUp(content []byte, whole *dataset, which uint8, at uint16, with []byte) []byte {
	all := append(extents(nil), whole.in.extents...)
	p := &all[int(which)%len(all)]
	b := bytes.Clone(content[:whole.checksums.Size])
	if n := p.length(); n > 0 {
		copy(b[p.offset+int64(at)%n:p.offset+n], with)
		p.checksum = crc32.Checksum(b[p.offset:p.offset+n], checksum.Castagnoli)
	}
	sums := whole.checksums
	sums.Blocks = []uint32{crc32.Checksum(b, checksum.Castagnoli)}
	return append(b, encodeFooter(sums, all)...)
}
