package codec

import (
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// inspectTIFF reads the header of a TIFF. Its orientation is applied to the size.
func inspectTIFF(data []byte) (pixel.Header, error) {
	t, err := exif.ReadTags(data)
	if err != nil {
		return pixel.Header{}, err
	}
	k, err := tiffKindOf(&t)
	if err != nil {
		return pixel.Header{}, err
	}
	return k.header(), nil
}
