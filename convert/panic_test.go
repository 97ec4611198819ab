package convert

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// panicking panics where sample 7 is read, and leaves out the values of sample 20.
type panicking struct{ *memory }

func (d panicking) Read(i int, s *formats.Sample) error {
	if i == 7 {
		panic("a bug")
	}
	err := d.memory.Read(i, s)
	if i == 20 {
		s.Values = nil
	}
	return err
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
		if len(r.Skipped) != 2 || r.Written != 28 || r.Skipped[0].Path != "k00007.jpg" || r.Skipped[1].Path != "k00020.jpg" {
			t.Fatalf("%d were written, skipped: %+v", r.Written, r.Skipped)
		}
		if s := r.Skipped[0]; !strings.Contains(s.Cause, "panic") || !strings.Contains(s.Cause, ".go:") {
			t.Errorf("%s: %s", s.Path, s.Cause)
		}
		if s := r.Skipped[1]; !strings.Contains(s.Cause, `key "k00020"`) || !strings.Contains(s.Cause, "0 values for 2 fields") {
			t.Errorf("%s: %s", s.Path, s.Cause)
		}
	}
}
