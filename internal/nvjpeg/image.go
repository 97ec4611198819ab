//go:build linux && cgo

package nvjpeg

/*
#include "calls.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Image is a JPEG with what is to be decoded of it. It is used for one JPEG after another.
type Image struct {
	handle *Handle
	c      *C.dsconv_nvjpeg_image
	pinned runtime.Pinner // holds the JPEG's bytes, whose address nvJPEG keeps
}

// NewImage creates an Image. Close it.
func (h *Handle) NewImage() (*Image, error) {
	i := &Image{handle: h}
	//nolint:gocritic // what cgo generates for &i.c looks like comparing a value with itself
	if err := h.check(C.dsconv_nvjpeg_image_new(h.c, &i.c), "prepare for an image"); err != nil {
		return nil, err
	}
	return i, nil
}

// Parse reads the header of a JPEG, which the Image then stands for in a Batch. The bytes must stay as they are, and
// belong to the Image, until Forget, ParseAll, Parse or Close is called.
func (i *Image) Parse(jpeg []byte) (Header, error) { return i.parse(jpeg, 0) }

// ParseAll is Parse for a Decoder and its States, which need to know all of the JPEG.
func (i *Image) ParseAll(jpeg []byte) (Header, error) { return i.parse(jpeg, 1) }

func (i *Image) parse(jpeg []byte, whole C.int) (Header, error) {
	i.pinned.Unpin()
	if len(jpeg) == 0 {
		return Header{}, IncompleteBitstream
	}
	i.pinned.Pin(unsafe.SliceData(jpeg))
	var h C.dsconv_nvjpeg_header
	code := C.dsconv_nvjpeg_image_parse(i.c, (*C.uchar)(unsafe.SliceData(jpeg)), C.size_t(len(jpeg)), whole, &h)
	return Header{W: int(h.width), H: int(h.height)}, i.handle.check(code, "read the header of a JPEG")
}

// Set says what is decoded, and how. Pixels are never turned by the JPEG's EXIF orientation.
func (i *Image) Set(r Request) error {
	c := C.dsconv_nvjpeg_request{
		format: C.int(r.Format), scale: C.int(r.Scale), x: C.int(r.X), y: C.int(r.Y), width: C.int(r.W), height: C.int(r.H),
	}
	if r.W == 0 {
		c.x, c.y, c.width, c.height = 0, 0, -1, -1
	}
	return i.handle.check(C.dsconv_nvjpeg_image_set(i.c, &c), "set what is decoded of a JPEG")
}

// Forget gives the JPEG's bytes back, once the Image was decoded or will not be.
func (i *Image) Forget() { i.pinned.Unpin() }

// Close frees the Image.
func (i *Image) Close() error {
	i.pinned.Unpin()
	err := i.handle.check(C.dsconv_nvjpeg_image_free(i.c), "free an image")
	i.c = nil
	return err
}

// Job is an image to decode and where its pixels go: to rows of Pitch bytes in the GPU's memory.
type Job struct {
	Image   *Image
	Address uint64
	Pitch   int
}

func (j Job) c() C.dsconv_nvjpeg_job {
	return C.dsconv_nvjpeg_job{image: j.Image.c, address: C.uint64_t(j.Address), pitch: C.size_t(j.Pitch)}
}
