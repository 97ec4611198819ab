package preprocess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// odd is a broken or strange image: its name says which sound one it was and what was done.
type odd struct {
	name string
	data []byte
}

// corpus is made of the tiny sound files of testdata/sound.
type corpus struct{ list []odd }

func (c *corpus) add(of, what string, data []byte) {
	c.list = append(c.list, odd{of + " " + what, data})
}

// oddImages are all broken and strange images, made anew at each call.
func oddImages(t testing.TB) []odd {
	t.Helper()
	var c corpus
	c.strangers()
	sound := map[string][]byte{}
	for _, name := range soundNames(t) {
		data, err := os.ReadFile(filepath.Join("testdata", "sound", name))
		if err != nil {
			t.Fatal(err)
		}
		sound[name] = data
		c.add(name, "as it is", data)
		c.around(name, data)
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
	c.polyglots(sound)
	return c.list
}

func soundNames(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("testdata", "sound"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// strangers are no images at all.
func (c *corpus) strangers() {
	for _, s := range []string{
		"", "\xff", "\xff\xd8", "\xff\xd8\xff", "\xff\xd8\xff\xd9", "BM", "GIF89a", "II*\x00", "MM\x00*", pngMagic,
		"This is no image, whatever it is called.", "<html><img src=x></html>", "\x00", "PK\x03\x04", "%PDF-1.4",
		"RIFF\x24\x00\x00\x00WEBPVP8 ", "\x00\x00\x00\x0cjP  \r\n\x87\n",
	} {
		c.add("nothing", fmt.Sprintf("%.12q", s), []byte(s))
	}
	c.add("nothing", "4096 zeros", make([]byte, 4096))
	c.add("nothing", "4096 times 255", bytes.Repeat([]byte{255}, 4096))
}

// around is what can happen to any file.
func (c *corpus) around(name string, data []byte) {
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
		c.add(name, fmt.Sprintf("with bit %d flipped", at), changed(data, at/8, data[at/8]^1<<(at%8)))
	}
	half := bytes.Clone(data)
	clear(half[len(half)/2:])
	c.add(name, "zeros from the middle", half)
}

// changed is data with other bytes at a place.
func changed(data []byte, at int, with ...byte) []byte {
	data = bytes.Clone(data)
	copy(data[at:], with)
	return data
}

// polyglots are two things at once.
func (c *corpus) polyglots(sound map[string][]byte) {
	jpeg, png, gif := sound["420.jpg"], sound["rgb.png"], sound["palette.gif"]
	c.add("polyglot", "JPEG and zip", slices.Concat(jpeg, []byte("PK\x05\x06"), make([]byte, 18)))
	comment := "<html><script>alert(1)</script><!--"
	html := slices.Concat(jpeg[:2], []byte{0xFF, 0xFE, 0, byte(len(comment) + 2)}, []byte(comment), jpeg[2:], []byte("-->"))
	c.add("polyglot", "JPEG and HTML", html)
	c.add("polyglot", "JPEG and PNG", slices.Concat(jpeg, png))
	c.add("polyglot", "PNG and JPEG", slices.Concat(png, jpeg))
	script := changed(gif, 6, '/', '*')
	c.add("polyglot", "GIF and script", slices.Concat(script, []byte("*/=1;alert(1)")))
	c.add("polyglot", "PNG in a JPEG's comment", slices.Concat(jpeg[:2], segmentOf(0xFE, png), jpeg[2:]))
	c.add("polyglot", "JPEG in a JPEG's APP1", slices.Concat(jpeg[:2], segmentOf(0xE1, jpeg), jpeg[2:]))
}

// segmentOf is a JPEG marker segment.
func segmentOf(mark byte, body []byte) []byte {
	n := len(body) + 2
	return slices.Concat([]byte{0xFF, mark, byte(n >> 8), byte(n)}, body)
}

func soundJPEGs(t testing.TB) map[string][]byte {
	t.Helper()
	m := map[string][]byte{}
	for _, name := range soundNames(t) {
		if filepath.Ext(name) != ".jpg" {
			continue
		}
		data, err := os.ReadFile(filepath.Join("testdata", "sound", name))
		if err != nil {
			t.Fatal(err)
		}
		m[name] = data
	}
	return m
}
