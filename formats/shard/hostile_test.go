package shard

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// madeUp is a dataset of one record, whatever that is, with a sidecar and checksums that
// agree with it.
func madeUp(path, key string, record []byte) error {
	m := formats.Meta{Version: formats.Version, Format: "shard", Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}}
	s, err := staging.CreateShards(path, m, formats.CreateOptions{}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	place, err := s.Append(record)
	if err != nil {
		return err
	}
	smp := formats.Sample{Key: key, Values: make([]formats.Value, 2), Source: formats.Source{Path: key}}
	smp.Values[0].Encoding = formats.JPEG
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

func header(name string, size int, kind byte) []byte {
	return appendHeader(nil, []byte(name), size, kind)
}

// resummed is h after edit with a checksum that holds.
func resummed(h []byte, edit func(h []byte)) []byte {
	edit(h)
	copy(h[checksumAt:], "        ")
	octal(h[checksumAt:checksumAt+6], headerSum(h))
	h[checksumAt+6] = 0
	return h
}

func padded(b ...[]byte) []byte {
	all := bytes.Join(b, nil)
	return append(all, make([]byte, padding(len(all)))...)
}

// written is what Go's own tar writer makes of headers.
func written(t *testing.T, headers ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Records that no Writer writes are errors that name key and file; no link is followed and
// nothing is allocated that a header claims.
func TestHostileRecords(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("\xff\xd8\xff secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	huge := make([]byte, 65536)
	for i := range huge {
		huge[i] = 'k'
	}
	good := padded(header("k.jpg", 3, regular), []byte("\xff\xd8\xff"))
	link := func(kind byte) []byte {
		return resummed(header("k.jpg", 0, kind), func(h []byte) { copy(h[157:257], secret) })
	}
	records := map[string][]byte{
		"nothing":               {},
		"zeros":                 make([]byte, 1024),
		"text":                  padded([]byte("this is no tar")),
		"half a header":         good[:300],
		"cut":                   good[:514],
		"size beyond the end":   padded(header("k.jpg", 1<<20, regular), []byte("\xff\xd8\xff")),
		"8 GiB":                 padded(header("k.jpg", maxOctal, regular)),
		"base 256":              resummed(header("k.jpg", 0, regular), func(h []byte) { copy(h[sizeAt:], "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff") }),
		"base 256, negative":    resummed(header("k.jpg", 0, regular), func(h []byte) { copy(h[sizeAt:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe") }),
		"base 256, all":         resummed(header("k.jpg", 0, regular), func(h []byte) { copy(h[sizeAt:], "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff") }),
		"no octal":              resummed(header("k.jpg", 0, regular), func(h []byte) { copy(h[sizeAt:], "0000000008x") }),
		"checksum":              append([]byte{'x'}, good[1:]...),
		"symbolic link":         link('2'),
		"hard link":             link('1'),
		"character device":      link('3'),
		"block device":          link('4'),
		"folder":                header("k.jpg", 0, '5'),
		"FIFO":                  header("k.jpg", 0, '6'),
		"sparse":                resummed(header("k.jpg", 0, 'S'), func(h []byte) { copy(h[483:495], "77777777777") }),
		"sparse of POSIX":       written(t, &tar.Header{Name: "k.jpg", Size: 3, Format: tar.FormatPAX, PAXRecords: map[string]string{"DSCONV.x": "1"}}),
		"pax that lies":         append(padded(header("k.jpg", 22, 'x'), []byte("22 size=9999999999999\n")), good...),
		"pax for all":           append(padded(header("k.jpg", 15, 'g'), []byte("15 path=/etc/x\n")), good...),
		"a long name of 64 KB":  append(padded(header(longLink, len(huge)+1, longName), huge, []byte{0}), good...),
		"a long name not ended": append(padded(header(longLink, len(huge), longName), huge), good...),
		"long names for ever":   append(padded(header(longLink, 200, longName), huge[:199], []byte{0}), padded(header(longLink, 200, longName), huge[:199], []byte{0})...),
		"a long link":           append(padded(header(longLink, 200, 'K'), huge[:199], []byte{0}), good...),
		"another sample":        append(bytes.Clone(good), padded(header("l.jpg", 3, regular), []byte("\xff\xd8\xff"))...),
		"another sample's":      padded(header("l.jpg", 3, regular), []byte("\xff\xd8\xff")),
		"a name above":          padded(header("../k.jpg", 3, regular), []byte("\xff\xd8\xff")),
		"twice":                 append(bytes.Clone(good), good...),
		"label only":            padded(header("k.cls", 1, regular), []byte("0")),
		"another field":         append(bytes.Clone(good), padded(header("k.mask.png", 1, regular), []byte("0"))...),
		"label is text":         append(bytes.Clone(good), padded(header("k.cls", 3, regular), []byte("cat"))...),
		"label is huge":         append(bytes.Clone(good), padded(header("k.cls", 21, regular), []byte("999999999999999999999"))...),
		"npy that lies":         padded(header("k.npy", 128, regular), npyOf("|u1", "(99999999, 99999999, 3)")),
		"frames that lie":       padded(header("k.npy.zst", 40, regular), []byte("\x28\xb5\x2f\xfd\x20\xff\xff\xff\xff"), make([]byte, 31)),
	}
	for name, path := range madeUpAll(t, "x.tar", func(string) string { return "k" }, records) {
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
				if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), `"k"`) || !strings.Contains(err.Error(), "x.tar") || len(err.Error()) > 2000 {
					t.Errorf("%s: %.300v", what, err)
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

func npyOf(descr, shape string) []byte {
	literal := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }"
	b := append([]byte("\x93NUMPY\x01\x00\x76\x00"), literal...)
	for len(b) < 127 {
		b = append(b, ' ')
	}
	return append(b, '\n')
}

// Keys that no Writer takes do not get into a dataset's users' hands.
func TestHostileKeys(t *testing.T) {
	records := map[string][]byte{}
	for _, key := range []string{"../x", "/etc/x", "a/../../x", "a\x00b", "\xff", "", ".", strings.Repeat("k", 65536)} {
		records[key] = padded(appendHeader(nil, appendName(nil, key)[:min(len(key), 90)], 3, regular), []byte("\xff\xd8\xff"))
	}
	for key, path := range madeUpAll(t, "x.tar", func(key string) string { return key }, records) {
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

// block is the header of a zstd block.
func block(last bool, kind, size uint32) []byte {
	h := kind<<1 | size<<3
	if last {
		h |= 1
	}
	return []byte{byte(h), byte(h >> 8), byte(h >> 16)}
}

// bomb is a frame of n blocks of 128 KiB in 4 bytes each that tells its size, or another.
func bomb(n int, claim uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte("\x28\xb5\x2f\xfd\xe0"), claim)
	for i := range n {
		b = append(append(b, block(i == n-1, 1, 1<<17)...), 0)
	}
	return b
}

// What a frame of zstd claims takes no memory, and what it holds no more than it may.
func TestBombs(t *testing.T) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	if got, err := decompress(dec, bomb(8, 8<<17), nil); err != nil || len(got) != 8<<17 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	window := append([]byte("\x28\xb5\x2f\xfd\xc0\xff"), binary.LittleEndian.AppendUint64(nil, 10)...) // 3.75 TiB
	for name, frame := range map[string][]byte{
		"too little said": bomb(800, 1), "too much said": bomb(8, 9<<17), "a terabyte": bomb(8, 1<<40), "all": bomb(1, 1<<63),
		"window": append(window, append(block(true, 1, 10), 'x')...), "reserved": append([]byte("\x28\xb5\x2f\xfd\x28\x01"), block(true, 3, 1)...),
		"skippable": []byte("\x50\x2a\x4d\x18\xff\xff\xff\xff"), "dictionary": append([]byte("\x28\xb5\x2f\xfd\x21\x07\x01"), append(block(true, 0, 1), 'x')...),
	} {
		before := allocated()
		if _, err := decompress(dec, frame, nil); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if n := allocated() - before; n > 4<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// FuzzDecompress: a frame is an error or no larger than zstd can make it.
func FuzzDecompress(f *testing.F) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, content := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("content "), 100), make([]byte, 300_000)} {
		f.Add(enc.EncodeAll(content, nil))
	}
	f.Add(bomb(3, 3<<17))
	f.Add(bomb(3, 1<<40))
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		got, err := decompress(dec, frame, nil)
		if err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%v is not ErrDamaged", err)
		}
		if err == nil && len(got) > (len(frame)/4+1)<<17 {
			t.Fatalf("%d bytes out of %d", len(got), len(frame))
		}
	})
}

// FuzzFrames: the header's frame of a raw+zstd image and what follows it.
func FuzzFrames(f *testing.F) {
	f.Add(append(appendHeaderFrame(nil, formats.Uint8, []int{4, 5, 3}), "the elements' frame"...))
	f.Add([]byte(frameMagic + "\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v formats.Value
		rest, err := parseHeaderFrame(&v, data)
		if err != nil {
			if !errors.Is(err, formats.ErrDamaged) {
				t.Fatalf("%v is not ErrDamaged", err)
			}
			return
		}
		if !bytes.HasSuffix(data, rest) || v.DType.Size() == 0 {
			t.Fatalf("%d of %d bytes are left, of %s", len(rest), len(data), v.DType)
		}
	})
}
