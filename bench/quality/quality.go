// Package quality says how near the pixels of one image are to those of another: PSNR and SSIM, as scikit-image
// computes them with Gaussian weights.
//
//	var d quality.Difference
//	if err := d.Add(&original, &packed); err != nil {
//		log.Panic(err)
//	}
//	fmt.Printf("%.1f dB, SSIM %.4f\n", d.PSNR(), d.SSIM())
package quality

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Difference sums up the differences of pairs of images. The zero value is ready. It is for one goroutine and keeps
// its memory from image to image.
type Difference struct {
	squares float64 // of the differences of values, as parts of 255
	values  int64
	similar float64 // sum of the images' SSIM
	images  int

	planes [2][]float64
	work   [5][]float64
	rows   []float64
}

// Add compares b with a, two images of the same size, channels and type. It does not keep them.
func (d *Difference) Add(a, b *pixel.Image) error {
	if err := errors.Join(a.Check(), b.Check()); err != nil {
		return fmt.Errorf("quality: %w", err)
	}
	if a.H != b.H || a.W != b.W || a.C != b.C || a.DType != b.DType {
		return fmt.Errorf("quality: images of %dx%dx%d %s and %dx%dx%d %s cannot be compared: scale and convert one of them first",
			a.H, a.W, a.C, a.DType, b.H, b.W, b.C, b.DType)
	}
	if a.DType == formats.Uint8 { // the common case, without floats
		var sum int64
		for i, x := range a.Pix {
			e := int64(x) - int64(b.Pix[i])
			sum += e * e
		}
		d.squares += float64(sum)
	} else {
		for i := 0; i < len(a.Pix); i += 2 {
			e := (word(a.Pix, i) - word(b.Pix, i)) / deepScale
			d.squares += e * e
		}
	}
	d.values += int64(a.H * a.W * a.C)
	d.planes[0], d.planes[1] = luma(d.planes[0], a), luma(d.planes[1], b)
	d.similar += d.ssim(a.H, a.W)
	d.images++
	return nil
}

// PSNR is the peak signal-to-noise ratio in dB, from the mean square over all values of all images: +Inf if all are
// equal, and of no images.
func (d *Difference) PSNR() float64 {
	if d.squares == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(255*255*float64(d.values)/d.squares)
}

// SSIM is the mean structural similarity of the images' luma: 1 if all are equal, and of no images.
func (d *Difference) SSIM() float64 {
	if d.images == 0 {
		return 1
	}
	return d.similar / float64(d.images)
}

// deepScale makes values of 16 bits parts of 255.
const deepScale = 257

func word(pix []byte, i int) float64 { return float64(uint16(pix[i]) | uint16(pix[i+1])<<8) }

// luma is the image's brightness from 0 to 255: ITU-R 601 of the colours, alpha left out.
func luma(dst []float64, m *pixel.Image) []float64 {
	dst = grow(dst, m.H*m.W)
	value := func(i int) float64 { return float64(m.Pix[i]) }
	if m.DType == formats.Uint16 {
		value = func(i int) float64 { return word(m.Pix, 2*i) / deepScale }
	}
	for i := range dst {
		at := i * m.C
		if m.C < 3 {
			dst[i] = value(at)
			continue
		}
		dst[i] = 0.299*value(at) + 0.587*value(at+1) + 0.114*value(at+2)
	}
	return dst
}

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
