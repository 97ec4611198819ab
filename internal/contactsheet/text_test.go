package contactsheet

import (
	"bytes"
	"encoding/binary"
	"image"
	"math"
	"strings"
	"testing"
)

func boxBytes(corners ...float32) (b []byte) {
	for _, x := range corners {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// drawn is a line of text.
func drawn(t *testing.T, text string, width int) []byte {
	w, err := newWriter()
	if err != nil {
		t.Fatal(err)
	}
	m := image.NewNRGBA(image.Rect(0, 0, width+40, w.height()))
	w.line(m, image.Rect(20, 0, width+20, w.height()), text)
	for y := range w.height() {
		for x := range width + 40 {
			if (x < 18 || x >= width+22) && m.NRGBAAt(x, y).A != 0 {
				t.Fatalf("%q is wider than its %d pixels", text, width)
			}
		}
	}
	return m.Pix
}

func TestNamesAreReadable(t *testing.T) {
	w, err := newWriter()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"cat": "cat", "Bär, œuvre, Ελλάς, кот": "Bär, œuvre, Ελλάς, кот",
		"写真": `\u5199\u771f`, "🐈": `\U0001f408`, "a\nb\x1b\u202e\xff": `a\nb\x1b\u202e\xff`, "e\u0301": "é",
	} {
		got := w.readable(name)
		if got != want {
			t.Errorf("%q is drawn as %q, want %q", name, got, want)
		}
		if strings.ContainsFunc(got, w.lacks) {
			t.Errorf("the font cannot draw %q", got)
		}
	}
}

func TestNamesFitAndDiffer(t *testing.T) {
	long := strings.Repeat("w", 100_000)
	seen := map[string]string{}
	for _, name := range []string{"", "a", "写", "真", long, "x" + long, long + "x", "\x1b[31m", strings.Repeat("写", 500)} {
		for _, width := range []int{100, 3} {
			pixels := drawn(t, name, width)
			if width < 100 {
				continue
			}
			if other, found := seen[string(pixels)]; found {
				t.Errorf("%.20q and %.20q look the same", name, other)
			}
			seen[string(pixels)] = name
		}
	}
}

func TestParagraphStaysInItsArea(t *testing.T) {
	w, err := newWriter()
	if err != nil {
		t.Fatal(err)
	}
	m := image.NewNRGBA(image.Rect(0, 0, 100, 100))
	w.paragraph(m, image.Rect(10, 10, 90, 60), strings.Repeat("damaged ", 100))
	below := m.Pix[m.PixOffset(0, 62):]
	if !bytes.Equal(below, make([]byte, len(below))) {
		t.Error("text below its area")
	}
}
