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

// readTIFFs are the beginnings of the names of TIFFs that dsconv reads: see docs/pixels.md.
var readTIFFs = []string{
	"gray0-1-plain", "gray0-8-plain", "gray1-1-plain", "gray1-8-plain", "gray1-16-plain", "la-2", "rgb8-together-little", "rgb16-together-big",
	"rgb8-together-4-0", "rgb8-together-4-2", "index1-plain", "index8-plain", "tiles8-3", "tiles16-1", "tiles1-1", "tiles4-1", "largetile", "strips", "paddedstrips", "turned", "big-",
	"pillow-raw-RGB", "pillow-tiff_lzw-L", "pillow-jpeg-RGB", "pillow-group4", "pillow-predictor", "pillow-pages",
}

// TIFFs of every kind have Pillow's pixels, or are refused.
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
		known := slices.ContainsFunc(readTIFFs, func(begin string) bool { return strings.HasPrefix(name, begin) })
		for mode, color := range map[string]pixel.Color{"RGB": pixel.ColorRGB, "L": pixel.ColorGray} {
			want := p.Ask(pixeltest.Ask{"op": "convert", "path": path, "mode": mode})
			var m pixel.Image
			err := d.Decode(&m, &formats.Value{Data: data}, inner.DecodeOptions{Color: color})
			shape := []int{m.H, m.W}
			if m.C == 3 {
				shape = append(shape, 3)
			}
			switch {
			case !known && (errors.Is(err, pixel.ErrUnsupported) || err != nil && want.Error != ""):
			case err != nil || want.Error != "":
				t.Errorf("%s, %s: %v, Pillow %q", name, mode, err, want.Error)
			case !slices.Equal(shape, want.Shape) || pixeltest.SHA(&m) != want.SHA:
				t.Errorf("%s, %s: the pixels differ", name, mode)
			default:
				read++
			}
		}
	}
	if read < 200 {
		t.Errorf("only %d are equal", read)
	}
}
