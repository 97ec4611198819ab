package convert

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// Options of a Plan. The zero value passes bytes through in the format's usual order.
type Options struct {
	Recipe preprocess.Recipe
	Split  Split
	Order  Order
	Shards Sharding
	Create formats.CreateOptions
	// Take chooses samples by their source's path; Limit takes the first by key, 0 all.
	Take  formats.Patterns
	Limit int
	// Checkpoint is about how many bytes are written between two checkpoints; 0 is 256 MiB,
	// and at least 64 samples.
	Checkpoint int64
	// Discard drops an unfinished dataset at the plan's path instead of going on with it.
	Discard bool
	// KeepOld keeps the dataset that is replaced: see formats.OldKeeper.
	KeepOld bool
	// Workers process, IOWorkers read; 0 chooses by the number of cores.
	Workers, IOWorkers int
	// Fail ends the run at the first bad image instead of skipping it.
	Fail bool
	// Quarantine is a folder to which bad images are copied, under their relative paths; ""
	// for none.
	Quarantine string
	// Progress, if not nil, is called from time to time, and once at the end, by the
	// goroutine that commits.
	Progress func(Progress)
}

// Sharding bounds the files of a sharded format. They are planned by the number of
// samples, so that they never depend on what is skipped or on timing.
type Sharding struct {
	Size  int64 // bytes a file should have, by the size of the source; 0 is DefaultShardSize
	Count int   // exactly this many files, if not 0
	Min   int   // at least this many files
}

// DefaultShardSize is the size that a shard should have.
const DefaultShardSize = 1e9

// Order is the order of samples in formats that can be read in order only.
type Order struct {
	Set     bool // false leaves it to the format
	Shuffle bool
	Seed    uint64
}

// ParseOrder reads key, shuffle or shuffle:SEED.
func ParseOrder(s string) (Order, error) {
	name, seed, has := strings.Cut(s, ":")
	switch {
	case s == "":
		return Order{}, nil
	case s == "key":
		return Order{Set: true}, nil
	case s == "shuffle":
		return Order{Set: true, Shuffle: true}, nil
	case name == "shuffle" && has:
		if n, err := strconv.ParseUint(seed, 10, 64); err == nil {
			return Order{Set: true, Shuffle: true, Seed: n}, nil
		}
	}
	return Order{}, fmt.Errorf("order %q: choose key or shuffle:SEED", s)
}

// Arrange puts indices in key order into the order of writing of a format that can be read
// in order only.
func (o Order) Arrange(order []int32) {
	if o.Set && !o.Shuffle {
		return
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x6473636f6e76)) // an order, not a secret
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}

// String is what ParseOrder reads.
func (o Order) String() string {
	if o.Shuffle {
		return fmt.Sprintf("shuffle:%d", o.Seed)
	}
	return "key"
}

// ParseSize reads a number of bytes: 500MB, 1GB (powers of ten), 1GiB (powers of two).
func ParseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		bytes  float64
	}{
		{"KiB", 1 << 10},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"TiB", 1 << 40},
		{"KB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"TB", 1e12},
		{"B", 1},
		{"", 1},
	}
	for _, u := range units {
		if digits, ok := strings.CutSuffix(s, u.suffix); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
			if err != nil || !(n*u.bytes >= 1 && n*u.bytes < 1<<62) {
				break
			}
			return int64(n * u.bytes), nil
		}
	}
	return 0, fmt.Errorf("size %q: write it as 500MB, 1GB or 1GiB", s)
}
