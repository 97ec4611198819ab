package value

import (
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

func TestElementType(t *testing.T) {
	shape := []int{3, 5, 2}
	for _, want := range []formats.DType{formats.Uint8, formats.Uint16, formats.Float32, formats.Int64} {
		if got := InferDType(shape, uint64(30*want.Size())); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, size := range []uint64{0, 29, 31, 90} {
		if got := InferDType(shape, size); got != "" {
			t.Errorf("%d bytes of %v are %q", size, shape, got)
		}
	}
	if got := InferDType([]int{0, 4}, 0); got != "" {
		t.Errorf("nothing is %q", got)
	}
}

func TestFrameType(t *testing.T) {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []int{1, 10, 300} {
		if got := FrameDType(&formats.Field{}, []int{side, side, 1}, e.EncodeAll(make([]byte, 2*side*side), nil)); got != formats.Uint16 {
			t.Errorf("side %d: got %q", side, got)
		}
	}
	if got := FrameDType(&formats.Field{}, []int{10, 10, 1}, []byte("no frame")); got != "" {
		t.Errorf("got %q", got)
	}
}
