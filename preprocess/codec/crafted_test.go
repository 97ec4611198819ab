//go:build cgo

package codec

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// craftCheck compares what is made of crafted JPEGs with libjpeg's whole images.
type craftCheck struct {
	decoder    *Decoder
	transcoder *jpeg.Transcoder
	splicer    jpeg.Splicer
	twin       jpeg.GoTranscoder
	whole, got pixel.Image
	want       pixel.Image

	sound, tiled, spliced int
}

func newCraftCheck(t testing.TB) *craftCheck {
	c := &craftCheck{decoder: NewDecoder(), transcoder: jpeg.NewTranscoder()}
	t.Cleanup(c.decoder.Close)
	t.Cleanup(c.transcoder.Close)
	return c
}

// check compares the whole image, some regions and the image made smaller; of images without
// warning also what the transcoder and the splicer make of them.
func (c *craftCheck) check(t *testing.T, j *crafted) {
	t.Helper()
	q := jpeg.Request{W: j.w, H: j.h, Channels: 3, Scale: 1, Part: pixel.Rect{W: j.w, H: j.h}}
	asLibjpeg(t, &c.decoder.jpeg, j.out, q)
	small := q
	small.Fast, small.Scale = true, 1<<j.choose(4)
	small.Part, _ = j.region().Shrink(small.Scale, j.h, j.w)
	if small.Scale < 8 || !j.subsampled() {
		asLibjpeg(t, &c.decoder.jpeg, j.out, small)
	}
	q.Plain = true
	warning, err := c.decoder.jpeg.Decode(&c.whole, j.out, q)
	if err != nil || warning != "" {
		return
	}
	c.sound++
	for range 6 {
		c.region(t, j, j.region())
	}
	c.tiles(t, j)
}

// subsampled says whether a component has fewer blocks than another: of an image made 8 times
// smaller our decoder uses one value of each block, libjpeg more of such a component.
func (j *crafted) subsampled() bool { return slices.Min(j.factors) != slices.Max(j.factors) }

func (j *crafted) region() pixel.Rect {
	r := pixel.Rect{X: j.choose(j.w), Y: j.choose(j.h)}
	r.W, r.H = 1+j.choose(j.w-r.X), 1+j.choose(j.h-r.Y)
	if j.choose(2) == 0 {
		r.W, r.H = min(r.W, 8), min(r.H, 8)
	}
	return r
}

func (c *craftCheck) region(t *testing.T, j *crafted, r pixel.Rect) {
	t.Helper()
	v := formats.Value{Data: j.out}
	if err := c.decoder.Decode(&c.got, &v, DecodeOptions{Region: r}); err != nil {
		t.Fatalf("region %+v: %v", r, err)
	}
	if c.whole.Crop(&c.want, r); !bytes.Equal(c.got.Pix, c.want.Pix) {
		t.Fatalf("region %+v of %dx%d: %s", r, j.w, j.h, firstDifference(&c.got, &c.want))
	}
	tiles, part, ok := c.splicer.Splice(j.out, r)
	if !ok {
		return
	}
	c.spliced++
	q := jpeg.Request{W: tiles.W, H: tiles.H, Channels: 3, Scale: 1, Part: part, Plain: true}
	if _, err := c.decoder.jpeg.Decode(&c.got, tiles.Data, q); err != nil || !bytes.Equal(c.got.Pix, c.want.Pix) {
		t.Fatalf("tiles of region %+v of %dx%d: %v, %s", r, j.w, j.h, err, firstDifference(&c.got, &c.want))
	}
}

// tiles transcodes, by libjpeg and in pure Go.
func (c *craftCheck) tiles(t *testing.T, j *crafted) {
	t.Helper()
	out, err := c.transcoder.Append(nil, j.out, 1+j.choose(20), false)
	var not *jpeg.NotTiledError
	if errors.As(err, &not) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	c.tiled++
	q := jpeg.Request{W: j.w, H: j.h, Channels: 3, Scale: 1, Part: pixel.Rect{W: j.w, H: j.h}}
	if warning, err := c.decoder.jpeg.Decode(&c.got, out, q); err != nil || warning != "" || !bytes.Equal(c.got.Pix, c.whole.Pix) {
		t.Fatalf("tiled: %v, %q, %s", err, warning, firstDifference(&c.got, &c.whole))
	}
	if j.beyond {
		return
	}
	again, err := c.transcoder.Jpeg.Append(nil, j.out, nil, 5)
	if errors.As(err, &not) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	if twin, err := c.twin.Append(nil, j.out, nil, 5); err != nil || !bytes.Equal(twin, again) {
		t.Fatalf("tiled in Go: %v, other bytes: %v", err, !bytes.Equal(twin, again))
	}
}

// TestCraftedJPEGs: JPEGs with any Huffman tables and any order of symbols, which no encoder
// writes, have libjpeg's pixels, as a whole and in parts.
func TestCraftedJPEGs(t *testing.T) {
	c := newCraftCheck(t)
	const n = 3000
	failed := 0
	for seed := range uint64(n) {
		ok := t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { c.check(t, craft(chooseRandomly(seed))) })
		if !ok {
			failed++
		}
	}
	if failed > 0 || c.sound < n*9/10 || c.tiled < n/3 || c.spliced < n/3 {
		t.Errorf("%d failed; of %d images %d are sound, %d tiled, %d regions spliced", failed, n, c.sound, c.tiled, c.spliced)
	}
}

// TestAllOnesCode: libjpeg refuses a table in which a code is all ones, so its structure is not taken
// for sound.
func TestAllOnesCode(t *testing.T) {
	j := craft(chooseRandomly(1))
	j.out, j.same = nil, 1
	for i := range j.ac {
		j.ac[i] = newCraftedTable([]int{1, 1}, []byte{endOfBlock, 0x01})
	}
	j.headers()
	across, down := j.mcus()
	for range across * down * 20 {
		j.block(0)
	}
	j.pad()
	j.out = append(j.out, 0xFF, jpeg.MarkEOI)
	q := jpeg.Request{W: j.w, H: j.h, Channels: 3, Scale: 1, Part: pixel.Rect{W: j.w, H: j.h}, Plain: true}
	var d jpeg.Decoder
	defer d.Close()
	var m pixel.Image
	_, err := d.Decode(&m, j.out, q)
	unusual, fault := Structure(j.out, formats.JPEG)
	if !errors.Is(err, pixel.ErrCorrupt) || unusual == "" && fault == nil {
		t.Errorf("%v; the structure is unusual: %q, %v", err, unusual, fault)
	}
}

// FuzzCraftedRegion is TestCraftedJPEGs with choices by the fuzzer's bytes.
func FuzzCraftedRegion(f *testing.F) {
	for seed := range uint64(20) {
		choices, data := chooseRandomly(seed), make([]byte, 4096)
		for i := range data {
			data[i] = byte(choices(256))
		}
		f.Add(data)
	}
	c := newCraftCheck(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c.check(t, craft(chooseBy(data)))
	})
}
