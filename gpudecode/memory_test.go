//go:build linux && cgo

package gpudecode

import (
	"bytes"
	"context"
	"reflect"
	"runtime"
	"testing"
	"weak"

	"github.com/dsconv/dsconv/internal/testing/consumer"
)

// TestLateReader: a consumer of a lent tensor reads it after it has freed it, in the order of its stream, while the next
// batch already wants the memory.
func TestLateReader(t *testing.T) {
	f := newFixture(t, "slow", 4, nil)
	reads, err := f.gpu.device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	size := len(f.batch.want[0]) * len(f.batch.want)
	host, err := f.gpu.device.AllocPinned(size)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Free()
	for i := range 20 {
		out, err := f.d.Memory()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.d.Decode(context.Background(), f.batch.images, out, f.batch.outcomes); err != nil {
			t.Fatal(err)
		}
		tensor := out.DLPack(reads.Handle())
		if tensor == 0 {
			t.Fatal("no tensor")
		}
		out.Release() // does nothing: it is the consumer's
		clear(host.Bytes())
		if err := reads.ToHost(host.Bytes(), address(consumer.Describe(tensor).Data)); err != nil {
			t.Fatal(err)
		}
		if !consumer.Delete(tensor) {
			t.Fatal("no thread")
		}
		next, err := f.d.Memory()
		if err != nil {
			t.Fatal(err)
		}
		if next.Pointer() != out.Pointer() {
			t.Fatalf("round %d: the memory is not used again", i)
		}
		other := []Image{{Ready: make([]byte, size)}} // overwrites all of it
		if err := f.d.Decode(context.Background(), other, next, make([]Outcome, 1)); err != nil {
			t.Fatal(err)
		}
		if err := reads.Sync(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(host.Bytes(), bytes.Join(f.batch.want, nil)) {
			t.Fatalf("round %d: the consumer has read the next batch", i)
		}
		next.Release()
	}
}

// TestTensorOutlivesAll: a tensor is freed after its Decoder and the GPU were closed.
func TestTensorOutlivesAll(t *testing.T) {
	f := newFixture(t, "", 4, nil)
	f.decode()
	tensor := f.out.DLPack(0)
	want := consumer.Tensor{
		Data: uint64(f.out.block.Address()), DeviceType: 2, Code: 2, Bits: 32,
		Shape: []int64{int64(f.d.config.Bytes / 4)}, Strides: []int64{1},
	}
	if f.out.DLPack(0) != 0 {
		t.Error("handed over twice")
	}
	if got := consumer.Describe(tensor); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	f.d.Close()
	if err := f.gpu.Close(); err != nil {
		t.Error(err)
	}
	if !consumer.Delete(tensor) {
		t.Error("no thread")
	}
}

// TestForgets: after Decode nothing of a Decoder holds the bytes of a JPEG. They were pinned, and the garbage collector
// ends a program in which something pinned is left over.
func TestForgets(t *testing.T) {
	for _, modes := range []string{"", "engines:0"} {
		t.Run(modes, func(t *testing.T) {
			f := newFixture(t, modes, 3, nil)
			decode := func() (held []weak.Pointer[byte]) {
				images := make([]Image, 3)
				for i := range images {
					data := bytes.Clone(f.batch.images[i].JPEG)
					held = append(held, weak.Make(&data[0]))
					images[i] = Image{JPEG: data, H: 20, W: 25, CPU: func([]byte) error { return nil }}
				}
				if err := f.d.Decode(context.Background(), images, f.out, make([]Outcome, 3)); err != nil {
					t.Fatal(err)
				}
				return held
			}
			held := decode()
			runtime.GC()
			for i, p := range held {
				if p.Value() != nil {
					t.Errorf("image %d is held", i)
				}
			}
		})
	}
}
