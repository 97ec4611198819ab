//go:build cgo

package hdf5

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// bigMeta and bigSample are a dataset whose images take several blocks of checksums, with
// extra fields of both layouts and with names of our own.
var bigMeta = formats.Meta{Version: formats.Version, Format: "hdf5", Schema: formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "label", Kind: formats.Label, Classes: []string{"a", "b"}},
	{Name: "bytes", Kind: formats.Mask},
	{Name: "keys", Kind: formats.Array},
	{Name: "keys_", Kind: formats.Text},
}}

func bigSample(i int) *formats.Sample {
	r := rand.New(rand.NewPCG(uint64(i), 5))
	data := make([]byte, 100+r.IntN(30_000))
	for k := range data {
		data[k] = byte(r.Uint32())
	}
	s := &formats.Sample{Key: fmt.Sprintf("%06d", i), Values: []formats.Value{
		{Data: data, Encoding: formats.JPEG, Shape: []int{10, 20, 3}},
		{},
		{Data: make([]byte, (1+i%9)*100), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{1 + i%9, 100, 1}},
		{Data: data[:12], Encoding: formats.Raw, DType: formats.Float32, Shape: []int{3, 1}},
		{Data: data[:i%5], Encoding: formats.Plain},
	}}
	s.Values[1].SetInt64(int64(i % 2))
	s.Checksum = checksum.SampleChecksum(bigMeta.Schema, s)
	return s
}

var big = formatcheck.Pack{Format: Format{}, Meta: bigMeta, Sample: bigSample, Count: 400, Every: 60}

// sameFile wants two files with the same bytes and nothing beside them.
func sameFile(t *testing.T, got, want string) {
	t.Helper()
	formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(got)), formatcheck.Tree(t, filepath.Dir(want)))
}

// write makes a dataset of the samples.
func write(t *testing.T, m formats.Meta, samples ...*formats.Sample) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.h5")
	w, err := Format{}.Create(path, m, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

func bigSamples(n int) []*formats.Sample {
	samples := make([]*formats.Sample, n)
	for i := range samples {
		samples[i] = bigSample(i)
	}
	return samples
}

// TestImagesAreWrittenOnce: the file with the images becomes the dataset; only a few bytes
// of images are copied.
func TestImagesAreWrittenOnce(t *testing.T) {
	for n, inPlace := range map[int]bool{1: false, 100: true} {
		path := write(t, bigMeta, bigSamples(n)...)
		d, err := open(path, false)
		if err != nil {
			t.Fatal(err)
		}
		if (d.imagesAt == headSize) != inPlace {
			t.Errorf("%d images start at byte %d", n, d.imagesAt)
		}
		if at := d.in.extents.find(indexName).offset; at%indexAlign != 0 {
			t.Errorf("with %d images the index starts at byte %d", n, at)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledInCommit resumes after a Commit that stopped after each of its steps.
func TestKilledInCommit(t *testing.T) {
	want := filepath.Join(t.TempDir(), "x.h5")
	if err := big.Run(want, io.Discard); err != nil {
		t.Fatal(err)
	}
	for name, last := range map[string]func(t *testing.T, w *writer){
		"skeleton": func(t *testing.T, w *writer) { steps(t, w, false) },
		"finished": func(t *testing.T, w *writer) { steps(t, w, true) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.h5")
			w, err := Format{}.Create(path, bigMeta, formats.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := big.Write(w, 0, 250, nil); err != nil {
				t.Fatal(err)
			}
			last(t, w.(*writer))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := big.Run(path, io.Discard); err != nil {
				t.Fatal(err)
			}
			sameFile(t, path, want)
		})
	}
}

func steps(t *testing.T, w *writer, all bool) {
	t.Helper()
	sums := w.files[0].Checksums()
	for _, f := range w.files {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := w.content()
	if err != nil {
		t.Fatal(err)
	}
	if !all {
		if _, _, err := buildSkeleton(w.Path(skeletonFile), c); err != nil {
			t.Fatal(err)
		}
		return
	}
	target, err := w.build(c, sums)
	if err == nil {
		err = w.verify(target)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoTimeStamps: HDF5 counts in seconds.
func TestNoTimeStamps(t *testing.T) {
	a := write(t, bigMeta, bigSamples(50)...)
	time.Sleep(1100 * time.Millisecond)
	sameFile(t, write(t, bigMeta, bigSamples(50)...), a)
}

// TestEveryByteIsCovered flips a bit of each byte at both ends of the file, where all but
// images lies, and of each hundredth between.
func TestEveryByteIsCovered(t *testing.T) {
	path := write(t, bigMeta, bigSamples(20)...)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(content); at++ {
		if at > 300 && at < len(content)-400 && at%307 != 0 {
			continue
		}
		broken := bytes.Clone(content)
		broken[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := Format{}.Open(path)
		if err != nil {
			continue
		}
		found := false
		err = d.(formats.Checker).Check(context.Background(), formats.Portion{}, 2, func(formats.Damage) { found = true })
		if err == nil && !found {
			t.Errorf("a flipped bit in byte %d of %d is not found", at, len(content))
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedImage: a flipped bit in an image, beside HDF5's header here, costs that sample.
func TestDamagedImage(t *testing.T) {
	path := write(t, bigMeta, bigSamples(100)...)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[headSize+10] ^= 1
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Format{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var s formats.Sample
	for i := range d.Len() {
		if err := d.Read(i, &s); errors.Is(err, formats.ErrDamaged) != (i == 0) {
			t.Errorf("sample %d: %v", i, err)
		}
	}
	var found []formats.Damage
	if err := d.(formats.Checker).Check(context.Background(), formats.Portion{}, 2, func(d formats.Damage) { found = append(found, d) }); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Offset != 0 || found[0].Length != checksum.BlockSize {
		t.Errorf("Check reports %+v", found)
	}
}

// TestCompare: the library contradicts places that are wrong.
func TestCompare(t *testing.T) {
	path := write(t, bigMeta, bigSamples(3)...)
	d, err := open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := compareWithLibrary(path, d.in.extents); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(p *extent){
		"offset": func(p *extent) { p.offset++ }, "name": func(p *extent) { p.name += "x" },
		"type": func(p *extent) { p.dtype = formats.Float32 }, "shape": func(p *extent) { p.dims = []int{1, 2} },
	} {
		p := slices.Clone(d.in.extents)
		spoil(&p[1])
		if err := compareWithLibrary(path, p); err == nil || !strings.Contains(err.Error(), p[1].name) {
			t.Errorf("another %s: %v", what, err)
		}
	}
}

func TestRenamedFileChecks(t *testing.T) {
	path := write(t, bigMeta, bigSamples(3)...)
	moved := filepath.Join(t.TempDir(), "other name.hdf5")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	d, err := Format{}.Open(moved)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.(formats.Checker).Check(context.Background(), formats.Portion{}, 1, func(d formats.Damage) { t.Errorf("%+v", d) }); err != nil {
		t.Fatal(err)
	}
}

// TestErrorsCarryTheLibrarysText: HDF5's own words are in the error.
func TestErrorsCarryTheLibrarysText(t *testing.T) {
	c := &content{images: new(summary).hole(imagesName, bytesName, "", headSize)}
	_, _, err := buildSkeleton(filepath.Join(t.TempDir(), "none", "x.h5"), c)
	if err == nil || !strings.Contains(err.Error(), "No such file or directory") || !strings.Contains(err.Error(), "H5") {
		t.Errorf("got %v", err)
	}
}

func TestFieldNames(t *testing.T) {
	got, err := json.Marshal(fieldNames(bigMeta.Schema))
	if want := `{"2":"bytes_","3":"keys__","4":"keys_"}`; err != nil || string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	d, err := open(write(t, bigMeta, bigSamples(3)...), false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var s formats.Sample
	if err := d.Read(2, &s); err != nil || string(s.Values[4].Data) != string(bigSample(2).Values[4].Data) {
		t.Errorf("read %q, %v", s.Values[4].Data, err)
	}
}

func TestRefusesZstdOfUnknownType(t *testing.T) {
	w, err := Format{}.Create(filepath.Join(t.TempDir(), "x.h5"), bigMeta, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := bigSample(0)
	s.Values[0] = formats.Value{Data: []byte("no frame"), Encoding: formats.RawZstd, DType: formats.Uint8, Shape: []int{1, 1, 3}}
	if err := w.Write(s); !errors.Is(err, formats.ErrSchema) {
		t.Errorf("got %v, want ErrSchema", err)
	}
}

func FuzzIndex(f *testing.F) {
	v := &bigSample(1).Values[2]
	f.Add(appendEntry(nil, newEntry(int64(len(v.Data)), v.Encoding, v.DType, v.Shape)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		err := readEntries(bytes.NewReader(b), func(e entry) error {
			again = appendEntry(again, e)
			return nil
		})
		if err == nil && len(again) > len(b) {
			t.Errorf("%d bytes of entries from %d", len(again), len(b))
		}
	})
}
