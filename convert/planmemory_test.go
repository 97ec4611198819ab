package convert

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// orderOf returns the source's indices in the order of writing.
func orderOf(p *Plan) (order []int32) {
	for pos := range p.Len() {
		order = append(order, int32(p.order.at(pos)))
	}
	return order
}

// made has n samples that take no memory.
type made struct {
	formats.Dataset
	meta formats.Meta
	n    int
}

func newMade(n int) *made {
	return &made{n: n, meta: formats.Meta{
		Format: "made", Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, DType: formats.Int64}},
	}}
}

func (m *made) Meta() *formats.Meta { return &m.meta }
func (m *made) Len() int            { return m.n }

func (m *made) Info(i int) (formats.Info, error) {
	key := fmt.Sprintf("k%08d", i)
	return formats.Info{
		Key: key, Split: []string{"train", "val"}[i%2], Label: int64(i % 7), Size: 1000,
		Source: formats.Source{Path: key + ".jpg", Size: 1000, ModTime: int64(i)},
	}, nil
}

// The order of writing is the one that Arrange gives the selected indices, whatever was selected.
func TestOrderOfAnySelection(t *testing.T) {
	src := newMade(5000)
	for name, o := range map[string]Options{
		"all": {}, "limit": {Limit: 77}, "split": {Only: []string{"val"}}, "patterns": {Patterns: formats.Patterns{Include: []string{"*7.jpg"}}},
		"none of the first": {Patterns: formats.Patterns{Exclude: []string{"k0000[0-3]*"}}}, "all but one": {Patterns: formats.Patterns{Exclude: []string{"*777.jpg"}}},
	} {
		for _, order := range []Order{KeyOrder, "", Shuffled(5)} {
			o.Order = order
			p := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), o)
			got := orderOf(p)
			want := slices.Sorted(slices.Values(got))
			order.Arrange(want)
			if len(got) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s, order %q: another order", name, order)
			}
			counts := map[string]int{}
			for _, i := range got {
				in, err := src.Info(int(i))
				if err != nil {
					t.Fatal(err)
				}
				counts[in.Split]++
			}
			for _, split := range p.SplitCounts() {
				if counts[split.Name] != split.Count {
					t.Errorf("%s: %v, want %v", name, p.SplitCounts(), counts)
				}
			}
		}
	}
}

func TestIndexListGrows(t *testing.T) {
	var l indexList
	var want []int
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 3000 {
		i := n
		if n > 1000 {
			i = r.IntN(3000)
		}
		if err := l.add(i, n%7); err != nil {
			t.Fatal(err)
		}
		want = append(want, i)
	}
	for pos, i := range want {
		if l.at(pos) != i {
			t.Fatalf("position %d has index %d, want %d", pos, l.at(pos), i)
		}
	}
}

// stratified is the assignment in one slice for each class.
func stratified(src formats.Dataset, shares []share) []string {
	type member struct {
		hash  uint64
		index int
	}
	classes, splits := map[int64][]member{}, make([]string, src.Len())
	for i := range splits {
		in, _ := src.Info(i)
		classes[in.Label] = append(classes[in.Label], member{keyHash(in.Key, 0), i})
	}
	for _, members := range classes {
		slices.SortFunc(members, func(a, b member) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.index-b.index) })
		from, upTo := 0, 0.0
		for _, p := range shares {
			upTo += p.fraction
			to := min(len(members), int(math.Round(upTo*float64(len(members)))))
			for _, m := range members[from:to] {
				splits[m.index] = p.name
			}
			from = to
		}
	}
	return splits
}

func TestSharesInAnyMemory(t *testing.T) {
	src := newMade(4001)
	for _, sp := range []Splitter{"train=0.9,val=0.1", "a=0.333333,train=0.333333,c=0.333334", "val=0.0001,train=0.9999", "one=1"} {
		shares, err := sp.shares()
		if err != nil {
			t.Fatal(err)
		}
		want := stratified(src, shares)
		for _, memory := range []int64{0, 1, 50_000} {
			s, err := sp.assign(src, memory)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, src.Len())
			for i := range got {
				in, _ := src.Info(i)
				got[i] = s.Of(i, in)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, memory %d: another assignment", sp, memory)
			}
			names := slices.Compact(slices.Sorted(slices.Values(want)))
			if sorted := slices.Sorted(slices.Values(s.Names())); !reflect.DeepEqual(sorted, names) || slices.Contains(names, "train") && s.Names()[0] != "train" {
				t.Errorf("%s: names %q, want %q", sp, s.Names(), names)
			}
		}
	}
}

// A plan takes next to nothing of Go's heap, whatever the number of samples.
func TestHeapOfAPlan(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 1_000_000
	src := newMade(n)
	before := heap()
	p := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Split: "train=0.9,val=0.1"})
	if after := heap(); after > before+2*n { // two bytes for each sample
		t.Errorf("%d bytes of heap for %d samples", after-before, n)
	}
	runtime.KeepAlive(p)
	if p.Len() != n {
		t.Errorf("%d samples", p.Len())
	}
}
