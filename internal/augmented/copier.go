package augmented

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// Copier makes copies of samples of one schema, in one goroutine.
type Copier struct {
	copies    *Copies
	schema    formats.Schema
	image     int // the designated one
	maxPixels int

	pipelines map[kind]*augment.Pipeline
	steps     augment.Steps
	rand      random.Rand
	runner    augment.Runner
	made      []pixel.Image // by field
	deep      []uint16      // of an image of 16 bits
	corners   []float32
	boxes     [][]byte // by field
	room      budget.Reservation
}

// kind is what images of one pipeline have in common.
type kind struct {
	channels int
	dtype    formats.DType
}

// NewCopier returns a Copier for samples of a schema, whose images have at most so many pixels; 0 is the default.
func (c *Copies) NewCopier(s formats.Schema, maxPixels int) *Copier {
	return &Copier{
		copies: c, schema: s, image: s.ImageIndex(), maxPixels: maxPixels, pipelines: map[kind]*augment.Pipeline{},
		made: make([]pixel.Image, len(s)), boxes: make([][]byte, len(s)),
	}
}

// Close frees the Copier's memory.
func (c *Copier) Close() {
	c.runner.Shrink()
	c.deep, c.made, c.boxes = nil, make([]pixel.Image, len(c.schema)), make([][]byte, len(c.schema))
}

// Copy makes s, whose images and masks are raw pixels, copy number n, from 1, of the sample of that rank. What it sets
// is valid until the next Copy.
func (c *Copier) Copy(s *formats.Sample, rank, n int) error {
	defer c.free()
	m, err := imageOf(&s.Values[c.image])
	if err != nil {
		return err
	}
	p, err := c.pipeline(m)
	if err != nil {
		return err
	}
	c.rand = random.NewRand(c.copies.seed, n, rank)
	p.Draw(&c.steps, m.H, m.W, &c.rand)
	if err := c.reserve(s, m); err != nil {
		return err
	}
	for k, f := range c.schema {
		v := &s.Values[k]
		switch f.Kind {
		case formats.Image:
			err = c.augment(k, v, p)
		case formats.Mask:
			err = c.mask(k, v)
		case formats.Boxes:
			err = c.moveBoxes(k, v)
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

// imageOf is the pixels of v.
func imageOf(v *formats.Value) (*pixel.Image, error) {
	if v.Encoding != formats.Raw || len(v.Shape) != 3 {
		return nil, fmt.Errorf("%w: pixels of the encoding %s with shape %v", formats.ErrSchema, v.Encoding, v.Shape)
	}
	return &pixel.Image{Pix: v.Data, H: v.Shape[0], W: v.Shape[1], C: v.Shape[2], DType: v.DType}, nil
}

// pipeline is that of images like m.
func (c *Copier) pipeline(m *pixel.Image) (*augment.Pipeline, error) {
	like := kind{m.C, m.DType}
	p := c.pipelines[like]
	if p == nil {
		var err error
		if p, err = augment.CompileEach(c.copies.ops, m.C, m.DType, pixel.NHWC); err != nil {
			return nil, err
		}
		c.pipelines[like] = p
	}
	return p, nil
}

// reserve reserves the memory of the sample's pixels, of its copy's, and of what is between them.
func (c *Copier) reserve(s *formats.Sample, m *pixel.Image) error {
	h, w := c.steps.Size()
	n := c.steps.Room(m.DType)
	for k, f := range c.schema {
		if f.Kind == formats.Image || f.Kind == formats.Mask {
			n += int64(len(s.Values[k].Data)) + budget.ImageBytes(h, w, m.C*m.DType.Size())
		}
	}
	return c.room.ReserveImage(n, len(m.Pix), c.maxPixels)
}

func (c *Copier) free() {
	if c.room.Large() {
		c.Close()
	}
	c.room.Release()
}

// augment makes the image v of field k follow the steps.
func (c *Copier) augment(k int, v *formats.Value, p *augment.Pipeline) error {
	stored, err := imageOf(v)
	if err != nil {
		return err
	}
	m, err := c.runner.Fit(&c.steps, stored)
	if err != nil {
		return err
	}
	if err := p.Fits(m, &c.steps); err != nil {
		return err
	}
	to := &c.made[k]
	h, w := c.steps.Size()
	to.Reset(h, w, m.C, m.DType)
	t := resample.Target{Spec: p.Store(), Uint8: to.Pix}
	if m.DType == formats.Uint16 {
		c.deep = slices.Grow(c.deep[:0], h*w*m.C)[:h*w*m.C]
		t.Uint8, t.Half = nil, c.deep
	}
	if err := c.runner.Apply(&c.steps, m, m != stored, t); err != nil {
		return err
	}
	if err := c.runner.Store(); err != nil {
		return err
	}
	for i, x := range t.Half {
		binary.LittleEndian.PutUint16(to.Pix[2*i:], x)
	}
	set(v, to)
	return nil
}

// mask makes the mask v of field k follow the steps.
func (c *Copier) mask(k int, v *formats.Value) error {
	m, err := imageOf(v)
	if err != nil {
		return err
	}
	if err := c.runner.Mask(&c.steps, m, &c.made[k]); err != nil {
		return err
	}
	set(v, &c.made[k])
	return nil
}

func set(v *formats.Value, m *pixel.Image) {
	v.Data = m.Pix
	v.SetShape(m.H, m.W, m.C)
}

// moveBoxes makes the boxes v of field k follow the steps.
func (c *Copier) moveBoxes(k int, v *formats.Value) error {
	boxes, err := geometry.ReadBoxes(c.corners[:0], v.Data, v.DType)
	if err != nil {
		return err
	}
	c.corners = c.steps.Boxes(boxes[:0], boxes)
	c.boxes[k] = geometry.AppendBoxes(c.boxes[k][:0], c.corners)
	v.Data = c.boxes[k]
	return nil
}
