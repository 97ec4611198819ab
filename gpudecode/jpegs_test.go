package gpudecode

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// jpegs makes JPEGs of random pixels.
type jpegs struct {
	t       testing.TB
	rng     *rand.Rand
	encoder jpeg.Encoder
}

func newJPEGs(t testing.TB, seed uint64) *jpegs {
	j := &jpegs{t: t, rng: rand.New(rand.NewPCG(seed, 1))}
	t.Cleanup(j.encoder.Close)
	return j
}

// encode encodes a random image with soft edges and some noise.
func (j *jpegs) encode(w, h, c int, o jpeg.EncodeOptions) []byte {
	m := &pixel.Image{}
	m.Reset(h, w, c, formats.Uint8)
	noise, a, b := 1+j.rng.IntN(60), j.rng.IntN(9), j.rng.IntN(9)
	for i := range m.Pix {
		x, y := i/c%w, i/c/w
		m.Pix[i] = byte(a*x + b*y + 40*(i%c) + j.rng.IntN(noise))
	}
	o.Quality = 30 + j.rng.IntN(70)
	data, err := j.encoder.Encode(nil, m, o)
	if err != nil {
		j.t.Fatal(err)
	}
	return data
}

// The kinds of JPEGs that make gives.
const (
	kind444 = iota
	kind422
	kind420
	kind440
	kindGray
	kindRestarts
	kindProgressive
	kindCMYK
	kindRGB
	kindTruncated
	kindDamaged
	kinds
)

// make returns a JPEG of w by h pixels.
func (j *jpegs) make(kind, w, h int) []byte {
	o := jpeg.EncodeOptions{Sampling: []pixel.Sampling{pixel.Sampling444, pixel.Sampling422, pixel.Sampling420}[j.rng.IntN(3)]}
	switch kind {
	case kind444:
		return j.encode(w, h, 3, jpeg.EncodeOptions{Sampling: pixel.Sampling444})
	case kind422:
		return j.encode(w, h, 3, jpeg.EncodeOptions{Sampling: pixel.Sampling422})
	case kind420:
		return j.encode(w, h, 3, jpeg.EncodeOptions{Sampling: pixel.Sampling420})
	case kind440:
		return j.make440(w, h)
	case kindGray:
		return j.encode(w, h, 1, o)
	case kindRestarts:
		o.Interval = 1 + j.rng.IntN(4)
	case kindProgressive:
		o.Progressive = true
	case kindCMYK:
		return j.makeCMYK(w, h)
	case kindRGB:
		return withAdobe(j.encode(w, h, 3, o), 0)
	}
	data := j.encode(w, h, 3, o)
	switch kind {
	case kindTruncated:
		return data[:2+j.rng.IntN(len(data)-2)]
	case kindDamaged:
		for range 1 + j.rng.IntN(3) {
			data[2+j.rng.IntN(len(data)-2)] ^= byte(1 + j.rng.IntN(255))
		}
	}
	return data
}

// make440 returns a JPEG whose colours are stored half as high: one of 4:2:2 whose header says otherwise, so that its
// blocks lie elsewhere.
func (j *jpegs) make440(w, h int) []byte {
	data := j.encode((w+7)/8*16, (h+15)/16*8, 3, jpeg.EncodeOptions{Sampling: pixel.Sampling422})
	at := frameOf(data)
	data[at+5], data[at+6], data[at+7], data[at+8] = byte(h>>8), byte(h), byte(w>>8), byte(w)
	data[at+11] = 0x12
	return data
}

// makeCMYK returns a JPEG of four components: four times the scan of a grey one.
func (j *jpegs) makeCMYK(w, h int) []byte {
	gray := j.encode(w, h, 1, jpeg.EncodeOptions{})
	at := frameOf(gray)
	frame := append([]byte(nil), gray[at:at+13]...) // of one component
	frame[3], frame[9] = 8+3*4, 4
	for id := byte(2); id <= 4; id++ {
		frame = append(frame, id, 0x11, 0)
	}
	scan := bytes.Index(gray, []byte{0xFF, jpeg.MarkSOS})
	out := append(append([]byte(nil), gray[:at]...), frame...)
	out = append(out, gray[at+13:scan]...)
	for id := byte(1); id <= 4; id++ {
		one := append([]byte(nil), gray[scan:len(gray)-2]...)
		one[5] = id
		out = append(out, one...)
	}
	return append(out, 0xFF, jpeg.MarkEOI)
}

// frameOf is where the marker of a baseline frame is.
func frameOf(data []byte) int { return bytes.Index(data, []byte{0xFF, jpeg.MarkSOF0, 0}) }

// withAdobe inserts Adobe's segment instead of JFIF's.
func withAdobe(data []byte, transform byte) []byte {
	out := append([]byte{0xFF, 0xD8, 0xFF, 0xEE, 0, 14}, "Adobe\x00\x64\x00\x00\x00\x00"...)
	return append(append(out, transform), data[2+18:]...)
}
