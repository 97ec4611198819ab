package tfrecord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// madeUp is a dataset of one record, whatever that is, with a sidecar that agrees with it.
func madeUp(path, key string, record []byte) error {
	m := formats.Meta{Version: formats.Version, Format: "tfrecord", Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}}
	s, err := staging.CreateShards(path, m, formats.CreateOptions{}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	place, err := s.Append(record)
	if err != nil {
		return err
	}
	smp := formats.Sample{Key: key, Values: make([]formats.Value, 2)}
	smp.Values[1].SetInt64(0)
	if err := s.Stage().Add(&smp, place); err != nil {
		return err
	}
	return s.Commit(func(string) ([]string, error) { return nil, nil })
}

// madeUpAll is madeUp of many, side by side: each waits for the disk. It gives their paths.
func madeUpAll(t *testing.T, file string, key func(name string) string, records map[string][]byte) map[string]string {
	t.Helper()
	paths := map[string]string{}
	var wg sync.WaitGroup
	for name, rec := range records {
		path := filepath.Join(t.TempDir(), file)
		paths[name] = path
		wg.Go(func() {
			if err := madeUp(path, key(name), rec); err != nil {
				t.Errorf("%.50q: %v", name, err)
			}
		})
	}
	wg.Wait()
	return paths
}

// framed is the record of an example, with checksums that hold; it claims n bytes.
func framed(example []byte, n uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, n)
	b = binary.LittleEndian.AppendUint32(b, tfexample.MaskCRC(crc32.Checksum(b, checksum.Castagnoli)))
	b = append(b, example...)
	return binary.LittleEndian.AppendUint32(b, tfexample.MaskCRC(crc32.Checksum(example, checksum.Castagnoli)))
}

// fields is a message of length-delimited fields of one tag.
func fields(tag byte, contents ...[]byte) (b []byte) {
	for _, c := range contents {
		b = append(appendField(b, tag, len(c)), c...)
	}
	return b
}

func entry(name string, kind listKind, payload []byte) []byte {
	return slices.Concat(fields(field1, []byte(name)), fields(field2, fields(byte(kind), fields(field1, payload))))
}

func exampleOf(entries ...[]byte) []byte { return fields(field1, fields(field1, entries...)) }

func ints(x ...uint64) (b []byte) {
	for _, x := range x {
		b = binary.AppendUvarint(b, x)
	}
	return b
}

// Records that no Writer writes are errors that name key and file, and nothing is
// allocated that a length claims.
func TestHostileRecords(t *testing.T) {
	img, format := entry("image/encoded", bytesList, []byte("\xff\xd8\xff")), entry("image/format", bytesList, []byte("jpeg"))
	good := exampleOf(img, format)
	huge := bytes.Repeat([]byte{0xff}, 9)
	frame := func(example []byte) []byte { return framed(example, uint64(len(example))) }
	raw := func(dtype string, shape ...uint64) []byte {
		return frame(exampleOf(entry("image/dtype", bytesList, []byte(dtype)), img, entry("image/format", bytesList, []byte("raw")), entry("image/height", int64List, ints(shape...))))
	}
	records := map[string][]byte{
		"nothing":             {},
		"a length":            framed(nil, 0)[:12],
		"longer than it is":   framed(good, 1<<40),
		"shorter than it is":  framed(good, 3),
		"all ones":            framed(good, 1<<64-1),
		"two frames":          slices.Concat(frame(good), frame(good)),
		"empty":               frame(nil),
		"no features":         frame(exampleOf()),
		"twice":               frame(exampleOf(img, img, format)),
		"out of order":        frame(exampleOf(format, img)),
		"unknown":             frame(exampleOf(entry("aaa", bytesList, nil), img, format)),
		"a list of another":   frame(exampleOf(entry("image/encoded", int64List, ints(1)), format)),
		"a list of none":      frame(exampleOf(slices.Concat(fields(field1, []byte("image/encoded")), fields(field2, []byte{0x22, 0})), format)),
		"unknown format":      frame(exampleOf(img, entry("image/format", bytesList, []byte("../../exe")))),
		"huge length":         frame(append([]byte{field1}, append(huge, 0x01)...)),
		"a varint for ever":   frame(append([]byte{field1}, bytes.Repeat([]byte{0x80}, 100)...)),
		"nested length":       frame(fields(field1, append([]byte{field1}, append(huge, 0x7f)...))),
		"label of 11 bytes":   frame(exampleOf(entry("image/class/label", int64List, bytes.Repeat([]byte{0xff}, 11)), img, format)),
		"several labels":      frame(exampleOf(entry("image/class/label", int64List, ints(1, 2)), img, format)),
		"raw without a shape": raw("uint8"),
		"raw of no type":      raw("complex128", 1, 1, 3),
		"many entries":        frame(exampleOf(slices.Repeat([][]byte{entry("a", bytesList, nil)}, 100_000)...)),
		"groups":              frame([]byte{0x0b, 0x0b, 0x0b, 0x0c}),
	}
	for name, path := range madeUpAll(t, "x.tfrecord", func(string) string { return "k" }, records) {
		t.Run(name, func(t *testing.T) {
			ds, err := Format{}.Open(path)
			if err != nil {
				if !errors.Is(err, formats.ErrDamaged) {
					t.Errorf("open: %v", err)
				}
				return
			}
			defer ds.Close()
			var s formats.Sample
			before := allocated()
			for what, err := range map[string]error{"read": ds.Read(0, &s), "view": ds.(formats.Viewer).View(0, &s)} {
				if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), `"k"`) || !strings.Contains(err.Error(), "x.tfrecord") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if n := allocated() - before; n > 10<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// Keys that no Writer takes do not get into a dataset's users' hands.
func TestHostileKeys(t *testing.T) {
	records := map[string][]byte{}
	for _, key := range []string{"../x", "/etc/x", "a/../../x", "a\x00b", "\xff", "", ".", strings.Repeat("k", 65536)} {
		records[key] = framed(nil, 0)
	}
	for key, path := range madeUpAll(t, "x.tfrecord", func(key string) string { return key }, records) {
		ds, err := Format{}.Open(path)
		if err == nil {
			_, err = ds.Info(0)
			_ = ds.Close()
		}
		if !errors.Is(err, formats.ErrDamaged) || !errors.Is(err, formats.ErrKey) || len(err.Error()) > 1000 {
			t.Errorf("%.20q: %.200v", key, err)
		}
	}
}

// FuzzFeatures: valid protobuf or not, features ends, and names and payloads lie within
// the example.
func FuzzFeatures(f *testing.F) {
	f.Add(exampleOf(entry("image/encoded", bytesList, []byte("\xff\xd8\xff")), entry("x", int64List, ints(1, 1<<63))))
	f.Add(append([]byte{field1}, bytes.Repeat([]byte{0xff}, 10)...))
	f.Fuzz(func(t *testing.T, example []byte) {
		size := 0
		err := features(example, func(name []byte, _ listKind, payload []byte) error {
			size += len(name) + len(payload)
			return nil
		})
		if size > len(example) {
			t.Fatalf("%d bytes of names and payloads in %d", size, len(example))
		}
		if err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%v is not ErrDamaged", err)
		}
	})
}
