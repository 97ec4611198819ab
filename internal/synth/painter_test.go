package synth

import "testing"

// TestPaintAnySize paints unusual sizes, in which the object is partly outside the image,
// with all classes.
func TestPaintAnySize(t *testing.T) {
	for _, size := range [][2]int{{16, 16}, {17, 300}, {300, 17}, {64, 48}} {
		o := Options{Classes: maxClasses, Width: size[0], Height: size[1]}
		p := newPainter(o.Width, o.Height)
		for i := range maxClasses {
			m := p.paint(newScene(o, i))
			dark, light := uint8(255), uint8(0)
			for j := 0; j < len(m.Pix); j += 4 {
				dark, light = min(dark, m.Pix[j+1]), max(light, m.Pix[j+1])
			}
			if light-dark < 40 {
				t.Errorf("%dx%d, image %d: green from %d to %d", o.Width, o.Height, i, dark, light)
			}
		}
	}
}
