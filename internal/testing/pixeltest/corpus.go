package pixeltest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// IrregularImage is a damaged or irregular image. Its name is that of the intact one and what was
// changed.
type IrregularImage struct {
	Name string
	Data []byte
}

// corpus is built from the tiny intact files of testdata/sound.
type corpus struct{ list []IrregularImage }

func (c *corpus) add(of, what string, data []byte) {
	c.list = append(c.list, IrregularImage{of + " " + what, data})
}

// IrregularImages returns all damaged and irregular images, built at each call.
func IrregularImages(t testing.TB) []IrregularImage {
	t.Helper()
	var c corpus
	c.notImages()
	intact := map[string][]byte{}
	for _, name := range IntactNames(t) {
		data, err := os.ReadFile(Testdata("sound", name))
		if err != nil {
			t.Fatal(err)
		}
		intact[name] = data
		c.add(name, "as it is", data)
		c.damageAnywhere(name, data)
		switch filepath.Ext(name) {
		case ".jpg":
			c.jpeg(name, data)
		case ".png":
			c.png(name, data)
		case ".bmp":
			c.bmp(name, data)
		case ".gif":
			c.gif(name, data)
		case ".tif":
			c.tiff(name, data)
		case ".webp":
			c.webp(name, data)
		}
	}
	c.polyglots(intact)
	return c.list
}

// IntactNames lists the files of testdata/sound, which are intact.
func IntactNames(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(Testdata("sound"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// notImages adds files that are no images at all.
func (c *corpus) notImages() {
	for _, s := range []string{
		"", "\xff", "\xff\xd8", "\xff\xd8\xff", "\xff\xd8\xff\xd9", "BM", "GIF89a", "II*\x00", "MM\x00*", signaturePNG,
		"This is no image, whatever it is called.", "<html><img src=x></html>", "\x00", "PK\x03\x04", "%PDF-1.4",
		"RIFF\x24\x00\x00\x00WEBPVP8 ", "\x00\x00\x00\x0cjP  \r\n\x87\n",
	} {
		c.add("nothing", fmt.Sprintf("%.12q", s), []byte(s))
	}
	c.add("nothing", "4096 zeros", make([]byte, 4096))
	c.add("nothing", "4096 times 255", bytes.Repeat([]byte{255}, 4096))
}

// damageAnywhere adds damage that any file can have.
func (c *corpus) damageAnywhere(name string, data []byte) {
	c.add(name, "with bytes behind", slices.Concat(data, []byte("behind\xff\xd8\xff\xe0\x00")))
	c.add(name, "with zeros behind", slices.Concat(data, make([]byte, 5000)))
	c.add(name, "with bytes before", slices.Concat([]byte("before"), data))
	c.add(name, "twice", slices.Concat(data, data))
	for i := range 16 {
		c.add(name, fmt.Sprintf("cut to %d/16", i), data[:len(data)*i/16])
	}
	for i := 1; i < 6; i++ {
		c.add(name, fmt.Sprintf("cut by %d", i), data[:len(data)-i])
	}
	for i := range 60 {
		at := (i*7919 + 13) % (8 * len(data))
		c.add(name, fmt.Sprintf("with bit %d flipped", at), Changed(data, at/8, data[at/8]^1<<(at%8)))
	}
	half := bytes.Clone(data)
	clear(half[len(half)/2:])
	c.add(name, "zeros from the middle", half)
}

// Changed is data with other bytes at an offset.
func Changed(data []byte, at int, with ...byte) []byte {
	data = bytes.Clone(data)
	copy(data[at:], with)
	return data
}

// polyglots adds files of two formats at once.
func (c *corpus) polyglots(intact map[string][]byte) {
	jpeg, png, gif := intact["420.jpg"], intact["rgb.png"], intact["palette.gif"]
	c.add("polyglot", "JPEG and zip", slices.Concat(jpeg, []byte("PK\x05\x06"), make([]byte, 18)))
	comment := "<html><script>alert(1)</script><!--"
	html := slices.Concat(jpeg[:2], []byte{0xFF, 0xFE, 0, byte(len(comment) + 2)}, []byte(comment), jpeg[2:], []byte("-->"))
	c.add("polyglot", "JPEG and HTML", html)
	c.add("polyglot", "JPEG and PNG", slices.Concat(jpeg, png))
	c.add("polyglot", "PNG and JPEG", slices.Concat(png, jpeg))
	script := Changed(gif, 6, '/', '*')
	c.add("polyglot", "GIF and script", slices.Concat(script, []byte("*/=1;alert(1)")))
	c.add("polyglot", "PNG in a JPEG's comment", slices.Concat(jpeg[:2], SegmentOf(0xFE, png), jpeg[2:]))
	c.add("polyglot", "JPEG in a JPEG's APP1", slices.Concat(jpeg[:2], SegmentOf(0xE1, jpeg), jpeg[2:]))
}

// SegmentOf returns a JPEG marker segment.
func SegmentOf(mark byte, body []byte) []byte {
	n := len(body) + 2
	return slices.Concat([]byte{0xFF, mark, byte(n >> 8), byte(n)}, body)
}

// IntactJPEGs returns the JPEGs of testdata/sound.
func IntactJPEGs(t testing.TB) map[string][]byte {
	t.Helper()
	m := map[string][]byte{}
	for _, name := range IntactNames(t) {
		if filepath.Ext(name) != ".jpg" {
			continue
		}
		data, err := os.ReadFile(Testdata("sound", name))
		if err != nil {
			t.Fatal(err)
		}
		m[name] = data
	}
	return m
}
