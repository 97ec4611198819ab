package imagelmdb

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// datum is Caffe's Datum: one image and its label.
type datum struct {
	shape    [3]int // channels, height, width; zero for image files
	data     []byte
	label    int64
	hasLabel bool
	encoded  bool
}

// The fields of Caffe's Datum, a message of protobuf.
const (
	datumChannels = 1
	datumHeight   = 2
	datumWidth    = 3
	datumData     = 4
	datumLabel    = 5
	datumFloats   = 6
	datumEncoded  = 7
)

var errDatum = fmt.Errorf("%w: a Datum of Caffe cannot be parsed", formats.ErrDamaged)

// parseDatum reads a Datum; data points into b. Unknown fields are an error, so that hardly anything else is
// taken for a Datum.
func parseDatum(b []byte) (d datum, err error) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return d, errDatum
		}
		b = b[n:]
		x, content, rest, ok := datumValue(int(tag&7), b)
		if !ok {
			return d, errDatum
		}
		b = rest
		if err := d.set(tag>>3, int(tag&7), x, content); err != nil {
			return d, err
		}
	}
	return d, d.check()
}

func datumValue(wire int, b []byte) (x uint64, content, rest []byte, ok bool) {
	switch wire {
	case 0:
		x, n := binary.Uvarint(b)
		return x, nil, b[max(n, 0):], n > 0
	case 2:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return 0, nil, nil, false
		}
		b = b[n:]
		return 0, b[:size:size], b[size:], true
	case 5:
		return 0, nil, b[min(4, len(b)):], len(b) >= 4
	}
	return 0, nil, nil, false
}

func (d *datum) set(field uint64, wire int, x uint64, content []byte) error {
	switch {
	case field >= datumChannels && field <= datumWidth && wire == 0:
		if x > 1<<20 {
			return errDatum
		}
		d.shape[field-datumChannels] = int(x)
	case field == datumData && wire == 2:
		d.data = content
	case field == datumLabel && wire == 0:
		d.label, d.hasLabel = int64(int32(x)), true
	case field == datumFloats && (wire == 2 || wire == 5):
		return fmt.Errorf("%w: a Datum of Caffe with float_data: these are features, not images", formats.ErrSchema)
	case field == datumEncoded && wire == 0:
		d.encoded = x != 0
	default:
		return errDatum
	}
	return nil
}

// check compares the pixels with their shape.
func (d *datum) check() error {
	switch {
	case d.data == nil:
		return errDatum
	case d.encoded || formats.Sniff(d.data) != "":
		d.encoded = true
		return nil
	case d.shape[0] < 1 || d.shape[0] > 4 || d.shape[0]*d.shape[1]*d.shape[2] != len(d.data):
		return errDatum
	}
	return nil
}

// pixels returns the pixels as height, width, channels; reversed turns BGR into RGB.
func (d *datum) pixels(reversed bool) formats.Value {
	channels, height, width := d.shape[0], d.shape[1], d.shape[2]
	v := formats.Value{Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{height, width, channels}}
	if channels == 1 {
		v.Data = d.data
		return v
	}
	v.Data = make([]byte, len(d.data))
	plane := height * width
	for c := range channels {
		to := c
		if reversed && c < 3 && channels >= 3 {
			to = 2 - c
		}
		for i, x := range d.data[c*plane : (c+1)*plane] {
			v.Data[i*channels+to] = x
		}
	}
	return v
}
