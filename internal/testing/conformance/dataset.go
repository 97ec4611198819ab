package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// empty: a dataset without samples is valid.
func (s suite) empty(t *testing.T) {
	for name, c := range map[string]set{"photos": photos(0), "every kind": everyKind(0)} {
		t.Run(name, func(t *testing.T) {
			ds := s.open(t, s.write(t, c))
			if ds.Len() != 0 || ds.Meta().Count != 0 {
				t.Errorf("%d samples, count %d", ds.Len(), ds.Meta().Count)
			}
			if err := ds.Read(0, new(formats.Sample)); err == nil {
				t.Error("sample 0 of 0 can be read")
			}
			undamaged(t, ds)
		})
	}
}

// meta: Open returns the Meta that Create was given, with the samples' statistics.
func (s suite) meta(t *testing.T) {
	c := stereo(30)
	c.columns = []string{"taken"}
	for i := range c.samples {
		c.samples[i].Columns = []string{fmt.Sprint(i)}
		c.samples[i].Split = []string{"val", "train", "train"}[i%3]
	}
	m := s.open(t, s.write(t, c)).Meta()
	want := c.meta(s.format.Name())
	want.Count, want.Splits = 30, []formats.Split{{Name: "train", Count: 20}, {Name: "val", Count: 10}}
	want.Stats, want.Files = m.Stats, m.Files // the format decides the files
	if !reflect.DeepEqual(*m, want) {
		t.Errorf("got %+v\nwant %+v", *m, want)
	}
	var size int64
	for i := range c.samples {
		size += int64(len(c.samples[i].Values[0].Data))
	}
	if m.Stats.Bytes != size || m.Stats.MinHeight < 1 || m.Stats.MaxWidth < m.Stats.MinWidth || m.Stats.Uniform {
		t.Errorf("statistics %+v, want %d bytes of varying images", m.Stats, size)
	}
	if uniform := s.open(t, s.write(t, kindSets()["raw uint8 uniform"])).Meta().Stats; !uniform.Uniform || uniform.MaxHeight != 7 {
		t.Errorf("statistics of uniform images: %+v", uniform)
	}
}

// indexIsKeyOrder: index i is the i-th key in bytewise order, in Info and in Read.
func (s suite) indexIsKeyOrder(t *testing.T) {
	c := newSetOf(photos(0).schema, hardKeys(), func(r *rand.Rand, _ int) []formats.Value {
		return []formats.Value{encoded(r, formats.JPEG, 30), label(1)}
	})
	ds := s.open(t, s.write(t, c))
	before := ""
	var smp formats.Sample
	for i := range ds.Len() {
		in, err := ds.Info(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := ds.Read(i, &smp); err != nil {
			t.Fatal(err)
		}
		if in.Key <= before || smp.Key != in.Key {
			t.Fatalf("index %d: info says %q, read %q, the one before was %q", i, in.Key, smp.Key, before)
		}
		before = in.Key
	}
}

// info: Info returns the same as Read.
func (s suite) info(t *testing.T) {
	for name, c := range kindSets() {
		c.columns = []string{"one", "two"}
		for i := range c.samples {
			c.samples[i].Columns, c.samples[i].Split = []string{fmt.Sprint(i), ""}, []string{"", "a"}[i%2]
		}
		t.Run(name, func(t *testing.T) {
			ds := s.open(t, s.write(t, c))
			for i, smp := range c.inKeyOrder() {
				got, err := ds.Info(i)
				if err != nil {
					t.Fatal(err)
				}
				if want := infoOf(c.schema, smp); !reflect.DeepEqual(got, want) {
					t.Fatalf("got %+v\nwant %+v", got, want)
				}
			}
		})
	}
}

func infoOf(schema formats.Schema, s *formats.Sample) formats.Info {
	img := s.Values[schema.ImageIndex()]
	in := formats.Info{
		Key: s.Key, Split: s.Split, Label: formats.NoLabel, Size: int64(len(img.Data)), Encoding: img.Encoding,
		Shape: [3]int(img.Shape), Checksum: s.Checksum, Source: s.Source, Columns: s.Columns,
	}
	if i := schema.LabelIndex(); i >= 0 {
		if x, ok := s.Values[i].Int64(); ok {
			in.Label = x
		}
	}
	return in
}

// readReusesBuffers: a second Read of the same sample reuses its Data's memory, which the caller
// may write to.
func (s suite) readReusesBuffers(t *testing.T) {
	c := everyKind(5)
	ds := s.open(t, s.write(t, c))
	var smp formats.Sample
	read := func(i int) {
		if err := ds.Read(i, &smp); err != nil {
			t.Fatal(err)
		}
	}
	for i := range ds.Len() {
		read(i) // grows the buffers to the largest
	}
	read(0)
	at := make([]*byte, len(smp.Values))
	for i, v := range smp.Values {
		if len(v.Data) > 0 {
			at[i] = &v.Data[0]
			v.Data[0] ^= 0xff
		}
	}
	read(0)
	for i, v := range smp.Values {
		if len(v.Data) > 0 && at[i] != &v.Data[0] {
			t.Errorf("field %s has new memory", c.schema[i].Name)
		}
	}
	if d := differ(c.schema, &smp, c.inKeyOrder()[0]); d != "" {
		t.Errorf("after the caller wrote to what it had read: %s", d)
	}
}

// concurrentReads: run it with -race.
func (s suite) concurrentReads(t *testing.T) {
	c := stereo(60)
	ds := s.open(t, s.write(t, c))
	want := c.inKeyOrder()
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			var smp formats.Sample
			for _, i := range rand.New(rand.NewPCG(uint64(g), 0)).Perm(len(want)) {
				if err := ds.Read(i, &smp); err != nil {
					t.Errorf("read: %v", err)
				} else if d := differ(c.schema, &smp, want[i]); d != "" {
					t.Error(d)
				}
				if _, err := ds.Info(i); err != nil {
					t.Errorf("info: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

// view: View returns the same as Read, which stays valid after other reads, and does not write to
// the memory of an earlier Read.
func (s suite) view(t *testing.T) {
	for _, name := range []string{"stereo", "every kind", "raw uint8 uniform", "raw uint16 varying", "raw+zstd varying"} {
		c := kindSets()[name]
		t.Run(name, func(t *testing.T) {
			ds := s.open(t, s.write(t, c))
			v, ok := ds.(formats.Viewer)
			if !ok {
				t.Skip("not a Viewer")
			}
			want := c.inKeyOrder()
			views := make([]formats.Sample, len(want))
			for i := range views {
				if err := v.View(i, &views[i]); err != nil {
					t.Fatalf("view: %v", err)
				}
			}
			same(t, ds, c)
			for i := range views {
				if d := differ(c.schema, &views[i], want[i]); d != "" {
					t.Fatal(d)
				}
			}
			leavesBuffersAlone(t, ds, v, c)
		})
	}
}

func leavesBuffersAlone(t *testing.T, ds formats.Dataset, v formats.Viewer, c set) {
	var s, kept formats.Sample
	if err := ds.Read(0, &s); err != nil {
		t.Fatal(err)
	}
	kept = s
	kept.Values = append([]formats.Value(nil), s.Values...)
	for i := range kept.Values {
		kept.Values[i].Shape = append([]int(nil), kept.Values[i].Shape...)
	}
	want := c.inKeyOrder()
	if err := v.View(1, &s); err != nil {
		t.Fatal(err)
	}
	if d := differ(c.schema, &s, want[1]); d != "" {
		t.Error(d)
	}
	kept.Columns = nil
	if d := differ(c.schema, &kept, want[0]); d != "" {
		t.Errorf("a View wrote to memory of the caller: %s", d)
	}
	// What View lent is read-only: writing there would end the process.
	for i := range want {
		if err := v.View(i, &s); err != nil {
			t.Fatal(err)
		}
		if err := ds.Read(0, &s); err != nil {
			t.Fatal(err)
		}
		if d := differ(c.schema, &s, want[0]); d != "" {
			t.Errorf("a Read into what View filled: %s", d)
		}
	}
}

// outOfRange: a wrong index is an error.
func (s suite) outOfRange(t *testing.T) {
	ds := s.open(t, s.write(t, photos(3)))
	for _, i := range []int{-1, 3, 1 << 40} {
		var smp formats.Sample
		if err := ds.Read(i, &smp); err == nil {
			t.Errorf("sample %d of 3 can be read", i)
		}
		if _, err := ds.Info(i); err == nil {
			t.Errorf("sample %d of 3 has an info", i)
		}
		if v, ok := ds.(formats.Viewer); ok && v.View(i, &smp) == nil {
			t.Errorf("sample %d of 3 can be viewed", i)
		}
	}
}

// undamaged checks a dataset and wants nothing reported.
func undamaged(t *testing.T, ds formats.Dataset) {
	t.Helper()
	if err := check(t, ds, func(d formats.Damage) { t.Errorf("damage in a whole dataset: %+v", d) }); err != nil {
		t.Errorf("check: %v", err)
	}
}

func check(t *testing.T, ds formats.Dataset, report func(formats.Damage)) error {
	t.Helper()
	c, ok := ds.(formats.Checker)
	if !ok {
		t.Fatal("the dataset is not a Checker")
	}
	return c.Check(context.Background(), formats.Portion{}, 2, report)
}
