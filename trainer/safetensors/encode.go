package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// metadataKey is the header's entry that is not a tensor.
const metadataKey = "__metadata__"

// blank stands in the header for the checksum while that is computed.
var blank = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// entry is a tensor in the header. Offsets count from the end of the header.
type entry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// encode returns the file in parts: the header, then each tensor's data.
func (f *File) encode() ([][]byte, error) {
	tensors := slices.Clone(f.Tensors)
	// Large elements first, as in the format's own writer: then all are aligned.
	slices.SortFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(dtypes[b.DType], dtypes[a.DType]), cmp.Compare(a.Name, b.Name))
	})
	metadata := maps.Clone(f.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[ChecksumKey] = blank
	header, parts, at := map[string]any{metadataKey: metadata}, [][]byte{nil}, 0
	for _, t := range tensors {
		if err := t.check(); err != nil {
			return nil, err
		}
		if _, twice := header[t.Name]; twice {
			return nil, fmt.Errorf("two tensors are called %q", t.Name)
		}
		header[t.Name] = entry{t.DType, append([]int{}, t.Shape...), [2]int{at, at + len(t.Data)}}
		parts = append(parts, t.Data)
		at += len(t.Data)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	text = append(text, bytes.Repeat([]byte{' '}, -len(text)&7)...)
	parts[0] = append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	setSum(parts)
	return parts, nil
}

// check reports a tensor whose data do not fit its type and shape.
func (t *Tensor) check() error {
	size, ok := dtypes[t.DType]
	if !ok {
		return fmt.Errorf("tensor %q: unknown type %q", t.Name, t.DType)
	}
	elements := 1
	for _, n := range t.Shape {
		if n < 0 || n > 0 && elements > len(t.Data)/n {
			return fmt.Errorf("tensor %q: %d bytes for shape %v", t.Name, len(t.Data), t.Shape)
		}
		elements *= n
	}
	if len(t.Data)%size != 0 || elements != len(t.Data)/size {
		return fmt.Errorf("tensor %q: %d bytes for shape %v of %s", t.Name, len(t.Data), t.Shape, t.DType)
	}
	return nil
}

// setSum puts the checksum into the header.
func setSum(parts [][]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	hex.Encode(parts[0][digestAt(parts[0], blank):], h.Sum(nil))
}

// digestAt is the digest's index in the header, -1 if it is not there. Quotes within a JSON
// string are escaped, so that it cannot be found elsewhere.
func digestAt(b []byte, digest string) int {
	key := `"` + ChecksumKey + `":"`
	if at := bytes.Index(b, []byte(key+digest+`"`)); at >= 0 {
		return at + len(key)
	}
	return -1
}
