package codec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
)

// Encode is the value of --encode: how images are written. The zero value keeps the source's
// bytes.
type Encode struct {
	Encoding formats.Encoding // JPEG, PNG or Raw; "" keeps
	Quality  int              // of JPEG, 1 to 100; 0 with Tiled
	// Sampling of a JPEG's colours; "" is 4:2:0, as Pillow writes it.
	Sampling jpeg.Sampling
	// Optimize computes the best Huffman tables for each JPEG; Progressive implies it.
	Optimize, Progressive bool
	// Interval is the wanted number of MCUs between a JPEG's restart markers, with which a crop
	// can be decoded alone; 0 for no markers.
	Interval int
	// Tiled keeps a JPEG's coefficients and adds restart markers. Other images keep their
	// bytes.
	Tiled bool
}

// DefaultInterval is the number of MCUs between restart markers where none is given.
const DefaultInterval = 8

// maxInterval is the largest restart interval of a JPEG.
const maxInterval = 65535

const encodeSyntax = "choose keep, jpeg-tiled[:MCUS], jpeg[:QUALITY][:444|422|420][:optimize|progressive][:tile=MCUS], png or raw"

// ParseEncode reads keep, jpeg-tiled[:MCUS], jpeg[:QUALITY][:444|422|420][:optimize|progressive]
// [:tile=MCUS] (a quality of 90 if left out), png or raw.
func ParseEncode(s string) (Encode, error) {
	name, rest, has := strings.Cut(s, ":")
	var e Encode
	ok := true
	switch {
	case s == "keep":
	case s == "png":
		e.Encoding = formats.PNG
	case s == "raw":
		e.Encoding = formats.Raw
	case name == "jpeg-tiled":
		e = Encode{Tiled: true, Interval: DefaultInterval}
		if has {
			e.Interval, ok = parseInterval(rest)
		}
	case name == "jpeg":
		e = Encode{Encoding: formats.JPEG, Quality: 90}
		for has && ok {
			name, rest, has = strings.Cut(rest, ":")
			ok = e.parseJPEG(name)
		}
	default:
		ok = false
	}
	if ok && e.Progressive && e.Interval > 0 {
		return Encode{}, fmt.Errorf("encode %q: a progressive JPEG cannot be tiled", s)
	}
	if !ok {
		return Encode{}, fmt.Errorf("encode %q: %s", s, encodeSyntax)
	}
	return e, nil
}

// parseJPEG reads one of jpeg's options.
func (e *Encode) parseJPEG(s string) (ok bool) {
	tile, isTile := strings.CutPrefix(s, "tile=")
	switch sampling := jpeg.Sampling(s); {
	case sampling == jpeg.Sampling444 || sampling == jpeg.Sampling422 || sampling == jpeg.Sampling420:
		e.Sampling = sampling
		return true
	case s == "optimize":
		e.Optimize = true
		return true
	case s == "progressive":
		e.Progressive = true
		return true
	case isTile:
		e.Interval, ok = parseInterval(tile)
		return ok
	}
	q, err := strconv.Atoi(s)
	e.Quality = q
	return err == nil && q >= 1 && q <= 100
}

func parseInterval(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= maxInterval
}

// String is what ParseEncode reads.
func (e Encode) String() string {
	switch {
	case e.Tiled:
		return fmt.Sprintf("jpeg-tiled:%d", e.Interval)
	case e.Encoding == "":
		return "keep"
	case e.Encoding != formats.JPEG:
		return string(e.Encoding)
	}
	s := fmt.Sprintf("jpeg:%d", e.Quality)
	if e.Sampling != "" {
		s += ":" + string(e.Sampling)
	}
	if e.Optimize {
		s += ":optimize"
	}
	if e.Progressive {
		s += ":progressive"
	}
	if e.Interval > 0 {
		s += fmt.Sprintf(":tile=%d", e.Interval)
	}
	return s
}

// CheckBuild returns an error if e needs another build.
func (e Encode) CheckBuild() error {
	if jpeg.HasLibjpegTurbo {
		return nil
	}
	if e.Optimize || e.Progressive || e.Interval > 0 || e.Sampling != "" && e.Sampling != jpeg.Sampling420 {
		return fmt.Errorf("--encode %s needs libjpeg-turbo, which this build of dsconv lacks: build it with CGO_ENABLED=1, "+
			"or choose --encode keep, jpeg:QUALITY, png or raw", e)
	}
	return nil
}
