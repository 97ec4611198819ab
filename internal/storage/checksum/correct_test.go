package checksum

import (
	"bytes"
	"hash/crc32"
	"reflect"
	"testing"
)

// Each flipped bit of a table is found, also in its own checksum; more than one is not.
func TestCorrect(t *testing.T) {
	want := Checksums{{Name: "data.mdb", Size: 3*BlockSize + 1, Blocks: []uint32{1, 2, 3, 4}}, {Name: "dataset.json", Size: 5, Blocks: []uint32{9}}}
	table := want.Encode()
	for bit := range 8 * len(table) {
		b := bytes.Clone(table)
		b[bit/8] ^= 1 << (bit % 8)
		damaged := bytes.Clone(b)
		if got, err := Correct(b); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("bit %d: %v, %v", bit, got, err)
		}
		if !bytes.Equal(b, damaged) {
			t.Fatal("the damaged bytes were written to")
		}
		b[(bit/8+5)%len(b)] ^= 3
		if got, err := Correct(b); err == nil {
			t.Fatalf("bit %d and two others: %v", bit, got)
		}
	}
	for _, b := range [][]byte{nil, {1}, table[:4], table[:len(table)-3]} {
		if _, err := Correct(b); err == nil {
			t.Errorf("%q is a table", b)
		}
	}
	long := bytes.Repeat([]byte("dsconv"), BlockSize/6)
	sum := crc32.Checksum(long, Castagnoli)
	long[777777] ^= 64
	if !CorrectBit(long, sum) || crc32.Checksum(long, Castagnoli) != sum || CorrectBit(long[:9], sum) {
		t.Error("a bit of a block")
	}
}
