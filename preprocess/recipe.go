package preprocess

import (
	"cmp"
	"encoding"
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

// Check is how images that keep their bytes are checked. "" is CheckStructure.
type Check string

// The ways to check images.
const (
	// CheckStructure checks the structure of the file, and decodes it only if that looks damaged.
	CheckStructure Check = "structure"
	// CheckDecode decodes the image.
	CheckDecode Check = "decode"
)

// MarshalText implements encoding.TextMarshaler.
func (c Check) MarshalText() ([]byte, error) { return []byte(c), nil }

// UnmarshalText reads the value of --check; "" is the default.
func (c *Check) UnmarshalText(text []byte) error {
	switch check := Check(text); check {
	case "", CheckStructure, CheckDecode:
		*c = check
		return nil
	}
	return fmt.Errorf("check %q: choose structure or decode", text)
}

// Zstd is a level of compression, 1 to 22; 0 is none. Its text is the value of --compress: "" for none,
// zstd or zstd:LEVEL.
type Zstd int

// defaultZstd is the level where none is given.
const defaultZstd Zstd = 3

// MarshalText implements encoding.TextMarshaler.
func (z Zstd) MarshalText() ([]byte, error) { return []byte(z.String()), nil }

// String is what UnmarshalText reads.
func (z Zstd) String() string {
	if z == 0 {
		return ""
	}
	return fmt.Sprintf("zstd:%d", int(z))
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (z *Zstd) UnmarshalText(text []byte) error {
	name, l, has := strings.Cut(string(text), ":")
	level := defaultZstd
	switch {
	case len(text) == 0:
		level = 0
	case name == "zstd" && has:
		n, err := strconv.Atoi(l)
		if level = Zstd(n); err != nil || n < 1 || n > 22 {
			name = ""
		}
	}
	if len(text) > 0 && name != "zstd" {
		return fmt.Errorf("compress %q: choose zstd or zstd:LEVEL with a level of 1 to 22", text)
	}
	*z = level
	return nil
}

// Recipe is what is done to every image of a dataset. The zero value passes everything through
// unchanged.
type Recipe struct {
	Resize  Resize
	Upscale bool         // lets shorter, longer and fit enlarge
	Filter  pixel.Filter // "" is Bilinear; masks always use Nearest
	Encode  codec.EncodeOptions
	Color   pixel.Color // "" is ColorRGB; masks are always kept
	// EXIF is what is done with the orientation in a file's EXIF data; "" is EXIFKeep, which leaves the
	// pixels as they are stored. An image that is encoded again has no EXIF data, so that its
	// orientation is lost then, unless EXIFApply turns the pixels.
	EXIF      pixel.EXIF
	Zstd      Zstd // level for raw pixels, 0 for none
	MaxPixels int  // 0 is pixel.DefaultMaxPixels
	// Check says how images that pass through are checked.
	Check Check
	// Decode is how JPEGs are decoded; codec.Fast scales them down as far as the new size allows.
	Decode codec.Mode
	// Decoder says where JPEGs are decoded and scaled. The pixels of DecoderGPU are near Pillow's, not equal, and
	// depend on the Device. Masks are always decoded on the CPU.
	Decoder Decoder
	Device  Device // with DecoderGPU; recorded
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
		return ", which the encoding jpeg-tiled keeps"
	}
	return ""
}

// Validate returns an error if options of the recipe contradict each other, have invalid values or no
// effect, or need another build.
func (r Recipe) Validate() error {
	if err := errors.Join(r.Resize.check(), r.Encode.Check("Recipe.Encode")); err != nil {
		return err
	}
	switch {
	case r.keepsPixels() && r.Resize.Mode != ResizeNone:
		return fmt.Errorf("resize %s changes pixels%s: choose an encoding for them, such as jpeg:90, png or raw", r.Resize, r.kept())
	case r.keepsPixels() && r.EXIF == pixel.EXIFApply:
		return fmt.Errorf("exif apply changes pixels%s: choose an encoding for them, such as jpeg:90, png or raw", r.kept())
	case r.keepsPixels() && r.Color == pixel.ColorGray:
		return fmt.Errorf("color gray changes pixels%s: choose an encoding for them, such as jpeg:90, png or raw", r.kept())
	case r.Strip && !r.Encode.Tiled:
		return errors.New("strip is for the encoding jpeg-tiled: keep keeps every byte, and other encodings write no metadata")
	case r.Passthrough() && r.fast():
		return errors.New("decode fast is for recipes that decode: choose the encoding jpeg:90, png or raw")
	case r.keepsPixels() && r.Decoder == DecoderGPU:
		return errors.New("decoder gpu is for recipes that decode: choose the encoding jpeg:90, png or raw")
	case r.Strict && r.Decoder == DecoderGPU:
		return errors.New("strict needs the warnings of libjpeg, which decoder gpu does not give: leave out one of them")
	case r.Decoder != DecoderGPU && r.Device != Device{}:
		return errors.New("Recipe.Device is for DecoderGPU: leave it out")
	case !r.Passthrough() && !jpeg.HasLibjpegTurbo:
		return pixel.ErrNoCgo
	case r.Zstd != 0 && r.Encode.Encoding != formats.Raw:
		return errors.New("compress zstd is for raw pixels: choose the encoding raw")
	case r.Zstd < 0 || r.Zstd > 22:
		return fmt.Errorf("zstd level %d: choose 1 to 22", int(r.Zstd))
	case r.Upscale && r.Resize.Mode == ResizeNone:
		return errors.New("upscale needs a resize with a size")
	case r.MaxPixels < 0:
		return fmt.Errorf("max-pixels %d: choose a positive number", r.MaxPixels)
	}
	// Reading the text of each field checks its value.
	var errs []error
	for _, field := range []interface {
		encoding.TextMarshaler
		encoding.TextUnmarshaler
	}{&r.Resize, &r.Filter, &r.Color, &r.EXIF, &r.Check, &r.Decode, &r.Decoder} {
		text, err := field.MarshalText()
		errs = append(errs, err, field.UnmarshalText(text))
	}
	return errors.Join(errs...)
}

func (r Recipe) filter() pixel.Filter { return cmp.Or(r.Filter, pixel.Bilinear) }
func (r Recipe) color() pixel.Color   { return cmp.Or(r.Color, pixel.ColorRGB) }
func (r Recipe) exif() pixel.EXIF     { return cmp.Or(r.EXIF, pixel.EXIFKeep) }
func (r Recipe) fast() bool           { return r.Decode == codec.Fast }

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
	if r.Check == CheckDecode && r.keepsPixels() {
		m["check"] = string(CheckDecode)
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
	if r.Decoder == DecoderGPU {
		r.Device.record(m)
	}
	m["color"], m["exif"] = string(r.color()), string(r.exif())
	if r.fast() {
		m["decode"] = string(codec.Fast)
	}
	if r.Resize.Mode != ResizeNone {
		m["resize"], m["filter"], m["resampler"] = r.Resize.String(), string(r.filter()), resample.ResamplerName
		if r.Upscale {
			m["upscale"] = "true"
		}
	}
	if r.Zstd > 0 {
		m["compress"] = r.Zstd.String()
	}
	return m
}

// ParseRecipe reads the result of Map. It ignores unknown options.
func ParseRecipe(m map[string]string) (r Recipe, err error) {
	parse := func(key string, set func(value string) error) {
		if value, ok := m[key]; ok && err == nil {
			if err = set(value); err != nil {
				err = fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	text := func(key string, to encoding.TextUnmarshaler) {
		parse(key, func(v string) error { return to.UnmarshalText([]byte(v)) })
	}
	text("encode", &r.Encode)
	text("resize", &r.Resize)
	text("filter", &r.Filter)
	text("color", &r.Color)
	text("exif", &r.EXIF)
	text("decode", &r.Decode)
	text("compress", &r.Zstd)
	parse("upscale", func(v string) (err error) { r.Upscale, err = strconv.ParseBool(v); return err })
	parse("max-pixels", func(v string) (err error) { r.MaxPixels, err = strconv.Atoi(v); return err })
	parse("strict", func(v string) (err error) { r.Strict, err = strconv.ParseBool(v); return err })
	parse("strip", func(v string) (err error) { r.Strip, err = strconv.ParseBool(v); return err })
	text("check", &r.Check)
	if m[decoderKey] == string(DecoderGPU) {
		r.Decoder, r.Device = DecoderGPU, recordedDevice(m)
	}
	return r, err
}

// CheckPixels returns an error if this build would produce other pixels than the one that recorded m, of which r was parsed.
func (r Recipe) CheckPixels(m map[string]string) error {
	now := r.Map()
	for _, key := range []string{decoderKey, "resampler"} {
		if is, ok := now[key]; ok && m[key] != is {
			return fmt.Errorf("it was packed with the %s %s, but this dsconv has %s", key, m[key], is)
		}
	}
	return nil
}
