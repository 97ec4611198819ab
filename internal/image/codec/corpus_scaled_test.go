package codec

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// scaledCorpus writes images of every kind to a folder: those that Pillow can write, other samplings
// and colour spaces of JPEG, interlaced PNGs, and the files of testdata/sound.
func scaledCorpus(t *testing.T, p *pixeltest.Pillow) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	made := p.Ask(pixeltest.Ask{"op": "make", "dir": dir, "sizes": [][2]int{{1, 1}, {2, 3}, {17, 33}, {131, 67}}})
	if made.Error != "" {
		t.Fatal(made.Error)
	}
	makeSamplings(t, dir, &made.Names)
	for _, name := range made.Names {
		paths = append(paths, filepath.Join(dir, name))
	}
	for name, data := range rareImages(t, dir) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, name := range pixeltest.IntactNames(t) {
		if jpeg.HasLibjpegTurbo || name != "cmyk.tif" && name != "jpeg.tif" { // which Go does not read
			paths = append(paths, pixeltest.Testdata("sound", name))
		}
	}
	return paths
}

// rareImages are images that Pillow reads but cannot write.
func rareImages(t *testing.T, dir string) map[string][]byte {
	list := map[string][]byte{}
	for _, name := range []string{"cmyk-17x33.jpg", "keeprgb-17x33.jpg"} {
		data := pixeltest.ReadValue(t, filepath.Join(dir, name)).Data
		for _, p := range pixeltest.SplitJPEG(data) {
			if p.Mark == 0xEE {
				list["without-adobe-"+name] = slices.Concat(data[:p.At], data[p.End:])
			}
		}
	}
	for name, color := range map[string][2]byte{"gray1": {1, 0}, "gray": {8, 0}, "gray16": {16, 0}, "la": {8, 4}, "rgb": {8, 2}, "rgba": {8, 6}, "rgb16": {16, 2}, "rgba16": {16, 6}} {
		list["interlaced-"+name+".png"] = interlaced(17, 33, color[0], color[1])
	}
	return list
}

// interlaced is a PNG of noise in seven passes.
func interlaced(w, h int, bits, color byte) []byte {
	header := make([]byte, 13)
	binary.BigEndian.PutUint32(header[0:], uint32(w))
	binary.BigEndian.PutUint32(header[4:], uint32(h))
	header[8], header[9], header[12] = bits, color, 1
	n, depth := 0, int(bits)*map[byte]int{pngGray: 1, pngRGB: 3, pngGrayAlpha: 2, pngRGBA: 4}[color]
	for _, p := range adam7 {
		n += ((h - p.y + p.down - 1) / p.down) * (1 + ((w-p.x+p.right-1)/p.right*depth+7)/8)
	}
	rows := bytes.Clone(pixeltest.TestImage(n, 1, 1, "uint8").Pix)
	for i := range rows {
		rows[i] &= 3 // a filter wherever a row may begin
	}
	return slices.Concat([]byte(pngMagic), pixeltest.ChunkOf("IHDR", header), pixeltest.ChunkOf("IDAT", pixeltest.ZlibOf(rows)), pixeltest.ChunkOf("IEND", nil))
}

// Decoding and scaling down, to one pixel and up, with every filter, in colour and in grey: every
// element equals Pillow's.
func TestScaledEqualsPillow(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	d := NewDecoder()
	defer d.Close()
	var r resample.Resampler
	filters := []pixel.Filter{pixel.Nearest, pixel.Box, pixel.Bilinear, pixel.Hamming, pixel.Bicubic, pixel.Lanczos}
	paths := scaledCorpus(t, p)
	for _, path := range paths {
		var m, out pixel.Image
		v := pixeltest.ReadValue(t, path)
		_, h, err := Inspect(v.Data)
		if err != nil {
			t.Fatal(path, err)
		}
		sizes := [][2]int{{h.W*5/8 | 1, h.H*3/7 | 1}, {1, 1}, {h.W + h.W/3 + 1, 2*h.H + 1}}
		want := p.Ask(pixeltest.Ask{"op": "scaled", "path": path, "sizes": sizes, "filters": filters})
		for _, color := range []pixel.Color{pixel.ColorRGB, pixel.ColorGray} {
			if err := d.Decode(&m, v, DecodeOptions{Color: color}); err != nil {
				t.Fatalf("%s: %v, Pillow %q", path, err, want.Error)
			}
			for _, size := range sizes {
				for _, f := range filters {
					if err := r.Resize(&out, &m, pixel.Rect{}, size[0], size[1], f); err != nil {
						t.Fatal(err)
					}
					if len(want.Names) == 0 || pixeltest.SHA(&out) != want.Names[0] {
						t.Fatalf("%s to %v, %s, %s: pixels differ from Pillow's %s", path, size, f, color, want.Error)
					}
					want.Names = want.Names[1:]
				}
			}
		}
	}
	if len(paths) < 200 {
		t.Errorf("%d images", len(paths))
	}
}
