//go:build cgo

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// The structs of rest.h: a test has no C.
type (
	cRest struct {
		images, erasures, values int64
		mixing                   int32
		share, other             float32
		x, y, w, h               int32
	}
	cErasure struct {
		image, at   int64
		x, y, w, h  int32
		noise, none int32
	}
)

// invoke calls an exported function; integers and pointers become those of its parameters.
func invoke(f any, arguments ...any) reflect.Value {
	function := reflect.ValueOf(f)
	in := make([]reflect.Value, len(arguments))
	for k, a := range arguments {
		v, t := reflect.ValueOf(a), function.Type().In(k)
		switch {
		case a == nil:
			in[k] = reflect.Zero(t)
		case t.Kind() == reflect.Pointer:
			in[k] = reflect.NewAt(t.Elem(), v.UnsafePointer())
		default:
			in[k] = v.Convert(t)
		}
	}
	return function.Call(in)[0]
}

// failed is the text of an error that an exported function replied, "" for NULL.
func failed(reply reflect.Value) string {
	if reply.IsNil() {
		return ""
	}
	b := unsafe.Slice((*byte)(reply.UnsafePointer()), 1<<16)
	return string(b[:slices.Index(b, 0)])
}

// opening opens a loader of path with more arguments.
func opening(t *testing.T, path string, more map[string]any) opened {
	t.Helper()
	arguments := map[string]any{
		"path": path, "batch": 4, "workers": 2, "prefetch": 1, "order": "none", "dtype": "float32", "layout": "nchw",
		"color": "rgb", "label_dtype": "int64", "on_error": "fail", "world_size": 1,
	}
	maps.Copy(arguments, more)
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	result, err := call("open", text)
	if err != nil {
		t.Fatal(err)
	}
	o := result.(opened)
	t.Cleanup(func() { _, _ = call("close", fmt.Appendf(nil, `{"loader": %d}`, o.Loader)) })
	return o
}

// TestRestIsTold: what C is told of a deferred batch is what the reader says.
func TestRestIsTold(t *testing.T) {
	o := opening(t, dataset(t, 8), map[string]any{
		"deferred": true, "augment": "flip,vflip,normalize,erase:1:value=random,erase:1:scale=0.1-0.2:value=0.5,mixup:1",
	})
	size := side * side * 3
	if len(o.Rest) != 1 || o.Rest[0].DType != formats.Uint8 || !slices.Equal(o.Rest[0].Shape, []int{side, side, 3}) ||
		!o.Rest[0].Tables || !o.Rest[0].Previous || o.BlockSize != 5*size {
		t.Fatalf("%+v, blocks of %d bytes", o.Rest, o.BlockSize)
	}
	if p := o.Parts[0]; p.DType != formats.Float32 || !slices.Equal(p.Shape, []int{3, side, side}) {
		t.Fatalf("the images become %s, %v", p.DType, p.Shape)
	}
	checkTables(t, o.Loader)

	blocks := []unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(make([]byte, o.BlockSize))), unsafe.Pointer(unsafe.SliceData(make([]byte, o.BlockSize)))}
	run, err := start(o.Loader, reader.RunOptions{}, blocks)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lookup[*running](run)
	if err != nil {
		t.Fatal(err)
	}
	defer r.end(run)
	var batch struct {
		images unsafe.Pointer
		n      [4]int64
	}
	if what := invoke(dsconv_next, run, nil, 60_000, unsafe.Pointer(&batch), nil).Int(); what != nextBatch {
		t.Fatalf("dsconv_next: %d", what)
	}
	checkRest(t, run, &r.batch.Rest[0])
	if previous := unsafe.Slice((*byte)(batch.images), o.BlockSize)[4*size:]; previous[0] != 3 || previous[size-1] != 3 {
		t.Errorf("the previous image is that of sample %d, want 3", previous[0])
	}
}

func checkTables(t *testing.T, loader int64) {
	t.Helper()
	tables := make([]uint32, 3*256)
	if n := invoke(dsconv_tables, loader, 0, unsafe.Pointer(&tables[0]), len(tables)).Int(); n != 3*256 {
		t.Fatalf("%d values in the tables", n)
	}
	for c, mean := range []float32{0.485, 0.456, 0.406} {
		std := []float32{0.229, 0.224, 0.225}[c]
		for v := range 256 {
			if got, want := math.Float32frombits(tables[256*c+v]), (float32(v)/255-mean)/std; got != want {
				t.Fatalf("channel %d: %d becomes %v, want %v", c, v, got, want)
			}
		}
	}
	if n := invoke(dsconv_tables, loader, 1, nil, 0).Int(); n != -1 {
		t.Errorf("tables of a view that there is not: %d", n)
	}
}

func checkRest(t *testing.T, run int64, want *reader.Rest) {
	t.Helper()
	var rest cRest
	flips := make([]uint8, 5)
	if text := failed(invoke(dsconv_rest, run, 0, unsafe.Pointer(&flips[0]), len(flips), unsafe.Pointer(&rest))); text != "" {
		t.Fatal(text)
	}
	if !slices.Equal(flips, want.Flips) || rest.images != 5 || rest.erasures != int64(len(want.Erasures)) || rest.erasures < 5 {
		t.Fatalf("%+v, flips %v, want %+v", rest, flips, want)
	}
	if rest.mixing != 1 || rest.share != float32(want.Mixing.Share) || rest.other != float32(1-want.Mixing.Share) {
		t.Errorf("mixing %d of %v and %v, want %+v", rest.mixing, rest.share, rest.other, want.Mixing)
	}
	erasures, values := make([]cErasure, rest.erasures), make([]float32, rest.values)
	count := func(n, m int64) int64 {
		return invoke(dsconv_erasures, run, 0, unsafe.Pointer(&erasures[0]), n, unsafe.Pointer(&values[0]), m).Int()
	}
	if count(rest.erasures-1, rest.values) != -1 || count(rest.erasures, rest.values-1) != -1 {
		t.Error("too little space is enough")
	}
	if n := count(rest.erasures, rest.values); n != rest.erasures {
		t.Fatalf("%d erasures, want %d", n, rest.erasures)
	}
	for i, e := range erasures {
		w := &want.Erasures[i]
		n := 3
		if w.Noise {
			n *= w.Region.W * w.Region.H
		}
		if e.image != int64(w.Image) || int(e.x) != w.Region.X || int(e.y) != w.Region.Y || int(e.w) != w.Region.W || int(e.h) != w.Region.H ||
			(e.noise == 1) != w.Noise || !slices.Equal(values[e.at:][:n], w.Values) {
			t.Errorf("erasure %d: %+v, want %+v", i, e, w)
		}
	}
}

// TestNothingIsLeft: a loader that finishes its batches says so.
func TestNothingIsLeft(t *testing.T) {
	o := opening(t, dataset(t, 8), nil)
	if o.Rest != nil {
		t.Errorf("the rest is %+v", o.Rest)
	}
	if n := invoke(dsconv_tables, o.Loader, 0, nil, 0).Int(); n != -1 {
		t.Errorf("%d values in tables", n)
	}
	block := unsafe.Pointer(unsafe.SliceData(make([]byte, o.BlockSize)))
	run, err := start(o.Loader, reader.RunOptions{}, []unsafe.Pointer{block, block})
	if err != nil {
		t.Fatal(err)
	}
	r, err := lookup[*running](run)
	if err != nil {
		t.Fatal(err)
	}
	defer r.end(run)
	if text := failed(invoke(dsconv_rest, run, 0, nil, 0, unsafe.Pointer(new(cRest)))); !strings.Contains(text, "nothing is left") {
		t.Errorf("dsconv_rest: %s", text)
	}
	if text := failed(invoke(dsconv_device, run, 0, unsafe.Pointer(new([2]uint64)))); !strings.Contains(text, "device") {
		t.Errorf("dsconv_device: %s", text)
	}
}
