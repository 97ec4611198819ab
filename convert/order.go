package convert

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
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
