package formats

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckSplit(t *testing.T) {
	for _, name := range []string{"", "train", "val 2", "été", "...", "a.b", "-x", "fold=3"} {
		if err := CheckSplit(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{".", "..", "../x", "/x", "a/b", `a\b`, "a\x00b", "a\nb", "\xff", strings.Repeat("x", 201), "a\u009bb"} {
		if err := CheckSplit(name); !errors.Is(err, ErrSplit) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzSplit: a name that is taken stays in the folder that it is joined to.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"train", "..", "a/../..", ".\x00", `..\x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if CheckSplit(name) == nil && filepath.Dir(filepath.Join("out", name+".lmdb")) != "out" {
			t.Fatalf("%q leads out", name)
		}
	})
}
