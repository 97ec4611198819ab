package codec

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// EncodeOptions say how images are written. In a recipe, the zero value keeps the source's bytes.
// Their text is the value of --encode: keep, png, raw, jpeg-tiled[:MCUS] or
// jpeg[:QUALITY][:444|422|420][:optimize|progressive][:tile=MCUS].
type EncodeOptions struct {
	Encoding formats.Encoding // JPEG, PNG or Raw; "" keeps, which only a recipe can
	Quality  int              // of JPEG, 1 to 100; 0 is DefaultQuality
	// Sampling of a JPEG's colours; "" is 4:2:0, as Pillow writes it.
	Sampling pixel.Sampling
	// Optimize computes the best Huffman tables for each JPEG; Progressive implies it.
	Optimize, Progressive bool
	// Interval is the wanted number of MCUs between a JPEG's restart markers, with which a crop
	// can be decoded alone; 0 for no markers.
	Interval int
	// Tiled keeps a JPEG's coefficients and adds restart markers. Other images keep their
	// bytes. Only a recipe can.
	Tiled bool
}

// DefaultInterval is the number of MCUs between restart markers where none is given.
const DefaultInterval = 8

// DefaultQuality is the quality of a JPEG where none is given.
const DefaultQuality = 90

// maxInterval is the largest restart interval of a JPEG.
const maxInterval = 65535

const encodeSyntax = "choose keep, jpeg-tiled[:MCUS], jpeg[:QUALITY][:444|422|420][:optimize|progressive][:tile=MCUS], png or raw"

// UnmarshalText implements encoding.TextUnmarshaler: see EncodeOptions. A quality that is left out is
// DefaultQuality.
func (o *EncodeOptions) UnmarshalText(text []byte) error {
	s := string(text)
	name, rest, has := strings.Cut(s, ":")
	var e EncodeOptions
	ok := true
	switch {
	case s == "keep":
	case s == "png":
		e.Encoding = formats.PNG
	case s == "raw":
		e.Encoding = formats.Raw
	case name == "jpeg-tiled":
		e = EncodeOptions{Tiled: true, Interval: DefaultInterval}
		if has {
			e.Interval, ok = parseInterval(rest)
		}
	case name == "jpeg":
		e = EncodeOptions{Encoding: formats.JPEG, Quality: DefaultQuality}
		for has && ok {
			name, rest, has = strings.Cut(rest, ":")
			ok = e.parseJPEG(name)
		}
	default:
		ok = false
	}
	if ok && e.Progressive && e.Interval > 0 {
		return fmt.Errorf("encode %q: a progressive JPEG cannot be tiled", s)
	}
	if !ok {
		return fmt.Errorf("encode %q: %s", s, encodeSyntax)
	}
	*o = e
	return nil
}

// parseJPEG reads one of jpeg's options.
func (o *EncodeOptions) parseJPEG(s string) (ok bool) {
	tile, isTile := strings.CutPrefix(s, "tile=")
	switch {
	case s != "" && o.Sampling.UnmarshalText([]byte(s)) == nil:
		return true
	case s == "optimize":
		o.Optimize = true
		return true
	case s == "progressive":
		o.Progressive = true
		return true
	case isTile:
		o.Interval, ok = parseInterval(tile)
		return ok
	}
	q, err := strconv.Atoi(s)
	o.Quality = q
	return err == nil && q >= 1 && q <= 100
}

func parseInterval(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= maxInterval
}

// String is what UnmarshalText reads.
func (o EncodeOptions) String() string {
	switch {
	case o.Tiled:
		return fmt.Sprintf("jpeg-tiled:%d", o.Interval)
	case o.Encoding == "":
		return "keep"
	case o.Encoding != formats.JPEG:
		return string(o.Encoding)
	}
	s := fmt.Sprintf("jpeg:%d", cmp.Or(o.Quality, DefaultQuality))
	if o.Sampling != "" {
		s += ":" + string(o.Sampling)
	}
	if o.Optimize {
		s += ":optimize"
	}
	if o.Progressive {
		s += ":progressive"
	}
	if o.Interval > 0 {
		s += fmt.Sprintf(":tile=%d", o.Interval)
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (o EncodeOptions) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Check returns an error about the first field that has an invalid value or no effect. name is what the
// caller calls o.
func (o EncodeOptions) Check(name string) error {
	if o.Encoding != formats.JPEG {
		return o.checkOthers(name)
	}
	switch {
	case o.Tiled:
		return fmt.Errorf("%s.Tiled keeps the JPEGs of the source: leave out %s.Encoding, or set %s.Interval instead", name, name, name)
	case o.Quality < 0 || o.Quality > 100:
		return fmt.Errorf("%s.Quality is %d: use 1 to 100", name, o.Quality)
	case o.Interval < 0 || o.Interval > maxInterval:
		return fmt.Errorf("%s.Interval is %d: use 1 to %d, or 0 for none", name, o.Interval, maxInterval)
	case o.Progressive && o.Interval > 0:
		return fmt.Errorf("%s.Interval is %d: a progressive JPEG cannot be tiled", name, o.Interval)
	case o.Sampling != "":
		if err := new(pixel.Sampling).UnmarshalText([]byte(o.Sampling)); err != nil {
			return fmt.Errorf("%s.Sampling: %w", name, err)
		}
	}
	return nil
}

// checkOthers is Check where no JPEG is encoded.
func (o EncodeOptions) checkOthers(name string) error {
	switch o.Encoding {
	case "", formats.PNG, formats.Raw:
	default:
		return fmt.Errorf("%s.Encoding is %q: use %q, %q or %q", name, string(o.Encoding), string(formats.JPEG), string(formats.PNG), string(formats.Raw))
	}
	field := ""
	switch {
	case o.Tiled && o.Encoding != "":
		return fmt.Errorf("%s.Tiled keeps the JPEGs of the source: leave out %s.Encoding", name, name)
	case o.Tiled && (o.Interval < 1 || o.Interval > maxInterval):
		return fmt.Errorf("%s.Interval is %d: use 1 to %d", name, o.Interval, maxInterval)
	case o.Quality != 0:
		field = "Quality"
	case o.Sampling != "":
		field = "Sampling"
	case o.Optimize:
		field = "Optimize"
	case o.Progressive:
		field = "Progressive"
	case o.Interval != 0 && !o.Tiled:
		field = "Interval"
	default:
		return nil
	}
	return fmt.Errorf("%s.%s is set, but %s.Encoding is %q: it is for %q alone", name, field, name, string(o.Encoding), string(formats.JPEG))
}
