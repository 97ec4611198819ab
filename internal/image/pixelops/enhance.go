package pixelops

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Change is the kind of an Enhancement.
type Change uint8

// The changes. Brightness, Contrast and Saturation are those of Pillow's ImageEnhance, Hue is
// torchvision's adjust_hue on PIL images, the others are Pillow's ImageOps of the same names.
const (
	// Brightness blends black with the image by Factor: 0 is black, 1 the image.
	Brightness Change = iota
	// Contrast blends the mean grey with the image by Factor.
	Contrast
	// Saturation blends the grey version with the image by Factor. A grey image stays.
	Saturation
	// Hue shifts the hue by Factor of the colour circle, -0.5 to 0.5. A grey image stays.
	Hue
	// Gray sets all channels to the grey of the pixel.
	Gray
	// Invert replaces a value v by 255-v.
	Invert
	// Posterize keeps the highest Factor bits of each value, 0 to 8.
	Posterize
	// Solarize inverts values of Factor or more.
	Solarize
	// AutoContrast stretches each channel to the range 0 to 255.
	AutoContrast
	// Equalize makes all values of each channel about equally frequent.
	Equalize
)

// Enhancement is one change of an image's colours. It does not depend on pixel positions.
type Enhancement struct {
	Change Change
	Factor float64
}

// ErrNotEightBit is returned for colour changes of an image with 16 bits per channel.
var ErrNotEightBit = errors.New("colors can be changed only at 8 bits per channel: load images of 16 bits without such transforms, or as uint8")

// Enhancer changes colours as Pillow 13 does, bit for bit. It keeps scratch memory and is for one
// goroutine. The zero value is ready.
type Enhancer struct {
	kernelChanges []kernelChange
	counts        [3]histogram
	tables        [3]table
	weights       []float32 // of a blur
	row           []float32
}

// Shrink frees large buffers.
func (e *Enhancer) Shrink() { e.row = buffer.DropLarge(e.row) }

// Enhance applies the changes in order to the pixels of m, which must have 1 or 3 channels.
func (e *Enhancer) Enhance(m *pixel.Image, list []Enhancement) error {
	if err := checkColors(m); err != nil {
		return err
	}
	for i := 0; i < len(list); {
		if n := countRGBChanges(m, list[i:]); n > 0 {
			enhanceRGB(e, m, list[i:i+n])
			i += n
			continue
		}
		e.applyTable(m, list[i])
		i++
	}
	return nil
}

// checkColors returns an error if the colours of m cannot be changed.
func checkColors(m *pixel.Image) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("colors: %w", err)
	}
	switch {
	case available != nil:
		return available
	case m.DType != formats.Uint8:
		return ErrNotEightBit
	case m.C != 1 && m.C != 3:
		return fmt.Errorf("%w: colors of %d channels", pixel.ErrUnsupported, m.C)
	}
	return nil
}

// countRGBChanges returns how many of the first enhancements mix the channels of m, or are faster
// computed than looked up in tables.
func countRGBChanges(m *pixel.Image, list []Enhancement) (n int) {
	for m.C == 3 && n < len(list) && list[n].Change <= Gray {
		n++
	}
	return n
}

// hueShift is torchvision's shift, in 256ths of the colour circle.
func hueShift(factor float64) uint8 { return uint8(int(factor * 255)) }

// table maps each value to its replacement.
type table [256]uint8

// applyTable applies a change that treats each channel separately.
func (e *Enhancer) applyTable(m *pixel.Image, change Enhancement) {
	switch change.Change {
	case Saturation, Hue, Gray: // of a grey image
		return
	case AutoContrast, Equalize, Contrast:
		countValues(m, &e.counts)
		for c := range m.C {
			e.tables[c] = histogramTable(change, &e.counts[c])
		}
	default:
		e.tables[0] = fixedTable(change)
		e.tables[1], e.tables[2] = e.tables[0], e.tables[0]
	}
	replaceValues(m, &e.tables)
}

// fixedTable is the table of a change that does not depend on the image.
func fixedTable(e Enhancement) (t table) {
	for x := range t {
		v := uint8(x)
		switch e.Change {
		case Brightness:
			v = blend(0, v, float32(e.Factor))
		case Posterize:
			v &^= uint8(0xff >> int(e.Factor))
		case Invert:
			v = 255 - v
		case Solarize:
			if float64(v) >= e.Factor {
				v = 255 - v
			}
		}
		t[x] = v
	}
	return t
}

// histogramTable is the table of a change that depends on how often each value occurs.
func histogramTable(e Enhancement, h *histogram) table {
	switch e.Change {
	case AutoContrast:
		return h.stretched()
	case Equalize:
		return h.equalized()
	}
	var t table
	mean := h.mean()
	for x := range t {
		t[x] = blend(mean, uint8(x), float32(e.Factor))
	}
	return t
}

// histogram counts how often each value occurs.
type histogram [256]uint32

// mean is rounded as ImageEnhance.Contrast does.
func (h *histogram) mean() uint8 {
	sum, n := 0, 0
	for v, count := range h {
		sum += v * int(count)
		n += int(count)
	}
	return uint8(float64(sum)/float64(n) + 0.5)
}

// stretched is the table of ImageOps.autocontrast.
func (h *histogram) stretched() (t table) {
	low, high := h.minMax()
	scale, offset := 1.0, 0.0
	if low < high {
		scale = 255 / float64(high-low)
		offset = float64(-low) * scale
	}
	for x := range t {
		t[x] = uint8(min(255, max(0, int(float64(float64(x)*scale)+offset))))
	}
	return t
}

// minMax are the smallest and the largest value that occur.
func (h *histogram) minMax() (low, high int) {
	for low < 255 && h[low] == 0 {
		low++
	}
	for high = 255; high > 0 && h[high] == 0; high-- {
	}
	return low, high
}

// equalized is the table of ImageOps.equalize.
func (h *histogram) equalized() (t table) {
	low, high := h.minMax()
	n := 0
	for _, count := range h {
		n += int(count)
	}
	step := (n - int(h[high])) / 255
	sum := step / 2
	for x := range t {
		t[x] = uint8(x)
		if low < high && step > 0 {
			t[x] = uint8(min(255, sum/step))
			sum += int(h[x])
		}
	}
	return t
}

// blend interpolates from a to b and, for a factor above 1, extrapolates beyond. The conversions keep the
// compiler from fusing the product into the sum.
func blend(a, b uint8, factor float32) uint8 {
	v := float32(a) + float32(factor*float32(int32(b)-int32(a)))
	return uint8(max(0, min(v, 255)))
}
