package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

func rowOf(i int) *Row {
	return &Row{
		Info: formats.Info{
			Key: fmt.Sprintf("class %d/ключ\n%07d", i%7, (i*7919)%1000003), Split: []string{"train", "val", ""}[i%3], Label: int64(i%7) - 1,
			Size: int64(i * 3), Encoding: []formats.Encoding{formats.JPEG, formats.PNG}[i%2], Shape: [3]int{i, 2 * i, 3},
			Checksum: [16]byte{byte(i), 1}, Columns: []string{fmt.Sprint(i), ""},
			Source: formats.Source{Path: fmt.Sprintf("p%d.jpg", i), Size: int64(i), ModTime: -int64(i), Hash: [16]byte{15: byte(i)}},
		},
		Location: Location{Shard: i % 5, Offset: int64(i) << 33, Length: int64(i)},
	}
}

func tableOf(t testing.TB, n int) *Manifest {
	t.Helper()
	tab := NewManifest([]string{"a", "label"})
	for i := range n {
		if err := tab.Append(rowOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func encodeTable(t testing.TB, tab *Manifest) ([]byte, []int32) {
	t.Helper()
	ranks, err := tab.KeyOrder()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tab.WriteParquet(&b, ranks); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), ranks
}

func TestManifestGivesBackEveryRowInRankOrder(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 3*manifestBatch + 1, manifestRowGroup + 5} {
		tab := tableOf(t, n)
		b, ranks := encodeTable(t, tab)
		if again, _ := encodeTable(t, tab); !bytes.Equal(b, again) {
			t.Fatal("two runs differ")
		}
		start := time.Now()
		got, err := readManifest(b, tab.Columns)
		if err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		t.Logf("%d rows: %d bytes, read in %v", n, len(b), time.Since(start))
		if got.Len() != n {
			t.Fatalf("%d rows of %d", got.Len(), n)
		}
		for r, i := range ranks {
			in, err := got.Info(r)
			if err != nil {
				t.Fatal(err)
			}
			want := rowOf(int(i))
			if !reflect.DeepEqual(want.Info, in) || got.Location(r) != want.Location {
				t.Fatalf("rank %d: %s %v", r, cmp.Diff(want.Info, in), got.Location(r))
			}
			if r > 0 && got.Key(r-1) >= got.Key(r) {
				t.Fatalf("keys not in order at %d", r)
			}
		}
	}
}

func TestEqualKeysAreRefused(t *testing.T) {
	tab := NewManifest(nil)
	for range 2 {
		if err := tab.Append(&Row{Info: formats.Info{Key: "a"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tab.KeyOrder(); err == nil {
		t.Fatal("two equal keys were accepted")
	}
}

// BenchmarkOpenMillionRows is what opening a dataset of a million samples takes.
func BenchmarkOpenMillionRows(b *testing.B) {
	tab := NewManifest(nil)
	for i := range 1_000_000 {
		r := rowOf(i)
		r.Key, r.Columns = fmt.Sprintf("train/n%08d/n%08d_%d", i/1300, i/1300, i), nil
		r.Checksum = checksum.Hash([]byte(r.Key))
		if err := tab.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	file, _ := encodeTable(b, tab)
	m := &formats.Meta{Count: tab.Len()}
	for b.Loop() {
		if _, err := NewDescription(m, file); err != nil {
			b.Fatal(err)
		}
	}
	sorted, err := readManifest(file, nil)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := errors.Join(sorted.checkKeys(), sorted.CheckLocations([]int64{1 << 60, 1 << 60, 1 << 60, 1 << 60, 1 << 60})); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms-checks")
}
