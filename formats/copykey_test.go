package formats_test

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// A copy is one in all that is packed from its dataset.
func TestIsCopy(t *testing.T) {
	for option, copies := range map[string]bool{"copies": true, "source.copies": true, "source.source.copies": true, "source.copies-only": false, "copies-only": false, "source.encode": false} {
		recipe := map[string]string{option: "2"}
		if formats.IsCopy(recipe, "a/1@2") != copies || formats.IsCopy(recipe, "a/1") || formats.IsCopy(recipe, "a/1@x") || formats.IsCopy(recipe, "@1") {
			t.Errorf("%s: a/1@2, a/1, a/1@x or @1", option)
		}
	}
}

// withPaths is a dataset of samples with keys and the paths of their files.
type withPaths struct {
	formats.Dataset
	samples []formats.Info
}

func (d withPaths) Len() int                         { return len(d.samples) }
func (d withPaths) Info(i int) (formats.Info, error) { return d.samples[i], nil }

// A file of several samples is no way to one of them: an image and its copies.
func TestLocateCopies(t *testing.T) {
	d := withPaths{}
	for _, key := range []string{"a", "a@1", "b", "b@1"} {
		d.samples = append(d.samples, formats.Info{Key: key, Source: formats.Source{Path: key[:1] + ".png"}})
	}
	at, err := formats.Locate(d, d.samples)
	for k, i := range at {
		if i != k || err != nil {
			t.Fatalf("%v, %v", at, err)
		}
	}
}
