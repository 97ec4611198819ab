package convert

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
)

// Order is the order of the samples in the files of formats that are read sequentially: tars and
// TFRecords. LMDB and HDF5 are always in key order. "" is Shuffled(0). The text "shuffle:7" is
// Shuffled(7).
type Order string

// KeyOrder writes the samples in the order of their keys.
const KeyOrder Order = "key"

// Shuffled writes the samples in a random order that seed decides.
func Shuffled(seed uint64) Order { return Order("shuffle:" + strconv.FormatUint(seed, 10)) }

// Validate returns an error if o is not an order.
func (o Order) Validate() error {
	_, err := o.seed()
	return err
}

// seed returns the seed of a random order.
func (o Order) seed() (uint64, error) {
	if o == "" || o == KeyOrder || o == "shuffle" {
		return 0, nil
	}
	text, ok := strings.CutPrefix(string(o), "shuffle:")
	seed, err := strconv.ParseUint(text, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("order %q: use key or shuffle:SEED", string(o))
	}
	return seed, nil
}

// Arrange reorders indices, which are in key order, into the order of writing of a format that is
// read sequentially. o must be valid.
func (o Order) Arrange(order []int32) {
	if o == KeyOrder {
		return
	}
	seed, _ := o.seed()                              // valid
	r := rand.New(rand.NewPCG(seed, 0x6473636f6e76)) // an order, not a secret
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}

// recipe returns the order as it is recorded in the dataset's recipe.
func (o Order) recipe() string {
	if o == KeyOrder {
		return string(KeyOrder)
	}
	seed, _ := o.seed() // valid
	return string(Shuffled(seed))
}

// randomSample says which samples of a source are in a random sample of a given size: those whose keys have
// the smallest hashes. It depends only on the keys and the seed.
type randomSample struct {
	seed  uint64
	limit uint64 // the largest hash in the sample
	all   bool
}

// newRandomSample chooses n of the samples that selected accepts. It reads the source's Infos twice.
func newRandomSample(src formats.Dataset, n int, seed uint64, selected func(in *formats.Info) bool) (*randomSample, error) {
	r := &randomSample{seed: seed}
	const bits = 16
	counts := make([]int, 1<<bits) // of hashes, by their first bits
	total := 0
	each := func(yield func(hash uint64)) error {
		for i := range src.Len() {
			in, err := src.Info(i)
			if err != nil {
				return fmt.Errorf("sample %d of the source: %w", i, err)
			}
			if selected(&in) {
				yield(sampleHash(in.Key, seed))
			}
		}
		return nil
	}
	if err := each(func(hash uint64) { counts[hash>>(64-bits)]++; total++ }); err != nil {
		return nil, err
	}
	if r.all = n >= total; r.all {
		return r, nil
	}
	first := 0 // the bits of the largest hash in the sample
	for ; counts[first] < n; first++ {
		n -= counts[first]
	}
	var hashes []uint64 // that begin with these bits
	if err := each(func(hash uint64) {
		if hash>>(64-bits) == uint64(first) {
			hashes = append(hashes, hash)
		}
	}); err != nil {
		return nil, err
	}
	if len(hashes) < n {
		return nil, errors.New("the source's keys changed while it was read")
	}
	slices.Sort(hashes)
	r.limit = hashes[n-1] // two keys of one hash are not expected
	return r, nil
}

func (r *randomSample) has(key string) bool { return r.all || sampleHash(key, r.seed) <= r.limit }

// sampleHash is independent of the hash that decides splits by shares: else a sample would be of one split.
func sampleHash(key string, seed uint64) uint64 { return xxh3.HashStringSeed(key, seed) }

// SampleSeedKey and SampleKey are the recipe's keys of a random sample.
const (
	SampleKey     = "sample"
	SampleSeedKey = "sample-seed"
)

// checkSample returns an error if the options of a random sample have no meaning.
func (o *Options) checkSample() error {
	switch {
	case o.Sample > 0 && o.Limit > 0:
		return fmt.Errorf("convert.New: Options.Sample is %d and Options.Limit is %d: use only one of them", o.Sample, o.Limit)
	case o.Sample == 0 && o.SampleSeed != 0:
		return fmt.Errorf("convert.New: Options.SampleSeed is %d without Options.Sample", o.SampleSeed)
	case o.Sample > math.MaxInt32:
		return fmt.Errorf("convert.New: Options.Sample is %d: the largest dataset has %d samples", o.Sample, math.MaxInt32)
	}
	return nil
}
