package shard

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

var fuzzMeta = formats.Meta{
	Schema: formats.Schema{
		{Name: "left", Kind: formats.Image},
		{Name: "right", Kind: formats.Image},
		{Name: "class", Kind: formats.Label},
		{Name: "boxes", Kind: formats.Boxes},
		{Name: "caption", Kind: formats.Text},
	},
	Columns: []string{"taken", "by <whom>"},
}

func stereoSample(key string) *formats.Sample {
	s := &formats.Sample{Key: key, Columns: []string{"2020", "Ann \"&\" Bob\n"}}
	s.Resize(5)
	s.Values[0].Set(formats.Value{Data: []byte("\xff\xd8\xff left"), Encoding: formats.JPEG})
	s.Values[1].Set(formats.Value{Data: make([]byte, 2*3*1*2), Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{2, 3, 1}})
	s.Values[2].SetInt64(7)
	s.Values[3].Set(formats.Value{Data: make([]byte, 32), Encoding: formats.Raw, DType: formats.Float32, Shape: []int{2, 4}})
	s.Values[4].Set(formats.Value{Data: []byte("two cats"), Encoding: formats.Plain})
	return s
}

func recordOf(t testing.TB, s *formats.Sample) []byte {
	t.Helper()
	var e encoder
	if err := e.init(&fuzzMeta); err != nil {
		t.Fatal(err)
	}
	parts, err := e.encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(parts...)
}

func TestMembersAreThoseOfTheGoTarReader(t *testing.T) {
	for _, key := range []string{"a", "dir.x/img.v1", strings.Repeat("long", 40) + "/é", strings.Repeat("x", 96), strings.Repeat("x", 97), "100%\n"} {
		rec := recordOf(t, stereoSample(key))
		if len(rec)%blockSize != 0 {
			t.Fatalf("a record of %d bytes", len(rec))
		}
		r := tar.NewReader(bytes.NewReader(append(rec, zeros[:]...)))
		var names []string
		for m, err := range members(rec) {
			if err != nil {
				t.Fatal(err)
			}
			h, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil || h.Name != string(m.name) || !bytes.Equal(data, m.data) || h.Mode != 0o644 || h.ModTime.Unix() != 0 || h.Format != tar.FormatGNU {
				t.Fatalf("%+v of %d bytes, %v; want %q of %d bytes", h, len(data), err, m.name, len(m.data))
			}
			names = append(names, strings.TrimPrefix(h.Name, string(appendName(nil, key))))
		}
		if want := []string{".jpg", ".cls", ".json", ".right.npy", ".boxes.npy", ".caption.txt"}; !slices.Equal(names, want) {
			t.Errorf("members %q, want %q", names, want)
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("after the last member: %v", err)
		}
	}
}

func TestSizesPastOctal(t *testing.T) {
	for _, size := range []int{0, 1, maxOctal, maxOctal + 1, 1 << 50} {
		b := appendMember(nil, []byte("x"), size)
		h, err := tar.NewReader(bytes.NewReader(b)).Next()
		if err != nil || h.Size != int64(size) {
			t.Errorf("size %d: the Go reader has %+v, %v", size, h, err)
		}
		if got, ok := parseSize(b); !ok || got != uint64(size) || !checksumMatches(b) {
			t.Errorf("size %d: read back as %d", size, got)
		}
	}
}

func TestNames(t *testing.T) {
	for key, want := range map[string]string{
		"a/b": "a/b", "a.b/c.d.e": "a.b/c%2Ed%2Ee", "100%": "100%25", "a\nb/c": "a%0Ab/c", "__x__/y": "%5F_x__/y", "_x": "_x", ".h": "%2Eh", "é \\": "é \\",
	} {
		if got := string(appendName(nil, key)); got != want {
			t.Errorf("%q becomes %q, want %q", key, got, want)
		}
	}
}

func TestFieldsThatDifferByCaseAreRefused(t *testing.T) {
	m := formats.Meta{Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "A", Kind: formats.Text}, {Name: "a", Kind: formats.Text}}}
	if _, err := (Format{}).Create(t.TempDir()+"/x.tar", m, formats.CreateOptions{}); !errors.Is(err, formats.ErrSchema) {
		t.Errorf("%v, want ErrSchema", err)
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		path        string
		level, want int
	}{
		{"x.tar", 0, 0}, {"x.tar.zst", 0, 3}, {"x-%d.tar.zst", 19, 19}, {"x.tar", 3, -1}, {"x.tar.zst", 23, -1}, {"x.tar.zst", -1, -1}, {"x.zip", 0, -1},
	} {
		got, err := levelOf(c.path, formats.CreateOptions{Zstd: c.level})
		if (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%s at %d: %d, %v; want %d", c.path, c.level, got, err, c.want)
		}
	}
}

func TestEveryFlippedHeaderBitIsAnError(t *testing.T) {
	s := stereoSample("dir/key")
	rec := recordOf(t, s)
	slots, err := layoutOf(&fuzzMeta)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * blockSize {
		rec[bit/8] ^= 1 << (bit % 8)
		got := formats.Sample{Key: s.Key}
		got.Resize(5)
		if err := decode(slots, rec, &got, false); !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("bit %d of byte %d: %v", bit%8, bit/8, err)
		}
		rec[bit/8] ^= 1 << (bit % 8)
	}
}

// FuzzRecord: whatever the bytes are, decode ends, in an error or in values within them,
// which are the same lent and copied.
func FuzzRecord(f *testing.F) {
	slots, err := layoutOf(&fuzzMeta)
	if err != nil {
		f.Fatal(err)
	}
	for _, key := range []string{"k", strings.Repeat("k", 200)} {
		s := stereoSample(key)
		f.Add(key, recordOf(f, s))
		s.Values[0] = formats.Value{Data: []byte("frame"), Encoding: formats.RawZstd, DType: formats.Uint8, Shape: []int{1, 2, 3}}
		s.Values[2].SetInt64(formats.NoLabel)
		f.Add(key, recordOf(f, s))
	}
	f.Fuzz(func(t *testing.T, key string, rec []byte) {
		if formats.CheckKey(key) != nil {
			return
		}
		formatcheck.LentAsCopied(t, func(s *formats.Sample, lend bool) error {
			s.Key = key
			s.Resize(5)
			return decode(slots, rec, s, lend)
		})
	})
}

func TestLongNamesAreWhole(t *testing.T) {
	key := strings.Repeat("0123456789", 51)
	s := stereoSample(key)
	slots, _ := layoutOf(&fuzzMeta)
	got := formats.Sample{Key: key}
	got.Resize(5)
	if err := decode(slots, recordOf(t, s), &got, false); err != nil || !reflect.DeepEqual(got.Values[4].Data, s.Values[4].Data) {
		t.Fatalf("%v, %+v", err, got.Values[4])
	}
	got.Key = key[:509] + "x"
	if err := decode(slots, recordOf(t, s), &got, false); !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("the record of another key: %v", err)
	}
}
