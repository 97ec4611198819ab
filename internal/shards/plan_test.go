package shards

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// Anybody can compute the ID of a plan, so that its counts are checked too.
func TestCountsOfPlan(t *testing.T) {
	good := func() *Plan {
		return &Plan{Version: version, Shards: 3, Datasets: []Dataset{{Samples: 5, Shards: 2}, {Samples: 1, Shards: 1}}, Listing: []Part{{Samples: 2}, {Samples: 3}, {Samples: 1}}}
	}
	for name, change := range map[string]func(p *Plan){
		"":                        func(*Plan) {},
		"many samples":            func(p *Plan) { p.Listing[0].Samples, p.Datasets[0].Samples = 1<<40, 1<<40+3 },
		"fewer samples than none": func(p *Plan) { p.Listing[0].Samples, p.Datasets[0].Samples = -1, 2 },
		"other samples":           func(p *Plan) { p.Datasets[0].Samples = 6 },
		"fewer shards than none":  func(p *Plan) { p.Datasets[0].Shards, p.Datasets[1].Shards = -1, 4 },
		"a dataset of no shard":   func(p *Plan) { p.Datasets[0], p.Datasets[1].Shards, p.Datasets[1].Samples = Dataset{}, 3, 6 },
		"an overflow":             func(p *Plan) { p.Datasets[0].Shards, p.Datasets[1].Shards = math.MaxInt, math.MinInt+4 },
		"more parts":              func(p *Plan) { p.Listing = append(p.Listing, Part{}) },
		"fewer parts":             func(p *Plan) { p.Shards, p.Datasets[1].Shards = 1<<40, 1<<40-2 },
		"nothing":                 func(p *Plan) { p.Shards, p.Datasets, p.Listing = 0, nil, nil },
	} {
		p := good()
		change(p)
		var err error
		if p.ID, err = p.id(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "plan.json")
		if err := durable.WriteJSON(file, p); err != nil {
			t.Fatal(err)
		}
		if _, err = Read(file); (name == "") != (err == nil) || err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A listing whose bytes do not have the samples that the plan claims ends with an error, and in bounded memory.
func TestSamplesOfListing(t *testing.T) {
	line := `{"key":"a","path":"a.jpg"}` + "\n"
	for name, c := range map[string]struct {
		lines, samples int
		ok             bool
	}{
		"whole": {3, 3, true}, "more": {4, 3, false}, "fewer": {3, math.MaxInt32, false}, "a bomb": {6_000_000, 6_000_000, false},
	} {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z.Reset(&packed)
		for left := c.lines; left > 0; left -= 1000 {
			if _, err := z.Write([]byte(strings.Repeat(line, min(left, 1000)))); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		p := &Plan{file: filepath.Join(t.TempDir(), "plan.json")}
		p.Listing = []Part{{Samples: c.samples, End: int64(packed.Len()), Hash: fmt.Sprintf("%016x", xxh3.Hash(packed.Bytes()))}}
		if err := os.WriteFile(p.listingFile(), packed.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		err = p.eachRow(0, func(*row) error { n++; return nil })
		if (err == nil) != c.ok || err != nil && !errors.Is(err, formats.ErrDamaged) || n > 1_000_000 {
			t.Errorf("%s: %d rows, %v", name, n, err)
		}
	}
}
