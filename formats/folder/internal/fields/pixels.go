package fields

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/wire"
)

// wholeNumbers are the types of masks in .npy files, by NumPy's names, that are stored as others, and their sizes: those of
// one byte as uint8, the rest as uint16. The type must not depend on the values: a Loader's masks all have the same.
var wholeNumbers = map[string]int{"|b1": 1, "|i1": 1, "<i2": 2, "<i4": 4, "<u4": 4, "<i8": 8, "<u8": 8}

const maskValues = "a mask has whole numbers from 0 to 65535; kind=array takes it as it is"

// pixels sets v, an .npy file, to the pixels that it has. Its memory is v's own.
func (f *spec) pixels(v *formats.Value) error {
	h, err := npy.ReadHeader(v.Data)
	if err != nil {
		return err
	}
	if len(h.Shape) != 2 && len(h.Shape) != 3 {
		return fmt.Errorf("an array of shape %v: pixels have height and width, and channels or none", h.Shape)
	}
	size, narrowed := wholeNumbers[h.Descr]
	switch {
	case h.Descr == "|u1" || h.Descr == "<u2":
		var offset int
		v.DType, _, offset, err = npy.Parse(v.Data)
		v.Data = v.Data[offset:]
	case narrowed && f.kind == formats.Mask:
		if v.Data, err = h.Elements(v.Data, size); err == nil {
			err = narrow(v, size, h.Descr[1] == 'i')
		}
	case f.kind == formats.Mask:
		err = fmt.Errorf("an array of %q: %s", h.Descr, maskValues)
	default:
		err = fmt.Errorf("an array of %q: an image has pixels of uint8 or uint16; kind=array takes it as it is", h.Descr)
	}
	if err != nil {
		return err
	}
	if len(h.Shape) == 2 {
		h.Shape = append(h.Shape, 1)
	}
	v.Encoding = formats.Raw
	v.SetShape(h.Shape...)
	return nil
}

// narrow makes uint8 or uint16 of the elements of v, of size bytes each, in their own memory.
func narrow(v *formats.Value, size int, signed bool) error {
	limit := int64(255)
	if v.DType = formats.Uint8; size > 1 {
		v.DType, limit = formats.Uint16, 65535
	}
	to := v.DType.Size()
	n := len(v.Data) / size
	for i := range n {
		x := wire.Int(v.Data[i*size:(i+1)*size], signed) // a uint64 that is too large is below 0
		if x < 0 || x > limit {
			return fmt.Errorf("the value %d: %s", x, maskValues)
		}
		if to == 1 {
			v.Data[i] = byte(x)
		} else {
			binary.LittleEndian.PutUint16(v.Data[2*i:], uint16(x))
		}
	}
	v.Data = v.Data[:n*to]
	return nil
}
