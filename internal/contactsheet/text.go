package contactsheet

import (
	"image"
	"image/color"
	"image/draw"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"

	"github.com/dsconv/dsconv/internal/legible"
)

const fontSize = 12 // pixels

// writer draws text in Go's own font, which has Latin, Greek and Cyrillic letters.
type writer struct {
	face   font.Face
	glyphs *sfnt.Font
	memory sfnt.Buffer
}

func newWriter() (*writer, error) {
	glyphs, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(glyphs, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull})
	return &writer{face: face, glyphs: glyphs}, err
}

// height is that of a line.
func (w *writer) height() int { return fontSize + 6 }

// readable returns text as the font can draw it: characters that it does not have, and hidden ones, as
// escapes such as \u5199, so that different names look different.
func (w *writer) readable(text string) string {
	return legible.Replace(norm.NFC.String(text), w.lacks, func(b *strings.Builder, char string) {
		quoted := strconv.QuoteToASCII(char)
		b.WriteString(quoted[1 : len(quoted)-1])
	})
}

// lacks reports whether the font has no picture of r.
func (w *writer) lacks(r rune) bool {
	glyph, err := w.glyphs.GlyphIndex(&w.memory, r)
	return err != nil || glyph == 0 || legible.Hidden(r)
}

// line draws text in the middle of an area, without its middle if it is too long.
func (w *writer) line(to draw.Image, area image.Rectangle, text string) {
	text = w.shortened(w.readable(text), area.Dx())
	x := area.Min.X + (area.Dx()-w.width(text))/2
	d := font.Drawer{Dst: to, Src: image.NewUniform(color.Black), Face: w.face, Dot: fixed.P(x, area.Max.Y-5)}
	d.DrawString(text)
}

// paragraph draws text in lines from the top of an area, as much as fits.
func (w *writer) paragraph(to draw.Image, area image.Rectangle, text string) {
	rest := []rune(w.readable(text))
	for y := area.Min.Y; len(rest) > 0 && y+w.height() <= area.Max.Y; y += w.height() {
		n := 1
		for n < len(rest) && w.width(string(rest[:n+1])) <= area.Dx() {
			n++
		}
		w.line(to, image.Rect(area.Min.X, y, area.Max.X, y+w.height()), string(rest[:n]))
		rest = rest[n:]
	}
}

func (w *writer) width(text string) int { return font.MeasureString(w.face, text).Ceil() }

// shortened returns text that is at most so wide: names often differ at their beginning or end.
func (w *writer) shortened(text string, width int) string {
	runes := []rune(text)
	if most := width; len(runes) > most { // no character is narrower than a pixel
		runes = append(runes[:most/2:most/2], runes[len(runes)-most/2:]...)
	} else if w.width(text) <= width {
		return text
	}
	for n := len(runes); n > 0; n-- {
		short := string(runes[:(n+1)/2]) + "…" + string(runes[len(runes)-n/2:])
		if w.width(short) <= width {
			return short
		}
	}
	return ""
}
