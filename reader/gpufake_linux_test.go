//go:build cgo

package reader

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// onCard is the first n bytes of b's images as they are now: nothing is waited for.
func onCard(t *testing.T, b *Batch, n int) []byte {
	t.Helper()
	host := make([]byte, n)
	if !fakegpu.Read(host, b.Device().Pointer()) {
		t.Fatal("the images do not lie in the GPU's memory")
	}
	return host
}

// sameOnCard compares what an epoch's batches become with those of the CPU, while modes hold.
func sameOnCard(t *testing.T, ds formats.Dataset, c Config, modes string) gpudecode.Counts {
	t.Helper()
	want := collect(t, makeLoader(t, ds, c), 0)
	c.Decoder, c.GPU.NVJPEG = DecodeOnGPU, fakegpu.Load(t, "")
	l, err := New(ds, c)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	fakegpu.Set(modes)
	defer fakegpu.Set("")
	k := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		must(t, err)
		sameRest(t, b, want[k])
		images := onCard(t, b, l.MemorySize())
		for view := range b.Views() {
			n := len(b.Rest[view].Flips) * l.frame.viewEntryBytes(view)
			if !bytes.Equal(finished(t, l, b, view, images[l.frame.viewOffset(view):][:n]), want[k].ViewBytes(view)) {
				t.Fatalf("batch %d of %d: view %d differs", k, len(want), view)
			}
		}
		k++
	}
	if k != len(want) {
		t.Fatalf("%d batches, want %d", k, len(want))
	}
	return l.Stats().Decoded
}

// TestFakeGPU: batches are the CPU's through all of gpudecode, in each mode of a hostile GPU.
func TestFakeGPU(t *testing.T) {
	ds := manyEncodings(t, 24)
	c := Config{
		BatchSize: 7, Workers: 2, Shuffle: true, Seed: 4, DType: formats.Float32, Layout: pixel.NCHW,
		Transforms: parsed(t, "rrc:16,flip,vflip,normalize,erase:0.5:value=random,mixup:0.3,cutmix:1"),
	}
	for _, modes := range []string{
		"", "slow", "eager", "engines:0", "skip/3", "partial/3", "unsupported/2", "image:3/4", "nvjpegDecodeBatchedEx:6/2",
		"nvjpegDecodeJpegHost:8/3", "cuMemHostAlloc:2/4", "pinned/4",
	} {
		t.Run(modes, func(t *testing.T) {
			counts := sameOnCard(t, ds, c, modes)
			if counts.Engine+counts.CUDA == 0 || modes == "" && counts.Engine == 0 || counts.Reasons[gpudecode.ReasonNotJPEG] == 0 {
				t.Errorf("%+v", counts)
			}
			if (modes == "skip/3" || modes == "partial/3") && counts.Reasons[gpudecode.ReasonNotWritten] == 0 {
				t.Errorf("pixels that were not written are not counted: %+v", counts)
			}
		})
	}
}

// TestFakeGPUTypes, of all elements, with views and with grey images.
func TestFakeGPUTypes(t *testing.T) {
	ds := manyEncodings(t, 12)
	for i, d := range []formats.DType{formats.Uint8, formats.Float32, formats.Float16, formats.BFloat16} {
		c := Config{BatchSize: 5, Workers: 2, DType: d, Layout: []pixel.Layout{pixel.NHWC, pixel.NCHW}[i%2], ApplyOrientation: i > 1}
		gray := c
		gray.Color, gray.Transforms = pixel.ColorGray, parsed(t, "rrc:15,flip")
		t.Run(fmt.Sprintf("%s gray", d), func(t *testing.T) { sameOnCard(t, ds, gray, "") })
		c.Views = multiCrop(t)[2:5]
		t.Run(fmt.Sprintf("%s views", d), func(t *testing.T) { sameOnCard(t, ds, c, "") })
	}
}

// TestFakeGPUFails: a GPU that starts no kernel ends the run, with a sentence, and nothing is called a bad sample.
func TestFakeGPUFails(t *testing.T) {
	c := Config{BatchSize: 4, Workers: 2, OnError: Skip, Transforms: parsed(t, "rrc:16"), Decoder: DecodeOnGPU}
	c.GPU.NVJPEG = fakegpu.Load(t, "")
	l, err := New(photos(t, 40), c)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	fakegpu.Set("cuLaunchKernel:1+1")
	err = firstError(t, l)
	if times, _ := l.Bad(); err == nil || times != 0 || !strings.Contains(err.Error(), "decode on the GPU") {
		t.Errorf("%v, %d bad samples", err, times)
	}
}

// TestFakeGPUWithoutMemory: a batch that has no place on the GPU is no bad sample.
func TestFakeGPUWithoutMemory(t *testing.T) {
	c := Config{BatchSize: 4, Workers: 2, OnError: Skip, Transforms: parsed(t, "rrc:16"), Decoder: DecodeOnGPU}
	c.GPU.NVJPEG = fakegpu.Load(t, "")
	l, err := New(photos(t, 40), c)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	fakegpu.Set("cuMemAlloc_v2:2+1")
	err = firstError(t, l)
	if times, _ := l.Bad(); !errors.Is(err, cuda.ErrMemory) || times != 0 {
		t.Errorf("%v, %d bad samples", err, times)
	}
}

// TestFakeGPUKeptBatches stay as they are while others are decoded, and after Close.
func TestFakeGPUKeptBatches(t *testing.T) {
	ds := photos(t, 24)
	c := Config{BatchSize: 4, Workers: 2, Transforms: parsed(t, "rrc:16")}
	want := collect(t, makeLoader(t, ds, c), 0)
	c.Decoder, c.GPU.NVJPEG = DecodeOnGPU, fakegpu.Load(t, "")
	l, err := New(ds, c)
	must(t, err)
	var kept []*Batch
	for b, err := range l.Epoch(t.Context(), 0) {
		must(t, err)
		if b.Keep(); len(kept)%2 == 1 {
			b.Release() // the memory is used again
		}
		kept = append(kept, b)
	}
	must(t, l.Close())
	for k := 0; k < len(kept); k += 2 {
		if !slices.Equal(onCard(t, kept[k], len(want[k].ImageBytes())), want[k].ImageBytes()) {
			t.Errorf("batch %d changed", k)
		}
		kept[k].Release()
	}
}

// TestFakeGPUMissing says what is missing.
func TestFakeGPUMissing(t *testing.T) {
	c := Config{BatchSize: 4, Transforms: parsed(t, "rrc:16")}
	for modes, wanted := range map[string]string{"cuInit:100": "GPU", "devices:0": "GPU", "cuInit:803": "driver"} {
		t.Run(modes, func(t *testing.T) {
			c.Decoder, c.GPU = DecodeOnGPU, gpudecode.Options{NVJPEG: fakegpu.Load(t, modes)}
			_, err := New(photos(t, 4), c)
			if !errors.Is(err, gpudecode.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), wanted) {
				t.Errorf("%v", err)
			}
		})
	}
	fakegpu.Load(t, "")
	c.GPU.NVJPEG = t.TempDir() + "/none.so"
	if _, err := New(photos(t, 4), c); !errors.Is(err, gpudecode.ErrUnavailable) || !strings.Contains(err.Error(), c.GPU.NVJPEG) {
		t.Errorf("%v", err)
	}
}
