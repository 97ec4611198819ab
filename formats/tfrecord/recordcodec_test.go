package tfrecord

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

var testMeta = formats.Meta{
	Schema: formats.Schema{
		{Name: "left", Kind: formats.Image},
		{Name: "right", Kind: formats.Image},
		{Name: "class", Kind: formats.Label, Classes: []string{"ant", "bee"}},
		{Name: "boxes", Kind: formats.Boxes},
		{Name: "tags", Kind: formats.MultiHot},
		{Name: "pose", Kind: formats.Array},
		{Name: "caption", Kind: formats.Text},
	},
	Columns: []string{"zoom", "by"},
}

func testSample() *formats.Sample {
	s := &formats.Sample{Key: "a/k.1", Split: "train", Columns: []string{"", "Ann"}, Source: formats.Source{Path: "a/k.1.jpg"}}
	s.Resize(7)
	s.Values[0].Set(formats.Value{Data: bytes.Repeat([]byte("\xff\xd8\xff left"), 40), Encoding: formats.JPEG, Shape: []int{300, 200, 3}})
	s.Values[1].Set(formats.Value{Data: make([]byte, 12), Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{2, 3, 1}})
	s.Values[2].SetInt64(1)
	s.Values[3].Set(formats.Value{Data: make([]byte, 32), Encoding: formats.Raw, DType: formats.Float32, Shape: []int{2, 4}})
	s.Values[4].Set(formats.Value{Data: []byte{0, 1, 255}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{3}})
	s.Values[5].Set(formats.Value{Data: bytes.Repeat([]byte{0xff}, 16), Encoding: formats.Raw, DType: formats.Int64, Shape: []int{2}})
	s.Values[6].Set(formats.Value{Data: []byte("two bees"), Encoding: formats.Plain})
	return s
}

func recordOf(s *formats.Sample) []byte {
	e := encoder{features: layoutOf(&testMeta)}
	return slices.Concat(e.encode(s)...)
}

// names parses an example with another parser and lists its features.
func names(t *testing.T, example []byte) (all []string) {
	t.Helper()
	num, typ, n := protowire.ConsumeTag(example)
	m, k := protowire.ConsumeBytes(example[n:])
	if num != 1 || typ != protowire.BytesType || n+k != len(example) {
		t.Fatalf("an example of field %d, type %d, %d and %d of %d bytes", num, typ, n, k, len(example))
	}
	for len(m) > 0 {
		_, _, n := protowire.ConsumeTag(m)
		entry, k := protowire.ConsumeBytes(m[n:])
		m = m[n+k:]
		_, _, n = protowire.ConsumeTag(entry)
		name, _ := protowire.ConsumeString(entry[n:])
		all = append(all, name)
	}
	return all
}

func TestFeaturesAreSorted(t *testing.T) {
	example, err := tfexample.Unframe(recordOf(testSample()), true)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`column/by column/zoom field/boxes field/caption field/pose field/pose/shape field/right field/right/dtype
		field/right/format field/right/shape field/tags image/channels image/class/label image/class/text image/encoded image/filename
		image/format image/height image/width split`)
	if got := names(t, example); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	s := testSample()
	s.Values[2].SetInt64(formats.NoLabel)
	s.Source.Path = "other.png"
	if example, err = tfexample.Unframe(recordOf(s), true); err != nil {
		t.Fatal(err)
	}
	got := names(t, example)
	if slices.Contains(got, "image/class/label") || !slices.Contains(got, "image/key") {
		t.Errorf("features %q of a sample without label from another file", got)
	}
}

func TestEveryFlippedBitIsFoundByRead(t *testing.T) {
	rec := recordOf(testSample())
	for bit := range 8 * len(rec) {
		rec[bit/8] ^= 1 << (bit % 8)
		if _, err := tfexample.Unframe(rec, true); !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("bit %d of byte %d: %v", bit%8, bit/8, err)
		}
		rec[bit/8] ^= 1 << (bit % 8)
	}
}

func TestVarintSizes(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 1<<14 - 1, 1 << 14, 1<<21 - 1, 1 << 21, math.MaxInt32} {
		if got, want := fieldSize(n), 1+protowire.SizeBytes(n); got != want {
			t.Errorf("a field of %d bytes takes %d, want %d", n, got, want)
		}
	}
}

// FuzzRecord: whatever the bytes are, decode ends, in an error or in values within them,
// which are the same lent and copied.
func FuzzRecord(f *testing.F) {
	fs := layoutOf(&testMeta)
	seed := func(s *formats.Sample) {
		example, err := tfexample.Unframe(recordOf(s), true)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(example)
	}
	s := testSample()
	seed(s)
	s.Values[0] = formats.Value{Data: []byte("frame"), Encoding: formats.RawZstd, DType: formats.Uint8, Shape: []int{300, 200, 3}}
	s.Values[2].SetInt64(formats.NoLabel)
	s.Values[3] = formats.Value{Encoding: formats.Raw, DType: formats.Float32, Shape: []int{0, 4}}
	seed(s)
	f.Fuzz(func(t *testing.T, example []byte) {
		formatcheck.LentAsCopied(t, func(s *formats.Sample, lend bool) error {
			return decode(testMeta.Schema, fs, example, [3]int{300, 200, 3}, s, lend)
		})
	})
}

// FuzzUnframe: no frame but one whose checksums hold is taken.
func FuzzUnframe(f *testing.F) {
	f.Add([]byte{})
	f.Add(recordOf(testSample()))
	f.Fuzz(func(t *testing.T, rec []byte) {
		data, err := tfexample.Unframe(rec, true)
		if err == nil && len(data)+tfexample.FrameHead+tfexample.FrameTail != len(rec) {
			t.Fatalf("%d bytes of a frame of %d", len(data), len(rec))
		}
		if err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%v is not ErrDamaged", err)
		}
	})
}
