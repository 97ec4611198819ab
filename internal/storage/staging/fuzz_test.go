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
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
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
	one := framed(whole(someRows(f, 3), []byte("state"), []byte("note")))
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
	f.Add(whole(someRows(f, 5), []byte("state"), nil))
	f.Add(whole(nil, nil, nil))
	f.Add([]byte("\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, p []byte) {
		cp, rows, err := taken(p)
		if err != nil {
			return
		}
		b := whole(rows, cp.state, cp.note)
		cp2, rows2, err := taken(b)
		if err != nil || !bytes.Equal(whole(rows2, cp2.state, cp2.note), b) {
			t.Fatalf("%d rows became %d: %v", len(rows), len(rows2), err)
		}
	})
}

var fuzzMeta = &formats.Meta{Columns: []string{"a", "label"}}

// whole is the payload of a checkpoint.
func whole(rows []manifest.Row, state, note []byte) []byte {
	b := encodeCheckpoint(len(rows), state, note)
	for i := range rows {
		b = sampleindex.AppendRow(b, &rows[i], false)
	}
	return b
}

// taken reads what whole wrote.
func taken(p []byte) (cp checkpoint, rows []manifest.Row, err error) {
	if cp, err = decodeCheckpoint(p); err != nil {
		return cp, nil, err
	}
	log := newRowLog(fuzzMeta)
	err = log.take(cp.rows, func(r *manifest.Row) error {
		rows = append(rows, *r)
		log.count(r)
		return nil
	})
	return cp, rows, err
}

// someRows are n rows of all kinds.
func someRows(t testing.TB, n int) (rows []manifest.Row) {
	t.Helper()
	for i := range n {
		rows = append(rows, manifest.Row{
			Info: formats.Info{
				Key: fmt.Sprintf("class %d/ключ\n%07d", i%7, i), Split: []string{"train", "val", ""}[i%3], Label: int64(i%7) - 1,
				Size: int64(i * 3), Encoding: []formats.Encoding{formats.JPEG, formats.PNG}[i%2], Shape: [3]int{i, 2 * i, 3},
				Checksum: [16]byte{byte(i), 1}, Columns: []string{fmt.Sprint(i), ""},
				Source: formats.Source{Path: fmt.Sprintf("p%d.jpg", i), Size: int64(i), ModTime: -int64(i), Hash: [16]byte{15: byte(i)}},
			},
			Location: sampleindex.Location{Shard: i % 5, Offset: int64(i) << 33, Length: int64(i)},
		})
	}
	return rows
}
