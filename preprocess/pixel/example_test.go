package pixel_test

import (
	"fmt"
	"image"
	"image/draw"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// An image of the standard library becomes pixels and back.
func Example() {
	m, err := pixel.FromImage(image.NewGray(image.Rect(0, 0, 6, 4)))
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Pix[0] = 200
	if err := m.Crop(m, pixel.Rect{W: 3, H: 2}); err != nil { // in place
		fmt.Println(err)
		return
	}
	canvas := image.NewRGBA(image.Rect(0, 0, 10, 10))
	draw.Draw(canvas, image.Rect(5, 5, 8, 7), m.ToImage(), image.Point{}, draw.Src)
	fmt.Println(m.W, m.H, m.C, canvas.At(5, 5))
	// Output: 3 2 1 {200 200 200 255}
}
