package sharded

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// onDisk maps a file of that many pages that is not in the page cache.
func onDisk(t *testing.T, pages int) *mapped.Mapping {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, bytes.Repeat([]byte{7}, pages*int(mapped.PageSize)), 0o644); err != nil {
		t.Fatal(err)
	}
	dropFile(t, path)
	m, err := mapped.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	if m.Resident(0) || m.Resident(int64(pages-1)*mapped.PageSize) {
		t.Skip("the file stays in memory here")
	}
	return m
}

func TestPrefetchBringsThePlacesAlone(t *testing.T) {
	m := onDisk(t, 1024)
	empty := &mapped.Mapping{}
	Prefetch([]*mapped.Mapping{empty, m}, []sampleindex.Location{
		{Shard: 1, Offset: 700 * mapped.PageSize, Length: 100}, // a single page
		{Shard: 1, Offset: 100*mapped.PageSize + 5, Length: 200 * mapped.PageSize},
		{Shard: 1, Offset: 200 * mapped.PageSize, Length: 101 * mapped.PageSize}, // overlaps
		{Shard: 0, Offset: 0, Length: 1},
		{Shard: 2, Length: 1},
		{Shard: -1, Length: 1},
		{Shard: 1, Offset: 1024 * mapped.PageSize, Length: 1},
		{Shard: 1, Offset: -1, Length: 9},
		{Shard: 1, Offset: 900 * mapped.PageSize, Length: math.MaxInt64},
		{Shard: 1, Offset: 500 * mapped.PageSize},
	})
	for _, page := range []int64{100, 131, 132, 200, 299, 300, 700} {
		for end := time.Now().Add(5 * time.Minute); !m.Resident(page * mapped.PageSize); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("page %d was not brought", page)
			}
		}
	}
	for _, page := range []int64{0, 50, 400, 500, 900, 1023} {
		if m.Resident(page * mapped.PageSize) {
			t.Errorf("page %d was brought too", page)
		}
	}
}

// Where the system does not tell what is in memory, all is asked for.
func TestPrefetchWithoutBeingTold(t *testing.T) {
	m := onDisk(t, 64)
	m.ResidencyKnown = false
	Prefetch([]*mapped.Mapping{m}, []sampleindex.Location{{Offset: 3 * mapped.PageSize, Length: mapped.PageSize}})
	m.ResidencyKnown = true
	for end := time.Now().Add(5 * time.Minute); !m.Resident(3 * mapped.PageSize); time.Sleep(time.Millisecond) {
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
