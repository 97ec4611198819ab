//go:build linux && cgo

package nvjpeg

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import "unsafe"

// Decoder decodes single images in two phases, of which the first needs only the CPU. It may be shared.
type Decoder struct {
	handle *Handle
	c      *C.dsconv_nvjpeg_decoder
}

// NewDecoder creates a Decoder. Close it.
func (h *Handle) NewDecoder(backend Backend) (*Decoder, error) {
	d := &Decoder{handle: h, c: (*C.dsconv_nvjpeg_decoder)(C.calloc(1, C.sizeof_dsconv_nvjpeg_decoder))}
	d.c.handle = h.c
	if err := h.check(C.dsconv_nvjpeg_decoder_new(d.c, C.int(backend)), "create a decoder"); err != nil {
		C.free(unsafe.Pointer(d.c))
		return nil, err
	}
	return d, nil
}

// Supports reports whether the image can be decoded, as ParseAll has read it and as it was set.
func (d *Decoder) Supports(i *Image) (bool, error) {
	var supported C.int
	err := d.handle.check(C.dsconv_nvjpeg_decoder_supports(d.c, i.c, &supported), "ask whether an image can be decoded")
	return err == nil && supported != 0, err
}

// Close frees the Decoder.
func (d *Decoder) Close() error {
	err := d.handle.check(C.dsconv_nvjpeg_decoder_free(d.c), "free a decoder")
	C.free(unsafe.Pointer(d.c))
	d.c = nil
	return err
}

// State decodes an image at a time, in memory of its own that grows as images need it.
type State struct {
	handle *Handle
	c      *C.dsconv_nvjpeg_state
}

// NewState creates a State. Close it before the Decoder.
func (d *Decoder) NewState() (*State, error) {
	s := &State{handle: d.handle}
	//nolint:gocritic // what cgo generates for &s.c looks like comparing a value with itself
	if err := d.handle.check(C.dsconv_nvjpeg_state_new(d.c, &s.c), "create a decoder's state"); err != nil {
		return nil, err
	}
	return s, nil
}

// Host decodes what the CPU decodes of the image: its Huffman codes. Meanwhile the GPU may still decode the State's former
// image, which must be another Image.
func (s *State) Host(i *Image) error {
	return s.handle.check(C.dsconv_nvjpeg_state_host(s.c, i.c), "decode the codes of a JPEG")
}

// Device decodes the rest, after Host of the same image. The State's former image must be done on the GPU. stream is a
// CUstream.
func (s *State) Device(j Job, stream uintptr) error {
	c := j.c()
	//nolint:gocritic // what cgo generates for &c looks like comparing a value with itself
	return s.handle.check(C.dsconv_nvjpeg_state_device(s.c, &c, C.uintptr_t(stream)), "decode a JPEG on the GPU")
}

// Close frees the State. Its last image must be done.
func (s *State) Close() error {
	err := s.handle.check(C.dsconv_nvjpeg_state_free(s.c), "free a decoder's state")
	s.c = nil
	return err
}
