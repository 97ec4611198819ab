package preprocess

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"

	"github.com/disintegration/imaging"

	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ThumbnailMode is how a thumbnail gets its size. "" is ThumbnailFit.
type ThumbnailMode string

// The modes of thumbnails.
const (
	// ThumbnailFit shows the whole image, as large as W by H allow: they are maxima, and a W or H of 0 is
	// no limit to that side. Smaller images keep their size.
	ThumbnailFit ThumbnailMode = "fit"
	// ThumbnailFill is exactly W by H: the image is scaled to cover that, and the rest is cut off.
	ThumbnailFill ThumbnailMode = "fill"
)

// Anchor is the place of an image that ThumbnailFill keeps. "" is AnchorCenter.
type Anchor string

// The anchors.
const (
	AnchorCenter Anchor = "center"
	AnchorTop    Anchor = "top"
	AnchorBottom Anchor = "bottom"
	AnchorLeft   Anchor = "left"
	AnchorRight  Anchor = "right"
)

var anchors = map[Anchor]imaging.Anchor{
	"": imaging.Center, AnchorCenter: imaging.Center, AnchorTop: imaging.Top, AnchorBottom: imaging.Bottom, AnchorLeft: imaging.Left, AnchorRight: imaging.Right,
}

// ThumbnailOptions say what a thumbnail looks like.
type ThumbnailOptions struct {
	// W and H are in pixels: the largest size with ThumbnailFit, where one of them may be 0 for no limit, and
	// the exact size with ThumbnailFill.
	W, H int
	// Mode is ThumbnailFit ("", "fit") or ThumbnailFill ("fill").
	Mode ThumbnailMode
	// Anchor is what ThumbnailFill keeps: AnchorCenter ("", "center"), AnchorTop, AnchorBottom, AnchorLeft or
	// AnchorRight.
	Anchor Anchor
	// Background is drawn behind transparent pixels, as a JPEG needs it; nil keeps them transparent.
	Background color.Color
	// Sharpen is the strength that the thumbnail is sharpened with, about 0.5 to 1; 0 is none.
	Sharpen float64
	// MaxPixels is the most pixels that the image may have; 0 is pixel.DefaultMaxPixels. MaxBytes is the
	// size of the largest file; 0 is codec.DefaultMaxBytes.
	MaxPixels int
	MaxBytes  int64
}

func (o ThumbnailOptions) check() error {
	_, known := anchors[o.Anchor]
	fill := o.Mode == ThumbnailFill
	switch {
	case o.W < 0 || o.H < 0 || o.W > maxSide || o.H > maxSide || o.W == 0 && o.H == 0:
		return fmt.Errorf("thumbnail of %dx%d pixels: choose W and H from 1 to %d, or 0 for one of them", o.W, o.H, maxSide)
	case fill && (o.W == 0 || o.H == 0):
		return fmt.Errorf("thumbnail of %dx%d pixels: fill needs both W and H, from 1 to %d", o.W, o.H, maxSide)
	case o.Mode != "" && o.Mode != ThumbnailFit && o.Mode != ThumbnailFill:
		return fmt.Errorf("thumbnail mode %q: choose fit or fill", o.Mode)
	case !known:
		return fmt.Errorf("thumbnail anchor %q: choose center, top, bottom, left or right", o.Anchor)
	case !(o.Sharpen >= 0 && o.Sharpen <= 100):
		return fmt.Errorf("thumbnail sharpened by %g: choose 0 to 100", o.Sharpen)
	}
	return nil
}

// Thumbnail reads an image file to its end and returns it upright and scaled down, for people to look
// at. A JPEG is decoded at a reduced size, at least twice that of the thumbnail, and many times faster
// than at its own. The pixels come from package imaging and are close to Pillow's thumbnails, not equal:
// datasets are packed with Recipe.Resize. Use it on any goroutine. See package codec for the errors.
func Thumbnail(r io.Reader, o ThumbnailOptions) (*image.NRGBA, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	data, err := inner.ReadAll(r, o.MaxBytes)
	if err != nil {
		return nil, err
	}
	_, h, err := codec.Inspect(data)
	if err != nil {
		return nil, err
	}
	uprightH, uprightW := pixel.OrientedSize(h.H, h.W, h.Orientation)
	w, height := o.scaled(uprightW, uprightH)
	m, err := codec.Decode(data, codec.DecodeOptions{
		Color: pixel.ColorKeep, EXIF: pixel.EXIFApply, MaxPixels: o.MaxPixels, Mode: codec.Fast, MinW: 2 * w, MinH: 2 * height,
	})
	if err != nil {
		return nil, err
	}
	return o.make(m), nil
}

// scaled returns the size that an image of w by h is scaled to, before ThumbnailFill cuts off the rest.
func (o ThumbnailOptions) scaled(w, h int) (int, int) {
	mode, o := ResizeFit, o.limited(w, h)
	if o.Mode == ThumbnailFill {
		mode = ResizeCover
	}
	sw, sh, _ := Resize{Mode: mode, W: o.W, H: o.H}.Plan(w, h, false)
	return sw, sh
}

// ThumbnailOf is Thumbnail of an image in memory, as it is, whatever its type and bounds. img stays as it
// is.
func ThumbnailOf(img image.Image, o ThumbnailOptions) (*image.NRGBA, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	m, err := pixel.FromImage(img)
	if err != nil {
		return nil, fmt.Errorf("thumbnail: %w", err)
	}
	return o.make(m), nil
}

// limited returns o with the sides of an image of w by h instead of limits that are not set.
func (o ThumbnailOptions) limited(w, h int) ThumbnailOptions {
	o.W, o.H = cmp.Or(o.W, w), cmp.Or(o.H, h)
	return o
}

// make returns the thumbnail of m.
func (o ThumbnailOptions) make(m *pixel.Image) (out *image.NRGBA) {
	o = o.limited(m.W, m.H)
	pixels := nrgba(m)
	if o.Mode == ThumbnailFill {
		out = imaging.Fill(pixels, o.W, o.H, anchors[o.Anchor], imaging.Lanczos)
	} else {
		out = imaging.Fit(pixels, o.W, o.H, imaging.Lanczos)
	}
	if o.Background != nil {
		front := out
		out = image.NewNRGBA(front.Rect)
		draw.Draw(out, out.Rect, image.NewUniform(o.Background), image.Point{}, draw.Src)
		draw.Draw(out, out.Rect, front, front.Rect.Min, draw.Over)
	}
	if o.Sharpen > 0 {
		out = imaging.Sharpen(out, o.Sharpen)
	}
	return out
}

// nrgba returns a copy of m with 8 bits and 4 channels, which package imaging reads fast.
func nrgba(m *pixel.Image) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, m.W, m.H))
	step, high := m.DType.Size(), m.DType.Size()-1 // of 16 bits, the high byte comes last
	for i := range m.H * m.W {
		p, q := m.Pix[i*m.PixelSize():][:m.PixelSize()], out.Pix[4*i:4*i+4]
		q[3] = 255
		if m.C < 3 {
			q[0], q[1], q[2] = p[high], p[high], p[high]
		} else {
			q[0], q[1], q[2] = p[high], p[step+high], p[2*step+high]
		}
		if m.C == 2 || m.C == 4 {
			q[3] = p[len(p)-1]
		}
	}
	return out
}
