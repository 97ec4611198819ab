package safetensors

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

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
	if err := checkSum(b, 8+len(text), f.Metadata[ChecksumKey]); err != nil {
		return nil, err
	}
	delete(f.Metadata, ChecksumKey)
	return f, f.setTensors(header, data)
}

// checkSum compares the checksum of the file with the digest in its header.
func checkSum(b []byte, header int, digest string) error {
	at := digestAt(b[:header], digest)
	if len(digest) != len(blank) || at < 0 {
		return errors.New("no checksum")
	}
	h := sha256.New()
	h.Write(b[:at])
	h.Write([]byte(blank))
	h.Write(b[at+len(blank):])
	if hex.EncodeToString(h.Sum(nil)) != digest {
		return errors.New("its checksum is wrong")
	}
	return nil
}

// setTensors finds the header's tensors in data, which they fill without gaps.
func (f *File) setTensors(header map[string]json.RawMessage, data []byte) error {
	type named struct {
		name string
		entry
	}
	entries := make([]named, 0, len(header))
	for name, text := range header {
		e := named{name: name}
		if err := json.Unmarshal(text, &e.entry); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b named) int {
		return cmp.Or(slices.Compare(a.Offsets[:], b.Offsets[:]), cmp.Compare(a.name, b.name))
	})
	at := 0
	for _, e := range entries {
		if e.Offsets[0] != at || e.Offsets[1] < at || e.Offsets[1] > len(data) {
			return fmt.Errorf("tensor %q: bytes %d to %d of %d, want them from %d", e.name, e.Offsets[0], e.Offsets[1], len(data), at)
		}
		t := Tensor{Name: e.name, DType: e.DType, Shape: e.Shape, Data: data[at:e.Offsets[1]:e.Offsets[1]]}
		if err := t.check(); err != nil {
			return err
		}
		f.Tensors = append(f.Tensors, t)
		at = e.Offsets[1]
	}
	if at != len(data) {
		return fmt.Errorf("%d bytes belong to no tensor", len(data)-at)
	}
	return nil
}
