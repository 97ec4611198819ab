package lmdb

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// fixture is a small dataset whose trees have branches, leaves and overflow pages. It is in
// the repository because builds without cgo cannot write one; go test -update writes it again.
const fixture = "testdata/small.lmdb"

var update = flag.Bool("update", false, "write "+fixture+" again")

const fixtureCount = 24

var fixtureMeta = formats.Meta{Version: formats.Version, Format: "lmdb", Schema: formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}},
	{Name: "mask", Kind: formats.Mask},
	{Name: "caption", Kind: formats.Text},
}}

// fixtureSample is sample i; keys grow up to the longest, images past two pages.
func fixtureSample(i int) *formats.Sample {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	data := make([]byte, 10+r.IntN(60))
	if i%9 == 5 {
		data = make([]byte, 2000+i*180)
	}
	for k := range data {
		data[k] = byte(r.Uint32())
	}
	copy(data, "\xff\xd8\xff")
	s := &formats.Sample{Key: fmt.Sprintf("%03d", i), Values: []formats.Value{
		{Data: data, Encoding: formats.JPEG, DType: formats.Uint8, Shape: []int{1, 2, 3}},
		{},
		{Data: data[:1+i%5], Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{1, 1 + i%5, 1}},
		{Data: fmt.Appendf(nil, "caption %d", i), Encoding: formats.Plain},
	}}
	s.Key += strings.Repeat("x", (formats.MaxKey-3)*i/(fixtureCount-1))
	s.Values[1].SetInt64(int64(i % 2))
	s.Checksum = checksum.SampleChecksum(fixtureMeta.Schema, s)
	return s
}

func fixtureSamples() []*formats.Sample {
	samples := make([]*formats.Sample, fixtureCount)
	for i := range samples {
		samples[i] = fixtureSample(i)
	}
	return samples
}

func fixtureFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixture, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// copyFixture is a copy of the fixture to be damaged. It has no index, and nor has the cache.
func copyFixture(t testing.TB) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "x.lmdb")
	if err := os.CopyFS(path, os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	return path
}

// inMemory is the fixture with these data files.
func inMemory(t testing.TB, images, fields []byte) *dataset {
	t.Helper()
	ds, err := Format{}.Salvage(copyFixture(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ds.Close() })
	d := ds.(*dataset)
	d.images, _ = newEnvironment(dataName, images, nil)
	d.fields, _ = newEnvironment("fields", fields, fieldNames(fixtureMeta.Schema, d.extra))
	return d
}

func newEnvironment(name string, data []byte, databases []string) (*lmdbfile.Environment, error) {
	e := &lmdbfile.Environment{Name: name, Mapping: &mapped.Mapping{Data: data}}
	return e, e.Open(data, databases)
}

func equal(a, b *formats.Sample) bool {
	for k := range a.Values {
		v, w := &a.Values[k], &b.Values[k]
		if !bytes.Equal(v.Data, w.Data) || v.Encoding != w.Encoding || !slices.Equal(v.Shape, w.Shape) && len(v.Shape) > 0 {
			return false
		}
	}
	return a.Key == b.Key && a.Checksum == b.Checksum
}

func TestFixture(t *testing.T) {
	ds, err := Format{}.Open(copyFixture(t))
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	if ds.Len() != fixtureCount {
		t.Fatalf("%d samples", ds.Len())
	}
	var read, view formats.Sample
	for i, want := range fixtureSamples() {
		if err := ds.Read(i, &read); err != nil || !equal(&read, want) {
			t.Errorf("read sample %d: %v", i, err)
		}
		if err := ds.(formats.Viewer).View(i, &view); err != nil || !equal(&view, want) {
			t.Errorf("view sample %d: %v", i, err)
		}
	}
}
