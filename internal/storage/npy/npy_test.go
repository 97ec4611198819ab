package npy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

var cases = []struct {
	t     formats.DType
	shape []int
	bytes int
	numpy string
}{
	{formats.Uint8, []int{224, 224, 3}, 224 * 224 * 3, "uint8 (224, 224, 3)"},
	{formats.Uint16, []int{7}, 14, "uint16 (7,)"},
	{formats.Float32, []int{0, 4}, 0, "float32 (0, 4)"},
	{formats.Int64, []int{}, 8, "int64 ()"},
	{formats.Uint8, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, 2, "uint8 (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)"},
}

func TestRoundTrip(t *testing.T) {
	for _, c := range cases {
		b := AppendHeader([]byte("before"), c.t, c.shape)[len("before"):]
		if len(b)%64 != 0 {
			t.Errorf("%v: header of %d bytes", c.shape, len(b))
		}
		b = append(b, make([]byte, c.bytes)...)
		dt, shape, off, err := Parse(b)
		if err != nil || dt != c.t || !slices.Equal(shape, c.shape) || off != len(b)-c.bytes {
			t.Errorf("%v: got %s %v %d, %v", c.shape, dt, shape, off, err)
		}
		if _, _, _, err := Parse(append(b, 0)); err == nil {
			t.Errorf("%v: a byte too many is no error", c.shape)
		}
		if _, _, _, err := Parse(b[:40]); err == nil {
			t.Errorf("%v: a torn header is no error", c.shape)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, literal := range []string{
		"", "{}", "{'descr': '|u1', 'fortran_order': True, 'shape': (), }", "{'descr': '>u2', 'fortran_order': False, 'shape': (), }",
		"{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }", "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
		"{'descr': '|u1', 'descr': '|u1', 'shape': (), }", "{'descr': '|u1', 'fortran_order': False, 'shape': (1,,2), }",
	} {
		b := append([]byte(magic), byte(len(literal)), 0)
		if _, _, _, err := Parse(append(append(b, literal...), 0)); err == nil {
			t.Errorf("%s: no error", literal)
		}
	}
}

func TestNumPyReadsAndWrites(t *testing.T) {
	dir := t.TempDir()
	for i, c := range cases {
		path := filepath.Join(dir, fmt.Sprint(i, ".npy"))
		b := append(AppendHeader(nil, c.t, c.shape), make([]byte, c.bytes)...)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		got := formatcheck.Python(t, "import numpy as np,sys; a=np.load(sys.argv[1]); print(a.dtype, a.shape); np.save(sys.argv[1], a)", path)
		if got != c.numpy+"\n" {
			t.Errorf("numpy says %q, want %q", got, c.numpy)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if dt, shape, _, err := Parse(b); err != nil || dt != c.t || !slices.Equal(shape, c.shape) {
			t.Errorf("numpy's own %s: got %s %v, %v", c.numpy, dt, shape, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range cases {
		f.Add(append(AppendHeader(nil, c.t, c.shape), make([]byte, min(c.bytes, 64))...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dt, shape, off, err := Parse(b)
		if err != nil {
			return
		}
		again := append(AppendHeader(nil, dt, shape), b[off:]...)
		dt2, shape2, _, err := Parse(again)
		if err != nil || dt2 != dt || !slices.Equal(shape, shape2) {
			t.Fatalf("%s %v became %s %v: %v", dt, shape, dt2, shape2, err)
		}
	})
}
