package preprocess

import (
	"maps"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func TestParseString(t *testing.T) {
	for _, s := range []string{"", "shorter:256", "longer:1", "exact:224x160", "fit:640x480", "cover:224x224"} {
		if r, err := parseResize(s); err != nil || r.String() != s {
			t.Errorf("resize %q: %q, %v", s, r, err)
		}
	}
	for _, s := range []string{"keep", "jpeg:90", "jpeg:1", "png", "raw"} {
		if e, err := parsed[codec.EncodeOptions](s); err != nil || e.String() != s {
			t.Errorf("encode %q: %q, %v", s, e, err)
		}
	}
	for s, want := range map[string]Zstd{"": 0, "zstd": 3, "zstd:19": 19} {
		if level, err := parsed[Zstd](s); err != nil || level != want {
			t.Errorf("compress %q: %d, %v", s, level, err)
		}
	}
}

func TestParsersRefuse(t *testing.T) {
	for _, s := range []string{"256", "shorter", "shorter:0", "shorter:-4", "shorter:2x2", "exact:224", "cover:224x", "fit:x3", "exact:1x2x3", "exact:99999x1", "bigger:2"} {
		if r, err := parseResize(s); err == nil {
			t.Errorf("resize %q: %v", s, r)
		}
	}
	for _, s := range []string{"", "jpg", "jpeg:", "jpeg:0", "jpeg:101", "png:3", "webp"} {
		if e, err := parsed[codec.EncodeOptions](s); err == nil {
			t.Errorf("encode %q: %v", s, e)
		}
	}
	for _, s := range []string{"gzip", "zstd:", "zstd:0", "zstd:23"} {
		if l, err := parsed[Zstd](s); err == nil {
			t.Errorf("compress %q: %d", s, l)
		}
	}
	if _, err := parsed[pixel.Filter]("sharp"); err == nil {
		t.Error("filter sharp")
	}
	if _, err := parsed[pixel.Color]("bgr"); err == nil {
		t.Error("color bgr")
	}
	if _, err := parsed[pixel.EXIF]("drop"); err == nil {
		t.Error("exif drop")
	}
}

func TestValidate(t *testing.T) {
	asJPEG := codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90}
	raw, tiled := codec.EncodeOptions{Encoding: formats.Raw}, codec.EncodeOptions{Tiled: true, Interval: 8}
	shorter := Resize{Mode: ResizeShorter, W: 256}
	for name, r := range map[string]Recipe{
		"nothing":       {},
		"tiled":         {Encode: tiled, Strip: true},
		"all defaults":  {Filter: pixel.Bilinear, Color: pixel.ColorRGB, EXIF: pixel.EXIFKeep},
		"resize":        {Resize: shorter, Encode: asJPEG},
		"raw zstd":      {Encode: raw, Zstd: 5, Color: pixel.ColorKeep},
		"oriented":      {Encode: asJPEG, EXIF: pixel.EXIFApply},
		"upscale cover": {Encode: raw, Resize: Resize{ResizeCover, 3, 4}, Upscale: true},
	} {
		if err := r.Validate(); (err == nil) != (jpeg.HasLibjpegTurbo || !r.Encode.Tiled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]Recipe{
		"keep and resize":  {Resize: shorter},
		"tiled and resize": {Resize: shorter, Encode: tiled},
		"tiled and exif":   {EXIF: pixel.EXIFApply, Encode: tiled},
		"tiled and gray":   {Color: pixel.ColorGray, Encode: tiled},
		"tiled and zstd":   {Zstd: 3, Encode: tiled},
		"strip and keep":   {Strip: true},
		"strip and jpeg":   {Strip: true, Encode: asJPEG},
		"keep and exif":    {EXIF: pixel.EXIFApply},
		"keep and gray":    {Color: pixel.ColorGray},
		"zstd of jpeg":     {Encode: asJPEG, Zstd: 3},
		"zstd level":       {Encode: raw, Zstd: 23},
		"lonely upscale":   {Encode: raw, Upscale: true},
		"filter":           {Encode: raw, Filter: "sharp"},
		"color":            {Encode: raw, Color: "bgr"},
		"exif":             {Encode: raw, EXIF: "drop"},
		"quality":          {Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: -1}},
		"encoding":         {Encode: codec.EncodeOptions{Encoding: formats.GIF}},
		"empty resize":     {Encode: raw, Resize: Resize{Mode: ResizeExact, W: 3}},
		"negative maximum": {Encode: raw, MaxPixels: -1},
	} {
		if err := r.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMap(t *testing.T) {
	r := Recipe{Resize: Resize{Mode: ResizeShorter, W: 256}, Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90}}
	want := map[string]string{
		"encode": "jpeg:90", "resize": "shorter:256", "filter": "bilinear", "color": "rgb", "exif": "keep",
		"decoder": jpeg.DecoderName, "decoder-version": jpeg.DecoderVersion(), "resampler": "pillow-13",
	}
	if got := r.Map(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	tiled := Recipe{Encode: codec.EncodeOptions{Tiled: true, Interval: 8}, Strip: true, Check: CheckDecode}
	want = map[string]string{
		"encode": "jpeg-tiled:8", "strip": "true", "check": "decode", "decoder": jpeg.DecoderName, "decoder-version": jpeg.DecoderVersion(),
	}
	if got := tiled.Map(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, err := ParseRecipe(want); err != nil || got != tiled {
		t.Errorf("%+v, %v", got, err)
	}
	if got := (Recipe{Filter: pixel.Lanczos}).Map(); !maps.Equal(got, map[string]string{"encode": "keep"}) {
		t.Errorf("passthrough: %v", got)
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		resize  string
		w, h    int
		upscale bool
		sw, sh  int
		keep    pixel.Rect
	}{
		{"shorter:256", 500, 375, false, 341, 256, pixel.Rect{X: 0, Y: 0, W: 341, H: 256}},
		{"shorter:256", 375, 500, false, 256, 341, pixel.Rect{X: 0, Y: 0, W: 256, H: 341}},
		{"shorter:256", 200, 1000, false, 200, 1000, pixel.Rect{X: 0, Y: 0, W: 200, H: 1000}},
		{"shorter:256", 200, 1000, true, 256, 1280, pixel.Rect{X: 0, Y: 0, W: 256, H: 1280}},
		{"longer:100", 333, 10, false, 100, 3, pixel.Rect{X: 0, Y: 0, W: 100, H: 3}},
		{"longer:100", 3330, 10, false, 100, 1, pixel.Rect{X: 0, Y: 0, W: 100, H: 1}},
		{"longer:100", 50, 20, false, 50, 20, pixel.Rect{X: 0, Y: 0, W: 50, H: 20}},
		{"exact:10x20", 5, 5, false, 10, 20, pixel.Rect{X: 0, Y: 0, W: 10, H: 20}},
		{"fit:100x100", 400, 200, false, 100, 50, pixel.Rect{X: 0, Y: 0, W: 100, H: 50}},
		{"fit:100x20", 400, 200, false, 40, 20, pixel.Rect{X: 0, Y: 0, W: 40, H: 20}},
		{"fit:100x20", 10, 10, false, 10, 10, pixel.Rect{X: 0, Y: 0, W: 10, H: 10}},
		{"fit:100x20", 10, 10, true, 20, 20, pixel.Rect{X: 0, Y: 0, W: 20, H: 20}},
		{"cover:224x224", 500, 375, false, 298, 224, pixel.Rect{X: 37, Y: 0, W: 224, H: 224}},
		{"cover:224x224", 100, 50, false, 448, 224, pixel.Rect{X: 112, Y: 0, W: 224, H: 224}},
		{"cover:20x40", 100, 103, false, 38, 40, pixel.Rect{X: 9, Y: 0, W: 20, H: 40}},
		{"cover:3x4", 3, 7, false, 3, 7, pixel.Rect{X: 0, Y: 2, W: 3, H: 4}}, // 1.5 rounds to 2, 0.5 to 0
		{"cover:3x4", 3, 5, false, 3, 5, pixel.Rect{X: 0, Y: 0, W: 3, H: 4}},
		{"", 31, 7, false, 31, 7, pixel.Rect{X: 0, Y: 0, W: 31, H: 7}},
	} {
		r, err := parseResize(c.resize)
		if err != nil {
			t.Fatal(err)
		}
		sw, sh, keep := r.Plan(c.w, c.h, c.upscale)
		if sw != c.sw || sh != c.sh || keep != c.keep {
			t.Errorf("%s of %dx%d: %dx%d %v, want %dx%d %v", c.resize, c.w, c.h, sw, sh, keep, c.sw, c.sh, c.keep)
		}
	}
}

// cover covers and fit fits, for all sizes.
func TestPlanProperties(t *testing.T) {
	for w := 1; w < 90; w += 4 {
		for h := 1; h < 90; h += 3 {
			sw, sh, keep := Resize{ResizeCover, 31, 17}.Plan(w, h, false)
			if sw < 31 || sh < 17 || sw > 31 && sh > 17 || keep.X+31 > sw || keep.Y+17 > sh || keep.X < 0 || keep.Y < 0 {
				t.Errorf("cover of %dx%d: %dx%d %v", w, h, sw, sh, keep)
			}
			sw, sh, _ = Resize{ResizeFit, 31, 17}.Plan(w, h, true)
			if sw > 31 || sh > 17 || sw < 31 && sh < 17 {
				t.Errorf("fit of %dx%d: %dx%d", w, h, sw, sh)
			}
		}
	}
}

// Options that need another build are refused before the first image.
func TestOptionsOfTheBuild(t *testing.T) {
	for _, s := range []string{"jpeg-tiled", "jpeg:90:444", "jpeg:90:optimize", "jpeg:90:progressive", "jpeg:90:tile=8"} {
		e, err := parsed[codec.EncodeOptions](s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewProcessor(Recipe{Encode: e}, formats.Schema{{Name: "image", Kind: formats.Image}})
		if (err == nil) != jpeg.HasLibjpegTurbo || err != nil && !strings.Contains(err.Error(), "build it with CGO_ENABLED=1") {
			t.Errorf("%s: %v", s, err)
		}
		if err == nil {
			p.Close()
		}
	}
}
