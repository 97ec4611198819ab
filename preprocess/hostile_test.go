package preprocess

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// falseClaims are small files whose headers claim 13000x13000 pixels, just below the limit.
func falseClaims(t *testing.T) map[string][]byte {
	const size = 13000
	list := map[string][]byte{}
	for _, name := range pixeltest.IntactNames(t) {
		data, err := os.ReadFile(pixeltest.Testdata("sound", name))
		if err != nil {
			t.Fatal(err)
		}
		le := binary.LittleEndian.AppendUint32(nil, size)
		be := binary.BigEndian.AppendUint32(nil, size)
		switch filepath.Ext(name) {
		case ".jpg":
			for _, p := range pixeltest.SplitJPEG(data) {
				if jpeg.IsSOF(p.Mark) {
					data = pixeltest.Changed(data, p.Body+1, be[2], be[3], be[2], be[3])
				}
			}
		case ".png":
			body := slices.Concat(be, be, data[24:29])
			data = slices.Concat(data[:8], pixeltest.ChunkOf("IHDR", body), data[33:])
		case ".gif":
			at := 13 + 3<<(data[10]&7+1)
			for data[at] != ',' {
				at++
			}
			data = pixeltest.Changed(data, at+5, le[0], le[1], le[0], le[1])
		case ".bmp":
			data = pixeltest.Changed(data, 18, slices.Concat(le, le)...)
		case ".webp":
			i := bytes.Index(data, []byte("\x9d\x01\x2a"))
			if i < 0 { // a lossless one of one colour needs no bits for a pixel: nothing can be told
				continue
			}
			data = pixeltest.Changed(data, i+3, le[0], le[1], le[0], le[1])
			if string(data[12:16]) == "VP8X" {
				data = pixeltest.Changed(data, 24, le[0]-1, le[1], 0, le[0]-1, le[1], 0)
			}
		case ".tif":
			at := int(binary.LittleEndian.Uint32(data[4:])) + 2
			for _, e := range []int{at, at + 12} {
				data = pixeltest.Changed(data, e+8, le...)
			}
		}
		list[name] = data
	}
	return list
}

// No memory is allocated for what a header merely claims.
func TestFalseClaimsTakeNoMemory(t *testing.T) {
	d := inner.NewDecoder()
	defer d.Close()
	for name, data := range falseClaims(t) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var m pixel.Image
		err := d.Decode(&m, &formats.Value{Data: data}, inner.DecodeOptions{})
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: %dx%d pixels of %d bytes", name, m.W, m.H, len(data))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: %d MiB for a file of %d bytes: %v", name, n>>20, len(data), err)
		}
	}
}

// Irregular images that are readable are written with a warning, and refused with Strict.
func TestStrict(t *testing.T) {
	pixeltest.Exact(t)
	data, err := os.ReadFile(pixeltest.Testdata("sound", "420.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	cut := slices.Concat(data[:len(data)-40], []byte{0xFF, 0xD9}) // libjpeg fills in what is missing
	// Pillow stops after the last row: a segment that runs past the end of the file.
	late := slices.Concat(data[:len(data)-2], []byte{0xFF, 0xE1, 0x7F, 0xFF, 0})
	for name, c := range map[string]struct {
		data   []byte
		recipe Recipe
		bad    bool
		warns  bool
	}{
		"sound":                   {data, Recipe{}, false, false},
		"sound, strict":           {data, Recipe{Strict: true, Check: CheckDecode}, false, false},
		"cut inside":              {cut, Recipe{}, false, false},
		"cut inside, decoded":     {cut, Recipe{Check: CheckDecode}, false, true},
		"cut inside, strict":      {cut, Recipe{Check: CheckDecode, Strict: true}, true, false},
		"cut inside, new, strict": {cut, Recipe{Encode: codec.EncodeOptions{Encoding: formats.PNG}, Strict: true}, true, false},
		"cut inside, new":         {cut, Recipe{Encode: codec.EncodeOptions{Encoding: formats.PNG}}, false, true},
		"without an end":          {late, Recipe{}, false, true},
		"without an end, strict":  {late, Recipe{Strict: true}, true, false},
	} {
		p := newProcessor(t, c.recipe, formats.Schema{{Name: "image", Kind: formats.Image}})
		err := process(p, c.data)
		if (err != nil) != c.bad || (p.Warning() != "") != c.warns {
			t.Errorf("%s: %v, warning %q", name, err, p.Warning())
		}
	}
}
