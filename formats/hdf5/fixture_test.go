package hdf5

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// fixture is a small file with extra fields of both layouts. It is in the repository because
// builds without cgo cannot write one; go test -update writes it again.
const fixture = "testdata/small.h5"

var update = flag.Bool("update", false, "write "+fixture+" again")

const fixtureCount = 6

var fixtureMeta = formats.Meta{Version: formats.Version, Format: "hdf5", Schema: formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}},
	{Name: "mask", Kind: formats.Mask},
	{Name: "pose", Kind: formats.Array},
	{Name: "caption", Kind: formats.Text},
	{Name: "boxes", Kind: formats.Boxes},
}}

func fixtureSample(i int) *formats.Sample {
	r := rand.New(rand.NewPCG(uint64(i), 9))
	data := make([]byte, 20+r.IntN(60))
	for k := range data {
		data[k] = byte(r.Uint32())
	}
	copy(data, "\xff\xd8\xff")
	s := &formats.Sample{Key: fmt.Sprintf("c/%03d", i), Values: []formats.Value{
		{Data: data, Encoding: formats.JPEG, Shape: []int{1, 2, 3}},
		{},
		{Data: data[:2*(i%3)], Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{1, i % 3, 1}},
		{Data: data[:12], Encoding: formats.Raw, DType: formats.Float32, Shape: []int{3, 1}},
		{Data: fmt.Appendf(nil, "caption %d", i), Encoding: formats.Plain},
		{Encoding: formats.Raw, DType: formats.Float32, Shape: []int{0, 4}},
	}}
	s.Values[1].SetInt64(int64(i % 2))
	s.Checksum = checksum.SampleChecksum(fixtureMeta.Schema, s)
	return s
}

// loadBytes is open of a file's content, which need not lie in one.
func loadBytes(content []byte, salvage bool) (*dataset, error) {
	d := &dataset{mapping: &mapped.Mapping{Data: content}}
	d.Path, d.Lend = "x.h5", d.lend
	return d, d.load(salvage)
}

func readFixture(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wrong tells how what was read differs from sample i of the fixture.
func wrong(got *formats.Sample, i int) string {
	want := fixtureSample(i)
	if got.Key != want.Key {
		return fmt.Sprintf("the key %q", got.Key)
	}
	for k := range want.Values {
		g, w := got.Values[k], want.Values[k]
		if string(g.Data) != string(w.Data) || g.Encoding != w.Encoding || g.DType != w.DType || len(g.Shape)+len(w.Shape) > 0 && !reflect.DeepEqual(g.Shape, w.Shape) {
			return fmt.Sprintf("field %d: %+v, want %+v", k, g, w)
		}
	}
	return ""
}

// readAll reads all samples and gives how many came without an error; those must be right.
func readAll(t *testing.T, d *dataset) int {
	t.Helper()
	sound := 0
	var s formats.Sample
	for i := range d.Len() {
		if d.Read(i, &s) != nil {
			continue
		}
		sound++
		if w := wrong(&s, i); w != "" {
			t.Errorf("sample %d: %s", i, w)
		}
	}
	return sound
}

func TestFixture(t *testing.T) {
	ds, err := Format{}.Open(fixture)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	if n := readAll(t, ds.(*dataset)); n != fixtureCount || ds.Len() != n {
		t.Errorf("%d of %d samples, want %d", n, ds.Len(), fixtureCount)
	}
}
