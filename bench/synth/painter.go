package synth

import (
	"bytes"
	"image"
	"math"
)

// painter turns scenes into pictures of one size; one a goroutine.
type painter struct {
	w, h    int
	grain   []rgb
	encoded bytes.Buffer
	// canvas is the picture before light and noise, row by row.
	canvas []rgb
	out    *image.RGBA
	// One row's scratch: the coarse and fine fields, the cover, and the colours.
	coarse, fine, cover []float32
	row                 []rgb
	tops                [][]float32 // of each layer's skyline, by column
}

func newPainter(w, h int) *painter {
	p := &painter{
		w: w, h: h,
		grain:  sharedTables().grain,
		canvas: make([]rgb, w*h),
		out:    image.NewRGBA(image.Rect(0, 0, w, h)),
		coarse: make([]float32, w+2), fine: make([]float32, w),
		cover: make([]float32, w), row: make([]rgb, w),
	}
	return p
}

// paint draws s; the picture is valid until the next call.
func (p *painter) paint(s *scene) *image.RGBA {
	p.paintLayers(s.layers)
	for i := range s.clutter {
		p.paintBlob(&s.clutter[i])
	}
	p.paintShadow(&s.object)
	p.paintObject(&s.object)
	p.develop(&s.light)
	return p.out
}

// paintLayers goes from far to near, leaving out what a nearer layer hides.
func (p *painter) paintLayers(layers []layer) {
	for len(p.tops) < len(layers) {
		p.tops = append(p.tops, make([]float32, p.w))
	}
	for i := range layers {
		l, tops := &layers[i], p.tops[i]
		l.skyline.sample(tops, 0, 0, 1)
		for x := range tops {
			tops[x] = float32(l.top + l.slope*(float64(x)-float64(p.w)/2) + l.relief*float64(tops[x]))
		}
	}
	for i := range layers {
		bottom := p.h
		if i+1 < len(layers) {
			bottom = min(p.h, int(maxOf(p.tops[i+1]))+2)
		}
		p.paintLayer(&layers[i], p.tops[i], bottom)
	}
}

func (p *painter) paintLayer(l *layer, tops []float32, bottom int) {
	highest, lowest := float64(minOf(tops)), maxOf(tops)
	for y := max(0, int(max(highest, 0))-1); y < bottom; y++ {
		px, py, step := 0.0, float64(y), 1.0
		if l.ground {
			step = 1 / (0.3 + 1.5*max(0, py-highest)/float64(p.h))
			px, py = -step*float64(p.w)/2, step*float64(p.h)
		}
		line := p.canvas[y*p.w:][:p.w]
		if float32(y) > lowest {
			p.shade(&l.material, line, px, py, step)
			continue
		}
		p.shade(&l.material, p.row, px, py, step)
		for x := range line {
			line[x].blend(p.row[x], clamp(float32(y)-tops[x]+0.5))
		}
	}
}

// shade gives dst the colours of m from (x, y) to the right, step apart.
func (p *painter) shade(m *material, dst []rgb, x, y, step float64) {
	const sparse = 4 // the coarse field changes little in so many pixels
	coarse, fine := p.coarse[:len(dst)/sparse+2], p.fine[:len(dst)]
	m.coarse.sample(coarse, x, y, sparse*step)
	m.fine.sample(fine, x, y, step)
	for i := range dst {
		t := lerp(coarse[i/sparse], coarse[i/sparse+1], float32(i%sparse)/sparse)
		c := &m.ramp[uint8(255*clamp(0.5+m.contrast*t))]
		k := max(1+m.detail*fine[i], 0.1)
		dst[i] = rgb{k * c[0], k * c[1], k * c[2]}
	}
}

func (p *painter) paintBlob(b *blob) {
	reachX := abs(b.cos)*b.rx + abs(b.sin)*b.ry + b.soft
	reachY := abs(b.sin)*b.rx + abs(b.cos)*b.ry + b.soft
	box := p.around(b.x, b.y, reachX, reachY)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		left, right := box.Max.X, box.Min.X
		for x := box.Min.X; x < box.Max.X; x++ {
			if p.cover[x] = b.cover(float32(x), float32(y)); p.cover[x] > 0 {
				left, right = min(left, x), x+1
			}
		}
		if left >= right {
			continue
		}
		row := p.row[left:right]
		p.shade(&b.material, row, float64(left), float64(y), 1)
		line, cover := p.canvas[y*p.w:][left:right], p.cover[left:right]
		for i := range row {
			line[i].blend(row[i], cover[i])
		}
	}
}

// cover is how much of the pixel the blob hides.
func (b *blob) cover(x, y float32) float32 {
	x, y = x-b.x, y-b.y
	u, v := abs(x*b.cos+y*b.sin), abs(y*b.cos-x*b.sin)
	d := max(u-b.rx, v-b.ry)
	if !b.box {
		d = (hypot(u/b.rx, v/b.ry) - 1) * min(b.rx, b.ry)
	}
	if d >= b.soft {
		return 0
	}
	return smooth(clamp(0.5 - 0.5*d/b.soft))
}

// paintShadow darkens what lies behind the object, to its lower right or left.
func (p *painter) paintShadow(o *object) {
	const (
		softness, depth = 0.2, 0.55
		reach           = shapeReach + softness
		sparse          = 2 // so many pixels share a value: the edge is soft
	)
	dx, dy := 0.15*o.radius, 0.2*o.radius
	if o.shiftX < 0 {
		dx = -dx
	}
	box := p.around(o.x+dx, o.y+dy, o.reach(reach), o.reach(reach))
	for y := box.Min.Y; y < box.Max.Y; y++ {
		line := p.canvas[y*p.w:][:p.w]
		for x := box.Min.X; x < box.Max.X; x += sparse {
			u, v := o.local(float32(x)-dx, float32(y)-dy)
			if u*u+v*v > reach*reach {
				continue
			}
			if d, _ := o.distance(u, v); d < softness {
				k := 1 - depth*smooth(clamp(0.5-0.5*d/softness))
				for i := x; i < min(x+sparse, box.Max.X); i++ {
					c := &line[i]
					c[0], c[1], c[2] = c[0]*k, c[1]*k, c[2]*k
				}
			}
		}
	}
}

func (p *painter) paintObject(o *object) {
	box := p.around(o.x, o.y, o.reach(shapeReach), o.reach(shapeReach))
	fine := p.fine[:box.Dx()]
	for y := box.Min.Y; y < box.Max.Y; y++ {
		o.surface.fine.sample(fine, float64(box.Min.X), float64(y), 1)
		line := p.canvas[y*p.w+box.Min.X:][:len(fine)]
		for i, f := range fine {
			u, v := o.local(float32(box.Min.X+i), float32(y))
			if u*u+v*v > shapeReach*shapeReach {
				continue
			}
			d, emblem := o.distance(u, v)
			if cover := clamp(0.5 - d*o.radius); cover > 0 {
				line[i].blend(o.colour(u, v, d, emblem, 1+0.8*o.surface.detail*f), cover)
			}
		}
	}
}

// reach is a radius in the shape's coordinates as pixels, whatever the turn.
func (o *object) reach(r float32) float32 { return r * o.radius * max(o.aspect, 1/o.aspect) }

// local gives the shape's coordinates of a pixel.
func (o *object) local(x, y float32) (u, v float32) {
	x, y = (x-o.x)/o.radius, (y-o.y)/o.radius
	return (x*o.cos + y*o.sin) / o.aspect, (y*o.cos - x*o.sin) * o.aspect
}

// colour is the object's at (u, v), at those distances from its edge and its emblem's,
// of brightness k: pattern, emblem, rounded edges, light from above and a highlight.
func (o *object) colour(u, v, d, emblem, k float32) rgb {
	wave := o.pattern.wave(o.frequency*u+o.shiftX, o.frequency*v+o.shiftY)
	c := o.dark
	c.blend(o.bright, clamp(0.5+wave*o.radius/(8*o.frequency)))
	c.blend(o.paint, clamp(0.5-emblem*o.radius))
	k *= (0.95 - 0.2*v) * (0.55 + 0.45*smooth(clamp(-8*d)))
	near := clamp(1 - 3*((u+0.3)*(u+0.3)+(v+0.35)*(v+0.35)))
	shine := o.shine * near * near
	for j := range c {
		c[j] = c[j]*k + shine
	}
	return c
}

// develop applies light, lens and sensor noise, and gives out its 8 bits a channel.
func (p *painter) develop(l *light) {
	for y := range p.h {
		v := 2*float32(y)/float32(p.h) - 1
		grain := p.grain[mix(l.grainStart+uint64(y))%grainSize:]
		line, out := p.canvas[y*p.w:][:p.w], p.out.Pix[y*p.out.Stride:][:4*p.w]
		for x := range line {
			u := 2*float32(x)/float32(p.w) - 1
			k := (1 + l.x*u + l.y*v) * (1 - l.vignette*0.5*(u*u+v*v))
			c, n, px := &line[x], &grain[x%grainSize], out[4*x:][:4]
			px[0] = expose(c[0]*k*l.gain[0], l.grain*n[0])
			px[1] = expose(c[1]*k*l.gain[1], l.grain*n[1])
			px[2] = expose(c[2]*k*l.gain[2], l.grain*n[2])
			px[3] = 255
		}
	}
}

// expose adds shot noise, whose deviation goes with the root of the light.
func expose(value, noise float32) uint8 {
	value = clamp(value)
	return uint8(255*clamp(value+noise*sqrt(value)) + 0.5)
}

// around is the part of the image within reach of (x, y) on each side.
func (p *painter) around(x, y, reachX, reachY float32) image.Rectangle {
	return image.Rect(int(x-reachX), int(y-reachY), int(x+reachX)+2, int(y+reachY)+2).Intersect(p.out.Rect)
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

func minOf(s []float32) float32 {
	m := float32(math.Inf(1))
	for _, v := range s {
		m = min(m, v)
	}
	return m
}

func maxOf(s []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range s {
		m = max(m, v)
	}
	return m
}

// mix is the finalizer of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
