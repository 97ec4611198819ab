// Package contactsheet draws some samples of a dataset on one picture, with the names of their classes:
// the images as they are, or what a Loader's transforms make of them in its first epochs.
package contactsheet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"

	"github.com/disintegration/imaging"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/reader/augment"
)

// ErrOptions is the error for Options that do not fit the dataset.
var ErrOptions = errors.New("contact sheet")

// The default of Options.Samples, without and with transforms, of Columns, and of Size.
const (
	DefaultSamples   = 64
	DefaultAugmented = 8
	DefaultColumns   = 8
	DefaultSize      = 160
)

const (
	margin = 8 // between tiles and at the edges
	// maxPixels is the largest sheet, at 4 bytes of memory for each pixel. Pillow warns of larger images.
	maxPixels = 80_000_000
)

var (
	paper   = color.NRGBA{255, 255, 255, 255}
	empty   = color.NRGBA{236, 236, 236, 255} // where an image does not fill its tile
	damaged = color.NRGBA{255, 214, 209, 255}
)

// Options say what is on a sheet. A zero field is its default.
type Options struct {
	// Samples is how many samples are drawn at random, as many of each class as possible; DefaultSamples,
	// or with Transforms DefaultAugmented.
	Samples int
	// Wanted reports whether sample i of the dataset may be shown; nil is all.
	Wanted func(i int) bool
	// Splits are those whose samples are shown, as reader.Config.Splits.
	Splits []string
	// Seed of the random choice, and of the transforms as reader.Config.Seed.
	Seed uint64
	// Columns is the number of tiles in a row, and Size their side in pixels. The default of Size with
	// Transforms is the side of the transformed images, if that is larger than DefaultSize.
	Columns, Size int
	// Transforms give each sample a row: the image, then what a Loader with these transforms makes of it in
	// the epochs from 0 on.
	Transforms augment.Ops
	// MaxPixels is as reader.Config.MaxPixels.
	MaxPixels int
}

// Sheet is a picture of samples.
type Sheet struct {
	Image *image.NRGBA
	// Samples are the samples in the order of their tiles, left to right and top to bottom; with
	// transforms one in each row.
	Samples       []Sample
	Rows, Columns int
}

// Sample is what a sheet shows of a sample.
type Sample struct {
	Index int // in the splits, as a Loader of them counts
	Key   string
	// Labels are the names of the sample's classes, or its number; nil without a label.
	Labels []string
	// Damage is why the sample cannot be shown; its tile names it.
	Damage error
}

// Make draws a sheet of samples of ds. A sample that cannot be read has an empty tile. ErrOptions is
// returned for options that the dataset does not allow.
func Make(ctx context.Context, ds formats.Dataset, o Options) (*Sheet, error) {
	shown, err := newLoaders(ds, &o)
	if err != nil {
		return nil, err
	}
	defer shown.close()
	indices, err := choose(ctx, ds, &o)
	if err != nil {
		return nil, err
	}
	s := &Sheet{Samples: make([]Sample, len(indices)), Columns: o.Columns, Rows: len(indices)}
	if !shown.draws() {
		s.Columns = min(o.Columns, len(indices))
		s.Rows = (len(indices) + s.Columns - 1) / s.Columns
	}
	text, err := newWriter()
	if err != nil {
		return nil, err
	}
	if err := s.paper(o.Size, text.height()); err != nil {
		return nil, err
	}
	// Few at a time: each has a whole image in memory.
	tiles := make([][]tile, len(indices))
	err = parallel.Each(ctx, len(indices), min(4, parallel.Cores()), func() (func(int) error, func(), error) {
		return func(at int) (err error) {
			s.Samples[at], tiles[at], err = shown.tiles(indices[at], s.Columns)
			return err
		}, func() {}, nil
	})
	if err != nil {
		return nil, err
	}
	for at, row := range tiles {
		for k, t := range row {
			s.draw(text, at*len(row)+k, o.Size, &t)
		}
	}
	return s, nil
}

// paper makes the empty sheet for tiles of that size above captions of that height.
func (s *Sheet) paper(size, caption int) error {
	w, h := margin+s.Columns*(size+margin), margin+s.Rows*(size+caption+margin)
	if float64(w)*float64(h) > maxPixels {
		return fmt.Errorf("%w of %dx%d tiles of %d pixels: it would have more than %d million pixels; choose fewer samples or columns, or smaller tiles",
			ErrOptions, s.Columns, s.Rows, size, maxPixels/1_000_000)
	}
	s.Image = imaging.New(w, h, paper)
	return nil
}

// tile is one image of a sheet and what is written below it, or in place of it.
type tile struct {
	pixels  *image.NRGBA // nil if there is none
	caption string
	failure string
	damage  error // of the sample
}

// draw draws the tile at position k.
func (s *Sheet) draw(text *writer, k, size int, t *tile) {
	x := margin + k%s.Columns*(size+margin)
	y := margin + k/s.Columns*(size+text.height()+margin)
	area := image.Rect(x, y, x+size, y+size)
	if t.pixels == nil {
		draw.Draw(s.Image, area, image.NewUniform(damaged), image.Point{}, draw.Src)
		text.paragraph(s.Image, area, t.failure)
	} else {
		draw.Draw(s.Image, area, image.NewUniform(empty), image.Point{}, draw.Src)
		shown := fitted(t.pixels, size)
		at := area.Min.Add(area.Size().Sub(shown.Rect.Size()).Div(2))
		draw.Draw(s.Image, shown.Rect.Sub(shown.Rect.Min).Add(at), shown, shown.Rect.Min, draw.Src)
	}
	text.line(s.Image, image.Rect(x, y+size, x+size, y+size+text.height()), t.caption)
}

// fitted returns m at a size that fits into a tile: as it is if it can be, a multiple of that if it is
// much smaller.
func fitted(m *image.NRGBA, size int) *image.NRGBA {
	side := max(m.Rect.Dx(), m.Rect.Dy())
	if side > size {
		return imaging.Fit(m, size, size, imaging.Lanczos)
	}
	times := size / max(side, 1)
	return imaging.Resize(m, times*m.Rect.Dx(), times*m.Rect.Dy(), imaging.NearestNeighbor)
}

// fill fills in the defaults and checks all but what depends on the dataset.
func (o *Options) fill() error {
	for name, n := range map[string]int{"samples": o.Samples, "columns": o.Columns, "size": o.Size} {
		if n < 0 {
			return fmt.Errorf("%w: %s %d: the number must not be negative", ErrOptions, name, n)
		}
	}
	if len(o.Transforms) > 0 {
		o.Samples = cmp.Or(o.Samples, DefaultAugmented)
	}
	o.Samples = cmp.Or(o.Samples, DefaultSamples)
	o.Columns = cmp.Or(o.Columns, DefaultColumns)
	return nil
}
