package preprocess

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The ways to treat the EXIF orientation.
const (
	// EXIFKeep ignores it, as ImageFolder does. Images whose bytes pass through keep it; images
	// that are encoded again have no EXIF, so that it is lost.
	EXIFKeep = "keep"
	// EXIFApply turns and flips the pixels, masks and boxes.
	EXIFApply = "apply"
)

// ParseEXIF reads the value of --exif.
func ParseEXIF(s string) (string, error) {
	if s == EXIFKeep || s == EXIFApply {
		return s, nil
	}
	return "", fmt.Errorf("exif %q: choose keep or apply", s)
}

// The ways to decode JPEGs.
const (
	// DecodeExact gives Pillow's pixels.
	DecodeExact = "exact"
	// DecodeFast gives pixels close to them; see DecodeOptions.Fast.
	DecodeFast = "fast"
)

// ParseDecode reads the value of --decode and reports whether it is fast.
func ParseDecode(s string) (fast bool, err error) {
	if s == DecodeExact || s == DecodeFast {
		return s == DecodeFast, nil
	}
	return false, fmt.Errorf("decode %q: choose exact or fast", s)
}

// ParseZstd reads the value of --compress: "" for none, zstd or zstd:LEVEL (1 to 22).
func ParseZstd(s string) (level int, err error) {
	switch name, l, has := strings.Cut(s, ":"); {
	case s == "":
		return 0, nil
	case s == "zstd":
		return 3, nil
	case name == "zstd" && has:
		if n, err := strconv.Atoi(l); err == nil && n >= 1 && n <= 22 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("compress %q: choose zstd or zstd:LEVEL with a level of 1 to 22", s)
}

// Recipe is what is done to every image of a dataset. The zero value passes everything through
// unchanged.
type Recipe struct {
	Resize    Resize
	Upscale   bool         // lets shorter, longer and fit enlarge
	Filter    pixel.Filter // "" is Bilinear; masks always use Nearest
	Encode    codec.Encode
	Color     pixel.Color // "" is ColorRGB; masks are always kept
	EXIF      string      // EXIFKeep or EXIFApply, "" is EXIFKeep
	Zstd      int         // level for raw pixels, 0 for none
	MaxPixels int         // 0 is DefaultMaxPixels
	// Decode checks images that pass through by decoding them, not by their structure alone.
	Decode bool
	// Fast decodes JPEGs as DecodeOptions.Fast does, scaled down as far as the new size allows.
	Fast bool
	// Strict treats irregular images, such as those libjpeg warns about, as damaged.
	Strict bool
	// Strip drops the metadata of JPEGs that Encode.Tiled rewrites, also the colour profile (ICC),
	// but not the orientation.
	Strip bool
}

// Passthrough reports whether images keep their bytes.
func (r Recipe) Passthrough() bool { return r.keepsPixels() && !r.Encode.Tiled }

// keepsPixels reports whether no image is decoded and encoded: images keep their bytes, or JPEGs
// their coefficients.
func (r Recipe) keepsPixels() bool { return r.Encode.Encoding == "" }

// kept is the end of an error: which encoding keeps pixels.
func (r Recipe) kept() string {
	if r.Encode.Tiled {
		return ", which --encode jpeg-tiled keeps"
	}
	return ""
}

// Validate returns an error if options of the recipe contradict each other, have invalid values or
// need another build.
func (r Recipe) Validate() error {
	switch {
	case r.keepsPixels() && r.Resize.Mode != ResizeNone:
		return fmt.Errorf("resize %s changes pixels%s: choose an encoding for them: --encode jpeg:90, png or raw", r.Resize, r.kept())
	case r.keepsPixels() && r.EXIF == EXIFApply:
		return fmt.Errorf("exif apply changes pixels%s: choose an encoding for them: --encode jpeg:90, png or raw", r.kept())
	case r.keepsPixels() && r.Color == pixel.ColorGray:
		return fmt.Errorf("color gray changes pixels%s: choose an encoding for them: --encode jpeg:90, png or raw", r.kept())
	case r.Strip && !r.Encode.Tiled:
		return errors.New("strip is for --encode jpeg-tiled: --encode keep keeps every byte, and other encodings write no metadata")
	case r.Passthrough() && r.Fast:
		return errors.New("decode fast is for recipes that decode: choose --encode jpeg:90, png or raw")
	case r.Fast && !jpeg.HasLibjpegTurbo:
		return fmt.Errorf("%w: decode fast needs libjpeg-turbo, which this build lacks: build dsconv with CGO_ENABLED=1", pixel.ErrUnsupported)
	case r.Zstd != 0 && r.Encode.Encoding != formats.Raw:
		return errors.New("compress zstd is for raw pixels: choose --encode raw")
	case r.Zstd < 0 || r.Zstd > 22:
		return fmt.Errorf("zstd level %d: choose 1 to 22", r.Zstd)
	case r.Upscale && r.Resize.Mode == ResizeNone:
		return errors.New("upscale needs --resize with a size")
	case r.MaxPixels < 0:
		return fmt.Errorf("max-pixels %d: choose a positive number", r.MaxPixels)
	}
	// The parsers check the value of each field.
	_, errResize := ParseResize(r.Resize.String())
	_, errEncode := codec.ParseEncode(r.Encode.String())
	_, errFilter := pixel.ParseFilter(string(r.filter()))
	_, errColor := pixel.ParseColor(string(r.color()))
	_, errEXIF := ParseEXIF(r.exif())
	return errors.Join(errResize, errEncode, errFilter, errColor, errEXIF, r.Encode.CheckBuild())
}

func (r Recipe) filter() pixel.Filter {
	if r.Filter == "" {
		return pixel.Bilinear
	}
	return r.Filter
}

func (r Recipe) color() pixel.Color {
	if r.Color == "" {
		return pixel.ColorRGB
	}
	return r.Color
}

func (r Recipe) exif() string {
	if r.EXIF == "" {
		return EXIFKeep
	}
	return r.EXIF
}

// DecoderVersionKey is the key in Map of the decoder's version. It is only recorded, and ParseRecipe
// does not read it: versions of one decoder are meant to give equal pixels, and older datasets have
// no version.
const DecoderVersionKey = "decoder-version"

// Map returns the recipe as options and values, only those that decide the output's bytes: recipes
// with equal maps give equal output.
func (r Recipe) Map() map[string]string {
	m := map[string]string{"encode": r.Encode.String()}
	if r.Strict {
		m["strict"] = "true"
	}
	if r.Decode && r.keepsPixels() {
		m["check"] = "decode"
	}
	if r.MaxPixels > 0 && r.MaxPixels != pixel.DefaultMaxPixels {
		m["max-pixels"] = strconv.Itoa(r.MaxPixels)
	}
	if r.Strip {
		m["strip"] = "true"
	}
	if r.Passthrough() {
		return m
	}
	m["decoder"], m[DecoderVersionKey] = jpeg.DecoderName, jpeg.DecoderVersion()
	if r.keepsPixels() {
		return m
	}
	m["color"], m["exif"] = string(r.color()), r.exif()
	if r.Fast {
		m["decode"] = DecodeFast
	}
	if r.Resize.Mode != ResizeNone {
		m["resize"], m["filter"], m["resampler"] = r.Resize.String(), string(r.filter()), resample.ResamplerName
		if r.Upscale {
			m["upscale"] = "true"
		}
	}
	if r.Zstd > 0 {
		m["compress"] = fmt.Sprintf("zstd:%d", r.Zstd)
	}
	return m
}
