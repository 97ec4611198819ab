package pixelops

import "github.com/dsconv/dsconv/preprocess/pixel"

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
