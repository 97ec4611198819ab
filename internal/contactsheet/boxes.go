package contactsheet

import (
	"image"
	"image/color"
	"image/draw"
)

var boxColor = color.NRGBA{255, 40, 40, 255}

// drawBoxes draws the outlines of boxes (N,4), x0 y0 x1 y1 in pixels of m.
func drawBoxes(m *image.NRGBA, boxes []float32) {
	limit := func(x float32, most int) int { return int(max(0, min(x, float32(most)))) } // NaN is 0
	for ; len(boxes) >= 4; boxes = boxes[4:] {
		x0, y0 := limit(boxes[0], m.Rect.Dx()), limit(boxes[1], m.Rect.Dy())
		x1, y1 := limit(boxes[2], m.Rect.Dx()), limit(boxes[3], m.Rect.Dy())
		if x0 >= x1 || y0 >= y1 {
			continue // cut off
		}
		for _, edge := range []image.Rectangle{
			image.Rect(x0, y0, x1, y0+1), image.Rect(x0, y1-1, x1, y1), image.Rect(x0, y0, x0+1, y1), image.Rect(x1-1, y0, x1, y1),
		} {
			draw.Draw(m, edge, image.NewUniform(boxColor), image.Point{}, draw.Src)
		}
	}
}
