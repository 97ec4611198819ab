//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
	"github.com/dsconv/dsconv/reader"
)

// photos is an LMDB of n JPEGs of 32x24 pixels.
func photos(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "photos.lmdb")
	schema := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"a", "b"}}}
	w, err := lmdb.Format{}.Create(path, formats.Meta{Version: formats.Version, Format: lmdb.Format{}.Name(), Schema: schema}, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range n {
		m := image.NewYCbCr(image.Rect(0, 0, 32, 24), image.YCbCrSubsampleRatio420)
		for k := range m.Y {
			m.Y[k] = byte(k*(i+3) + i)
		}
		var data bytes.Buffer
		if err := jpeg.Encode(&data, m, nil); err != nil {
			t.Fatal(err)
		}
		var label formats.Value
		label.SetInt64(int64(i % 2))
		values := []formats.Value{{Data: data.Bytes(), Encoding: formats.JPEG, Shape: []int{24, 32, 3}}, label}
		if err := w.Write(&formats.Sample{Key: fmt.Sprintf("%04d", i), Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// nextOnDevice takes the next batch's tensor; nil after the last batch.
func nextOnDevice(t *testing.T, run int64) (tensor unsafe.Pointer, elements int64) {
	t.Helper()
	var batch struct {
		images unsafe.Pointer
		n      [4]int64
	}
	switch what := invoke(dsconv_next, run, nil, 60_000, unsafe.Pointer(&batch), nil).Int(); what {
	case nextEnd:
		return nil, 0
	case nextBatch:
	default:
		t.Fatalf("dsconv_next: %d", what)
	}
	if batch.images != nil {
		t.Error("a batch on the device has images on the host")
	}
	var out struct {
		tensor   unsafe.Pointer
		elements int64
	}
	if text := failed(invoke(dsconv_device, run, 1, unsafe.Pointer(&out))); text != "" {
		t.Fatal(text)
	}
	if text := failed(invoke(dsconv_device, run, 1, unsafe.Pointer(new([2]uint64)))); !strings.Contains(text, "taken") {
		t.Errorf("taking the images again: %s", text)
	}
	return out.tensor, out.elements
}

// TestDeviceBatches: tensors hold what the CPU's batches hold, and outlive their run and loader.
func TestDeviceBatches(t *testing.T) {
	nvjpeg := fakegpu.Load(t, "")
	path := photos(t, 10)
	more := map[string]any{"augment": "rrc:16,flip,normalize", "prefetch": 2}
	cpu := opening(t, path, more)
	more["decoder"], more["gpu"] = "gpu", map[string]any{"nvjpeg": nvjpeg}
	o := opening(t, path, more)
	if o.GPU == nil || o.GPU.Card == "" || len(o.Rest) != 1 || o.Rest[0].Tables || o.Rest[0].Previous || cpu.GPU != nil || o.BlockSize != 4*16*16*3*4 {
		t.Fatalf("%+v, %+v", o.GPU, o.Rest)
	}
	run, err := start(o.Loader, reader.RunOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []unsafe.Pointer
	for {
		tensor, elements := nextOnDevice(t, run)
		if tensor == nil {
			break
		}
		d := fakegpu.ReadTensor(tensor)
		if d.Type != 2 || d.Number != 0 || d.Code != 2 || d.Bits != 32 || len(d.Shape) != 1 || d.Shape[0] != elements || d.Strides[0] != 1 || elements != 4*16*16*3 {
			t.Errorf("the tensor is %+v, of %d elements", d, elements)
		}
		tensors = append(tensors, tensor)
	}
	checkStats(t, o.Loader)
	stop(run)
	if _, err := call("close", fmt.Appendf(nil, `{"loader": %d}`, o.Loader)); err != nil {
		t.Fatal(err)
	}
	compareTensors(t, cpu, tensors)
	for _, tensor := range tensors {
		fakegpu.DeleteTensor(tensor)
	}
}

// stop is dsconv_stop.
func stop(run int64) {
	f := reflect.ValueOf(dsconv_stop)
	f.Call([]reflect.Value{reflect.ValueOf(run).Convert(f.Type().In(0))})
}

// compareTensors compares them with the batches of a loader on the CPU.
func compareTensors(t *testing.T, cpu opened, tensors []unsafe.Pointer) {
	t.Helper()
	l, err := lookup[*loader](cpu.Loader)
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(b.ImageBytes()))
		if !fakegpu.Read(got, fakegpu.ReadTensor(tensors[k]).Address) || !bytes.Equal(got, b.ImageBytes()) {
			t.Errorf("batch %d differs", k)
		}
		k++
	}
	if k != len(tensors) {
		t.Errorf("%d tensors, want %d", len(tensors), k)
	}
}

// checkStats: "stats" has what "clock" and "bad" have, and the paths.
func checkStats(t *testing.T, loader int64) {
	t.Helper()
	result, err := call("stats", fmt.Appendf(nil, `{"loader": %d, "arguments": {}}`, loader))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Clock   clock
		Bad     bad
		Decoded struct {
			Engine, CUDA, CPU int64
			Reasons           map[string]int64
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if s.Clock.Images < 10 || s.Bad.Samples == nil || s.Decoded.Engine+s.Decoded.CUDA+s.Decoded.CPU < 10 || s.Decoded.Reasons == nil {
		t.Errorf("%s", text)
	}
}

// TestDroppedDeviceBatches: what nobody took is freed with its run.
func TestDroppedDeviceBatches(t *testing.T) {
	nvjpeg := fakegpu.Load(t, "")
	o := opening(t, photos(t, 24), map[string]any{"augment": "rrc:16", "decoder": "gpu", "gpu": map[string]any{"nvjpeg": nvjpeg}})
	run, err := start(o.Loader, reader.RunOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var batch [5]int64
		if what := invoke(dsconv_next, run, nil, 60_000, unsafe.Pointer(&batch), nil).Int(); what != nextBatch {
			t.Fatalf("dsconv_next: %d", what)
		}
	}
	if _, err := call("close", fmt.Appendf(nil, `{"loader": %d}`, o.Loader)); err != nil {
		t.Fatal(err)
	}
}

// TestNoGPU: the kind of the error is "gpu", and it says what is missing.
func TestNoGPU(t *testing.T) {
	nvjpeg := fakegpu.Load(t, "cuInit:100")
	path := photos(t, 4)
	for _, library := range []string{nvjpeg, filepath.Join(t.TempDir(), "none.so")} {
		text, err := json.Marshal(map[string]any{
			"path": path, "batch": 4, "dtype": "uint8", "layout": "nhwc", "order": "none", "augment": "rrc:16", "decoder": "gpu",
			"gpu": map[string]any{"nvjpeg": library},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = call("open", text)
		if f := describe(err); f == nil || f.Kind != "gpu" || !strings.Contains(f.Message, "GPU") {
			t.Errorf("%+v", f)
		}
	}
}
