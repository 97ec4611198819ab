package codec

import (
	"errors"
	"math/bits"
	"testing"

	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// jpegOfManyScans is a grey progressive JPEG with that many scans, whose AC coefficients are all 0.
func jpegOfManyScans(w, h, scans int) []byte {
	j := &syntheticJPEG{choose: chooseBy(nil), w: w, h: h}
	var lengths []int
	var runs []byte
	for r := 14; r >= 0; r-- {
		lengths, runs = append(lengths, 15-r), append(runs, byte(r<<4))
	}
	dc, ac := newHuffmanTable([]int{1}, []byte{0}), newHuffmanTable(lengths, runs)
	j.out = []byte{0xFF, jpeg.MarkSOI}
	quant := make([]byte, 65)
	for k := range quant[1:] {
		quant[1+k] = 1
	}
	j.segment(jpeg.MarkDQT, quant...)
	j.segment(jpeg.MarkSOF2, 8, byte(h>>8), byte(h), byte(w>>8), byte(w), 1, 1, 0x11, 0)
	j.table(0, dc)
	j.table(0x10, ac)
	blocks := ((w + 7) / 8) * ((h + 7) / 8)
	j.segment(jpeg.MarkSOS, 1, 1, 0, 0, 0, 0)
	for range blocks {
		j.put(dc, 0)
	}
	j.pad()
	for range scans - 1 {
		j.segment(jpeg.MarkSOS, 1, 1, 0, 1, 63, 0)
		for left := blocks; left > 0; {
			r := min(bits.Len(uint(left))-1, 14)
			run := min(left, 2<<r-1)
			j.bit(uint64(ac.code[r<<4]), ac.size[r<<4])
			j.bit(uint64(run-1<<r), r)
			left -= run
		}
		j.pad()
	}
	j.out = append(j.out, 0xFF, jpeg.MarkEOI)
	return j.out
}

// A JPEG with more scans than any encoder writes is refused by every decoder, and keeps its bytes if it is
// not decoded.
func TestTooManyScans(t *testing.T) {
	for _, c := range []struct {
		w, h, scans int
		refused     bool
	}{
		{64, 48, 500, false}, {64, 48, 501, true}, {7000, 7000, 110, true},
	} {
		data := jpegOfManyScans(c.w, c.h, c.scans)
		d := NewDecoder()
		_, err := decodeOne(d, data)
		d.Close()
		if errors.Is(err, jpeg.ErrScans) != c.refused || errors.Is(err, pixel.ErrUnsupported) != c.refused || !c.refused && err != nil {
			t.Errorf("%+v, %d bytes: %v", c, len(data), err)
		}
		if c.w > 64 {
			continue // it is the same check
		}
		tr := new(jpeg.Transcoder)
		_, err = tr.Append(nil, data, 8, false)
		tr.Close()
		var not *jpeg.NotTiledError
		if refused := errors.As(err, &not) && not.Reason == jpeg.ReasonScans; jpeg.HasLibjpegTurbo && (refused != c.refused || !refused && err != nil) {
			t.Errorf("%+v: tiled: %v", c, err)
		}
	}
}
