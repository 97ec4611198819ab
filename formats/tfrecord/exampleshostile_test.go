package tfrecord_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// field is a length-delimited field of protobuf.
func field(no int, content ...[]byte) []byte {
	b := slices.Concat(content...)
	return append(binary.AppendUvarint([]byte{byte(no<<3 | 2)}, uint64(len(b))), b...)
}

func featureOf(name string, list []byte) []byte {
	return field(1, field(1, []byte(name)), field(2, list))
}

func bytesOf(values ...string) []byte {
	var b []byte
	for _, v := range values {
		b = append(b, field(1, []byte(v))...)
	}
	return field(1, b)
}

func intsOf(values ...int64) []byte {
	var b []byte
	for _, x := range values {
		b = binary.AppendUvarint(b, uint64(x))
	}
	return field(3, field(1, b))
}

func exampleWith(features ...[]byte) []byte { return field(1, features...) }

var photo = "\xff\xd8\xff\xe0photo"

func good(label int64) []byte {
	return frameOf(exampleWith(featureOf("image", bytesOf(photo)), featureOf("label", intsOf(label)), featureOf("box", field(2, field(1, make([]byte, 16))))))
}

// store writes a file that is older than the clock of the file system is coarse.
func store(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

// readAll opens a file and reads what is in it.
func readAll(t testing.TB, path string, o formats.ReadOptions) error {
	ds, err := tfrecord.Examples{}.OpenWith(t.Context(), path, o)
	if err != nil {
		return err
	}
	defer ds.Close()
	var s formats.Sample
	for i := range ds.Len() {
		if err := errors.Join(ds.Read(i, &s), ds.(formats.Viewer).View(i, &s)); err != nil {
			return err
		}
	}
	return nil
}

// TestHostile: files that lie are errors that name the file, and cost little.
func TestHostile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	frame := frameOf
	huge := tfexample.AppendFrameHead(nil, 1<<60)
	damaged := good(0)
	damaged[len(damaged)-1]++
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(good(0))
	_ = z.Close()
	image := featureOf("image", bytesOf(photo))
	many := [][]byte{image}
	for i := range 2000 {
		many = append(many, featureOf(fmt.Sprint(i), intsOf(1)))
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                    {nil, "no records"},
		"a frame that is too long": {huge, "the file ends"},
		"truncated":                {slices.Concat(good(0), good(1)[:30]), "the file ends"},
		"garbage after":            {append(good(0), "0123456789abcdef"...), "checksum of a frame's length"},
		"data checksum":            {damaged, "checksum of a frame's data"},
		"gzip":                     {zipped.Bytes(), "compressed"},
		"no example":               {frame([]byte("no example")), "cannot be parsed"},
		"no features":              {frame(nil), "SequenceExamples"},
		"a sequence":               {frame(slices.Concat(exampleWith(image, featureOf("label", intsOf(1))), field(2, field(1, []byte{10, 1, 'x'})))), "SequenceExample"},
		"a sequence at the end":    {slices.Concat(bytes.Repeat(good(0), 200), frame(slices.Concat(exampleWith(image), field(2, field(1, []byte{10, 1, 'x'}))))), "SequenceExample"},
		"no image":                 {frame(exampleWith(featureOf("label", intsOf(1)))), "no feature has image files"},
		"nested length":            {frame(field(1, []byte{10, 0xff, 0xff, 0xff, 0xff, 0x7f})), "cannot be parsed"},
		"a varint for ever":        {frame(bytes.Repeat([]byte{0x80}, 100)), "cannot be parsed"},
		"groups":                   {frame([]byte{0x0b, 0x0b, 0x0c, 0x0c}), "cannot be parsed"},
		"thousands of features":    {frame(exampleWith(many...)), "more than 1000 features"},
		"another kind":             {slices.Concat(good(0), frame(exampleWith(image, featureOf("label", bytesOf("x"))))), "label"},
		"another kind of a field":  {slices.Concat(bytes.Repeat(good(0), 200), frame(exampleWith(image, featureOf("box", intsOf(1))))), "box"},
		"an image that is none":    {slices.Concat(good(0), frame(exampleWith(featureOf("image", bytesOf("text"))))), "not an image file"},
		"two images":               {slices.Concat(bytes.Repeat(good(0), 200), frame(exampleWith(featureOf("image", bytesOf(photo, photo))))), "2 values"},
		"two labels":               {slices.Concat(bytes.Repeat(good(0), 200), frame(exampleWith(image, featureOf("label", intsOf(1, 2))))), "2 labels"},
		"a large label":            {frame(exampleWith(image, featureOf("label", intsOf(1<<40)))), "not a class index"},
	} {
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		store(t, path, c.data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := readAll(t, path, formats.ReadOptions{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.tfrecord") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	store(t, path, slices.Concat(good(0), good(2), frame(exampleWith(image)))) // the last one has no label and no box
	if err := readAll(t, path, formats.ReadOptions{}); err != nil {
		t.Error(err)
	}
}

// TestBadSamples: what no sample can be made of is skipped, with its place and its number, unless it is half of them.
func TestBadSamples(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	none := frameOf(exampleWith(featureOf("image", bytesOf("")), featureOf("label", intsOf(1))))
	store(t, path, slices.Concat(frameOf([]byte("no example")), good(0), none, good(1), good(2)))
	ds, err := tfrecord.Examples{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	in, err := ds.Info(2)
	skips := ds.(formats.Skipper).Skips()
	if err != nil || ds.Len() != 3 || in.Key != "00000004" || len(skips) != 2 || skips[0].Path != "x.tfrecord, byte 0" || !strings.Contains(skips[1].Cause, "not an image file") {
		t.Errorf("%d samples, the last is %s, skipped are %v, %v", ds.Len(), in.Key, skips, err)
	}
	store(t, path, slices.Concat(none, good(0), none))
	if _, err := (tfrecord.Examples{}).Open(path); err == nil || !strings.Contains(err.Error(), "2 of its 3 samples cannot be read; the first is x.tfrecord, byte 0") {
		t.Error(err)
	}
}

// TestMatch: what is not theirs does not match.
func TestMatch(t *testing.T) {
	dir := t.TempDir()
	f := tfrecord.Examples{}
	for name, data := range map[string][]byte{"x.txt": good(0), "y.tfrecord": []byte("not a record at all"), "own-00000.tfrecord": good(0), "z.tfrecords": good(0)} {
		store(t, filepath.Join(dir, name), data)
	}
	store(t, filepath.Join(dir, "publishing.tfrecord"), good(0))
	store(t, filepath.Join(dir, "shards-00003.tfrecord"), good(0))
	for _, name := range []string{"own.tfrecord.dsconv", "publishing.tfrecord.partial", "shards-%05d.tfrecord.partial"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{
		"x.txt": false, "y.tfrecord": false, "publishing.tfrecord": false, "shards-00003.tfrecord": false, "own-00000.tfrecord": false, "own-%05d.tfrecord": false,
		"z.tfrecords": true, "missing.tfrecord": false, "missing-*.tfrecord": false, "z.*": true, "": false,
	} {
		path := filepath.Join(dir, name)
		if name == "" {
			path = filepath.Join(dir, "own.tfrecord.dsconv")
		}
		if got := f.Match(path); got != want {
			t.Errorf("Match(%q) = %v", name, got)
		}
	}
}

// TestFlipped: flipped bits are errors or nothing, never a panic.
func TestFlipped(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	whole := slices.Concat(good(0), good(1))
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		b := slices.Clone(whole)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		store(t, path, b)
		if err := readAll(t, path, formats.ReadOptions{}); err == nil {
			t.Fatal("a flipped bit was not found")
		} else if strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	}
}

// FuzzExample: any example is read or an error.
func FuzzExample(f *testing.F) {
	f.Add(good(3)[tfexample.FrameHead:], "label=box")
	f.Add(exampleWith(featureOf("image/encoded", bytesOf(photo)), featureOf("image/class/label", intsOf(1)), featureOf("image/class/synset", bytesOf("n1"))), "")
	f.Setenv("XDG_CACHE_HOME", f.TempDir())
	f.Fuzz(func(t *testing.T, example []byte, entries string) {
		m, err := formats.ParseMap(entries)
		if err != nil {
			t.Skip()
		}
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		store(t, path, slices.Concat(frameOf(example), good(1)))
		if err := readAll(t, path, formats.ReadOptions{Map: m}); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}

// frameOf returns data as a frame.
func frameOf(data []byte) []byte {
	b := append(tfexample.AppendFrameHead(nil, len(data)), data...)
	return binary.LittleEndian.AppendUint32(b, tfexample.MaskCRC(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))))
}
