package codec

import (
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// CheckStructure reports what is wrong with the outside of an encoded image without
// decoding it: for JPEG that its markers lead from SOI through a frame and a scan to EOI
// (bytes after that don't matter), for PNG every chunk's length and checksum up to IEND,
// for WebP its length and the chunks of its first frame, for the others the header. ErrTruncated, ErrCorrupt, ErrUnsupported or ErrNotImage is in
// the chain. It runs at memory speed and allocates nothing for a sound image.
func CheckStructure(data []byte, enc formats.Encoding) error {
	_, err := Structure(data, enc)
	return err
}

// Structure is CheckStructure; unusual says besides what is not as ordinary encoders write
// it, "" if all is: then only a decoder can tell whether the image is damaged.
func Structure(data []byte, enc formats.Encoding) (unusual string, err error) {
	switch enc {
	case formats.Raw, formats.RawZstd:
		if len(data) == 0 {
			return "", fmt.Errorf("%w: no data", pixel.ErrTruncated)
		}
		return "", nil
	}
	if got := formats.Sniff(data); got != enc && got != "" {
		return "", fmt.Errorf("%w: it is called %s and is %s", pixel.ErrCorrupt, enc, got)
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

func checkPNG(data []byte) (unusual string, err error) {
	if _, err := readPNG(data); err != nil {
		unusual = err.Error()
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
			return unusual, nil
		}
		i = next
	}
}
