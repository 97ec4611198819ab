package pixel

import "fmt"

// Orient turns and flips src upright, for an EXIF orientation of 1 to 8, as Pillow's
// ImageOps.exif_transpose does, and writes it to dst, which may be src. 0 stands for 1. It is an error
// if src is not a valid image, dst is nil or there is no such orientation.
func Orient(dst, src *Image, orientation int) error {
	src, err := source("orient", dst, src)
	if err != nil {
		return err
	}
	if orientation < 0 || orientation > 8 {
		return fmt.Errorf("pixel: orient: no EXIF orientation is %d: choose 1 to 8", orientation)
	}
	h, w := OrientedSize(src.H, src.W, orientation)
	dst.Reset(h, w, src.C, src.DType)
	n := src.PixelSize()
	// Pixel (x, y) of dst is at src.Pix[origin + x*stepX + y*stepY].
	right, down := n, src.Stride()
	lastX, lastY := (src.W-1)*right, (src.H-1)*down
	var origin, stepX, stepY int
	switch orientation {
	case 2: // flipped left to right
		origin, stepX, stepY = lastX, -right, down
	case 3: // upside down
		origin, stepX, stepY = lastX+lastY, -right, -down
	case 4: // flipped top to bottom
		origin, stepX, stepY = lastY, right, -down
	case 5: // transposed
		origin, stepX, stepY = 0, down, right
	case 6: // rotated: turn it 90 degrees clockwise
		origin, stepX, stepY = lastY, -down, right
	case 7: // transposed over the other diagonal
		origin, stepX, stepY = lastX+lastY, -down, -right
	case 8: // rotated: turn it 90 degrees counter-clockwise
		origin, stepX, stepY = lastX, down, -right
	default:
		origin, stepX, stepY = 0, right, down
	}
	out := dst.Pix
	for y := range h {
		at := origin + y*stepY
		for range w {
			if in := src.Pix[at : at+n]; n == 3 { // much faster than copy
				out[0], out[1], out[2] = in[0], in[1], in[2]
			} else {
				copy(out, in)
			}
			out = out[n:]
			at += stepX
		}
	}
	return nil
}

// OrientedSize is the size of an h by w image after Orient.
func OrientedSize(h, w, orientation int) (int, int) {
	if orientation > 4 {
		return w, h
	}
	return h, w
}

// OrientBox moves a box (x0 y0 x1 y1) of an h by w image as Orient moves its pixels.
func OrientBox[T float32 | float64](b [4]T, h, w, orientation int) [4]T {
	fw, fh := T(w), T(h)
	if orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8 {
		b[0], b[2] = fw-b[2], fw-b[0]
	}
	if orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7 {
		b[1], b[3] = fh-b[3], fh-b[1]
	}
	if orientation > 4 {
		b[0], b[1], b[2], b[3] = b[1], b[0], b[3], b[2]
	}
	return b
}

// OrientBoxes moves boxes, each x0 y0 x1 y1 in pixels, as Orient moves the pixels of their image. h
// and w are the size of the upright image.
func OrientBoxes(boxes []float32, h, w, orientation int) {
	h, w = OrientedSize(h, w, orientation)
	for at := 0; at+4 <= len(boxes); at += 4 {
		b := OrientBox([4]float32(boxes[at:]), h, w, orientation)
		copy(boxes[at:], b[:])
	}
}
