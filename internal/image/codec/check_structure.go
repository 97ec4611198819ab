package codec

import (
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// CheckStructure checks an encoded image without decoding it: of a JPEG that its markers lead from
// SOI through a frame and a scan to EOI (bytes after that don't matter), of a PNG each chunk's
// length and checksum up to IEND, of a WebP its length and the chunks of its first frame, of the
// others the header. ErrTruncated, ErrCorrupt, ErrUnsupported or ErrNotImage is in the chain of an
// error. irregular names the first thing that ordinary encoders do not write, "" if there is none:
// then only a decoder can tell whether the image is damaged. CheckStructure runs at memory speed
// and allocates nothing for a sound image.
func CheckStructure(data []byte, enc formats.Encoding) (irregular string, err error) {
	switch enc {
	case formats.Raw, formats.RawZstd:
		if len(data) == 0 {
			return "", fmt.Errorf("%w: no data", pixel.ErrTruncated)
		}
		return "", nil
	}
	if got := formats.Sniff(data); got != enc && got != "" {
		return "", fmt.Errorf("%w: it is stored as %s but is %s", pixel.ErrCorrupt, enc, got)
	}
	if _, err := inspectAs(data, formats.Sniff(data)); err != nil {
		return "", err
	}
	switch enc {
	case formats.JPEG:
		return jpeg.CheckStructure(data)
	case formats.PNG:
		return checkPNG(data)
	case formats.WebP:
		if _, err := firstWebPFrame(data); err != nil {
			return "", err
		}
	}
	return "an encoding without checksums", nil
}

// checkPNG checks all chunks of a PNG.
func checkPNG(data []byte) (irregular string, err error) {
	if _, err := readPNG(data); err != nil {
		irregular = err.Error()
	}
	pixels := false
	for i := len(pngMagic); ; {
		kind, body, crc, next, err := chunk(data, i)
		if err != nil {
			return "", err
		}
		if crc32.ChecksumIEEE(data[i+4:next-4]) != crc {
			return "", fmt.Errorf("%w: the PNG chunk %q fails its checksum", pixel.ErrCorrupt, kind)
		}
		switch string(kind) {
		case "IDAT":
			pixels = pixels || len(body) > 0
		case "IEND":
			if !pixels {
				return "", fmt.Errorf("%w: a PNG without pixels", pixel.ErrCorrupt)
			}
			return irregular, nil
		}
		i = next
	}
}
