package atrest

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// onDisk maps a file of that many pages that is not in the page cache.
func onDisk(t *testing.T, pages int) *Mapping {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, bytes.Repeat([]byte{7}, pages*int(pageSize)), 0o644); err != nil {
		t.Fatal(err)
	}
	dropFile(t, path)
	m, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	if m.resident(0) || m.resident(int64(pages-1)*pageSize) {
		t.Skip("the file stays in memory here")
	}
	return m
}

func TestPrefetchBringsThePlacesAlone(t *testing.T) {
	m := onDisk(t, 1024)
	empty := &Mapping{}
	Prefetch([]*Mapping{empty, m}, []Location{
		{Shard: 1, Offset: 700 * pageSize, Length: 100}, // a single page
		{Shard: 1, Offset: 100*pageSize + 5, Length: 200 * pageSize},
		{Shard: 1, Offset: 200 * pageSize, Length: 101 * pageSize}, // overlaps
		{Shard: 0, Offset: 0, Length: 1},
		{Shard: 2, Length: 1},
		{Shard: -1, Length: 1},
		{Shard: 1, Offset: 1024 * pageSize, Length: 1},
		{Shard: 1, Offset: -1, Length: 9},
		{Shard: 1, Offset: 900 * pageSize, Length: math.MaxInt64},
		{Shard: 1, Offset: 500 * pageSize},
	})
	for _, page := range []int64{100, 131, 132, 200, 299, 300, 700} {
		for end := time.Now().Add(5 * time.Minute); !m.resident(page * pageSize); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("page %d was not brought", page)
			}
		}
	}
	for _, page := range []int64{0, 50, 400, 500, 900, 1023} {
		if m.resident(page * pageSize) {
			t.Errorf("page %d was brought too", page)
		}
	}
}

// Where the system does not tell what is in memory, all is asked for.
func TestPrefetchWithoutBeingTold(t *testing.T) {
	m := onDisk(t, 64)
	m.residencyKnown = false
	Prefetch([]*Mapping{m}, []Location{{Offset: 3 * pageSize, Length: pageSize}})
	m.residencyKnown = true
	for end := time.Now().Add(5 * time.Minute); !m.resident(3 * pageSize); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the page was not brought")
		}
	}
}

func TestOffset(t *testing.T) {
	m := onDisk(t, 2)
	if got := m.Offset(m.Data[77:80:80]); got != 77 {
		t.Errorf("%d instead of 77", got)
	}
}
