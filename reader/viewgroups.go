package reader

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// viewGroup are views whose pixels are decoded together.
type viewGroup struct {
	views  []int
	region pixel.Rect // around what they need
	cost   int
}

// decodeCost is about what a decode costs besides its pixels, in pixels: to read tables and set up.
const decodeCost = 20_000

// group finds which views of a JPEG are decoded together. Without restart markers a decoder reads all of the
// image up to the region's end, so all are. With them only the tiles around a region are read: views are
// decoded apart where what lies between them would cost more than another decode.
func (w *worker) group(v *formats.Value) []viewGroup {
	for len(w.groups) < len(w.steps) {
		w.groups = append(w.groups, viewGroup{})
	}
	all := w.groups[:len(w.steps)]
	for k := range all {
		all[k].views, all[k].region = append(all[k].views[:0], k), w.steps[k].Source()
	}
	if len(all) == 1 || w.loader.config.FastDecode { // whose pixels depend on the region
		return all
	}
	tileW, tileH := jpeg.Tile(v.Data)
	if w.loader.config.ApplyOrientation && w.turnsSides(v) {
		tileW, tileH = tileH, tileW
	}
	cost := func(r pixel.Rect) int {
		if tileW == 0 {
			return 0
		}
		across, down := (r.X+r.W-1)/tileW-r.X/tileW+1, (r.Y+r.H-1)/tileH-r.Y/tileH+1
		return decodeCost + across*tileW*down*tileH
	}
	for k := range all {
		all[k].cost = cost(all[k].region)
	}
	return merge(all, cost)
}

// turnsSides reports whether the image is stored with height and width exchanged.
func (w *worker) turnsSides(v *formats.Value) bool {
	h, err := w.decoder.Inspect(v)
	return err == nil && h.Orientation >= 5
}

// merge joins the groups that cost no more together than apart, again and again.
func merge(all []viewGroup, cost func(pixel.Rect) int) []viewGroup {
	for i := 0; i < len(all); i++ {
		for k := i + 1; k < len(all); k++ {
			a, b := &all[i], &all[k]
			region := around(a.region, b.region)
			c := cost(region)
			if c > a.cost+b.cost {
				continue
			}
			a.views, a.region, a.cost = append(a.views, b.views...), region, c
			all[k], all[len(all)-1] = all[len(all)-1], all[k] // keeps the memory of all
			all = all[:len(all)-1]
			i = -1 // once more from the start
			break
		}
	}
	return all
}

// around is the smallest rectangle that holds a and b.
func around(a, b pixel.Rect) pixel.Rect {
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return pixel.Rect{X: x, Y: y, W: max(a.X+a.W, b.X+b.W) - x, H: max(a.Y+a.H, b.Y+b.H) - y}
}
