package synth

import (
	"image"
	"math"
	"slices"
	"testing"
)

// feature describes an image as a vector.
type feature func(*image.RGBA) []float64

const classes, train, test = 10, 600, 300

// smallImages are train + test images; image i has class i modulo classes.
func smallImages() []*image.RGBA {
	o := Options{Classes: classes, Width: 64, Height: 48, Seed: 5}
	p := newPainter(o.Width, o.Height)
	images := make([]*image.RGBA, train+test)
	for i := range images {
		m := *p.paint(newScene(o, i))
		m.Pix = slices.Clone(m.Pix)
		images[i] = &m
	}
	return images
}

// nearestCentroid trains on the first images and gives the share of the others whose
// class has the nearest mean of the feature.
func nearestCentroid(images []*image.RGBA, f feature) float64 {
	var centroids [classes][]float64
	right := 0
	for i, m := range images {
		v := f(m)
		if i >= train {
			if nearest(centroids[:], v) == i%classes {
				right++
			}
			continue
		}
		c := &centroids[i%classes]
		if *c == nil {
			*c = make([]float64, len(v))
		}
		for j := range v {
			(*c)[j] += v[j] * classes / train
		}
	}
	return float64(right) / test
}

func nearest(centroids [][]float64, v []float64) int {
	best, at := math.Inf(1), -1
	for i, c := range centroids {
		d := 0.0
		for j := range v {
			d += (v[j] - c[j]) * (v[j] - c[j])
		}
		if d < best {
			best, at = d, i
		}
	}
	return at
}

func meanColour(m *image.RGBA) []float64 {
	v := make([]float64, 3)
	for i := 0; i < len(m.Pix); i += 4 {
		for j := range v {
			v[j] += float64(m.Pix[i+j]) / float64(len(m.Pix)/4)
		}
	}
	return v
}

func middlePixel(m *image.RGBA) []float64 {
	c := m.RGBAAt(m.Rect.Dx()/2, m.Rect.Dy()/2)
	return []float64{float64(c.R), float64(c.G), float64(c.B)}
}

// colourHistogram counts the values of each channel in eight bins.
func colourHistogram(m *image.RGBA) []float64 {
	v := make([]float64, 3*8)
	for i := 0; i < len(m.Pix); i += 4 {
		for j := range 3 {
			v[8*j+int(m.Pix[i+j])/32]++
		}
	}
	return v
}

// orientedGradients is a histogram of edge directions in each cell of 6x6 pixels: what
// the first layer of a network sees, whichever side of an edge is brighter.
func orientedGradients(m *image.RGBA) []float64 {
	const cell, bins = 6, 6
	w, h := m.Rect.Dx(), m.Rect.Dy()
	luma := func(x, y int) float64 {
		c := m.RGBAAt(x, y)
		return 0.3*float64(c.R) + 0.59*float64(c.G) + 0.11*float64(c.B)
	}
	v := make([]float64, (w/cell+1)*(h/cell+1)*bins)
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			dx, dy := luma(x+1, y)-luma(x-1, y), luma(x, y+1)-luma(x, y-1)
			turn := math.Atan2(dy, dx)/math.Pi + 1.5/bins
			bin := int((turn-math.Floor(turn))*bins) % bins
			v[(y/cell*(w/cell+1)+x/cell)*bins+bin] += math.Hypot(dx, dy)
		}
	}
	norm := 0.0
	for _, x := range v {
		norm += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(norm)
	}
	return v
}

func TestClassesAreInShapeNotColour(t *testing.T) {
	images := smallImages()
	for name, f := range map[string]feature{"mean colour": meanColour, "middle pixel": middlePixel, "colour histogram": colourHistogram} {
		accuracy := nearestCentroid(images, f)
		t.Logf("%s: %.3f", name, accuracy)
		if accuracy > 0.2 { // chance is 0.1
			t.Errorf("the %s tells %.2f of the classes", name, accuracy)
		}
	}
	accuracy := nearestCentroid(images, orientedGradients)
	t.Logf("oriented gradients: %.3f", accuracy)
	if accuracy < 0.6 {
		t.Errorf("oriented gradients tell only %.2f of the classes", accuracy)
	}
}
