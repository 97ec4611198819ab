package preprocess

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Change is what an Enhancement changes.
type Change uint8

// The changes. The first four are those of Pillow's ImageEnhance, and the hue of torchvision's
// adjust_hue on PIL images; the others those of Pillow's ImageOps with the same names.
const (
	// Brightness blends black with the image by Factor: 0 is black, 1 the image.
	Brightness Change = iota
	// Contrast blends the mean grey with the image by Factor.
	Contrast
	// Saturation blends the grey version with the image by Factor. A grey image stays.
	Saturation
	// Hue turns the colours by Factor of the circle, -0.5 to 0.5. A grey image stays.
	Hue
	// Gray makes all channels the grey of the pixel.
	Gray
	// Invert makes a value v 255-v.
	Invert
	// Posterize keeps the highest Factor bits of each value, 0 to 8.
	Posterize
	// Solarize inverts the values from Factor on.
	Solarize
	// AutoContrast stretches each channel to 0 to 255.
	AutoContrast
	// Equalize makes the values of each channel about equally frequent.
	Equalize
)

// Enhancement is one change of an image's colours. It does not depend on where pixels are.
type Enhancement struct {
	Change Change
	Factor float64
}

// ErrNotEightBit is returned where the colours of an image with 16 bits a channel were to be
// changed.
var ErrNotEightBit = errors.New("colors can be changed only at 8 bits a channel: load images of 16 bits without such transforms, or as uint8")

// Enhancer changes colours as Pillow 13 does, bit for bit. It keeps scratch memory: the zero
// value is ready, and belongs to one goroutine.
type Enhancer struct {
	kernelChanges []kernelChange
	counts        [3]histogram
	tables        [3]table
	weights       []float32 // of a blur
	row           []float32
}

// Shrink drops large buffers.
func (e *Enhancer) Shrink() { e.row = dropLarge(e.row) }

// Enhance makes the changes, one after another, to the pixels of m, which must have 1 or 3
// channels.
func (e *Enhancer) Enhance(m *Image, list []Enhancement) error {
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

// checkColors reports images whose colours cannot be changed.
func checkColors(m *Image) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("colors: %w", err)
	}
	switch {
	case m.DType != formats.Uint8:
		return ErrNotEightBit
	case m.C != 1 && m.C != 3:
		return fmt.Errorf("%w: colors of %d channels", ErrUnsupported, m.C)
	}
	return nil
}

// mixing is how many of the first enhancements mix the channels of m, or go by calculating
// faster than by tables.
func countRGBChanges(m *Image, list []Enhancement) (n int) {
	for m.C == 3 && n < len(list) && list[n].Change <= Gray {
		n++
	}
	return n
}

// hueShift is torchvision's, in 256ths of the circle.
func hueShift(factor float64) uint8 { return uint8(int(factor * 255)) }
