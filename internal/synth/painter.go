package synth

import (
	"bytes"
	"image"
)

// painter draws scenes as images of one size; one a goroutine.
type painter struct {
	w, h    int
	encoded bytes.Buffer
	out     *image.RGBA
	// One row: colours before light and noise, and values of fields.
	row, ground  []rgb
	coarse, fine []float32
}

func newPainter(w, h int) *painter {
	return &painter{
		w: w, h: h, out: image.NewRGBA(image.Rect(0, 0, w, h)),
		row: make([]rgb, w), ground: make([]rgb, w), coarse: make([]float32, w), fine: make([]float32, w),
	}
}

// paint draws s; the image is valid until the next call.
func (p *painter) paint(s *scene) *image.RGBA {
	for y := range p.h {
		p.paintBackground(s, float32(y))
		p.paintObject(&s.object, float32(y))
		p.develop(s, y)
	}
	return p.out
}

// paintBackground has the sky above a rough skyline and the ground below it.
func (p *painter) paintBackground(s *scene, y float32) {
	p.shade(p.row, &s.sky, y)
	p.shade(p.ground, &s.ground, y)
	s.skyline.sample(p.coarse, float64(y))
	for x := range p.row {
		p.row[x].blend(p.ground[x], clamp(y-s.horizon+s.relief*p.coarse[x]))
	}
}

// shade gives dst the colours of m in row y.
func (p *painter) shade(dst []rgb, m *material, y float32) {
	m.coarse.sample(p.coarse, float64(y))
	m.fine.sample(p.fine, float64(y))
	for x := range dst {
		c, k := m.dark, max(1+m.detail*p.fine[x], 0.1)
		c.blend(m.bright, clamp(0.5+m.contrast*p.coarse[x]))
		dst[x] = rgb{k * c[0], k * c[1], k * c[2]}
	}
}

func (p *painter) paintObject(o *object, y float32) {
	reach := shapeReach * o.radius
	if abs(y-o.y) > reach {
		return
	}
	o.surface.sample(p.fine, float64(y))
	for x := max(int(o.x-reach), 0); x < min(int(o.x+reach)+2, p.w); x++ {
		dx, dy := (float32(x)-o.x)/o.radius, (y-o.y)/o.radius
		u, v := dx*o.cos+dy*o.sin, dy*o.cos-dx*o.sin
		d, emblem := o.distance(u, v)
		if cover := clamp(0.5 - d*o.radius); cover > 0 {
			p.row[x].blend(o.colour(u, v, d, emblem, 1+o.detail*p.fine[x]), cover)
		}
	}
}

// colour is the object's at (u, v), at those distances from its edge and its emblem's,
// of brightness k: pattern, emblem, rounded edges and light from above.
func (o *object) colour(u, v, d, emblem, k float32) rgb {
	wave := o.pattern.wave(o.frequency*u+o.shiftX, o.frequency*v+o.shiftY)
	c := o.dark
	c.blend(o.bright, clamp(0.5+wave*o.radius/(8*o.frequency)))
	c.blend(o.emblemTone, clamp(0.5-emblem*o.radius))
	k *= (0.95 - 0.2*v) * (0.55 + 0.45*smooth(clamp(-8*d)))
	return rgb{k * c[0], k * c[1], k * c[2]}
}

// develop applies light and sensor noise to row y. A third of the noise is a channel's own.
func (p *painter) develop(s *scene, y int) {
	white, out := noise().white, p.out.Pix[y*p.out.Stride:]
	grain := s.grainStart + uint64(y)*0x9e3779b97f4a7c15>>20
	for x, c := range p.row {
		k := 1 + s.slopeX*(2*float32(x)/float32(p.w)-1) + s.slopeY*(2*float32(y)/float32(p.h)-1)
		at := grain + uint64(x)
		shared := white[at%uint64(len(white))]
		for j := range c {
			value := clamp(c[j] * k * s.gain[j])
			n := s.grain * (shared + 0.4*white[(at+uint64(j+1)*1009)%uint64(len(white))])
			// Shot noise: its deviation goes with the root of the light.
			out[4*x+j] = uint8(255*clamp(value+n*sqrt(value)) + 0.5)
		}
		out[4*x+3] = 255
	}
}

func (c *rgb) blend(over rgb, cover float32) {
	c[0] = lerp(c[0], over[0], cover)
	c[1] = lerp(c[1], over[1], cover)
	c[2] = lerp(c[2], over[2], cover)
}

// clamp limits x to 0..1; comparing is much faster than min and max, which heed NaN.
func clamp(x float32) float32 {
	if x < 0 {
		return 0
	}
	if x > 1 {
		return 1
	}
	return x
}
