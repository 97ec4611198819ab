package synth

import (
	"math"
	"math/rand/v2"
)

// rgb is a colour in display space, 0 to 1 in each channel.
type rgb [3]float32

// scene is all that is drawn by chance for one image. Lengths are in pixels.
type scene struct {
	layers  []layer // far to near; the first covers the image
	clutter []blob
	object  object
	light   light
}

// layer is what lies below a skyline: sky, hills, a wall, the ground.
type layer struct {
	top, slope, relief float64 // the skyline's height, by x, and its roughness
	skyline            view
	ground             bool // seen in perspective
	material           material
}

// blob is a soft-edged ellipse or box, a thing out of focus.
type blob struct {
	x, y, rx, ry, cos, sin float32
	soft                   float32 // half the width of its edge
	box                    bool
	material               material
}

// material is a coloured surface: a ramp of colours looked up by a coarse field, with
// brightness varied by a fine one.
type material struct {
	ramp         [256]rgb
	coarse, fine view
	contrast     float32
	detail       float32
}

// object is the thing that the label names.
type object struct {
	*class
	x, y, radius     float32
	cos, sin, aspect float32 // a slight turn, and its width over its height
	frequency        float32 // periods of the pattern a radius
	shiftX, shiftY   float32 // of the pattern
	dark, bright     rgb
	paint            rgb // of the emblem
	shine            float32
	surface          material // its detail alone is used
}

// light is what the light and the camera do to the whole picture.
type light struct {
	gain       rgb     // exposure and white balance
	x, y       float32 // change of brightness from one side to the other
	vignette   float32
	grain      float32 // deviation of the sensor noise at white
	grainStart uint64
}

// source draws a scene's values.
type source struct {
	*rand.Rand
	fields []*field
	side   float64 // the image's shorter side
}

// newScene draws image i; its class is the only value that does not come by chance.
func newScene(o Options, i, c int) *scene {
	r := source{
		Rand:   rand.New(rand.NewPCG(o.Seed, uint64(i))),
		fields: sharedTables().fields,
		side:   float64(min(o.Width, o.Height)),
	}
	w, h := float64(o.Width), float64(o.Height)
	focus := r.between(0.45, 1)
	s := &scene{layers: r.layers(w, h, focus), light: r.light()}
	for range 2 + r.IntN(6) {
		s.clutter = append(s.clutter, r.blob(w, h, focus))
	}
	s.object = r.object(classOf(c), w, h)
	return s
}

func (r source) between(a, b float64) float64 { return a + (b-a)*r.Float64() }

func (r source) chance(p float64) bool { return r.Float64() < p }

// view looks at a random field at random, at that many texels a pixel. It turns it
// little: the fields have no direction, and rows of pixels that follow rows of texels
// are kind to the cache.
func (r source) view(texels float64) view {
	sin, cos := math.Sincos(r.between(-0.4, 0.4))
	return view{
		f: r.fields[r.IntN(len(r.fields))],
		u: r.between(0, fieldSide), v: r.between(0, fieldSide),
		dx: texels * cos, dy: texels * sin,
	}
}

// material draws a surface; focus is the fine field's texels a pixel, 1 for sharp.
func (r source) material(focus float64) material {
	m := material{
		coarse:   r.view(r.between(40, 220) / r.side),
		fine:     r.view(focus * r.between(0.9, 1.6)),
		contrast: float32(r.between(0.12, 0.34)),
		detail:   float32(0.38 * math.Exp(0.45*r.NormFloat64())),
	}
	hue, saturation, value := r.Float64(), r.between(0.05, 0.5), r.between(0.3, 0.85)
	var stops [3]rgb
	for i, v := range []float64{0.5, 1, 1.35} {
		stops[i] = hsv(hue+r.between(-0.07, 0.07), saturation*r.between(0.6, 1.2), min(value*v, 1))
	}
	m.setRamp(stops)
	return m
}

// setRamp bends the ramp from the first colour to the last, towards the middle one.
func (m *material) setRamp(stops [3]rgb) {
	for i := range m.ramp {
		t := float32(i) / float32(len(m.ramp)-1)
		for j := range 3 { // a quadratic Bezier curve
			m.ramp[i][j] = (1-t)*(1-t)*stops[0][j] + 2*t*(1-t)*stops[1][j] + t*t*stops[2][j]
		}
	}
}

// layers draws an outdoor view with one or two skylines, a room's corner, or a backdrop.
func (r source) layers(w, h, focus float64) []layer {
	sky := layer{top: math.Inf(-1), skyline: r.view(0), material: r.material(focus)}
	sky.material.detail *= float32(r.between(0.1, 1))
	layers := []layer{sky}
	horizon := r.between(0.3, 0.75) * h
	if r.chance(0.5) {
		layers = append(layers, layer{
			top: horizon - r.between(0.05, 0.2)*h, relief: r.between(0.02, 0.08) * h,
			skyline: r.view(r.between(40, 150) / w), material: r.material(focus),
		})
	}
	if r.chance(0.75) {
		layers = append(layers, layer{
			top: horizon, slope: r.between(-0.08, 0.08), relief: r.between(0, 0.006) * h,
			skyline: r.view(r.between(100, 300) / w), ground: r.chance(0.7), material: r.material(focus),
		})
	}
	return layers
}

func (r source) blob(w, h, focus float64) blob {
	sin, cos := math.Sincos(r.between(0, math.Pi))
	b := blob{
		x: float32(r.between(0, w)), y: float32(r.between(0, h)),
		rx: float32(r.side * r.between(0.03, 0.25)), ry: float32(r.side * r.between(0.03, 0.25)),
		cos: float32(cos), sin: float32(sin),
		soft:     float32(math.Exp(r.between(math.Log(0.6), math.Log(0.03*r.side+1)))),
		box:      r.chance(0.5),
		material: r.material(focus),
	}
	return b
}

func (r source) object(c *class, w, h float64) object {
	radius := r.side * r.between(0.32, 0.4)
	sin, cos := math.Sincos(r.between(-0.08, 0.08))
	o := object{
		class:  c,
		x:      float32(w/2 + r.between(-0.06, 0.06)*r.side),
		y:      float32(h/2 + r.between(-0.05, 0.05)*r.side),
		radius: float32(radius), cos: float32(cos), sin: float32(sin),
		aspect:    float32(r.between(0.92, 1.09)),
		frequency: float32(r.between(1.2, 1.4)),
		shiftX:    float32(r.between(-0.15, 0.15)), shiftY: float32(r.between(-0.15, 0.15)),
		dark:    hsv(r.Float64(), r.between(0.1, 0.9), r.between(0.05, 0.25)),
		bright:  hsv(r.Float64(), r.between(0.05, 0.6), r.between(0.85, 1)),
		paint:   hsv(r.Float64(), r.between(0.5, 1), r.between(0.5, 0.7)),
		shine:   float32(r.between(0, 0.5)),
		surface: r.material(1),
	}
	o.surface.detail = min(o.surface.detail, 0.3) // the pattern stays plain to see
	return o
}

func (r source) light() light {
	exposure, warmth := r.between(0.75, 1.1), r.between(-0.12, 0.12)
	return light{
		gain:       rgb{float32(exposure * (1 + warmth)), float32(exposure), float32(exposure * (1 - warmth))},
		x:          float32(r.between(-0.25, 0.25)),
		y:          float32(r.between(-0.25, 0.25)),
		vignette:   float32(r.between(0, 0.3)),
		grain:      float32(r.between(0.01, 0.026)),
		grainStart: r.Uint64(),
	}
}

// hsv gives a colour by hue (in turns), saturation and value.
func hsv(hue, saturation, value float64) rgb {
	var c rgb
	for i, offset := range []float64{1, 2. / 3, 1. / 3} {
		_, f := math.Modf(hue + offset + 1)
		ramp := min(max(math.Abs(f*6-3)-1, 0), 1)
		c[i] = float32(value * (1 - saturation*(1-ramp)))
	}
	return c
}
