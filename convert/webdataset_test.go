package convert

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// sorted is a source whose samples are sorted by class, as from class folders.
type sorted struct {
	*memory
	classes int
}

func (s sorted) Info(i int) (formats.Info, error) {
	in, err := s.memory.Info(i)
	in.Label = int64(i * s.classes / s.n)
	return in, err
}

func (s sorted) Read(i int, smp *formats.Sample) error {
	err := s.memory.Read(i, smp)
	smp.Values[1].SetInt64(int64(i * s.classes / s.n))
	return err
}

// WebDataset shuffles within a buffer only. Over our shards of a class-sorted folder its
// batches are nearly as mixed as random draws from all samples; over shards in key order they have
// few classes.
func TestWebDatasetBatchesAreMixed(t *testing.T) {
	formatcheck.Python(t, "import webdataset")
	// The figure is the mean distance (total variation) between a batch's classes and the
	// uniform mix; for 64 independent draws from ten classes it is about 0.14.
	const script = `
import json, random, sys
import webdataset as wds
random.seed(1)
data = wds.WebDataset(sys.argv[1], shardshuffle=False).shuffle(1000, initial=1000, rng=random.Random(1))
labels = [int(s["cls"]) for s in data]
batches = [labels[i:i + 64] for i in range(0, len(labels) - 63, 64)]
distance = lambda b: sum(abs(b.count(c) / len(b) - 0.1) for c in range(10)) / 2
json.dump([len(labels), sum(map(distance, batches)) / len(batches)], sys.stdout)
`
	src := sorted{newMemory(t, 5000, 0), 10}
	src.meta.Schema[1].Classes = nil // classes are numbers
	distance := func(order Order) float64 {
		path := filepath.Join(t.TempDir(), "x-%d.tar")
		if _, err := plan(t, src, shard.Format{}, path, Options{Order: order, Shards: Sharding{Count: 4}}).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		out := formatcheck.Python(t, script, filepath.Join(filepath.Dir(path), "x-{0..3}.tar"))
		var got [2]float64
		if err := json.Unmarshal([]byte(out), &got); err != nil || got[0] != 5000 {
			t.Fatalf("%s: %v", out, err)
		}
		return got[1]
	}
	ours, byKey := distance(""), distance(KeyOrder)
	t.Logf("distance from the uniform mix: %.3f as packed, %.3f in key order", ours, byKey)
	if ours > 0.17 || byKey < 2*ours {
		t.Errorf("distance from the uniform mix: %.3f as packed, %.3f in key order", ours, byKey)
	}
}
