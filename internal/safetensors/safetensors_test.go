package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// sample has a scalar, an empty tensor and names that need escaping.
func sample() *File {
	return &File{
		Metadata: map[string]string{"note": `a "sha256":"` + blank + `" <b>`, "unicode": "ä\n"},
		Tensors: []Tensor{
			{Name: "a/flags", DType: "I32", Shape: []int{1}, Data: []byte{1, 2, 0, 0}},
			{Name: "b \"quoted\"", DType: "F32", Shape: []int{2, 1}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 192}},
			{Name: "empty", DType: "F32", Shape: []int{0, 4}, Data: []byte{}},
			{Name: "step", DType: "I64", Shape: []int{}, Data: []byte{7, 0, 0, 0, 0, 0, 0, 0}},
		},
	}
}

func whole(t testing.TB, f *File) []byte {
	t.Helper()
	parts, err := f.encode()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(parts, nil)
}

// byName sorts a file's tensors, so that files can be compared.
func byName(f *File) map[string]Tensor {
	m := map[string]Tensor{}
	for _, t := range f.Tensors {
		m[t.Name] = t
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.safetensors")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := sample()
	if err := Write(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(byName(want), byName(got)) + cmp.Diff(want.Metadata, got.Metadata); d != "" {
		t.Error(d)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left in the folder: %v %v", left, err)
	}
}

// Elements are aligned to their size.
func TestAligned(t *testing.T) {
	b := whole(t, sample())
	header := 8 + int(binary.LittleEndian.Uint64(b))
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(b[8:header], &entries); err != nil {
		t.Fatal(err)
	}
	delete(entries, metadataKey)
	for name, text := range entries {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		if size := dtypes[e.DType]; size > 0 && (header+e.Offsets[0])%size != 0 {
			t.Errorf("%s at %d", name, header+e.Offsets[0])
		}
	}
}

// Read reports every flipped bit and every lost end.
func TestDamage(t *testing.T) {
	b := whole(t, sample())
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		if _, err := decode(b); err == nil {
			t.Errorf("bit %d of byte %d (%q) can be flipped", i%8, i/8, b[i/8])
		}
		b[i/8] ^= 1 << (i % 8)
	}
	for n := range b {
		if _, err := decode(b[:n]); err == nil {
			t.Errorf("%d bytes of %d are enough", n, len(b))
		}
	}
	if _, err := decode(append(b, 0)); err == nil {
		t.Error("a byte may follow")
	}
	path := filepath.Join(t.TempDir(), "text")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("some text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("text: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	for name, tensors := range map[string][]Tensor{
		"type":     {{Name: "a", DType: "F31", Shape: []int{1}, Data: make([]byte, 4)}},
		"short":    {{Name: "a", DType: "F32", Shape: []int{2}, Data: make([]byte, 4)}},
		"odd":      {{Name: "a", DType: "F32", Shape: []int{1}, Data: make([]byte, 5)}},
		"negative": {{Name: "a", DType: "F32", Shape: []int{-1}, Data: make([]byte, 4)}},
		"overflow": {{Name: "a", DType: "F32", Shape: []int{1 << 32, 1 << 32}}},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := Write(path, &File{Tensors: tensors}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
			t.Errorf("%s: left in the folder: %v %v", name, left, err)
		}
	}
	if err := Write(filepath.Join(t.TempDir(), "none", "f"), sample()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// The format's own reader, in Python, opens the files.
func TestReference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.safetensors")
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	const script = `
import sys
from safetensors import safe_open
with safe_open(sys.argv[1], framework="np") as f:
    for name in sorted(f.keys()):
        t = f.get_tensor(name)
        print(name, t.dtype, t.shape, t.ravel().tolist())
    print(f.metadata()["unicode"])`
	out := formatcheck.TorchPython(t, script, path)
	want := "a/flags int32 (1,) [513]\nb \"quoted\" float32 (2, 1) [1.0, -2.0]\n" +
		"empty float32 (0, 4) []\nstep int64 () [7]\nä\n\n"
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
}

// A file that decodes is valid and encodes to the same tensors.
func FuzzDecode(f *testing.F) {
	f.Add(whole(f, sample()))
	f.Add(whole(f, &File{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		reseal(b)
		got, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(whole(t, got))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(byName(got), byName(again), cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}

// reseal corrects the checksum, if there is one, so that fuzzing gets past it.
func reseal(b []byte) {
	at := bytes.Index(b, []byte(`"`+checksumKey+`":"`))
	if at < 0 || at+len(checksumKey)+5+len(blank) > len(b) {
		return
	}
	copy(b[at+len(checksumKey)+4:], blank)
	if at := digestAt(b, blank); at >= 0 {
		copy(b[at:], sum(b))
	}
}
