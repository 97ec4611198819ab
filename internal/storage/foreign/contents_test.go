package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// twelveFiles are compressed files: what is packed is a letter, and the content a thousand of it.
func twelveFiles(unpacked *atomic.Int64) *contents {
	s := &Source{Path: "set"}
	var files []*mapped.Mapping
	for k := range 12 {
		s.Files = append(s.Files, File{Path: fmt.Sprint("file ", k), Size: 1000, Unpack: func(r io.Reader) (io.ReadCloser, error) {
			unpacked.Add(1)
			letter, err := io.ReadAll(r)
			return io.NopCloser(bytes.NewReader(bytes.Repeat(letter, 1000))), err
		}})
		files = append(files, &mapped.Mapping{Data: []byte{'a' + byte(k)}})
	}
	return newContents(s, files)
}

// TestContentsAreKept: however many read at once, each reads its file, and no more than the limit is kept.
func TestContentsAreKept(t *testing.T) {
	var unpacked atomic.Int64
	c := twelveFiles(&unpacked)
	c.limit = 3500
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			for range 300 {
				k, off := r.IntN(12), r.Int64N(1000)
				b, err := c.slice(k, off, 1000-off)
				if err != nil || len(b) != int(1000-off) || bytes.Count(b, []byte{'a' + byte(k)}) != len(b) {
					t.Errorf("file %d: %d bytes, %v", k, len(b), err)
				}
				c.mu.Lock()
				if c.bytes > c.limit {
					t.Errorf("%d bytes are kept", c.bytes)
				}
				c.mu.Unlock()
			}
		})
	}
	all.Wait()
	before := unpacked.Load()
	for range 50 {
		for k := range 3 {
			if _, err := c.slice(k, 0, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := unpacked.Load() - before; n > 3 {
		t.Errorf("three files that are kept were decompressed %d times", n)
	}
	if _, err := c.slice(0, 999, 2); err == nil {
		t.Error("bytes behind the end are given out")
	}
	if err := c.close(); err != nil || c.bytes != 0 {
		t.Error(err)
	}
}

// TestContentsCancelled: decompressing ends with its context.
func TestContentsCancelled(t *testing.T) {
	c := twelveFiles(new(atomic.Int64))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.use(ctx, 0, func([]byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(c.kept) != 0 {
		t.Error("a part of a file is kept")
	}
}

// TestContentsClaimed: files that claim too much are refused before memory is taken.
func TestContentsClaimed(t *testing.T) {
	for want, sizes := range map[string][]int64{"": {1 << 29, 1 << 29}, "at most 1 GiB": {1<<30 + 1}, "more than 100 times": {1 << 30, 1 << 20}, "file 0": {-1}} {
		c := twelveFiles(new(atomic.Int64))
		for k, size := range sizes {
			c.source.Files[k].Size = size
		}
		c.source.Files = c.source.Files[:len(sizes)]
		if err := c.check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", sizes, err)
		}
	}
}
