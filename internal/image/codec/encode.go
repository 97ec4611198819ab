package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Encode says how images are written. It has the fields of the public codec.EncodeOptions, which say
// what they mean, so that one converts to the other.
type Encode struct {
	Encoding              formats.Encoding
	Quality               int
	Sampling              pixel.Sampling
	Optimize, Progressive bool
	Interval              int
	Tiled                 bool
}

// maxInterval is the largest restart interval of a JPEG.
const maxInterval = 65535

// Check returns an error about the first field that has an invalid value or no effect. name is what the
// caller calls e.
func (e Encode) Check(name string) error {
	if e.Encoding != formats.JPEG {
		return e.checkOthers(name)
	}
	switch {
	case e.Tiled:
		return fmt.Errorf("%s.Tiled keeps the JPEGs of the source: leave out %s.Encoding, or set %s.Interval instead", name, name, name)
	case e.Quality < 0 || e.Quality > 100:
		return fmt.Errorf("%s.Quality is %d: use 1 to 100", name, e.Quality)
	case e.Interval < 0 || e.Interval > maxInterval:
		return fmt.Errorf("%s.Interval is %d: use 1 to %d, or 0 for none", name, e.Interval, maxInterval)
	case e.Progressive && e.Interval > 0:
		return fmt.Errorf("%s.Interval is %d: a progressive JPEG cannot be tiled", name, e.Interval)
	case e.Sampling != "":
		if err := new(pixel.Sampling).UnmarshalText([]byte(e.Sampling)); err != nil {
			return fmt.Errorf("%s.Sampling: %w", name, err)
		}
	}
	return nil
}

// checkOthers is Check where no JPEG is encoded.
func (e Encode) checkOthers(name string) error {
	switch e.Encoding {
	case "", formats.PNG, formats.Raw:
	default:
		return fmt.Errorf("%s.Encoding is %q: use %q, %q or %q", name, string(e.Encoding), string(formats.JPEG), string(formats.PNG), string(formats.Raw))
	}
	field := ""
	switch {
	case e.Tiled && e.Encoding != "":
		return fmt.Errorf("%s.Tiled keeps the JPEGs of the source: leave out %s.Encoding", name, name)
	case e.Tiled && (e.Interval < 1 || e.Interval > maxInterval):
		return fmt.Errorf("%s.Interval is %d: use 1 to %d", name, e.Interval, maxInterval)
	case e.Quality != 0:
		field = "Quality"
	case e.Sampling != "":
		field = "Sampling"
	case e.Optimize:
		field = "Optimize"
	case e.Progressive:
		field = "Progressive"
	case e.Interval != 0 && !e.Tiled:
		field = "Interval"
	default:
		return nil
	}
	return fmt.Errorf("%s.%s is set, but %s.Encoding is %q: it is for %q alone", name, field, name, string(e.Encoding), string(formats.JPEG))
}

// CheckBuild returns an error if e needs another build.
func (e Encode) CheckBuild() error {
	if jpeg.HasLibjpegTurbo {
		return nil
	}
	if e.Optimize || e.Progressive || e.Interval > 0 || e.Sampling != "" && e.Sampling != pixel.Sampling420 {
		return fmt.Errorf("%w: JPEGs with Optimize, Progressive, an Interval or another sampling than 4:2:0 need libjpeg-turbo, "+
			"which this build of dsconv lacks: build it with CGO_ENABLED=1", pixel.ErrUnsupported)
	}
	return nil
}
