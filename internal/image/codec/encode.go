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
