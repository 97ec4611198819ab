package reader

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// labelled is raw images with those labels.
func labelled(labels ...int64) *memory {
	d := rawImages(len(labels), 2, 2, 3)
	for i, x := range labels {
		d.samples[i].Values[1].SetInt64(x)
	}
	return d
}

func classes(n int) (names []string) {
	for i := range n {
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// TestLabelTypes holds that a label is the same number in any type, and its absence too.
func TestLabelTypes(t *testing.T) {
	labels := []int64{0, 254, formats.NoLabel, 1, 7}
	ds := labelled(labels...)
	ds.meta.Schema[1].Classes = classes(255)
	for _, d := range []formats.DType{"", formats.Int64, formats.Uint8, formats.Uint16} {
		b := collect(t, makeLoader(t, ds, Config{BatchSize: 5, LabelDType: d}), 0)[0]
		for i, want := range labels {
			if got := b.Label(i); got != want {
				t.Errorf("%s: label %d is %d, want %d", d, i, got, want)
			}
		}
		switch d {
		case formats.Uint8:
			if !slices.Equal(Labels[uint8](b), []uint8{0, 254, 255, 1, 7}) {
				t.Errorf("%v", Labels[uint8](b))
			}
		case formats.Uint16:
			if !slices.Equal(Labels[uint16](b), []uint16{0, 254, 65535, 1, 7}) {
				t.Errorf("%v", Labels[uint16](b))
			}
		default:
			if !slices.Equal(Labels[int64](b), labels) {
				t.Errorf("%v", Labels[int64](b))
			}
		}
	}
}

func TestPaddingHasNoLabelOfAnyType(t *testing.T) {
	for _, d := range []formats.DType{formats.Int64, formats.Uint8, formats.Uint16} {
		l := makeLoader(t, labelled(3, 4, 5, 6), Config{BatchSize: 1, WorldSize: 3, Rank: 2, LabelDType: d})
		b := collect(t, l, 0)[1]
		if b.Indices[0] != -1 || b.Label(0) != formats.NoLabel {
			t.Errorf("%s: index %d, label %d", d, b.Indices[0], b.Label(0))
		}
	}
}

func TestLabelTypesThatDoNotHoldTheClasses(t *testing.T) {
	for _, tt := range []struct {
		dtype   formats.DType
		classes int
		want    string // "" is no error
	}{
		{formats.Uint8, 255, ""},
		{formats.Uint8, 256, "255 classes"},
		{formats.Uint16, 65535, ""},
		{formats.Uint16, 65536, "65535 classes"},
		{formats.Int64, 65536, ""},
		{formats.Float32, 2, "float32"},
		{formats.BFloat16, 2, "bfloat16"},
	} {
		ds := rawImages(1, 2, 2, 3)
		ds.meta.Schema[1].Classes = classes(tt.classes)
		l, err := New(ds, Config{BatchSize: 1, LabelDType: tt.dtype})
		if err == nil {
			_ = l.Close()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d classes in %s: error %v, want %q", tt.classes, tt.dtype, err, tt.want)
		}
	}
}

func TestLabelOutOfRangeNamesTheKey(t *testing.T) {
	for _, tt := range []struct {
		dtype formats.DType
		label int64
	}{{formats.Uint8, 255}, {formats.Uint8, 256}, {formats.Uint8, -2}, {formats.Uint16, 65535}, {formats.Uint16, 1 << 40}} {
		ds := labelled(1, tt.label)
		l := makeLoader(t, ds, Config{BatchSize: 1, LabelDType: tt.dtype})
		n, err := drain(l)
		if n != 1 || !errors.Is(err, formats.ErrSchema) || !strings.Contains(err.Error(), ds.samples[1].Key) {
			t.Errorf("%d as %s: %d batches, error %v", tt.label, tt.dtype, n, err)
		}
	}
}

func TestLabelThatIsNoNumberNamesTheKey(t *testing.T) {
	ds := labelled(1, 2)
	ds.samples[1].Values[1] = formats.Value{Data: []byte("two"), Encoding: formats.Plain}
	n, err := drain(makeLoader(t, ds, Config{BatchSize: 1}))
	if n != 1 || !errors.Is(err, formats.ErrSchema) || !strings.Contains(err.Error(), ds.samples[1].Key) {
		t.Errorf("%d batches, error %v", n, err)
	}
}
