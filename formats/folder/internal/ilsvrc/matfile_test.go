package ilsvrc

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// scipySynsets writes a struct array like that of ImageNet's development kit.
const scipySynsets = `
import sys, numpy as np
try:
    import scipy.io as sio
except ImportError:
    print("skip")
    sys.exit()
rows = [(1, "n02119789", "kit fox, Vulpes macrotis", 0), (2, "n02100735", "English setter ä", 0), (1001, "n00001740", "entity", 2)]
a = np.zeros((3, 1), dtype=[(f, object) for f in ("ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children")])
for i, (number, wnid, words, children) in enumerate(rows):
    a[i, 0] = (float(number), wnid, words, "", children, np.arange(children, dtype=np.uint16))
for name, compressed in (("plain.mat", False), ("packed.mat", True)):
    sio.savemat(sys.argv[1] + "/" + name, {"other": np.eye(3), "synsets": a}, do_compression=compressed)
`

func scipyFiles(t testing.TB) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if strings.HasPrefix(formatcheck.Python(t, scipySynsets, dir), "skip") {
		t.Skip("scipy is not installed")
	}
	files := map[string][]byte{}
	for _, name := range []string{"plain.mat", "packed.mat"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = b
	}
	return files
}

func TestStructsThatScipyWrote(t *testing.T) {
	want := [][]matValue{
		{{numbers: []float64{1}}, {Text: "n02119789"}, {numbers: []float64{0}}},
		{{numbers: []float64{2}}, {Text: "n02100735"}, {numbers: []float64{0}}},
		{{numbers: []float64{1001}}, {Text: "n00001740"}, {numbers: []float64{2}}},
	}
	for name, b := range scipyFiles(t) {
		got, err := matStructs(b, "synsets", "ILSVRC2012_ID", "WNID", "num_children")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		words, err := matStructs(b, "synsets", "words")
		if err != nil || words[1][0].Text != "English setter ä" {
			t.Errorf("%s: %v, %v", name, words, err)
		}
		for variable, field := range map[string]string{"nothing": "WNID", "synsets": "nothing", "other": "WNID"} {
			if _, err := matStructs(b, variable, field); err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("%s: %s.%s: %v", name, variable, field, err)
			}
		}
		for cut := range len(b) {
			_, _ = matStructs(b[:cut], "synsets", "WNID", "ILSVRC2012_ID") // must not panic
		}
	}
}

// A file of a few kilobytes must not become gigabytes.
func TestBombs(t *testing.T) {
	head := append(make([]byte, 124), 0, 1, 'I', 'M')
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	for range 65 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := binary.LittleEndian.AppendUint32(bytes.Clone(head), kindCompressed)
	bomb = append(binary.LittleEndian.AppendUint32(bomb, uint32(z.Len())), z.Bytes()...)
	if _, err := matStructs(bomb, "synsets"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a bomb: %v", err)
	}
	if _, err := matStructs([]byte("MATLAB 7.3 MAT-file"), "synsets"); err == nil || !strings.Contains(err.Error(), "-v7") {
		t.Errorf("MATLAB 7.3: %v", err)
	}
}

func FuzzStructs(f *testing.F) {
	head := append(make([]byte, 124), 0, 1, 'I', 'M')
	f.Add(append(bytes.Clone(head), 14, 0, 0, 0, 0xff, 0, 0, 0))
	f.Add(append(bytes.Clone(head), 15, 0, 0, 0, 4, 0, 0, 0, 0x78, 0x9c, 1, 2))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = matStructs(b, "synsets", "WNID", "num_children") })
}

// Dimensions that are floats must be whole numbers: NaN compares with nothing.
func TestDimensions(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), -1, 0.5, 1e300} {
		b := []byte{6, 0, 0, 0, 8, 0, 0, 0, classStruct, 0, 0, 0, 0, 0, 0, 0, kindDouble, 0, 0, 0, 8, 0, 0, 0}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		b = append(b, 1, 0, 0, 0, 0, 0, 0, 0)
		if m, err := parseMatrix(reader{b, false}); err == nil {
			t.Errorf("%v: %d elements", x, m.count)
		}
	}
}
