package reader

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// cutIn makes parts of ds, one after the other.
func cutIn(ds *memory, ends ...int) (parts []Part) {
	start := 0
	for k, end := range append(ends, ds.Len()) {
		part := *newMemory()
		part.meta = ds.meta
		part.samples = ds.samples[start:end]
		part.meta.Count = len(part.samples)
		parts = append(parts, Part{Dataset: described{summed{&part}}, Name: fmt.Sprintf("part%d.lmdb", k)})
		if k%2 == 1 {
			parts[k].Dataset = catalogue(&part)
		}
		start = end
	}
	return parts
}

func concatenated(t *testing.T, parts []Part, c Config) *Loader {
	t.Helper()
	l, err := NewConcat(parts, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// TestSeveralDatasetsAreAsOne that has all their samples: in any order, cache, rank and list.
func TestSeveralDatasetsAreAsOne(t *testing.T) {
	ds := placed(t, 41)
	r := rand.New(rand.NewPCG(3, 1))
	for name, c := range map[string]Config{
		"in key order": {},
		"shuffled":     {Shuffle: true},
		"blocks":       {Order: order.Spec{Kind: order.Block, Block: 4, Window: 3}},
		"balanced":     {Order: order.Spec{Kind: order.Balanced}},
		"weighted":     {Order: order.Spec{Kind: order.Weighted}, Weight: func(in formats.Info) float64 { return float64(in.Label) }},
		"a rank":       {Shuffle: true, Rank: 1, WorldSize: 3},
		"a selection":  {Shuffle: true, Select: func(in formats.Info) bool { return in.Label%3 > 0 }},
		"a list":       {Shuffle: true, Samples: []int32{40, 0, 12, 12, 13, 39, 1, 27}},
		"a cache":      {Shuffle: true, Cache: Cache{Kind: Encoded, Dir: t.TempDir(), Limit: 1 << 24}},
		"synchronous":  {Shuffle: true, Synchronous: true},
		"mixup":        {Shuffle: true, Transforms: augment.Ops{augment.ImageNet, augment.MixUp{Alpha: 1}}, DType: formats.Float32},
	} {
		t.Run(name, func(t *testing.T) {
			c.BatchSize, c.Transforms = 5, append(augment.Train(8), c.Transforms...)
			one := makeLoader(t, described{summed{ds}}, c)
			for range 3 {
				ends := []int{r.IntN(42), r.IntN(42)}
				slices.Sort(ends)
				l := concatenated(t, cutIn(ds, ends...), c)
				for epoch := range 2 {
					if !reflect.DeepEqual(collect(t, l, epoch), collect(t, one, epoch)) {
						t.Errorf("cut at %v: epoch %d has other batches than one dataset", ends, epoch)
					}
				}
				a, _, freeA, errA := one.Labels()
				b, _, freeB, errB := l.Labels()
				if errA != nil || errB != nil || !slices.Equal(a, b) {
					t.Errorf("cut at %v: other labels than one dataset's: %v, %v", ends, errA, errB)
				}
				freeA()
				freeB()
			}
		})
	}
}

// TestSplitsOfSeveralDatasets are each one's own, or the Config's.
func TestSplitsOfSeveralDatasets(t *testing.T) {
	a, b := twoSplits(30, false), twoSplits(12, true)
	parts := []Part{{Dataset: catalogue(a), Name: "a.lmdb"}, {Dataset: described{summed{b}}, Name: "b.lmdb", Splits: []string{"train"}}}
	l := concatenated(t, parts, Config{BatchSize: 4, Split: "val"})
	if l.Samples() != 20 {
		t.Errorf("%d samples, want 10 of val and 10 of train", l.Samples())
	}
	for i := range l.Samples() {
		want := "val"
		if i >= 10 {
			want = "train"
		}
		if in, err := l.InfoOf(i); err != nil || in.Split != want {
			t.Errorf("sample %d is in %q, want %q: %v", i, in.Split, want, err)
		}
	}
	alone := concatenated(t, parts[:1], Config{BatchSize: 4, Split: "val"})
	if alone.StateAt(0, 4) != makeLoader(t, catalogue(a), Config{BatchSize: 4, Split: "val"}).StateAt(0, 4) {
		t.Error("one dataset has another state than by New")
	}
	if got := l.Meta().Splits; len(got) != len(a.meta.Splits) {
		t.Errorf("splits %v", got)
	}
	parts[1].Splits = []string{"trian"}
	if _, err := NewConcat(parts, Config{BatchSize: 4}); err == nil || !strings.Contains(err.Error(), `b.lmdb: unknown split "trian"`) {
		t.Errorf("an unknown split: %v", err)
	}
}

// TestStatsOfSeveralDatasets are of all, not the first one's.
func TestStatsOfSeveralDatasets(t *testing.T) {
	parts := cutIn(rawImages(6, 9, 7, 3), 4)
	for k, s := range []formats.Stats{
		{Bytes: 70, MinHeight: 9, MinWidth: 7, MaxHeight: 9, MaxWidth: 7, Uniform: true},
		{Bytes: 30, MinHeight: 3, MinWidth: 5, MaxHeight: 8, MaxWidth: 11},
	} {
		parts[k].Dataset.Meta().Stats = s
	}
	l := concatenated(t, parts, Config{BatchSize: 2})
	want := formats.Stats{Bytes: 100, MinHeight: 3, MinWidth: 5, MaxHeight: 9, MaxWidth: 11}
	if got := l.Meta().Stats; got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

// TestDatasetsThatDiffer are told apart by name.
func TestDatasetsThatDiffer(t *testing.T) {
	for want, change := range map[string]func(*memory){
		`b.lmdb and a.lmdb differ: bad schema: the fields are ["image"] and ["image" "label"]`: func(d *memory) { d.meta.Schema = d.meta.Schema[:1] },
		`field "class" of kind label and field "label" of kind label`:                          func(d *memory) { d.meta.Schema[1].Name = "class" },
		`field "label" of kind array and field "label" of kind label`:                          func(d *memory) { d.meta.Schema[1].Kind = formats.Array },
		`the classes of field "label": class 0 is "dog" and`:                                   func(d *memory) { d.meta.Schema[1].Classes = []string{"dog"} },
		`the classes of field "label": there are 11 and 10`: func(d *memory) {
			d.meta.Schema[1].Classes = append(slices.Clone(d.meta.Schema[1].Classes), "other")
		},
	} {
		b := rawImages(3, 2, 2, 3)
		b.meta.Schema = slices.Clone(b.meta.Schema)
		change(b)
		_, err := NewConcat([]Part{{Dataset: rawImages(3, 2, 2, 3), Name: "a.lmdb"}, {Dataset: b, Name: "b.lmdb"}}, Config{BatchSize: 2})
		if !errors.Is(err, formats.ErrSchema) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "b.lmdb and a.lmdb differ") {
			t.Errorf("%q: %v", want, err)
		}
	}
	for want, parts := range map[string][]Part{
		"there are none":              nil,
		`dataset 0: splits ["a" "a"]`: {{Dataset: rawImages(1, 2, 2, 3), Splits: []string{"a", "a"}}},
	} {
		if _, err := NewConcat(parts, Config{BatchSize: 2}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestColumnsOfSeveralDatasets are those that all have, wherever each has them.
func TestColumnsOfSeveralDatasets(t *testing.T) {
	a, b := columned{rawImages(2, 2, 2, 3), "a"}, columned{rawImages(3, 2, 2, 3), "b"}
	a.meta.Columns, b.meta.Columns = []string{"camera", "place", "only a"}, []string{"only b", "place", "camera"}
	l := concatenated(t, []Part{{Dataset: a}, {Dataset: b}}, Config{BatchSize: 2})
	if got := l.Meta().Columns; !slices.Equal(got, []string{"camera", "place"}) {
		t.Fatalf("columns %q", got)
	}
	for i, want := range []string{"a camera", "a camera", "b camera", "b camera", "b camera"} {
		in, err := l.InfoOf(i)
		if err != nil || len(in.Columns) < 2 || in.Columns[0] != want || in.Columns[1] != want[:2]+"place" {
			t.Errorf("sample %d has the columns %q: %v", i, in.Columns, err)
		}
	}
}

// columned is a dataset whose columns have texts of its name and theirs.
type columned struct {
	*memory
	name string
}

func (d columned) Info(i int) (formats.Info, error) {
	in, err := d.memory.Info(i)
	for _, c := range d.meta.Columns {
		in.Columns = append(in.Columns, d.name+" "+c)
	}
	return in, err
}

// TestABadSampleNamesItsDataset, in an epoch, a single sample and the list of bad ones.
func TestABadSampleNamesItsDataset(t *testing.T) {
	ds, _ := damaged(t, 20, 13)
	parts := cutIn(ds, 9)
	l := concatenated(t, parts, Config{BatchSize: 4, Transforms: augment.Train(8)})
	n, err := drain(l)
	if n != 3 || err == nil || !strings.HasPrefix(err.Error(), "part1.lmdb: ") || !strings.Contains(err.Error(), ds.samples[13].Key) {
		t.Errorf("after %d batches: %v", n, err)
	}
	if err := l.Pick(13, 0, new(Batch)); err == nil || !strings.HasPrefix(err.Error(), "part1.lmdb: ") {
		t.Errorf("Pick: %v", err)
	}
	l = concatenated(t, parts, Config{BatchSize: 4, OnError: Skip, Transforms: augment.Train(8)})
	collect(t, l, 0)
	if _, bad := l.Bad(); len(bad) != 1 || bad[0].Index != 13 || !strings.HasPrefix(bad[0].Err.Error(), "part1.lmdb: ") {
		t.Errorf("bad samples %v", bad)
	}
}

// TestStateOfOtherDatasetsIsRefused, and that of the same ones in another order.
func TestStateOfOtherDatasetsIsRefused(t *testing.T) {
	ds := rawImages(20, 2, 2, 3)
	parts := cutIn(ds, 8)
	c := Config{BatchSize: 4, Shuffle: true}
	s := concatenated(t, parts, c).StateAt(1, 4)
	if err := concatenated(t, cutIn(ds, 8), c).CheckState(s); err != nil {
		t.Errorf("the same datasets: %v", err)
	}
	for name, other := range map[string][]Part{"another order": {parts[1], parts[0]}, "cut elsewhere": cutIn(ds, 9), "one": cutIn(ds)} {
		if err := concatenated(t, other, c).CheckState(s); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
