package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Transcoder rewrites JPEGs as restart-tiled ones without touching their coefficients: one
// interleaved Huffman-coded scan with restart markers, so that a part of an image can be
// decoded alone, and with the best Huffman tables for it. It belongs to one goroutine and is
// made for long use; Close frees what it holds. The zero value is ready.
type Transcoder struct {
	jpeg jpegTranscoder
	meta []byte
}

// Close frees the Transcoder's memory. It may be used again.
func (t *Transcoder) Close() {
	t.jpeg.close()
	*t = Transcoder{}
}

// StopBy lets s end Append early, from now until Close.
func (t *Transcoder) StopBy(s *Stop) { t.jpeg.stop = s }

// NotTiledError says why an image cannot be tiled and keeps its bytes.
type NotTiledError struct {
	Reason string // one of few, for counting
	Detail string // what is odd about this one; may be ""
}

func (e *NotTiledError) Error() string {
	if e.Detail == "" {
		return "not tiled: " + e.Reason
	}
	return "not tiled: " + e.Reason + ": " + e.Detail
}

// Reasons of NotTiledError.
const (
	reasonNotJPEG      = "no JPEG"
	reasonArithmetic   = "arithmetic coding"
	reasonNotBaseline  = "neither baseline nor progressive"
	reasonMCU          = "more than 10 blocks an MCU"
	reasonIrregular    = "an unusual structure"
	reasonMetadata     = "metadata between scans"
	reasonMultiPicture = "several pictures in one file"
	reasonDamaged      = "damaged, or libjpeg warns of it"
	reasonMemory       = "it would take too much memory"
	reasonRange        = "values beyond a baseline JPEG's"
	reasonScans        = "too many scans"
)

// Append appends src with a restart marker every interval MCUs or, where rows do not divide
// so, near to that. APPn and COM segments stay as they are, before all else, and so does
// what lies behind the image; strip drops them but for JFIF's and Adobe's, by which decoders
// know the colours, and the EXIF orientation. What Append wrote it reads again and compares:
// coefficients, quantisation tables, components and size are src's.
//
// A *NotTiledError says that src is to be kept as it is; any other error that the run is to end
// (EndsRun) or that the check failed. src is within the caller's limit of pixels (Inspect); Append keeps
// nothing of it.
func (t *Transcoder) Append(dst, src []byte, interval int, strip bool) ([]byte, error) {
	if formats.Sniff(src) != formats.JPEG {
		return dst, &NotTiledError{Reason: reasonNotJPEG}
	}
	h, err := inspectJPEG(src)
	if err != nil {
		return dst, &NotTiledError{Reason: reasonDamaged, Detail: err.Error()}
	}
	p, err := findSegments(src)
	if err != nil {
		return dst, &NotTiledError{Reason: reasonDamaged, Detail: err.Error()}
	}
	if why := p.whyNotTiled(src, strip); why != nil {
		return dst, why
	}
	unusual, err := checkJPEG(src)
	if err != nil {
		return dst, &NotTiledError{Reason: reasonDamaged, Detail: err.Error()}
	}
	if unusual != "" {
		return dst, &NotTiledError{Reason: reasonIrregular, Detail: unusual}
	}
	if t.meta = p.appendMeta(t.meta[:0]); strip {
		t.meta = p.appendStripped(t.meta[:0], h.Orientation)
	}
	mcu := 8 * p.blocksAcross()
	row := (h.W + mcu - 1) / mcu
	dst, err = t.jpeg.append(dst, src, t.meta, restartInterval(row, interval))
	if err == nil && !strip {
		dst = append(dst, src[p.end:]...)
	}
	return dst, err
}

// untileable says why a JPEG of these parts is not to be tiled, nil if it may be.
func (p *jpegSegments) whyNotTiled(src []byte, strip bool) *NotTiledError {
	switch {
	case p.mark > markSOF9-1:
		return &NotTiledError{Reason: reasonArithmetic}
	case p.mark > markSOF2:
		return &NotTiledError{Reason: reasonNotBaseline}
	case p.blocksPerMCU() > 10:
		return &NotTiledError{Reason: reasonMCU}
	case p.betweenScans && !strip:
		return &NotTiledError{Reason: reasonMetadata}
	case p.multiPicture && p.end < len(src) && !strip:
		return &NotTiledError{Reason: reasonMultiPicture, Detail: fmt.Sprintf("%d bytes behind the first", len(src)-p.end)}
	}
	return nil
}
