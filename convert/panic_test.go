package convert

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// panicking panics where sample 7 is read.
type panicking struct{ *memory }

func (d panicking) Read(i int, s *formats.Sample) error {
	if i == 7 {
		panic("a bug")
	}
	return d.memory.Read(i, s)
}

// TestPanicIsTheImagesError: the image is skipped, or its error ends the run.
func TestPanicIsTheImagesError(t *testing.T) {
	for _, fail := range []OnError{Skip, Fail} {
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		r, err := plan(t, panicking{newMemory(t, 30, 0)}, tfrecord.Format{}, path, Options{OnError: fail, Order: KeyOrder}).Run(context.Background())
		if fail == Fail {
			if err == nil || !strings.Contains(err.Error(), "k00007.jpg") || !strings.Contains(err.Error(), "a bug") {
				t.Errorf("a run that ends at the first bad image: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Skipped) != 1 || r.Written != 29 || r.Skipped[0].Path != "k00007.jpg" {
			t.Fatalf("%d were written, skipped: %+v", r.Written, r.Skipped)
		}
		if s := r.Skipped[0]; !strings.Contains(s.Cause, "panic") || !strings.Contains(s.Cause, ".go:") {
			t.Errorf("%s: %s", s.Path, s.Cause)
		}
	}
}
