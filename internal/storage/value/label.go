package value

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/formats"
)

// SetLabel sets v to the class index x. With lent, as in View, it allocates instead of writing to
// the memory of an earlier Read.
func SetLabel(v *formats.Value, x int64, lent bool) {
	if !lent {
		v.SetInt64(x)
		return
	}
	v.Data = binary.LittleEndian.AppendUint64(nil, uint64(x))
	v.Encoding, v.DType = formats.Raw, formats.Int64
	v.SetShape()
}
