package contactsheet

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// loaders read what tiles show: the Loader of plain images, and that of transformed ones, nil without
// transforms.
type loaders struct {
	plain, transformed *reader.Loader
	normalized         augment.Normalize
	boxes              bool // field 0 of batches are boxes
	labelled           bool
}

// newLoaders opens the Loaders for o, in which it fills in the defaults.
func newLoaders(ds formats.Dataset, o *Options) (s *loaders, err error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s = &loaders{normalized: augment.Normalize{Mean: []float64{0}, Std: []float64{1}}}
	s.labelled = ds.Meta().Schema.LabelIndex() >= 0
	c := reader.Config{BatchSize: 1, Splits: o.Splits, Seed: o.Seed, MaxPixels: o.MaxPixels, OnError: reader.Skip}
	for _, f := range ds.Meta().Schema {
		if f.Kind == formats.Boxes && !s.boxes {
			c.Fields, s.boxes = []string{f.Name}, true
		}
	}
	if len(o.Transforms) > 0 {
		if s.transformed, err = newTransformed(ds, c, o.Transforms); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrOptions, err)
		}
		shape := s.transformed.ImageShape()
		o.Size = cmp.Or(o.Size, max(DefaultSize, shape[0], shape[1]))
		for _, op := range o.Transforms {
			if n, ok := op.(augment.Normalize); ok {
				s.normalized = n
			}
		}
	}
	o.Size = cmp.Or(o.Size, DefaultSize)
	// All bits of images with 16 bits per channel: 8 of them would be white.
	c.AnySize, c.DType, c.Transforms = true, formats.Uint16, augment.Ops{fit{o.Size}}
	if s.plain, err = reader.New(ds, c); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// newTransformed returns a Loader with transforms, which may leave images of different sizes.
func newTransformed(ds formats.Dataset, c reader.Config, ops augment.Ops) (*reader.Loader, error) {
	c.Transforms, c.DType = ops, formats.Float32
	c.AnySize = !augment.FixesSize(ops)
	return reader.New(ds, c)
}

func (s *loaders) close() {
	for _, l := range []*reader.Loader{s.plain, s.transformed} {
		if l != nil {
			l.Close()
		}
	}
}

// draws reports whether a sample has a row of tiles.
func (s *loaders) draws() bool { return s.transformed != nil }

// tiles returns sample i and its tile, or its row of so many tiles.
func (s *loaders) tiles(i, columns int) (Sample, []tile, error) {
	in, err := s.plain.InfoOf(i)
	if err != nil {
		return Sample{}, nil, err
	}
	shown := Sample{Index: i, Key: in.Key}
	var b reader.Batch
	first, err := s.tile(s.plain, i, 0, &b)
	if err != nil {
		return shown, nil, err
	}
	shown.Damage = first.damage
	if first.damage == nil {
		shown.Labels = s.labels(&b)
	} else if names := s.plain.Classes(); in.Label >= 0 && in.Label < int64(len(names)) {
		shown.Labels = names[in.Label : in.Label+1]
	}
	first.failure = "damaged: " + in.Key
	first.caption = strings.Join(shown.Labels, ", ")
	if !s.labelled {
		first.caption = in.Key
	}
	row := []tile{first}
	for epoch := 0; s.draws() && len(row) < columns; epoch++ {
		t, err := s.tile(s.transformed, i, epoch, &b)
		if err != nil {
			return shown, nil, err
		}
		shown.Damage = cmp.Or(shown.Damage, t.damage)
		t.caption, t.failure = fmt.Sprintf("epoch %d", epoch), "damaged: "+in.Key
		row = append(row, t)
	}
	return shown, row, nil
}

// tile loads sample i as in that epoch into b. An error is not the sample's.
func (s *loaders) tile(l *reader.Loader, i, epoch int, b *reader.Batch) (t tile, err error) {
	err = l.Pick(i, epoch, b)
	switch {
	case err == nil:
		t.pixels = s.pixels(b)
		if s.boxes {
			drawBoxes(t.pixels, reader.Elements[float32](b.Fields[0].Value(0)))
		}
		return t, nil
	case pixel.EndsRun(err) || errors.Is(err, formats.ErrClosed):
		return t, err
	}
	return tile{damage: err}, nil
}

// labels returns the names of the classes of the sample in b, or its number.
func (s *loaders) labels(b *reader.Batch) (all []string) {
	if b.LabelDType == formats.Float32 {
		return []string{labels.FormatFloat(reader.Labels[float32](b)[0])}
	}
	add := func(class int64) {
		if names := s.plain.Classes(); class < int64(len(names)) {
			all = append(all, names[class])
		} else {
			all = append(all, fmt.Sprint(class))
		}
	}
	for k, x := range b.MultiHot {
		if x != 0 {
			add(int64(k))
		}
	}
	if k := b.Label(0); k >= 0 {
		add(k)
	}
	return all
}

// pixels returns the RGB image in b, of 16 bits or of floats, which may be normalised.
func (s *loaders) pixels(b *reader.Batch) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, b.Shape[2], b.Shape[1]))
	if b.DType == formats.Uint16 {
		for k, x := range reader.Pixels[uint16](b) {
			m.Pix[k/3*4+k%3] = byte(x >> 8)
		}
	} else {
		n := &s.normalized
		for k, x := range reader.Pixels[float32](b) {
			mean, std := n.Mean[min(k%3, len(n.Mean)-1)], n.Std[min(k%3, len(n.Std)-1)]
			m.Pix[k/3*4+k%3] = byte(math.Round(255 * min(max(float64(x)*std+mean, 0), 1)))
		}
	}
	for k := 3; k < len(m.Pix); k += 4 {
		m.Pix[k] = 255
	}
	return m
}

// fit is a transform that makes images that are larger than a tile as large as one. In the Loader it
// needs no more memory than the Loader's own limits allow.
type fit struct{ size int }

func (o fit) String() string { return fmt.Sprintf("fit:%d", o.size) }

// Check implements augment.Op.
func (fit) Check(int) error { return nil }

// AddTo implements augment.Op.
func (o fit) AddTo(s *augment.Steps, _ *random.Rand) {
	h, w := s.Size()
	if side := max(h, w); side > o.size {
		s.Resize(max(1, (h*o.size+side/2)/side), max(1, (w*o.size+side/2)/side), pixel.Lanczos)
	}
}

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
