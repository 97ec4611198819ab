package convert

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// panicking panics where sample 7 is read, and where sample 20 is processed.
type panicking struct{ *memory }

func (d panicking) Read(i int, s *formats.Sample) error {
	if i == 7 {
		panic("a bug")
	}
	err := d.memory.Read(i, s)
	if i == 20 {
		s.Values = nil // what follows takes an image for granted
	}
	return err
}

// TestPanicIsTheImagesError: the image is skipped, or its error ends the run.
func TestPanicIsTheImagesError(t *testing.T) {
	for _, fail := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		r, err := plan(t, panicking{newMemory(t, 30, 0)}, tfrecord.Format{}, path, Options{Fail: fail, Order: Order{Set: true}}).Run(context.Background())
		if fail {
			if err == nil || !strings.Contains(err.Error(), "k00007.jpg") || !strings.Contains(err.Error(), "a bug") {
				t.Errorf("a run that ends at the first bad image: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Skipped) != 2 || r.Written != 28 || r.Skipped[0].Path != "k00007.jpg" || r.Skipped[1].Path != "k00020.jpg" {
			t.Fatalf("%d were written, skipped: %+v", r.Written, r.Skipped)
		}
		for _, s := range r.Skipped {
			if !strings.Contains(s.Cause, "panic") || !strings.Contains(s.Cause, ".go:") {
				t.Errorf("%s: %s", s.Path, s.Cause)
			}
		}
	}
}
