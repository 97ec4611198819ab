//go:build cgo

package codec

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// syntheticCheck decodes synthetic JPEGs, as a whole and in regions, and compares with libjpeg.
type syntheticCheck struct {
	decoder    *Decoder
	transcoder *jpeg.Transcoder
	whole, got pixel.Image
	want       pixel.Image

	intact, tiled int
}

func newSyntheticCheck(t testing.TB) *syntheticCheck {
	c := &syntheticCheck{decoder: NewDecoder(), transcoder: new(jpeg.Transcoder)}
	t.Cleanup(c.decoder.Close)
	t.Cleanup(c.transcoder.Close)
	return c
}

// check compares the whole image, some regions and the scaled image; if there is no warning, also the
// transcoded image.
func (c *syntheticCheck) check(t *testing.T, j *syntheticJPEG) {
	t.Helper()
	q := jpeg.Request{W: j.w, H: j.h, Channels: 3, Scale: 1, Region: pixel.Rect{W: j.w, H: j.h}}
	asLibjpeg(t, &c.decoder.jpeg, j.out, q)
	small := q
	small.Fast, small.Scale = true, 1<<j.choose(4)
	small.Region, _ = scaledDown(j.region(), small.Scale, j.h, j.w)
	if small.Scale < 8 || !j.subsampled() {
		asLibjpeg(t, &c.decoder.jpeg, j.out, small)
	}
	q.LibjpegOnly = true
	warning, err := c.decoder.jpeg.Decode(&c.whole, j.out, q)
	if err != nil || warning != "" {
		return
	}
	c.intact++
	for range 6 {
		c.region(t, j, j.region())
	}
	c.transcode(t, j)
}

// subsampled reports whether a component has fewer blocks than another: of an image scaled down by 8,
// our decoder uses one value of each block, libjpeg more of such a component.
func (j *syntheticJPEG) subsampled() bool { return slices.Min(j.factors) != slices.Max(j.factors) }

func (j *syntheticJPEG) region() pixel.Rect {
	r := pixel.Rect{X: j.choose(j.w), Y: j.choose(j.h)}
	r.W, r.H = 1+j.choose(j.w-r.X), 1+j.choose(j.h-r.Y)
	if j.choose(2) == 0 {
		r.W, r.H = min(r.W, 8), min(r.H, 8)
	}
	return r
}

func (c *syntheticCheck) region(t *testing.T, j *syntheticJPEG, r pixel.Rect) {
	t.Helper()
	v := formats.Value{Data: j.out}
	if err := c.decoder.Decode(&c.got, &v, DecodeOptions{Region: r}); err != nil {
		t.Fatalf("region %+v: %v", r, err)
	}
	if c.whole.Crop(&c.want, r); !bytes.Equal(c.got.Pix, c.want.Pix) {
		t.Fatalf("region %+v of %dx%d: %s", r, j.w, j.h, firstDifference(&c.got, &c.want))
	}
}

// transcode transcodes and compares the pixels.
func (c *syntheticCheck) transcode(t *testing.T, j *syntheticJPEG) {
	t.Helper()
	out, err := c.transcoder.Append(nil, j.out, 1+j.choose(20), false)
	var not *jpeg.NotTiledError
	if errors.As(err, &not) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	c.tiled++
	q := jpeg.Request{W: j.w, H: j.h, Channels: 3, Scale: 1, Region: pixel.Rect{W: j.w, H: j.h}}
	if warning, err := c.decoder.jpeg.Decode(&c.got, out, q); err != nil || warning != "" || !bytes.Equal(c.got.Pix, c.whole.Pix) {
		t.Fatalf("tiled: %v, %q, %s", err, warning, firstDifference(&c.got, &c.whole))
	}
}

// JPEGs with any Huffman tables and any order of symbols, which no encoder writes, decode to libjpeg's
// pixels, as a whole and in regions.
func TestSyntheticJPEGs(t *testing.T) {
	c := newSyntheticCheck(t)
	const n = 3000
	failed := 0
	for seed := range uint64(n) {
		ok := t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { c.check(t, newSyntheticJPEG(chooseRandomly(seed))) })
		if !ok {
			failed++
		}
	}
	if failed > 0 || c.intact < n*9/10 || c.tiled < n/3 {
		t.Errorf("%d failed; of %d images %d are intact, %d tiled", failed, n, c.intact, c.tiled)
	}
}

// libjpeg refuses a table in which a code is all ones, so CheckStructure must not accept it.
func TestAllOnesCode(t *testing.T) {
	j := newSyntheticJPEG(chooseRandomly(1))
	j.out, j.same = nil, 1
	for i := range j.ac {
		j.ac[i] = newHuffmanTable([]int{1, 1}, []byte{endOfBlock, 0x01})
	}
	j.headers()
	across, down := j.mcus()
	for range across * down * 20 {
		j.block(0)
	}
	j.pad()
	j.out = append(j.out, 0xFF, jpeg.MarkEOI)
	q := jpeg.Request{W: j.w, H: j.h, Channels: 3, Scale: 1, Region: pixel.Rect{W: j.w, H: j.h}, LibjpegOnly: true}
	var d jpeg.Decoder
	defer d.Close()
	var m pixel.Image
	_, err := d.Decode(&m, j.out, q)
	irregular, fault := CheckStructure(j.out, formats.JPEG)
	if !errors.Is(err, pixel.ErrCorrupt) || irregular == "" && fault == nil {
		t.Errorf("%v; the structure is irregular: %q, %v", err, irregular, fault)
	}
}

// FuzzSyntheticJPEG is TestSyntheticJPEGs with choices by the fuzzer's bytes.
func FuzzSyntheticJPEG(f *testing.F) {
	for seed := range uint64(20) {
		choices, data := chooseRandomly(seed), make([]byte, 4096)
		for i := range data {
			data[i] = byte(choices(256))
		}
		f.Add(data)
	}
	c := newSyntheticCheck(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c.check(t, newSyntheticJPEG(chooseBy(data)))
	})
}
