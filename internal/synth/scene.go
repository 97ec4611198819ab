package synth

import (
	"math"
	"math/rand/v2"
)

// rgb is a colour in display space, 0 to 1 in each channel.
type rgb [3]float32

// scene is all that is drawn at random for one image. Lengths are in pixels.
type scene struct {
	sky, ground material
	skyline     view
	horizon     float32 // mean height of the skyline
	relief      float32 // deviation from it
	object      object
	gain        rgb     // exposure and white balance
	slopeX      float32 // change of brightness from one side to the other
	slopeY      float32
	grain       float32 // deviation of the sensor noise at white
	grainStart  uint64
}

// material is a coloured surface: a coarse field blends two colours, a fine one varies the brightness.
type material struct {
	dark, bright     rgb
	coarse, fine     view
	contrast, detail float32
}

// object is what the label names.
type object struct {
	*class
	x, y, radius, cos, sin   float32 // it is rotated slightly
	frequency                float32 // periods of the pattern a radius
	shiftX, shiftY           float32 // of the pattern
	dark, bright, emblemTone rgb
	surface                  view
	detail                   float32
}

// source draws a scene's values.
type source struct {
	*rand.Rand
	side float64 // the image's shorter side
}

// newScene draws image i; its class is the only value that is not random.
func newScene(o Options, i, c int) *scene {
	r := source{rand.New(rand.NewPCG(o.Seed, uint64(i))), float64(min(o.Width, o.Height))}
	focus := r.between(0.45, 1)
	exposure, warmth := r.between(0.75, 1.1), r.between(-0.12, 0.12)
	return &scene{
		sky: r.material(focus), ground: r.material(focus),
		skyline: r.view(noise().smooth, r.between(40, 150)/float64(o.Width)),
		horizon: float32(r.between(0.3, 0.75) * float64(o.Height)),
		relief:  float32(r.between(0, 0.1) * float64(o.Height)),
		object:  r.object(classOf(c), o.Width, o.Height),
		gain:    rgb{float32(exposure * (1 + warmth)), float32(exposure), float32(exposure * (1 - warmth))},
		slopeX:  float32(r.between(-0.25, 0.25)), slopeY: float32(r.between(-0.25, 0.25)),
		grain: float32(r.between(0.0105, 0.0275)), grainStart: r.Uint64(),
	}
}

func (r source) between(a, b float64) float64 { return a + (b-a)*r.Float64() }

// view looks at a field at random, at that many texels a pixel. It rotates it little: the fields
// have no direction, and rows of pixels that follow rows of texels are kind to the cache.
func (r source) view(f *field, texels float64) view {
	sin, cos := math.Sincos(r.between(-0.4, 0.4))
	return view{f, r.between(0, fieldSide), r.between(0, fieldSide), texels * cos, texels * sin}
}

// material draws a surface; focus is the fine field's texels a pixel, 1 for sharp.
func (r source) material(focus float64) material {
	hue, saturation, value := r.Float64(), r.between(0.05, 0.5), r.between(0.3, 0.85)
	return material{
		dark:     hsv(hue+r.between(-0.07, 0.07), saturation, value/2),
		bright:   hsv(hue+r.between(-0.07, 0.07), saturation*r.between(0.6, 1.2), min(value*1.3, 1)),
		coarse:   r.view(noise().smooth, r.between(40, 220)/r.side),
		fine:     r.view(noise().rough, focus*r.between(0.9, 1.6)),
		contrast: float32(r.between(0.12, 0.34)),
		detail:   float32(0.38 * math.Exp(0.45*r.NormFloat64())),
	}
}

func (r source) object(c *class, w, h int) object {
	sin, cos := math.Sincos(r.between(-0.08, 0.08))
	return object{
		class:  c,
		x:      float32(float64(w)/2 + r.between(-0.06, 0.06)*r.side),
		y:      float32(float64(h)/2 + r.between(-0.05, 0.05)*r.side),
		radius: float32(r.side * r.between(0.32, 0.4)), cos: float32(cos), sin: float32(sin),
		frequency: float32(r.between(1.2, 1.4)),
		shiftX:    float32(r.between(-0.15, 0.15)), shiftY: float32(r.between(-0.15, 0.15)),
		dark:       hsv(r.Float64(), r.between(0.1, 0.9), r.between(0.05, 0.25)),
		bright:     hsv(r.Float64(), r.between(0.05, 0.6), r.between(0.85, 1)),
		emblemTone: hsv(r.Float64(), r.between(0.5, 1), r.between(0.5, 0.7)),
		surface:    r.view(noise().rough, r.between(0.9, 1.6)),
		detail:     float32(r.between(0.1, 0.25)), // little: the pattern stays plain to see
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
