package resample

import "github.com/dsconv/dsconv/preprocess/pixel"

// View is an image, or a rectangle of one, whose rows begin stride bytes apart.
type View struct {
	Pix    []byte // from the first pixel to the end of the buffer
	W, H   int    // in pixels
	Size   int    // of a pixel, in bytes
	Stride int
}

// ViewOf returns the whole image as a View.
func ViewOf(m *pixel.Image) View { return View{m.Pix, m.W, m.H, m.PixelSize(), m.Stride()} }

// Crop returns the rectangle r of v.
func (v View) Crop(r pixel.Rect) View {
	return View{v.Pix[r.Y*v.Stride+r.X*v.Size:], r.W, r.H, v.Size, v.Stride}
}

// Row returns the bytes of row y.
func (v View) Row(y int) []byte { return v.Pix[y*v.Stride:][:v.W*v.Size] }
