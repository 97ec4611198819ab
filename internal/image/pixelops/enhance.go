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
