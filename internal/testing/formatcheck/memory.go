package formatcheck

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// WriteAllocatesNothing checks that Write of a format that streams records allocates nothing. s is
// a sample of the dataset that m describes; it is written repeatedly with other keys.
func WriteAllocatesNothing(t *testing.T, f formats.WritableFormat, name string, m formats.Meta, s *formats.Sample) {
	w, err := f.Create(filepath.Join(t.TempDir(), name), m, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	keys := make([]string, 2000)
	for i := range keys {
		keys[i] = fmt.Sprintf("class/%05d", i)
	}
	i := 0
	if n := testing.AllocsPerRun(len(keys)-1, func() {
		s.Key = keys[i]
		i++
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%s: %v allocations per sample", name, n)
	}
}

// LentAsCopied decodes bytes, which may be damaged, with and without lend, and checks that both
// return the same values or ErrDamaged.
func LentAsCopied(t *testing.T, decode func(s *formats.Sample, lend bool) error) {
	t.Helper()
	var lent, copied formats.Sample
	err := decode(&lent, true)
	if again := decode(&copied, false); (err == nil) != (again == nil) {
		t.Fatalf("lent %v, copied %v", err, again)
	}
	if err != nil {
		if !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%v is not ErrDamaged", err)
		}
		return
	}
	for i := range lent.Values {
		a, b := lent.Values[i], copied.Values[i]
		if a.Encoding != b.Encoding || a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) || !bytes.Equal(a.Data, b.Data) {
			t.Fatalf("field %d: %+v lent, %+v copied", i, a, b)
		}
	}
}
