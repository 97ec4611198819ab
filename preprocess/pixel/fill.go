package pixel

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
)

// Fill sets all pixels to one value, in the image's own units and clipped to the range of its
// type: one for all channels or one for each; nil is 0. It is an error if m is not a valid image.
func (m *Image) Fill(fill []float64) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("pixel: fill: %w", err)
	}
	n := m.PixelSize()
	if len(fill) == 0 {
		clear(m.Pix)
		return nil
	}
	for k := range m.C {
		v := fill[min(k, len(fill)-1)]
		if m.DType == formats.Uint16 {
			binary.LittleEndian.PutUint16(m.Pix[2*k:], uint16(min(max(v, 0), math.MaxUint16)))
		} else {
			m.Pix[k] = uint8(min(max(v, 0), math.MaxUint8))
		}
	}
	for filled := n; filled < len(m.Pix); filled *= 2 {
		copy(m.Pix[filled:], m.Pix[:filled])
	}
	return nil
}
