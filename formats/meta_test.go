package formats

import "testing"

// A dataset has the oldest version that supports its content, so that an earlier dsconv can still
// read datasets that hold nothing new.
func TestNeeds(t *testing.T) {
	for want, s := range map[int]Schema{
		1: {{Name: "image", Kind: Image}, {Name: "label", Kind: Label}, {Name: "tags", Kind: MultiHot}, {Name: "x", Kind: Array, DType: Float32}},
		2: {{Name: "image", Kind: Image}, {Name: "label", Kind: Label}, {Name: "age", Kind: Number}},
	} {
		if m := (Meta{Schema: s}); m.RequiredVersion() != want || want > Version {
			t.Errorf("version %d, want %d", m.RequiredVersion(), want)
		}
	}
}

func TestNumbersAreScalars(t *testing.T) {
	for _, f := range []Field{
		{Name: "age", Kind: Number, DType: Int64},
		{Name: "age", Kind: Number, DType: Float32, Shape: []int{1}},
	} {
		if (Schema{{Name: "image", Kind: Image}, f}).Validate() == nil {
			t.Errorf("%+v is taken", f)
		}
	}
}
