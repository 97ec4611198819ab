package preprocess

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// What is done with the EXIF orientation.
const (
	// EXIFKeep ignores it, as ImageFolder does. Bytes that pass through keep it; what is
	// encoded anew has no EXIF, so that its orientation is gone.
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
	return 0, fmt.Errorf("compress %q: write zstd or zstd:LEVEL with a level of 1 to 22", s)
}

// Recipe says what is done to every image of a dataset. The zero value passes everything
// through untouched.
type Recipe struct {
	Resize    Resize
	Upscale   bool   // lets shorter, longer and fit enlarge
	Filter    Filter // "" is Bilinear; masks always use Nearest
	Encode    Encode
	Color     Color  // "" is ColorRGB; masks are always kept
	EXIF      string // EXIFKeep or EXIFApply, "" is EXIFKeep
	Zstd      int    // level for raw pixels, 0 for none
	MaxPixels int    // 0 is DefaultMaxPixels
	// Decode checks what passes through by decoding it, not by its structure alone.
	Decode bool
	// Strict treats what is odd, such as what libjpeg warns about, as damaged.
	Strict bool
}

// Passthrough says that the bytes of images stay what they are.
func (r Recipe) Passthrough() bool { return r.Encode.Encoding == "" }

// Validate reports the first thing in the recipe that makes no sense.
func (r Recipe) Validate() error {
	switch {
	case r.Passthrough() && r.Resize.Mode != ResizeNone:
		return fmt.Errorf("resize %s changes pixels: choose how to write them: --encode jpeg:90, png or raw", r.Resize)
	case r.Passthrough() && r.EXIF == EXIFApply:
		return errors.New("exif apply changes pixels: choose how to write them: --encode jpeg:90, png or raw")
	case r.Passthrough() && r.Color == ColorGray:
		return errors.New("color gray changes pixels: choose how to write them: --encode jpeg:90, png or raw")
	case r.Zstd != 0 && r.Encode.Encoding != formats.Raw:
		return errors.New("compress zstd is for raw pixels: choose --encode raw")
	case r.Zstd < 0 || r.Zstd > 22:
		return fmt.Errorf("zstd level %d: choose 1 to 22", r.Zstd)
	case r.Upscale && r.Resize.Mode == ResizeNone:
		return errors.New("upscale without resize: say to what size")
	case r.MaxPixels < 0:
		return fmt.Errorf("at most %d pixels: choose a positive number", r.MaxPixels)
	}
	// The parsers hold what each field may be.
	_, errResize := ParseResize(r.Resize.String())
	_, errEncode := ParseEncode(r.Encode.String())
	_, errFilter := ParseFilter(string(r.filter()))
	_, errColor := ParseColor(string(r.color()))
	_, errEXIF := ParseEXIF(r.exif())
	return errors.Join(errResize, errEncode, errFilter, errColor, errEXIF)
}

func (r Recipe) filter() Filter {
	if r.Filter == "" {
		return Bilinear
	}
	return r.Filter
}

func (r Recipe) color() Color {
	if r.Color == "" {
		return ColorRGB
	}
	return r.Color
}

func (r Recipe) exif() string {
	if r.EXIF == "" {
		return EXIFKeep
	}
	return r.EXIF
}

// Map is the recipe as option and value, only what decides the bytes: two recipes with
// equal maps give equal output.
func (r Recipe) Map() map[string]string {
	m := map[string]string{"encode": r.Encode.String()}
	if r.Strict {
		m["strict"] = "true"
	}
	if r.Decode && r.Passthrough() {
		m["check"] = "decode"
	}
	if r.MaxPixels > 0 && r.MaxPixels != DefaultMaxPixels {
		m["max-pixels"] = strconv.Itoa(r.MaxPixels)
	}
	if r.Passthrough() {
		return m
	}
	m["color"], m["exif"], m["decoder"] = string(r.color()), r.exif(), DecoderName
	if r.Resize.Mode != ResizeNone {
		m["resize"], m["filter"], m["resampler"] = r.Resize.String(), string(r.filter()), ResamplerName
		if r.Upscale {
			m["upscale"] = "true"
		}
	}
	if r.Zstd > 0 {
		m["compress"] = fmt.Sprintf("zstd:%d", r.Zstd)
	}
	return m
}
