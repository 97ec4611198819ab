package fields_test

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// photo is a JPEG with an EXIF orientation.
func photo(t *testing.T, w, h, orientation int) string {
	t.Helper()
	var b strings.Builder
	foldertest.Must(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)), nil))
	const exif = "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"
	return b.String()[:2] + exif + string(rune(orientation)) + "\x00\x00\x00\x00\x00\x00" + b.String()[2:]
}

// TestSizesThatTellNothing: where an image's own annotation does not tell how it was made, other images decide, or else
// it is of the upright image; a warning says so. The box is that of the first pixel.
func TestSizesThatTellNothing(t *testing.T) {
	voc := func(w, h int) string {
		return fmt.Sprintf("<annotation><size><width>%d</width><height>%d</height></size><object><name>a</name><bndbox>"+
			"<xmin>1</xmin><ymin>1</ymin><xmax>1</xmax><ymax>1</ymax></bndbox></object></annotation>", w, h)
	}
	const first = "[0 0 1 1]"
	for name, c := range map[string]struct {
		image      string
		w, h       int    // what the annotation says
		other      string // what the annotation of another image says, of 8x6 pixels and orientation 6
		box, warns string
	}{
		"no orientation":                {photo(t, 8, 8, 1), 8, 8, "", first, ""},
		"a square":                      {photo(t, 8, 8, 6), 8, 8, "", "[0 7 1 8]", "by the EXIF orientation 6: taken as upright, as programs for annotation show it"},
		"upside down":                   {photo(t, 8, 6, 3), 8, 6, "", "[7 5 8 6]", "field boxes: its size does not tell"},
		"no size":                       {photo(t, 8, 6, 6), 0, 0, "", "[0 5 1 6]", "as programs for annotation show it"},
		"others are upright":            {photo(t, 8, 6, 3), 8, 6, voc(6, 8), "[7 5 8 6]", "taken as upright, as in other images here"},
		"others are as stored":          {photo(t, 8, 6, 3), 8, 6, voc(8, 6), first, "taken as stored, as in other images here"},
		"another size, as seen upright": {photo(t, 8, 6, 6), 60, 80, "", "[0 5 1 6]", "the boxes are for an image of 60x80 pixels, and this one has 6x8"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"images/a.jpg": c.image, "xml/a.xml": voc(c.w, c.h)}
			if c.other != "" {
				files["images/b.jpg"], files["xml/b.xml"] = photo(t, 8, 6, 6), c.other
			}
			d, err := folder.Open(t.Context(), foldertest.Files(t, files), folder.Config{Boxes: []string{"xml/{key}.xml"}})
			foldertest.Must(t, err)
			defer d.Close()
			var s formats.Sample
			foldertest.Must(t, d.Read(0, &s))
			var box [4]float32
			for k := range box {
				box[k] = math.Float32frombits(binary.LittleEndian.Uint32(s.Values[d.Meta().Schema.Index("boxes")].Data[4*k:]))
			}
			warning := d.Warning("images/a.jpg")
			if fmt.Sprint(box) != c.box || !strings.Contains(warning, c.warns) || (warning == "") != (c.warns == "") {
				t.Errorf("the box is %v, want %s; %q, want %q", box, c.box, warning, c.warns)
			}
		})
	}
}
