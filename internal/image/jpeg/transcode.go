package jpeg

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Transcoder rewrites JPEGs as restart-tiled ones without changing their coefficients: one
// interleaved Huffman-coded scan with restart markers, so that a crop can be decoded alone, and the
// best Huffman tables for it. It is for one goroutine and for many images; Close frees its memory.
// The zero value is ready.
type Transcoder struct {
	jpeg jpegTranscoder
	meta []byte
}

// Close frees the Transcoder's memory. It may be used again.
func (t *Transcoder) Close() {
	t.jpeg.close()
	*t = Transcoder{}
}

// StopBy makes s end Append early, from now until Close.
func (t *Transcoder) StopBy(s *pixel.Stop) { t.jpeg.stop = s }

// NotTiledError says why an image cannot be tiled and keeps its bytes.
type NotTiledError struct {
	Reason string // one of a small fixed set, for counting
	detail string // about this image; may be ""
}

func (e *NotTiledError) Error() string {
	if e.detail == "" {
		return "not tiled: " + e.Reason
	}
	return "not tiled: " + e.Reason + ": " + e.detail
}

// Reasons of NotTiledError.
const (
	ReasonNotJPEG      = "no JPEG"
	ReasonArithmetic   = "arithmetic coding"
	ReasonNotBaseline  = "neither baseline nor progressive"
	ReasonMCU          = "more than 10 blocks an MCU"
	ReasonIrregular    = "an unusual structure"
	ReasonMetadata     = "metadata between scans"
	ReasonMultiPicture = "several pictures in one file"
	ReasonDamaged      = "damaged, or libjpeg warns of it"
	ReasonMemory       = "it would take too much memory"
	reasonRange        = "values beyond a baseline JPEG's"
	ReasonScans        = "too many scans"
)

// Append appends src to dst with a restart marker every interval MCUs or, if a row cannot be divided
// so, close to that. APPn and COM segments stay, before everything else, and so do bytes after the
// image. strip drops them, except for JFIF's and Adobe's, which decide the colours, and the EXIF
// orientation. Append reads its output again and compares coefficients, quantisation tables,
// components and size with src's.
//
// A *NotTiledError means that src must be kept as it is. Any other error ends the run (EndsRun) or
// means that the comparison failed. The caller must have checked src against its limit of pixels
// (Inspect). Append keeps no reference to src.
func (t *Transcoder) Append(dst, src []byte, interval int, strip bool) ([]byte, error) {
	if formats.Sniff(src) != formats.JPEG {
		return dst, &NotTiledError{Reason: ReasonNotJPEG}
	}
	h, err := Inspect(src)
	if err != nil {
		return dst, &NotTiledError{Reason: ReasonDamaged, detail: err.Error()}
	}
	p, err := findSegments(src)
	if err != nil {
		return dst, &NotTiledError{Reason: ReasonDamaged, detail: err.Error()}
	}
	if why := p.whyNotTiled(src, strip); why != nil {
		return dst, why
	}
	irregular, err := CheckStructure(src)
	if err != nil {
		return dst, &NotTiledError{Reason: ReasonDamaged, detail: err.Error()}
	}
	if irregular != "" {
		return dst, &NotTiledError{Reason: ReasonIrregular, detail: irregular}
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

// whyNotTiled returns the reason why a JPEG of these segments cannot be tiled, nil if it can.
func (p *jpegSegments) whyNotTiled(src []byte, strip bool) *NotTiledError {
	switch {
	case p.mark > markSOF9-1:
		return &NotTiledError{Reason: ReasonArithmetic}
	case p.mark > MarkSOF2:
		return &NotTiledError{Reason: ReasonNotBaseline}
	case p.blocksPerMCU() > 10:
		return &NotTiledError{Reason: ReasonMCU}
	case p.betweenScans && !strip:
		return &NotTiledError{Reason: ReasonMetadata}
	case p.multiPicture && p.end < len(src) && !strip:
		return &NotTiledError{Reason: ReasonMultiPicture, detail: fmt.Sprintf("%d bytes after the first", len(src)-p.end)}
	}
	return nil
}
