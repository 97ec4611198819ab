//go:build cgo

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/reader"
)

// exported are the functions that C calls; dsconv_free is C's own free.
var exported = map[string]any{
	"dsconv_call": dsconv_call, "dsconv_start": dsconv_start, "dsconv_next": dsconv_next, "dsconv_stop": dsconv_stop,
	"dsconv_pick": dsconv_pick, "dsconv_drop": dsconv_drop, "dsconv_labels": dsconv_labels, "dsconv_order": dsconv_order,
	"dsconv_numbers": dsconv_numbers, "dsconv_part": dsconv_part, "dsconv_shapes": dsconv_shapes, "dsconv_transform": dsconv_transform,
	"dsconv_tables": dsconv_tables, "dsconv_rest": dsconv_rest, "dsconv_erasures": dsconv_erasures, "dsconv_device": dsconv_device,
}

// TestAllExportsAreTested: the sources export nothing that exported lacks.
func TestAllExportsAreTested(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^//export (\w+)$`).FindAllSubmatch(source, -1) {
			if name := string(m[1]); name != "dsconv_free" {
				found = append(found, name)
			}
		}
	}
	for _, name := range found {
		if exported[name] == nil {
			t.Errorf("%s is not called with hostile arguments", name)
		}
	}
	if len(found) != len(exported) {
		t.Errorf("%d functions are exported, %d are tested", len(found), len(exported))
	}
}

// TestHostileArguments: no exported function panics, whatever numbers it is given and whichever
// pointers are NULL. Memory that is lent has the size that is told.
func TestHostileArguments(t *testing.T) {
	path := dataset(t, 64)
	loader := open(t, path)
	defer func() { _, _ = call("close", fmt.Appendf(nil, `{"loader": %d}`, loader)) }()
	opened, err := call("transform", []byte(`{"words": "resize:8", "dtype": "uint8", "layout": "nhwc", "channels": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	handles := []int64{loader, opened.(int64), 1 << 40}
	random := rand.New(rand.NewPCG(1, 2))
	for name, f := range exported {
		function := reflect.ValueOf(f)
		for range 500 {
			var run int64
			if r, err := start(loader, reader.RunOptions{}, []unsafe.Pointer{unsafe.Pointer(new([1 << 12]byte))}); err == nil {
				run = r
			}
			arguments := make([]reflect.Value, function.Type().NumIn())
			for k := range arguments {
				arguments[k] = hostile(random, function.Type().In(k), append(handles, run))
			}
			if name == "dsconv_transform" && min(arguments[2].Int(), arguments[3].Int()) > 100 {
				continue // it would be told of more memory than there is
			}
			if text := called(function, arguments); strings.Contains(text, "panic") {
				t.Fatalf("%s %v: %s", name, arguments, text)
			}
			if r, err := lookup[*running](run); err == nil {
				r.end(run)
			}
		}
	}
}

// hostile is a value of a parameter's type: a number that cannot be or that is a handle, NULL or
// memory of 256 KiB.
func hostile(random *rand.Rand, t reflect.Type, handles []int64) reflect.Value {
	numbers := append([]int64{0, 1, -1, 7, math.MaxInt64, math.MinInt64}, handles...)
	switch v := reflect.New(t).Elem(); t.Kind() {
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(int32(numbers[random.IntN(len(numbers))])))
		if t.Kind() == reflect.Int64 {
			v.SetInt(numbers[random.IntN(len(numbers))])
		}
		return v
	case reflect.Uint64:
		v.SetUint(random.Uint64())
		return v
	}
	if random.IntN(4) == 0 {
		return reflect.Zero(t)
	}
	memory := unsafe.Pointer(new([1 << 18]byte))
	if t.Kind() == reflect.UnsafePointer {
		return reflect.ValueOf(memory)
	}
	return reflect.NewAt(t.Elem(), memory)
}

// called calls f and gives what it replies, "" if that is a number or NULL.
func called(f reflect.Value, arguments []reflect.Value) string {
	for _, result := range f.Call(arguments) {
		if result.Kind() == reflect.Pointer && !result.IsNil() {
			b := unsafe.Slice((*byte)(result.UnsafePointer()), 1<<16)
			return string(b[:slices.Index(b, 0)])
		}
	}
	return ""
}

// TestHostileCalls: no method panics, whatever it is told.
func TestHostileCalls(t *testing.T) {
	path := dataset(t, 8)
	loader := open(t, path)
	defer func() { _, _ = call("close", fmt.Appendf(nil, `{"loader": %d}`, loader)) }()
	made, err := call("transform", []byte(`{"words": "resize:8", "dtype": "uint8", "layout": "nhwc", "channels": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range methods {
		if name == "end" {
			continue // nothing can be opened after it
		}
		for _, n := range []int64{0, -1, 3, math.MaxInt64, math.MinInt64} {
			for _, arguments := range []any{
				nil,
				map[string]any{},
				n,
				[]int64{n},
				map[string]any{"loader": loader, "arguments": map[string]any{}},
				map[string]any{"loader": loader, "arguments": map[string]any{"samples": []int64{n}}},
				map[string]any{"loader": loader, "arguments": map[string]any{"indices": []int64{n}}},
				map[string]any{"loader": loader, "arguments": map[string]any{"samples": []int64{n}, "names": []string{"x"}}},
				map[string]any{"paths": []any{path, path}, "batch": n, "samples": n, "weights": n, "synchronous": n == 0, "splits": []string{""}},
				map[string]any{"paths": []any{n, nil, map[string]any{"path": path, "splits": nil}}, "batch": 1},
				map[string]any{"paths": []any{}, "batch": 1},
				map[string]any{"loader": loader, "arguments": map[string]any{"epoch": n, "position": n}},
				map[string]any{"transform": made, "height": n, "width": n, "epoch": n, "sample": n},
				map[string]any{"words": "resize:8", "dtype": "uint8", "layout": "nhwc", "channels": n},
				map[string]any{"path": t.TempDir(), "batch": n, "workers": n, "prefetch": n, "world_size": n, "rank": n},
			} {
				text, err := json.Marshal(arguments)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m(text); err != nil && strings.Contains(err.Error(), "panic") {
					t.Errorf("%s %s: %v", name, text, err)
				}
			}
		}
	}
}

// TestTransformOfNothing is an error that says so.
func TestTransformOfNothing(t *testing.T) {
	made, err := call("transform", []byte(`{"words": "resize:8", "dtype": "uint8", "layout": "nhwc", "channels": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int64{{0, 0}, {0, 5}, {5, 0}, {-1, 5}} {
		arguments := fmt.Appendf(nil, `{"transform": %d, "height": %d, "width": %d}`, made, size[0], size[1])
		if _, err := call("plan", arguments); !errors.Is(err, errValue) || !strings.Contains(err.Error(), "no pixels") {
			t.Errorf("%v: %v", size, err)
		}
	}
}

// TestPanicsAreErrors, of a method and of what gives a number.
func TestPanicsAreErrors(t *testing.T) {
	methods["panic"] = func([]byte) (any, error) { panic("of a test") }
	defer delete(methods, "panic")
	result := contained(func() (any, error) { return call("panic", nil) })
	if text := unsafe.String((*byte)(unsafe.Pointer(result)), 100); !strings.Contains(text, "of a test") {
		t.Errorf("%s", text)
	}
	if n := counted(func() (int, error) { panic("of a test") }); n != -1 {
		t.Errorf("%d, want -1", n)
	}
}

// TestDropTwice: what two goroutines drop at once is put into the pool once.
func TestDropTwice(t *testing.T) {
	for range 2000 {
		handle, err := handles.add(new(single))
		if err != nil {
			t.Fatal(err)
		}
		var users sync.WaitGroup
		var dropped [8]*single
		for k := range dropped {
			users.Go(func() {
				if s, ok := take[*single](handle); ok {
					dropped[k] = s
				}
			})
		}
		users.Wait()
		count := 0
		for _, s := range dropped {
			if s != nil {
				count++
			}
		}
		if count != 1 {
			t.Fatalf("a handle was taken %d times", count)
		}
	}
}
