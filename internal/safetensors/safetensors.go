// Package safetensors reads and writes named tensors in the safetensors format
// (https://huggingface.co/docs/safetensors): eight bytes of length, a header of JSON, and
// the elements as they lie in memory, little-endian and in row-major order. Readers for it
// are there in Python, Rust and elsewhere.
//
// A file that this package writes has its own checksum among the metadata, under
// [checksumKey]: SHA-256 of the whole file with '0' in the digest's place. [Read] takes
// only files whose checksum is right, so a flipped bit or a lost end is found. Other
// readers pass over it.
package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// checksumKey is the metadata's key of the file's checksum, 64 hexadecimal digits.
const checksumKey = "sha256"

// ErrDamaged is in the chain of the error for a file that is not as Write wrote it.
var ErrDamaged = errors.New("damaged, or not such a file")

// Tensor is an array with a name.
type Tensor struct {
	Name  string
	DType string // such as "F32" or "I64"
	Shape []int  // empty for a scalar
	Data  []byte // little-endian, row-major
}

// File is the contents of a file.
type File struct {
	Metadata map[string]string // without the checksum
	Tensors  []Tensor
}

// dtypes has the number of bytes in an element of each type.
var dtypes = map[string]int{"F32": 4, "F64": 8, "I32": 4, "I64": 8, "U64": 8}

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

// Write writes the file at path and replaces one that exists. Whatever stops
// it, path is the old file or the new one, whole.
func Write(path string, f *File) error {
	parts, err := f.encode()
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return durable.Write(path, func(w io.Writer) error {
		for _, p := range parts {
			if _, err := w.Write(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// Read reads the file at path. ErrDamaged is in the error's chain if Write did not write the
// file or it was changed since; fs.ErrNotExist if there is none.
func Read(path string) (*File, error) {
	b, err := unblocked.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return f, nil
}

// encode returns the file in parts: the header, then each tensor's data.
func (f *File) encode() ([][]byte, error) {
	tensors := slices.Clone(f.Tensors)
	// Large elements first, as in the format's own writer: then all are aligned.
	slices.SortFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(dtypes[b.DType], dtypes[a.DType]), cmp.Compare(a.Name, b.Name))
	})
	metadata := map[string]string{checksumKey: blank}
	maps.Copy(metadata, f.Metadata)
	header, parts, at := map[string]any{metadataKey: metadata}, [][]byte{nil}, 0
	for _, t := range tensors {
		if err := t.check(); err != nil {
			return nil, err
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
	copy(parts[0][digestAt(parts[0], blank):], sum(parts...))
	return parts, nil
}

// check reports a tensor whose data do not fit its type and shape.
func (t *Tensor) check() error {
	bytes, known := dtypes[t.DType]
	for _, n := range t.Shape {
		if n < 0 || n > 0 && bytes > len(t.Data)/n {
			known = false
		}
		bytes *= n
	}
	if !known || bytes != len(t.Data) {
		return fmt.Errorf("tensor %q: %d bytes for shape %v of %s", t.Name, len(t.Data), t.Shape, t.DType)
	}
	return nil
}

// sum is the digest of the parts of a file.
func sum(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digestAt is the digest's index in the header, -1 if it is not there. Quotes within a JSON
// string are escaped, so that it cannot be found elsewhere.
func digestAt(b []byte, digest string) int {
	key := `"` + checksumKey + `":"`
	if at := bytes.Index(b, []byte(key+digest+`"`)); at >= 0 {
		return at + len(key)
	}
	return -1
}

// decode parses what encode wrote. The tensors' data point into b.
func decode(b []byte) (*File, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%d bytes", len(b))
	}
	length := binary.LittleEndian.Uint64(b)
	if length > uint64(len(b)-8) {
		return nil, fmt.Errorf("%d bytes for a header of %d", len(b), length)
	}
	text, data := b[8:8+length], b[8+length:]
	var header map[string]json.RawMessage
	if err := json.Unmarshal(text, &header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	f := &File{}
	if err := json.Unmarshal(header[metadataKey], &f.Metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	delete(header, metadataKey)
	digest := f.Metadata[checksumKey]
	delete(f.Metadata, checksumKey)
	at := digestAt(b[:8+length], digest)
	if len(digest) != len(blank) || at < 0 {
		return nil, errors.New("no checksum")
	}
	if sum(b[:at], []byte(blank), b[at+len(blank):]) != digest {
		return nil, errors.New("its checksum is wrong")
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		var e entry
		if err := json.Unmarshal(header[name], &e); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		from, to := e.Offsets[0], e.Offsets[1]
		if from < 0 || to < from || to > len(data) {
			return nil, fmt.Errorf("tensor %q: bytes %d to %d of %d", name, from, to, len(data))
		}
		t := Tensor{Name: name, DType: e.DType, Shape: e.Shape, Data: data[from:to:to]}
		if err := t.check(); err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, t)
	}
	return f, nil
}
