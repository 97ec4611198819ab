// Package items reads samples that other processes send, such as those of a dataset in Python.
//
// A process has one end of a socket. It answers with MessagePack: an array of the key, the split, an error and a value for
// each field of the schema, or for an error its errno, where nil is nothing. An image is its file's bytes, or like every
// tensor an array of element type, shape and bytes; labels and numbers are numbers, and texts and JSON are strings. A process
// of a dataset that can be indexed is sent the indices that it is to read, and answers in their order. Other processes send
// samples until there are none, then nil. Bytes ask that what was written be made durable, and are the process's state for the
// next start. They are answered by an array of the number of samples and no bytes; one with the last state comes before all
// samples if Header.Resumes.
package items

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
)

// Header describes the samples that processes send.
type Header struct {
	Schema formats.Schema `json:"schema"`
	// Length is the number of samples, -1 if it is not known.
	Length int `json:"length"`
	// Splits divide the samples of a known Length: first those of the first split.
	Splits []formats.Split `json:"splits,omitempty"`
	// Keys are the keys in ascending order. Without them a key is the index.
	Keys []string `json:"keys,omitempty"`
	// Ascending reports that the keys of samples of unknown number ascend.
	Ascending bool `json:"ascending,omitempty"`
	// Resumes is what formats.Growing says of samples of unknown number.
	Resumes bool `json:"resumes,omitempty"`
	// Decoded reports that images are sent as pixels.
	Decoded bool `json:"decoded,omitempty"`
	// Size is about the number of bytes of an image.
	Size int64 `json:"size"`
	// Identity differs between datasets whose keys are equal.
	Identity string `json:"identity"`
	// Timeout is how many seconds a process may take for a sample; 0 means any number.
	Timeout float64 `json:"timeout"`

	checksum [16]byte // of Identity
}

// ReadHeader reads a Header as JSON.
func ReadHeader(r io.Reader) (*Header, error) {
	h := new(Header)
	if err := json.NewDecoder(r).Decode(h); err != nil {
		return nil, fmt.Errorf("read the description of the samples: %w", err)
	}
	return h, h.check()
}

func (h *Header) check() error {
	if err := h.Schema.Validate(); err != nil {
		return err
	}
	if h.Length < -1 || h.Length > math.MaxInt32 {
		return fmt.Errorf("%d samples: a dataset has at most %d", h.Length, math.MaxInt32)
	}
	if len(h.Keys) > 0 && len(h.Keys) != h.Length {
		return fmt.Errorf("%d keys for %d samples", len(h.Keys), h.Length)
	}
	n := 0
	for _, s := range h.Splits {
		if s.Count < 0 {
			return fmt.Errorf("the split %s has %d samples", s.Name, s.Count)
		}
		n += s.Count
	}
	if h.Length >= 0 && len(h.Splits) > 0 && n != h.Length {
		return fmt.Errorf("the splits have %d samples of %d", n, h.Length)
	}
	if !slices.IsSorted(h.Keys) {
		return errors.New("the keys do not ascend")
	}
	return nil
}

// info describes sample i.
func (h *Header) info(i int) formats.Info {
	in := formats.Info{Label: formats.NoLabel, Size: max(h.Size, 1), Checksum: h.checksum}
	at := i
	for _, s := range h.Splits {
		if at < s.Count {
			in.Split = s.Name
			break
		}
		at -= s.Count
	}
	switch {
	case len(h.Keys) > 0:
		in.Key = h.Keys[i]
	case in.Split != "":
		in.Key = in.Split + "/" + h.number(at)
	default:
		in.Key = h.number(i)
	}
	return in
}

// number returns the key of index i. Keys of one length are in the order of their indices.
func (h *Header) number(i int) string {
	width := len(strconv.Itoa(math.MaxInt32))
	if h.Length >= 0 {
		width = len(strconv.Itoa(max(h.Length-1, 0)))
	}
	return fmt.Sprintf("%0*d", width, i)
}

// begin returns the metadata, and is called before all else.
func (h *Header) begin() *formats.Meta {
	h.checksum = xxh3.HashString128(h.Identity).Bytes()
	return &formats.Meta{Format: "items", Schema: h.Schema, Splits: h.Splits, Count: max(h.Length, 0)}
}

func (h *Header) timeout() time.Duration { return time.Duration(h.Timeout * float64(time.Second)) }
