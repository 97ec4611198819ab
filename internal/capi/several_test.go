//go:build cgo

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/reader"
)

// openWith opens a loader of those arguments and of those that all need.
func openWith(t *testing.T, arguments map[string]any) (opened, error) {
	t.Helper()
	all := map[string]any{
		"batch": 4, "workers": 2, "order": "none", "dtype": "uint8", "layout": "nhwc", "color": "rgb", "world_size": 1,
	}
	for name, value := range arguments {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	result, err := call("open", text)
	if err != nil {
		return opened{}, err
	}
	o := result.(opened)
	t.Cleanup(func() { _, _ = call("close", fmt.Appendf(nil, `{"loader": %d}`, o.Loader)) })
	return o, nil
}

// lendNumbers calls dsconv_numbers.
func lendNumbers[T any](t *testing.T, kind int, array []T) int64 {
	t.Helper()
	var handle int64
	f := reflect.ValueOf(dsconv_numbers)
	as := func(k int, x any) reflect.Value { return reflect.ValueOf(x).Convert(f.Type().In(k)) }
	out := reflect.NewAt(f.Type().In(3).Elem(), unsafe.Pointer(&handle))
	if text := called(f, []reflect.Value{reflect.ValueOf(unsafe.Pointer(unsafe.SliceData(array))), as(1, len(array)), as(2, kind), out}); text != "" {
		t.Fatal(text)
	}
	return handle
}

const (
	kindInt32   = 0
	kindFloat64 = 1
)

// pixelsOf is the first pixel of each sample of an epoch or list, and the sizes of the batches.
func pixelsOf(t *testing.T, o opened, options reader.RunOptions) (pixels []byte, sizes []int) {
	t.Helper()
	l, err := lookup[*loader](o.Loader)
	if err != nil {
		t.Fatal(err)
	}
	var lent []unsafe.Pointer
	for range o.Slots {
		lent = append(lent, unsafe.Pointer(unsafe.SliceData(make([]byte, o.BlockSize))))
	}
	run, err := start(o.Loader, options, lent)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lookup[*running](run)
	if err != nil {
		t.Fatal(err)
	}
	defer r.end(run)
	for range l.Samples() + 100 {
		b, err := r.run.Next(t.Context())
		if err != nil {
			return pixels, sizes
		}
		sizes = append(sizes, b.N)
		for i := range b.N {
			pixels = append(pixels, b.ImageBytes()[i*side*side*3])
		}
	}
	return pixels, sizes
}

func TestSeveralPaths(t *testing.T) {
	a, b := dataset(t, 5), dataset(t, 3)
	o, err := openWith(t, map[string]any{"paths": []any{a, map[string]string{"path": b}}})
	if err != nil || o.Samples != 8 {
		t.Fatalf("%+v, %v", o, err)
	}
	if got, _ := pixelsOf(t, o, reader.RunOptions{}); !slices.Equal(got, []byte{0, 1, 2, 3, 4, 0, 1, 2}) {
		t.Errorf("samples %v", got)
	}
	before := len(handles.open)
	for want, arguments := range map[string]map[string]any{
		"path and paths":                          {"path": a, "paths": []string{b}},
		"load " + a + ", " + b + ": wrong arg":    {"paths": []string{a, b}, "splits": []string{"train"}},
		a + `: unknown split "train"`:             {"paths": []string{a, b}, "splits": []string{"train"}},
		b + `: unknown split "val"`:               {"paths": []any{a, map[string]any{"path": b, "splits": []string{"val"}}}},
		`unknown field "split"`:                   {"paths": []any{map[string]string{"path": a, "split": "val"}}},
		"paths is a number and must be of type":   {"paths": []any{7}},
		a + ", " + a + ", " + a + ", 2 more: wro": {"paths": []any{a, a, a, a, a}, "batch": -1},
	} {
		if _, err := openWith(t, arguments); !errors.Is(err, errValue) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if n := len(handles.open) - before; n != 0 {
		t.Errorf("%d handles are left of what did not open", n)
	}
}

// TestNumbers are a list of samples and their weights, which the loader has though their handles are dropped.
func TestNumbers(t *testing.T) {
	path := dataset(t, 9)
	samples, weights := lendNumbers(t, kindInt32, []int32{8, 2, 2, 5}), lendNumbers(t, kindFloat64, []float64{0, 1, 0, 3})
	o, err := openWith(t, map[string]any{"path": path, "samples": samples, "weights": weights, "order": "weighted:200"})
	if err != nil {
		t.Fatal(err)
	}
	drop(samples)
	drop(weights)
	got, _ := pixelsOf(t, o, reader.RunOptions{})
	slices.Sort(got)
	if o.Samples != 4 || len(got) != 200 || !slices.Equal(slices.Compact(got), []byte{2, 5}) {
		t.Errorf("%d samples, drawn %v", o.Samples, got)
	}
	empty := lendNumbers(t, kindInt32, []int32{})
	if o, err := openWith(t, map[string]any{"path": path, "samples": empty, "augment": "resize:4,crop:4"}); err != nil || o.Samples != 0 {
		t.Errorf("no samples: %d, %v", o.Samples, err)
	}
	floats := lendNumbers(t, kindFloat64, []float64{1})
	for want, arguments := range map[string]map[string]any{
		"weights: handle":                      {"weights": weights, "order": "weighted"},
		"samples: the handle's numbers are a":  {"samples": floats},
		"1 weights for 9 samples":              {"weights": floats, "order": "weighted"},
		`weights with the order "none"`:        {"weights": floats},
		"sample 9, at position 1 of the list":  {"samples": lendNumbers(t, kindInt32, []int32{0, 9})},
		"weights is a array and must be of ty": {"weights": []int{1, 2}},
	} {
		arguments["path"] = path
		if _, err := openWith(t, arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestBatchSizes(t *testing.T) {
	for _, synchronous := range []bool{false, true} {
		arguments := map[string]any{"path": dataset(t, 9)}
		if synchronous {
			arguments["synchronous"], arguments["workers"] = true, 0
		}
		o, err := openWith(t, arguments)
		if err != nil {
			t.Fatal(err)
		}
		list, sizes := []int32{8, 2, 2, 5, 1, 0, 3}, []int32{1, 4, 2}
		for from, position := range []int{0, 1, 5, 7} {
			pixels, got := pixelsOf(t, o, reader.RunOptions{List: list, Sizes: sizes, Position: position})
			if len(got) != len(sizes)-from || len(pixels) != len(list)-position {
				t.Fatalf("from %d: sizes %v, samples %v", position, got, pixels)
			}
			for k, size := range got {
				if size != int(sizes[from+k]) {
					t.Errorf("from %d: sizes %v", position, got)
				}
			}
			for k, p := range pixels {
				if int32(p) != list[position+k] {
					t.Errorf("from %d: samples %v", position, pixels)
				}
			}
		}
		if want := 3; !synchronous && o.Slots != want || synchronous && o.Slots != 1 {
			t.Errorf("%d slots, synchronous: %v", o.Slots, synchronous)
		}
	}
}

// TestColumnsByName: those that are wanted, and no others.
func TestColumnsByName(t *testing.T) {
	path := datasetWith(t, 2, []string{"camera", "place"}, [][]string{{"c0", "park"}, {"c1", "garden"}})
	o, err := openWith(t, map[string]any{"path": path, "fields": []string{"image", "camera"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Columns, []string{"camera", "place"}) || len(o.Parts) != 3 {
		t.Errorf("columns %q, %d parts", o.Columns, len(o.Parts))
	}
	for arguments, want := range map[string]map[string]any{
		`{"samples": [1, 0, -1], "names": ["place"]}`: {"place": []string{"garden", "park", ""}},

		`{"samples": [1]}`:              {"place": []string{"garden"}, "camera": []string{"c1"}},
		`{"samples": [1], "names": []}`: {},
	} {
		got, err := call("columns", fmt.Appendf(nil, `{"loader": %d, "arguments": %s}`, o.Loader, arguments))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", arguments, got, err)
		}
	}
	for _, wrong := range []string{`{"names": ["colour"], "samples": [0]}`} {
		if _, err := call("columns", fmt.Appendf(nil, `{"loader": %d, "arguments": %s}`, o.Loader, wrong)); !errors.Is(err, errValue) || !strings.Contains(err.Error(), `no column "colour", there are ["camera" "place"]`) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := openWith(t, map[string]any{"path": path, "fields": []string{"colour"}}); err == nil || !strings.Contains(err.Error(), `no field "colour", there are image, label, index, key, camera, place`) {
		t.Errorf("an unknown field: %v", err)
	}
}
