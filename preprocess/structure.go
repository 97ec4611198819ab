package preprocess

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
)

// CheckStructure reports what is wrong with the outside of an encoded image without
// decoding it: for JPEG that its markers lead from SOI through a frame and a scan to EOI
// (bytes after that don't matter), for PNG every chunk's length and checksum up to IEND,
// for the others the header. ErrTruncated, ErrCorrupt, ErrUnsupported or ErrNotImage is in
// the chain. It runs at memory speed and allocates nothing.
func CheckStructure(data []byte, enc formats.Encoding) error {
	switch enc {
	case formats.Raw, formats.RawZstd:
		if len(data) == 0 {
			return fmt.Errorf("%w: no data", ErrTruncated)
		}
		return nil
	}
	if got := formats.Sniff(data); got != enc && got != "" {
		return fmt.Errorf("%w: it is called %s and is %s", ErrCorrupt, enc, got)
	}
	if _, err := inspectAs(data, formats.Sniff(data)); err != nil {
		return err
	}
	switch enc {
	case formats.JPEG:
		return checkJPEG(data)
	case formats.PNG:
		return checkPNG(data)
	}
	return nil
}

// checkJPEG walks the markers to EOI. That frame and scan are there, in order, inspectJPEG
// has seen.
func checkJPEG(data []byte) error {
	for i := 2; ; {
		mark, next, ok := nextMarker(data, i)
		switch {
		case !ok:
			return fmt.Errorf("%w: the JPEG has no end marker", ErrTruncated)
		case mark == markEOI:
			return nil
		case standalone(mark):
			i = next
			continue
		}
		_, end, err := segment(data, next)
		if err != nil {
			return err
		}
		if i = end; mark == markSOS {
			i = skipEntropy(data, i)
		}
	}
}

// skipEntropy finds the end of the entropy-coded data that begins at data[i:]: the 0xFF of
// the first marker that is no restart.
func skipEntropy(data []byte, i int) int {
	for {
		j := bytes.IndexByte(data[i:], 0xFF)
		if j < 0 || i+j+1 >= len(data) {
			return len(data)
		}
		i += j
		switch m := data[i+1]; {
		case m == 0 || m >= markRST0 && m <= markRST7:
			i += 2
		case m == 0xFF:
			i++
		default:
			return i
		}
	}
}

func checkPNG(data []byte) error {
	pixels := false
	for i := len(pngMagic); ; {
		kind, body, crc, next, err := chunk(data, i)
		if err != nil {
			return err
		}
		if crc32.ChecksumIEEE(data[i+4:next-4]) != crc {
			return fmt.Errorf("%w: the PNG chunk %q fails its checksum", ErrCorrupt, kind)
		}
		switch string(kind) {
		case "IDAT":
			pixels = pixels || len(body) > 0
		case "IEND":
			if !pixels {
				return fmt.Errorf("%w: a PNG without pixels", ErrCorrupt)
			}
			return nil
		}
		i = next
	}
}
