package formats

import (
	"bytes"
	"slices"
	"testing"
)

// every way in which a Value gets new content.
var fills = map[string]func(v *Value){
	"Set":        func(v *Value) { v.Set(Value{Data: []byte{7, 7, 7}, Shape: []int{7}}) },
	"Copy":       func(v *Value) { v.Copy([]byte{7, 7, 7}) },
	"Alloc":      func(v *Value) { clear(v.Alloc(3)) },
	"Buffer":     func(v *Value) { v.SetOwn(append(v.Buffer(), 7, 7, 7)) },
	"no SetOwn":  func(v *Value) { v.Data = append(v.Buffer(), 7, 7, 7) },
	"SetInt64":   func(v *Value) { v.SetInt64(7) },
	"SetFloat32": func(v *Value) { v.SetFloat32(7) },
	"Swap":       func(v *Value) { w := Value{}; w.SetInt64(1); v.Swap(&w); v.SetInt64(7); w.SetInt64(7) },
}

// TestAValueWritesOnlyToItsOwnMemory: what was assigned to Data and Shape stays as it is, also where
// it is the memory of another Value, as of a dataset's items.
func TestAValueWritesOnlyToItsOwnMemory(t *testing.T) {
	for name, fill := range fills {
		var item Value
		item.Set(Value{Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}, Encoding: Raw, DType: Uint8, Shape: []int{2, 4}})
		var s Sample
		s.Resize(1)
		for range 2 { // with and without memory of its own
			s.Values[0].Data, s.Values[0].Shape = item.Data, item.Shape
			fill(&s.Values[0])
			s.Values[0] = item
			fill(&s.Values[0])
		}
		if !bytes.Equal(item.Data, []byte{1, 2, 3, 4, 5, 6, 7, 8}) || !slices.Equal(item.Shape, []int{2, 4}) {
			t.Errorf("%s changed the item to %v %v", name, item.Data, item.Shape)
		}
	}
}

// TestASampleWritesOnlyToItsOwnMemory: also where a dataset gives away its Values, its Columns or a
// whole Sample.
func TestASampleWritesOnlyToItsOwnMemory(t *testing.T) {
	for name, give := range map[string]func(s, item *Sample){
		"slices": func(s, item *Sample) { s.Values, s.Columns = item.Values, item.Columns },
		"sample": func(s, item *Sample) { *s = *item },
	} {
		var item, s, other Sample
		item.Resize(2)
		item.Values[0].Set(Value{Data: []byte{1, 2, 3}, Encoding: JPEG, Shape: []int{3}})
		item.Values[1].SetInt64(1)
		item.SetColumns("a", "b")
		for range 3 {
			give(&s, &item)
			s.SetColumns(s.Columns...)
			s.Columns[0] = "x"
			s.SetColumns("y")
			s.Resize(2)
			for i := range s.Values {
				s.Values[i].SetInt64(7)
			}
			give(&s, &item)
			other.Resize(2)
			other.SwapValues(&s)
			for i := range s.Values {
				s.Values[i].SetInt64(7)
				other.Values[i].SetInt64(7)
			}
			s.Resize(3)
		}
		if x, _ := item.Values[1].Int64(); !bytes.Equal(item.Values[0].Data, []byte{1, 2, 3}) || x != 1 || item.Values[0].Encoding != JPEG ||
			!slices.Equal(item.Columns, []string{"a", "b"}) {
			t.Errorf("%s: the item became %+v", name, item)
		}
	}
}

func TestResizeKeepsValuesAndMemory(t *testing.T) {
	var s, o Sample
	s.Resize(2)
	s.Values[1].SetInt64(5)
	at := &s.Values[1].Data[0]
	s.Resize(1)
	s.Resize(2)
	if x, _ := s.Values[1].Int64(); x != 5 {
		t.Errorf("the value is %d", x)
	}
	s.Values[1].SetInt64(6)
	if &s.Values[1].Data[0] != at {
		t.Error("the value has new memory")
	}
	o.Resize(2)
	o.SwapValues(&s)
	if n := testing.AllocsPerRun(10, func() {
		s.Resize(2)
		o.Resize(2)
		s.SetColumns("a")
		s.Values[1].SetInt64(1)
		o.Values[1].Set(s.Values[1])
		o.SwapValues(&s)
		s.Values[0].Swap(&o.Values[0])
		s.Values[0].Copy(o.Values[1].Data)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
