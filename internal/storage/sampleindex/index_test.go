package sampleindex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// write writes an index of the rows, which are in key order, and returns its bytes.
func write(t testing.TB, rows []Row, columns []string, fields int) []byte {
	t.Helper()
	p := NewProfile(columns, fields)
	for i := range rows {
		p.Add(&rows[i])
	}
	path := filepath.Join(t.TempDir(), "index")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := NewWriter(f, p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := w.Append(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(ID{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t testing.TB, b []byte) *Index {
	t.Helper()
	x, err := Open(b, "index")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// someRows returns n rows whose numbers have the widths that r draws.
func someRows(r *rand.Rand, n, columns, fields int) []Row {
	var rows []Row
	number := func() func() int64 {
		base, mask := int64(0), uint64(1)<<(8*r.IntN(8))-1
		if r.IntN(3) == 0 {
			base = -r.Int64N(1 << 40)
		}
		return func() int64 { return base + int64(r.Uint64()&mask) }
	}
	label, size, offset, length, mod, source := number(), number(), number(), number(), number(), number()
	sums, splits, encodings := r.IntN(4), 1+r.IntN(70), 1+r.IntN(3)
	for i := range n {
		key := fmt.Sprintf("class%d/%05d", i/7, i)
		row := Row{Info: formats.Info{
			Key: key, Split: fmt.Sprint("s", r.IntN(splits)), Label: label(), Size: size(), Encoding: formats.ImageEncodings[r.IntN(encodings)],
			Shape: [3]int{r.IntN(3000), r.IntN(1 << r.IntN(30)), 3},
		}}
		row.Location = Location{Shard: r.IntN(1 << r.IntN(20)), Offset: offset(), Length: length()}
		row.Source = formats.Source{Path: key + []string{".jpg", ".png", ".jpg.long-extension"}[r.IntN(3)], Size: source(), ModTime: mod()}
		if r.IntN(10) == 0 {
			row.Source.Path = strings.Repeat("x", r.IntN(5000))
		}
		if sums > 0 {
			row.Checksum[r.IntN(16)] = byte(r.Uint32())
		}
		if sums > 1 {
			row.Source.Hash = row.Checksum
		}
		if sums > 2 {
			row.Source.Hash[3]++
			row.Provenance = formats.Provenance{Edited: uint16(r.IntN(3)), Origin: uint16(r.IntN(500))}
		}
		for range columns {
			row.Columns = append(row.Columns, strings.Repeat("ü", r.IntN(20)))
		}
		for range fields {
			row.Fields = append(row.Fields, Location{Offset: offset(), Length: length()})
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.Key, b.Key) })
	return rows
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		columns := []string{"a", "b"}[:r.IntN(3)]
		fields := r.IntN(3)
		rows := someRows(r, []int{0, 1, 2, 85, 3000}[seed%5], len(columns), fields)
		x := open(t, write(t, rows, columns, fields))
		if x.Len() != len(rows) || x.ID() != (ID{1, 2, 3}) {
			t.Fatalf("seed %d: %d rows, ID %x", seed, x.Len(), x.ID())
		}
		labels, stride, err := x.Labels()
		if err != nil {
			t.Fatal(err)
		}
		members := map[string][]int32{}
		for i := range rows {
			sameRow(t, x, i, &rows[i])
			if got := le64(labels[i*stride:]); got != rows[i].Label {
				t.Fatalf("seed %d: label %d is %d, want %d", seed, i, got, rows[i].Label)
			}
			members[rows[i].Split] = append(members[rows[i].Split], int32(i))
		}
		for split, want := range members {
			got, all, ok, err := x.Members(split)
			if err != nil || ok != (len(members) <= maxMembers) || all != (len(members) == 1) || ok && !all && !slices.Equal(got, want) {
				t.Fatalf("seed %d: split %s: %v %v %v, want %v: %v", seed, split, got, all, ok, want, err)
			}
		}
		for _, key := range []string{"", "a", "zzz", "class1/00010x"} {
			if _, ok, err := x.Find(key); ok || err != nil {
				t.Fatalf("seed %d: found %q: %v", seed, key, err)
			}
		}
	}
}

func le64(b []byte) (x int64) {
	for k := range 8 {
		x |= int64(b[k]) << (8 * k)
	}
	return x
}

func sameRow(t *testing.T, x *Index, i int, want *Row) {
	t.Helper()
	in, err := x.Info(i)
	if err != nil || !reflect.DeepEqual(in, want.Info) {
		t.Fatalf("row %d is %+v, want %+v: %v", i, in, want.Info, err)
	}
	e, err := x.At(i)
	if err != nil || e.Location() != want.Location {
		t.Fatalf("row %d is at %+v, want %+v: %v", i, e.Location(), want.Location, err)
	}
	for k, at := range want.Fields {
		if got := e.Field(k); got != at {
			t.Fatalf("row %d: field %d is at %+v, want %+v", i, k, got, at)
		}
	}
	var s formats.Sample
	if err := fill(x, i, &s); err != nil || s.Key != in.Key || s.Split != in.Split || s.Source != in.Source || s.Checksum != in.Checksum ||
		s.Provenance != in.Provenance || !slices.Equal(s.Columns, in.Columns) {
		t.Fatalf("row %d: filled %+v: %v", i, s, err)
	}
	if k, ok, err := x.Find(want.Key); k != i || !ok || err != nil {
		t.Fatalf("row %d: key %q found at %d %v %v", i, want.Key, k, ok, err)
	}
}

func TestEqualKeysAreRefused(t *testing.T) {
	p, rows := NewProfile(nil, 0), []Row{{Info: formats.Info{Key: "a"}}, {Info: formats.Info{Key: "a"}}}
	p.Add(&rows[0])
	p.Add(&rows[1])
	f, err := os.Create(filepath.Join(t.TempDir(), "index"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := NewWriter(f, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(&rows[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(&rows[1]); !errors.Is(err, formats.ErrKey) {
		t.Fatalf("two equal keys: %v", err)
	}
}

// fill sets s to what the index has of sample i.
func fill(x *Index, i int, s *formats.Sample) error {
	e, err := x.At(i)
	if err != nil {
		return err
	}
	return e.Fill(s)
}
