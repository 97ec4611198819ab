package convert

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// Options are the options of a Plan. The zero value copies the bytes in the format's default order.
type Options struct {
	Recipe preprocess.Recipe
	Split  Split
	Order  Order
	Shards Sharding
	Create formats.CreateOptions
	// Patterns chooses samples by their source's path. Limit takes the first by key; 0 means all.
	Patterns formats.Patterns
	Limit    int
	// Checkpoint is about how many bytes are written between two checkpoints; 0 means 256 MiB,
	// and at least 64 samples.
	Checkpoint int64
	// Discard drops an unfinished dataset at the plan's path instead of resuming it.
	Discard bool
	// KeepOld keeps the replaced version of the dataset: see formats.PreviousKeeper.
	KeepOld bool
	// Workers process images, IOWorkers read them; 0 chooses by the number of cores.
	Workers, IOWorkers int
	// Fail ends the run at the first bad image instead of skipping it.
	Fail bool
	// Quarantine is a folder to which bad images are copied, under their relative paths, or "".
	Quarantine string
}

// Sharding limits the files of a sharded format. Shards are planned by the number of samples, so
// they do not depend on skipped samples or on timing.
type Sharding struct {
	Size  int64 // bytes of a file, estimated from the source; 0 means DefaultShardSize
	Count int   // exactly this many files, if not 0
	Min   int   // at least this many files
}

// DefaultShardSize is the default size of a shard in bytes.
const DefaultShardSize = 1e9

// Order is the order of samples in formats without random access.
type Order struct {
	Set     bool // false: the format's default
	Shuffle bool
	Seed    uint64
}

// ParseOrder parses key, shuffle or shuffle:SEED.
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
	return Order{}, fmt.Errorf("order %q: use key or shuffle:SEED", s)
}

// Arrange reorders indices, which are in key order, into the order of writing of a format without
// random access.
func (o Order) Arrange(order []int32) {
	if o.Set && !o.Shuffle {
		return
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x6473636f6e76)) // an order, not a secret
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}

// String returns the form that ParseOrder parses.
func (o Order) String() string {
	if o.Shuffle {
		return fmt.Sprintf("shuffle:%d", o.Seed)
	}
	return "key"
}
