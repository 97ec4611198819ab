package atrest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// framed is a record of the journal with a checksum that holds.
func framed(payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	return append(b, payload...)
}

// FuzzJournal: of any bytes the whole records are found and no others, and what they hold
// parses, or does not, within them.
func FuzzJournal(f *testing.F) {
	one := framed(encodeCheckpoint(tableOf(f, 3), 0, []byte("state"), []byte("note")))
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
	f.Add(encodeCheckpoint(tableOf(f, 5), 0, []byte("state"), nil))
	f.Add(encodeCheckpoint(tableOf(f, 5), 5, nil, []byte("note")))
	f.Add(encodeCheckpoint(NewManifest([]string{"a", "label"}), 0, nil, nil))
	f.Add([]byte("\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, p []byte) {
		tab := NewManifest([]string{"a", "label"})
		cp, err := decodeCheckpoint(p, tab)
		if err != nil {
			return
		}
		b := encodeCheckpoint(tab, 0, cp.state, cp.note)
		tab2 := NewManifest(tab.columns)
		cp2, err := decodeCheckpoint(b, tab2)
		if err != nil || !bytes.Equal(encodeCheckpoint(tab2, 0, cp2.state, cp2.note), b) {
			t.Fatalf("%d rows became %d: %v", tab.Len(), tab2.Len(), err)
		}
	})
}

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
		b := binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
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

// FuzzShardPath: the name of a shard is found to be that shard, and lies in the folder.
func FuzzShardPath(f *testing.F) {
	for _, p := range []string{
		"x.tar", "d/x-%06d.tar", "%d", "x-%d.tar.zst", "/a/{000..127}.tar", "x-{0..99999999999999999999}.tar", "%099999999999999999999d",
		"%06d%06d", "%%06d", "a%0d.tar", "x-{5..3}.tar", "../%03d", "", "/", "a\x00%d",
	} {
		f.Add(p, 7)
	}
	f.Fuzz(func(t *testing.T, path string, i int) {
		p, err := ParseShardPath(path)
		if err != nil || i < 0 {
			return
		}
		name := p.Name(i)
		if strings.ContainsRune(name, '/') || filepath.Dir(p.Sidecar()) != p.Dir {
			t.Fatalf("%q: shard %q, sidecar %q", path, name, p.Sidecar())
		}
		if n, ok := p.ShardNumber(name); p.IsPattern() && (!ok || n != i) {
			t.Fatalf("%q: %q is shard %d, %v", path, name, n, ok)
		}
	})
}

// FuzzMeta: a dataset.json is an error, or a Meta whose own dataset.json is the same.
func FuzzMeta(f *testing.F) {
	m := formats.Meta{
		Version: 1, Format: "shard", Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"a", "ü\x1b"}}},
		Splits: []formats.Split{{Name: "train", Count: 2}}, Columns: []string{"x"}, Recipe: map[string]string{"encode": "keep"}, Count: 2, Files: []string{"x-0.tar"},
	}
	b, err := EncodeMeta(&m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema":[{"name":"image","kind":"image","shape":[-1,9223372036854775807]}],"files":["../../x"],"count":-1}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMeta(b)
		if err != nil {
			return
		}
		for _, name := range m.Files {
			if filepath.Join("d", name) != "d/"+name {
				t.Fatalf("a file named %q", name)
			}
		}
		one, err := EncodeMeta(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeMeta(one)
		if err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		if two, err := EncodeMeta(again); err != nil || !bytes.Equal(one, two) {
			t.Fatalf("%s became %s: %v", one, two, err)
		}
	})
}
