package reader

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// TestMasksAndBoxesStandUpright holds for every EXIF orientation that a mask and a box are
// turned as the image is: a bright patch of the image is one of the mask and lies in the box.
func TestMasksAndBoxesStandUpright(t *testing.T) {
	const h, w = 32, 48
	patch := pixel.Rect{X: 8, Y: 16, W: 24, H: 8}
	m := pixel.Image{Pix: make([]byte, h*w), H: h, W: w, C: 1, DType: formats.Uint8}
	for y := patch.Y; y < patch.Y+patch.H; y++ {
		for x := patch.X; x < patch.X+patch.W; x++ {
			m.Pix[y*w+x] = 255
		}
	}
	box := []float32{8, 16, 32, 24}
	var corners []byte
	for _, v := range box {
		corners = binary.LittleEndian.AppendUint32(corners, math.Float32bits(v))
	}
	for orientation := 1; orientation <= 8; orientation++ {
		for _, kind := range []CacheKind{NoCache, Decoded} {
			ds := newMemory()
			ds.add("train", withOrientation(t, &m, orientation))
			ds.addField(formats.Field{Name: "mask", Kind: formats.Mask}, func(int) formats.Value {
				return formats.Value{Data: m.Pix, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{h, w, 1}}
			})
			ds.addField(formats.Field{Name: "box", Kind: formats.Boxes}, func(int) formats.Value {
				return formats.Value{Data: corners, Encoding: formats.Raw, DType: formats.Float32, Shape: []int{1, 4}}
			})
			l := makeLoader(t, ds, Config{
				BatchSize: 1, Color: pixel.ColorGray, ApplyOrientation: true, Fields: []string{"mask", "box"},
				Cache: Cache{Kind: kind, Limit: 1 << 20, Dir: t.TempDir()},
			})
			for range 2 { // read, then from the cache
				checkUpright(t, orientation, collect(t, l, 0)[0])
			}
		}
	}
}

func checkUpright(t *testing.T, orientation int, b *Batch) {
	t.Helper()
	width := b.Shape[2]
	box := Elements[float32](b.Fields[1].Value(0))
	for i, v := range b.Fields[0].Value(0) {
		x, y := float32(i%width), float32(i/width)
		inside := box[0] <= x && x < box[2] && box[1] <= y && y < box[3]
		if (v == 255) != inside || (Pixels[uint8](b)[i] > 128) != inside {
			t.Fatalf("orientation %d: at (%v, %v) the mask is %d, the image %d, the box %v", orientation, x, y, v, Pixels[uint8](b)[i], box)
		}
	}
}

// withOrientation is m as a JPEG with that EXIF orientation.
func withOrientation(t *testing.T, m *pixel.Image, orientation int) formats.Value {
	t.Helper()
	e := codec.NewEncoder()
	defer e.Close()
	data, err := e.AppendJPEG(nil, m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 95})
	if err != nil {
		t.Fatal(err)
	}
	exif := []byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	exif = append(exif, byte(orientation), 0, 0, 0, 0, 0, 0, 0)
	marked := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return formats.Value{Data: append(marked, data[2:]...), Encoding: formats.JPEG}
}
