package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

const megabyte = 1 << 20

// TestPythonsPickles: values that Python's own pickle wrote, in each protocol.
func TestPythonsPickles(t *testing.T) {
	dir := t.TempDir()
	formatcheck.Python(t, `
import collections, pickle, sys
import numpy as np
shared = ["é", "a\\b\n", b"\x00\xff"]
value = {
    "none": None, "true": True, "false": False, "ints": [0, 1, -1, 255, 256, 70000, -70000, 2**31, -2**31, 2**62, -2**63],
    "floats": (0.5, -1e300, float("inf")), "bytes": b"\x00abc\xff", "empty": b"", "texts": shared, "again": shared,
    "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)), "ordered": collections.OrderedDict(a=1), 7: "seven",
    "u1": np.arange(24, dtype=np.uint8).reshape(2, 3, 4), "i8": np.arange(3), "big": np.arange(3, dtype=">u2"),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(2, 3)), "scalars": [np.int64(-5), np.float32(0.25), np.uint8(200), np.bool_(True)],
    "long": list(range(3000)), "bytearray": bytearray(b"xyz"),
}
for p in range(6):
    pickle.dump(value, open(f"{sys.argv[1]}/{p}.pkl", "wb"), protocol=p)
`, dir)
	for p := range 6 {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.pkl", p)))
		if err != nil {
			t.Fatal(err)
		}
		v, err := Load(b, megabyte)
		if err != nil {
			t.Fatalf("protocol %d: %v", p, err)
		}
		checkValue(t, fmt.Sprintf("protocol %d", p), v.(*Dict))
	}
}

func checkValue(t *testing.T, name string, d *Dict) {
	t.Helper()
	texts := &list{items: []any{"é", "a\\b\n", []byte("\x00\xff")}}
	long := &list{}
	for i := range 3000 {
		long.items = append(long.items, int64(i))
	}
	for key, want := range map[string]any{
		"none": nil, "true": true, "false": false,
		"ints": &list{items: []any{
			int64(0), int64(1), int64(-1), int64(255), int64(256), int64(70000), int64(-70000), int64(1 << 31), int64(-1 << 31),
			int64(1 << 62), int64(math.MinInt64),
		}},
		"floats": tuple{0.5, -1e300, math.Inf(1)}, "bytes": []byte("\x00abc\xff"), "empty": []byte{}, "texts": texts, "again": texts,
		"tuples": tuple{
			tuple{},
			tuple{int64(1)},
			tuple{int64(1), int64(2)},
			tuple{int64(1), int64(2), int64(3)},
			tuple{int64(1), int64(2), int64(3), int64(4)},
		},
		"ordered": &Dict{keys: []any{"a"}, values: []any{int64(1)}},
		"scalars": &list{items: []any{int64(-5), 0.25, int64(200), true}}, "long": long, "bytearray": []byte("xyz"),
	} {
		if got, ok := d.Get(key); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s is %#v, want %#v", name, key, got, want)
		}
	}
	checkArray(t, name, d, "u1", "|u1", []int{2, 3, 4}, false, "\x00\x01\x02")
	checkArray(t, name, d, "i8", "<i8", []int{3}, false, "\x00\x00\x00\x00\x00\x00\x00\x00\x01")
	checkArray(t, name, d, "big", ">u2", []int{3}, false, "\x00\x00\x00\x01\x00\x02")
	checkArray(t, name, d, "fortran", "|u1", []int{2, 3}, true, "\x00\x03\x01\x04\x02\x05")
}

func checkArray(t *testing.T, name string, d *Dict, key, dtype string, shape []int, fortran bool, begins string) {
	t.Helper()
	v, _ := d.Get(key)
	a, ok := v.(*Array)
	if !ok || a.DType != dtype || !reflect.DeepEqual(a.Shape, shape) || a.Fortran != fortran || !strings.HasPrefix(string(a.Data), begins) {
		t.Errorf("%s: %s is %#v", name, key, v)
	}
}

// Pickles of Python 2, which has one type for text and bytes.
func TestPython2(t *testing.T) {
	for name, b := range map[string]string{
		"protocol 0": "(dp1\nS'data'\np2\nS'a\\x00\\'\\n'\np3\ns.",
		"protocol 2": "\x80\x02}q\x01U\x04dataq\x02T\x04\x00\x00\x00a\x00'\nq\x03s.",
	} {
		v, err := Load([]byte(b), megabyte)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, _ := v.(*Dict).Get("data"); !reflect.DeepEqual(got, []byte("a\x00'\n")) {
			t.Errorf("%s: data is %q", name, got)
		}
	}
}

// hostilePickles are programs, each with a part of its error.
var hostilePickles = map[string]struct{ program, why string }{
	"runs a command":        {"cos\nsystem\n(S'true'\ntR.", `"os.system"`},
	"a command, by name":    {"\x80\x04\x8c\x05posix\x8c\x06system\x93.", `"posix.system"`},
	"eval":                  {"c__builtin__\neval\n(S'1'\ntR.", `"__builtin__.eval"`},
	"an instance":           {"(ios\nsystem\n.", `"os.system"`},
	"an array of objects":   {"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR.", "objects"},
	"persistent":            {"Pid\n.", "persistent"},
	"extension":             {"\x82\x01.", "extensions"},
	"a mark":                {"(.", "operands"},
	"a function":            {"cnumpy\nndarray\n.", "not a value"},
	"empty":                 {"", "truncated"},
	"without end":           {"N", "truncated"},
	"stack":                 {"0", "operands"},
	"no mark":               {"e.", "operands"},
	"no list":               {"N(Ne.", "appended"},
	"odd dict":              {"(Nd.", "without a value"},
	"unknown":               {"\xf0", "instruction"},
	"4 GB of bytes":         {"B\xff\xff\xff\xffxxxx.", "truncated"},
	"2**64 bytes":           {"\x8e\xff\xff\xff\xff\xff\xff\xff\xffx.", "truncated"},
	"frame beyond":          {"\x80\x04\x95\xff\xff\xff\xff\x00\x00\x00\x00N.", "truncated"},
	"no memo":               {"h\x05.", "memo"},
	"a huge integer":        {"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", "64 bits"},
	"2**63":                 {"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00.", "64 bits"},
	"digits":                {"L" + strings.Repeat("9", 100) + "L\n.", "digits"},
	"surrogate":             {"V\\ud800\n.", "escape"},
	"not UTF-8":             {"X\x01\x00\x00\x00\xff.", "UTF-8"},
	"array without bytes":   {"cnumpy.core.numeric\n_frombuffer\n(C\x02abcnumpy\ndtype\n(S'u1'\ntRI3\nS'C'\ntR.", "does not have 2 bytes"},
	"array that overflows":  {"cnumpy.core.numeric\n_frombuffer\n(C\x00cnumpy\ndtype\n(S'u8'\ntR(I4294967296\nI4294967296\nI4294967296\ntS'C'\ntR.", "does not have 0 bytes"},
	"array of negative":     {"cnumpy.core.numeric\n_frombuffer\n(C\x01acnumpy\ndtype\n(S'u1'\ntRI-1\nS'C'\ntR.", "shape"},
	"wide scalar":           {"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'f16'\ntRC\x10aaaaaaaaaaaaaaaatR.", "f16"},
	"many lists":            {strings.Repeat("]", 100_000) + ".", "memory"},
	"many references":       {"]p0\n" + strings.Repeat("h\x00", 100_000) + ".", "memory"},
	"a memo of all numbers": {"N" + strings.Repeat("\x94", 100_000) + ".", "memory"},
	"text made many times":  {manyCopies(), "memory"},
}

// manyCopies is a pickle of 60 kB that makes a long text to bytes a thousand times.
func manyCopies() string {
	b := binary.LittleEndian.AppendUint32([]byte("X"), 50_000)
	text := string(b) + strings.Repeat("x", 50_000) + "p0\n"
	return text + strings.Repeat("c_codecs\nencode\n(h\x00X\x06\x00\x00\x00latin1tR0", 1000) + "."
}

func TestHostilePickles(t *testing.T) {
	for name, c := range hostilePickles {
		v, err := Load([]byte(c.program), megabyte)
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %#v, error %v; want an error with %q", name, v, err, c.why)
		}
	}
}

// A list may contain itself; whoever reads it must not follow that for ever.
func TestListInItself(t *testing.T) {
	v, err := Load([]byte("]p0\nh\x00a."), megabyte)
	if l, ok := v.(*list); err != nil || !ok || len(l.items) != 1 || l.items[0] != any(l) {
		t.Errorf("%#v, %v", v, err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, c := range hostilePickles {
		if len(c.program) < 1000 {
			f.Add([]byte(c.program))
		}
	}
	f.Add([]byte("\x80\x02}q\x01U\x04dataq\x02T\x04\x00\x00\x00a\x00'\nq\x03s."))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Load(b, megabyte) })
}
