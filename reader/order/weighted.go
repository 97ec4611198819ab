package order

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/dsconv/dsconv/reader/random"
)

// planWeighted plans draws with replacement.
func planWeighted(s Spec, d Data) (*Plan, error) {
	weight := d.Weight
	if s.Kind == Balanced {
		if d.Label == nil {
			return nil, errors.New("balanced order: the dataset has no class labels")
		}
		weight = balance(d)
	}
	if weight == nil {
		return nil, errors.New("weighted order: no weights are given")
	}
	t, err := newTable(d.Samples, weight)
	if err != nil {
		return nil, fmt.Errorf("%s order: %w", s.Kind, err)
	}
	n := cmp.Or(s.Draws, d.Samples)
	return &Plan{
		positions: n, samples: d.Samples, repeats: true,
		name: fmt.Sprintf("%s of %d, table %016x", s, d.Samples, t.digest()),
		epoch: func(seed uint64, epoch int) Order {
			r := random.NewRand(seed, epoch, drawKey)
			return &draws{n: n, key: r.Uint64(), table: t}
		},
	}, nil
}

// balance returns weights with which all classes are drawn equally often.
func balance(d Data) func(sample int) float64 {
	counts := map[int64]int{}
	for i := range d.Samples {
		counts[d.Label(i)]++
	}
	return func(sample int) float64 {
		label := d.Label(sample)
		if label < 0 {
			return 0
		}
		return 1 / float64(counts[label])
	}
}

// draws is an order of independent draws: that at position p is a hash of (key, p).
type draws struct {
	n     int
	key   uint64
	table table
}

func (o *draws) Len() int { return o.n }

func (o *draws) At(position int) int {
	return o.table.draw(random.Mix(o.key ^ random.Mix(uint64(position))))
}

// bucket of an alias table: of 2^32 draws, threshold give the bucket's own item, the rest give
// other.
type bucket struct {
	threshold, other uint32
}

// table is an alias table: it draws from a distribution in constant time (Walker 1977; Vose: "A
// Linear Algorithm for Generating Random Numbers with a Given Distribution", 1991). The sweep of
// Hübschle-Schneider and Sanders ("Parallel Weighted Random Sampling", ESA 2019) builds it in
// place. It uses integers, so that rounding leaves nothing over and a weight of 0 is never drawn.
type table []bucket

// one is the capacity of a bucket: the mean weight.
const one = uint64(1) << 32

var errUnsteady = errors.New("the weights differ from call to call: the weight function must be pure")

func newTable(n int, weight func(i int) float64) (table, error) {
	total := 0.
	for i := range n {
		w := weight(i)
		if !(w >= 0 && w <= math.MaxFloat64) {
			return nil, fmt.Errorf("sample %d has weight %g: weights must be finite and not negative", i, w)
		}
		total += w
	}
	if !(total > 0 && total <= math.MaxFloat64) {
		return nil, fmt.Errorf("the weights add up to %g: the sum must be finite and positive", total)
	}
	t := make(table, n)
	return t, t.fill(sweep{n: n, weight: weight, total: total, item: -1})
}

// fill fills up each light item's bucket from a heavy item. When the heavy item has become light,
// the next heavy item fills up its bucket.
func (t table) fill(s sweep) error {
	light, heavy := s, s
	heavy.next(true)
	for left := heavy.share; heavy.item < s.n; {
		if left > one {
			if !light.next(false) {
				return errUnsteady
			}
			t.set(light.item, light.share, heavy.item)
			left = left + light.share - one
			continue
		}
		item, rest, other := heavy.item, left, heavy.item
		if heavy.next(true) {
			other = heavy.item
			left = left + heavy.share - one
		} else if rest != one {
			return errUnsteady
		}
		t.set(item, rest, other)
	}
	for light.next(false) {
		if light.share != one {
			return errUnsteady
		}
		t.set(light.item, one, light.item)
	}
	return nil
}

// set fills bucket i. The share of a whole bucket does not fit into threshold; it is its own other.
func (t table) set(i int, share uint64, other int) {
	if share == one {
		other = i
	}
	t[i] = bucket{threshold: uint32(share), other: uint32(other)}
}

// draw maps 64 random bits to an item: the high half of their product with the number of buckets
// chooses the bucket, the low half is compared with its threshold.
func (t table) draw(u uint64) int {
	i, rest := bits.Mul64(u, uint64(len(t)))
	b := t[i]
	if uint32(rest>>32) < b.threshold {
		return int(i)
	}
	return int(b.other)
}

func (t table) digest() uint64 {
	h := uint64(len(t))
	for _, b := range t {
		h = random.Mix(h ^ (uint64(b.threshold)<<32 | uint64(b.other)) + 1)
	}
	return h
}

// sweep iterates over the items' shares: integers that add up to one times the number of buckets.
type sweep struct {
	n      int
	weight func(i int) float64
	total  float64

	item  int // the current one, n after the last
	share uint64
	sum   float64 // of the weights up to it
	upTo  uint64  // sum of the shares up to it
}

// next advances to the next heavy item, whose share is more than one, or to the next light one.
func (s *sweep) next(heavy bool) bool {
	for s.item++; s.item < s.n; s.item++ {
		s.sum += s.weight(s.item)
		upTo := uint64(s.sum / s.total * (float64(s.n) * float64(one)))
		s.share, s.upTo = upTo-s.upTo, upTo
		if (s.share > one) == heavy {
			return true
		}
	}
	return false
}
