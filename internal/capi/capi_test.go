//go:build cgo

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
)

const side = 4

// dataset is an LMDB of n raw images of one pixel value each.
func dataset(t *testing.T, n int) string {
	t.Helper()
	return datasetWith(t, n, nil, nil)
}

// datasetWith is dataset with columns, of which texts are sample 0's, sample 1's and so on.
func datasetWith(t *testing.T, n int, columns []string, texts [][]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.lmdb")
	schema := formats.Schema{
		{Name: "image", Kind: formats.Image, DType: formats.Uint8, Shape: []int{side, side, 3}},
		{Name: "label", Kind: formats.Label, Classes: []string{"a", "b"}},
	}
	meta := formats.Meta{Version: formats.Version, Format: lmdb.Format{}.Name(), Schema: schema, Columns: columns}
	w, err := lmdb.Format{}.Create(path, meta, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range n {
		pixels := make([]byte, side*side*3)
		for k := range pixels {
			pixels[k] = byte(i)
		}
		var label formats.Value
		label.SetInt64(int64(i % 2))
		image := formats.Value{Data: pixels, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{side, side, 3}}
		sample := formats.Sample{Key: fmt.Sprintf("%04d", i), Values: []formats.Value{image, label}}
		if columns != nil {
			sample.Columns = texts[i]
		}
		if err := w.Write(&sample); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) int64 {
	t.Helper()
	arguments, err := json.Marshal(map[string]any{
		"path": path, "batch": 4, "workers": 2, "prefetch": 2, "order": "none", "dtype": "uint8", "layout": "nhwc",
		"color": "rgb", "label_dtype": "int64", "on_error": "fail", "world_size": 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := call("open", arguments)
	if err != nil {
		t.Fatal(err)
	}
	return result.(opened).Loader
}

func TestWrongCallsAreErrors(t *testing.T) {
	for _, c := range []struct{ method, arguments, kind string }{
		{"opne", `{}`, "value"},
		{"open", `{"batchsize": 3}`, "value"},
		{"open", `[`, "value"},
		{"open", `{"path": "/nowhere/x.lmdb", "order": "none", "world_size": 1}`, "missing"},
		{"close", `{"loader": 77}`, "closed"},
		{"clock", `{"loader": 77}`, "closed"},
		{"plan", `{"transform": 77}`, "closed"},
		{"transform", `{"words": "spin:3", "dtype": "uint8", "layout": "nhwc", "channels": 3}`, "value"},
	} {
		_, err := call(c.method, []byte(c.arguments))
		if f := describe(err); f == nil || f.Kind != c.kind {
			t.Errorf("%s %s: %+v, wanted the kind %q", c.method, c.arguments, f, c.kind)
		}
	}
	if f := describe(nil); f != nil {
		t.Errorf("no error is described as %+v", f)
	}
}

func TestClosedLoadersAreTold(t *testing.T) {
	handle := open(t, dataset(t, 8))
	arguments := fmt.Appendf(nil, `{"loader": %d}`, handle)
	for _, want := range []error{nil, errClosed} {
		if _, err := call("close", arguments); !errors.Is(err, want) {
			t.Errorf("close: %v, wanted %v", err, want)
		}
	}
	if _, err := call("clock", arguments); !errors.Is(err, errClosed) {
		t.Errorf("a method of a closed loader: %v", err)
	}
}

// TestCloseWaits closes a loader while others use it: each use is whole, or is told that it is
// closed.
func TestCloseWaits(t *testing.T) {
	path := dataset(t, 64)
	for range 20 {
		handle := open(t, path)
		arguments := fmt.Appendf(nil, `{"loader": %d, "arguments": {"samples": [0, 5, 63]}}`, handle)
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for {
					keys, err := call("keys", arguments)
					if errors.Is(err, errClosed) {
						return
					}
					if err != nil || len(keys.([]string)) != 3 {
						t.Errorf("keys: %v, %v", keys, err)
						return
					}
				}
			})
		}
		if _, err := call("close", fmt.Appendf(nil, `{"loader": %d}`, handle)); err != nil {
			t.Error(err)
		}
		users.Wait()
	}
}

// TestEnd: it closes what is open, and nothing can be opened behind it.
func TestEnd(t *testing.T) {
	path := dataset(t, 8)
	handle := open(t, path)
	if _, err := call("end", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	defer func() { handles.ended = false }()
	if _, _, err := enter(handle); !errors.Is(err, errClosed) {
		t.Errorf("a loader after the end: %v", err)
	}
	if _, err := call("transform", []byte(`{"words": "flip", "dtype": "uint8", "layout": "nhwc", "channels": 3}`)); !errors.Is(err, errClosed) {
		t.Errorf("a transform after the end: %v", err)
	}
	if len(handles.open) != 0 {
		t.Errorf("%d handles are left", len(handles.open))
	}
}

// TestLabels are copied, and only to memory of their size.
func TestLabels(t *testing.T) {
	handle := open(t, dataset(t, 8))
	f := reflect.ValueOf(dsconv_labels)
	labels := func(to []int64, size int) string {
		at := reflect.ValueOf(unsafe.Pointer(unsafe.SliceData(to)))
		in := f.Type().In
		return called(f, []reflect.Value{reflect.ValueOf(handle).Convert(in(0)), at, reflect.ValueOf(size).Convert(in(2))})
	}
	list := make([]int64, 8)
	for _, size := range []int{0, 56, 72} {
		if text := labels(list, size); !strings.Contains(text, "for labels of 64") {
			t.Errorf("%d bytes: %q", size, text)
		}
	}
	if text := labels(list, 64); text != "" || !slices.Equal(list, []int64{0, 1, 0, 1, 0, 1, 0, 1}) {
		t.Errorf("labels %v: %s", list, text)
	}
}

func drop(handle int64) {
	f := reflect.ValueOf(dsconv_drop)
	f.Call([]reflect.Value{reflect.ValueOf(handle).Convert(f.Type().In(0))})
}
