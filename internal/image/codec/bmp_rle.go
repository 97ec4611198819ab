package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// decodeRuns decodes the palette indices of a run-length encoded BMP to dst. A first pass only
// counts pixels, so that no memory is allocated for pixels that the file does not have.
func (b *bmpFile) decodeRuns(dst *pixel.Image, data []byte) error {
	total := b.w * b.h
	r := bmpRuns{data: data, at: b.pixels, rle4: b.compression == bmpRLE4, width: b.w, total: total}
	count := r
	if count.decode(); count.n < total {
		return fmt.Errorf("%w: the BMP's runs hold %d of %d pixels", pixel.ErrTruncated, count.n, total)
	}
	dst.Reset(b.h, b.w, 1, formats.Uint8)
	clear(dst.Pix)
	r.dst = dst.Pix
	r.decode()
	if !b.topDown {
		flipRows(dst)
	}
	return nil
}

// flipRows flips m top to bottom.
func flipRows(m *pixel.Image) {
	n := m.Stride()
	for rest := m.Pix; len(rest) >= 2*n; rest = rest[n : len(rest)-n] {
		top, bottom := rest[:n], rest[len(rest)-n:]
		for i := range top {
			top[i], bottom[i] = bottom[i], top[i]
		}
	}
}

// bmpRuns decodes RLE8 and RLE4 as Pillow does: runs end with their row, literal pixels
// continue in the next one, and skipped pixels have index 0.
type bmpRuns struct {
	data  []byte // the whole file: literal pixels are padded to an even offset in it
	at    int
	rle4  bool   // RLE4
	dst   []byte // zeros; nil to count only
	n     int    // pixels so far
	total int
	width int
}

func (r *bmpRuns) decode() {
	x := 0
	for r.n < r.total && r.at <= len(r.data)-2 {
		count, value := int(r.data[r.at]), r.data[r.at+1]
		r.at += 2
		switch {
		case count > 0:
			count = max(0, min(count, r.width-x))
			r.run(count, value)
			x += count
		case value == 0: // end of line
			if over := r.n % r.width; over > 0 {
				r.n += r.width - over
			}
			x = 0
		case value == 1: // end of bitmap
			return
		case value == 2:
			if r.at > len(r.data)-2 {
				return
			}
			right, up := int(r.data[r.at]), int(r.data[r.at+1])
			r.at += 2
			r.n = min(r.n+right+up*r.width, r.total)
			x = r.n % r.width
		default:
			if !r.literal(int(value)) {
				return
			}
			x += int(value)
		}
	}
}

// run writes count pixels of one index, or of two alternating ones.
func (r *bmpRuns) run(count int, value byte) {
	if r.dst != nil {
		even, odd := value, value
		if r.rle4 {
			even, odd = value>>4, value&15
		}
		out := r.dst[r.n:min(r.n+count, r.total)]
		for i := range out {
			out[i] = even
			even, odd = odd, even
		}
	}
	r.n += count
}

// literal writes up to count pixels that are in the data. It reports whether more may follow.
func (r *bmpRuns) literal(count int) bool {
	count = min(count, r.total-r.n)
	size, bits := count, 8
	if r.rle4 {
		size, bits = (count+1)/2, 4
	}
	if size > len(r.data)-r.at {
		return false
	}
	if r.dst != nil {
		unpackIndices(r.dst[r.n:r.n+count], r.data[r.at:], bits)
	}
	r.n += count
	r.at += size + (r.at+size)%2
	return true
}
