package pixel

import "github.com/dsconv/dsconv/internal/image/buffer"

// Shrink frees m's memory if it is large, for goroutines that keep an Image for the next one.
func (m *Image) Shrink() { m.Pix = buffer.DropLarge(m.Pix) }
