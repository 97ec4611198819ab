package staging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
)

// framed is a record of the journal with a checksum that holds.
func framed(payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, checksum.Castagnoli))
	return append(b, payload...)
}

// FuzzJournal: of any bytes the whole records are found and no others, and what they hold
// parses, or does not, within them.
func FuzzJournal(f *testing.F) {
	one := framed(encodeCheckpoint(someRows(f, 3), 0, []byte("state"), []byte("note")))
	f.Add([]byte{})
	f.Add(one)
	f.Add(append(bytes.Clone(one), one[:len(one)-1]...))
	f.Add([]byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newRecordReader(bytes.NewReader(b), int64(len(b)))
		var again []byte
		for {
			p, err := r.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, framed(p)...)
		}
		if !bytes.Equal(again, b[:r.whole]) {
			t.Fatalf("%d bytes of records are not the first %d", len(again), r.whole)
		}
	})
}

// FuzzCheckpoint: a payload is an error, or rows that encode to another that holds the same.
func FuzzCheckpoint(f *testing.F) {
	f.Add(encodeCheckpoint(someRows(f, 5), 0, []byte("state"), nil))
	f.Add(encodeCheckpoint(someRows(f, 5), 5, nil, []byte("note")))
	f.Add(encodeCheckpoint(manifest.NewManifest([]string{"a", "label"}), 0, nil, nil))
	f.Add([]byte("\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, p []byte) {
		tab := manifest.NewManifest([]string{"a", "label"})
		cp, err := decodeCheckpoint(p, tab)
		if err != nil {
			return
		}
		b := encodeCheckpoint(tab, 0, cp.state, cp.note)
		tab2 := manifest.NewManifest(tab.Columns)
		cp2, err := decodeCheckpoint(b, tab2)
		if err != nil || !bytes.Equal(encodeCheckpoint(tab2, 0, cp2.state, cp2.note), b) {
			t.Fatalf("%d rows became %d: %v", tab.Len(), tab2.Len(), err)
		}
	})
}

// someRows are n rows of all kinds.
func someRows(t testing.TB, n int) *manifest.Manifest {
	t.Helper()
	tab := manifest.NewManifest([]string{"a", "label"})
	for i := range n {
		err := tab.Append(&manifest.Row{
			Info: formats.Info{
				Key: fmt.Sprintf("class %d/ключ\n%07d", i%7, i), Split: []string{"train", "val", ""}[i%3], Label: int64(i%7) - 1,
				Size: int64(i * 3), Encoding: []formats.Encoding{formats.JPEG, formats.PNG}[i%2], Shape: [3]int{i, 2 * i, 3},
				Checksum: [16]byte{byte(i), 1}, Columns: []string{fmt.Sprint(i), ""},
				Source: formats.Source{Path: fmt.Sprintf("p%d.jpg", i), Size: int64(i), ModTime: -int64(i), Hash: [16]byte{15: byte(i)}},
			},
			Location: manifest.Location{Shard: i % 5, Offset: int64(i) << 33, Length: int64(i)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return tab
}
