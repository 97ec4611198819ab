package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// BenchmarkVerify compares verify of a dataset in the page cache with memcpy on as many
// goroutines as there are cores, turn by turn in one run, and gives the medians in GB/s
// and their ratio. DSCONV_VERIFY_BYTES is the dataset's size, 256 MB if it is not set:
//
//	DSCONV_VERIFY_BYTES=2000000000 go test -run '^$' -bench Verify -benchtime 1x ./cmd/dsconv
func BenchmarkVerify(b *testing.B) {
	size := 256 << 20
	if s := os.Getenv("DSCONV_VERIFY_BYTES"); s != "" {
		var err error
		if size, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	from, to := make([]byte, size), make([]byte, size)
	fillRandom(from)
	copy(to, from)
	for _, name := range outputsOf() {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), name)
			writeRandom(b, path, from)
			var copied, verified []float64
			for range 7 * b.N {
				start := time.Now()
				copyParallel(to, from)
				copied = append(copied, rate(size, start))
				start = time.Now()
				if code := run(context.Background(), []string{"dsconv", "verify", path}, &console{out: io.Discard, err: os.Stderr}); code != exitDone {
					b.Fatalf("exit code %d", code)
				}
				verified = append(verified, rate(size, start))
			}
			b.ReportMetric(median(copied), "GB/s-memcpy")
			b.ReportMetric(median(verified), "GB/s-verify")
			b.ReportMetric(median(verified)/median(copied), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func rate(n int, start time.Time) float64 { return float64(n) / time.Since(start).Seconds() / 1e9 }

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func fillRandom(b []byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, r.Uint64())
	}
}

// copyParallel is memcpy on all cores.
func copyParallel(to, from []byte) {
	var wg sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for k := range n {
		i, j := len(from)*k/n, len(from)*(k+1)/n
		wg.Go(func() { copy(to[i:j], from[i:j]) })
	}
	wg.Wait()
}

// writeRandom writes a dataset of images of 110 kB, as ImageNet's, that are cut from content.
func writeRandom(b *testing.B, path string, content []byte) {
	b.Helper()
	const each = 110_000
	f, err := dsconv.Formats().ByPath(path)
	if err != nil {
		b.Fatal(err)
	}
	schema := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}
	meta := formats.Meta{Version: formats.Version, Format: f.Name(), Schema: schema}
	w, err := f.(formats.WritableFormat).Create(path, meta, formats.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	s := formats.Sample{Values: make([]formats.Value, 2)}
	s.Values[1].SetInt64(0)
	for i := range len(content) / each {
		s.Key = fmt.Sprintf("k%08d", i)
		s.Values[0] = formats.Value{Data: content[i*each : (i+1)*each], Encoding: formats.JPEG}
		s.Checksum = checksum.SampleChecksum(schema, &s)
		if err := w.Write(&s); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
}
