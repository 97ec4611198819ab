package preprocess

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// unsupportedTIFFs are the beginnings of the names of TIFFs that Pillow reads and dsconv does not: see docs/pixels.md.
var unsupportedTIFFs = []string{"integer16-2-big-8", "rgb16-planes", "cmyk16-planes"}

// TIFFs of every kind have Pillow's pixels, or are refused where Pillow refuses them.
func TestTIFFsEqualPillows(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	dir := t.TempDir()
	if out, err := exec.Command(os.Getenv("DSCONV_PYTHON"), pixeltest.Testdata("tiffs.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.tif"))
	if err != nil || len(paths) < 300 {
		t.Fatalf("%d TIFFs, %v", len(paths), err)
	}
	d := inner.NewDecoder()
	defer d.Close()
	read := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".tif")
		known := slices.ContainsFunc(unsupportedTIFFs, func(begin string) bool { return strings.HasPrefix(name, begin) })
		for mode, color := range map[string]pixel.Color{"RGB": pixel.ColorRGB, "L": pixel.ColorGray} {
			want := p.Ask(pixeltest.Ask{"op": "convert", "path": path, "mode": mode})
			var m pixel.Image
			err := d.Decode(&m, &formats.Value{Data: data}, inner.DecodeOptions{Color: color})
			shape := []int{m.H, m.W}
			if m.C == 3 {
				shape = append(shape, 3)
			}
			switch {
			case err != nil && (known || want.Error != ""):
				if !errors.Is(err, pixel.ErrUnsupported) && want.Error == "" {
					t.Errorf("%s: %v", name, err)
				}
			case err != nil || want.Error != "":
				t.Errorf("%s, %s: %v, Pillow %q", name, mode, err, want.Error)
			case !slices.Equal(shape, want.Shape) || pixeltest.SHA(&m) != want.SHA:
				t.Errorf("%s, %s: the pixels differ", name, mode)
			default:
				read++
			}
		}
	}
	if read < 500 {
		t.Errorf("only %d are equal", read)
	}
}

// What 16 bits do not hold is refused where the bits are to be kept, and clipped as by Pillow where they are not.
func TestTIFFsOf32Bits(t *testing.T) {
	pixeltest.Exact(t)
	data, err := os.ReadFile(filepath.Join("testdata", "signed32.tif"))
	if err != nil {
		t.Fatal(err)
	}
	d := inner.NewDecoder()
	defer d.Close()
	var m pixel.Image
	if err := d.Decode(&m, &formats.Value{Data: data}, inner.DecodeOptions{Color: pixel.ColorGray}); err != nil || !slices.Equal(m.Pix, []byte{0, 7, 255, 255}) {
		t.Errorf("%v, %v", m.Pix, err)
	}
	if err := d.Decode(&m, &formats.Value{Data: data}, inner.DecodeOptions{Color: pixel.ColorKeep}); !errors.Is(err, pixel.ErrUnsupported) {
		t.Errorf("values beyond 16 bits are kept: %v", err)
	}
}
