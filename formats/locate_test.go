package formats_test

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// withPaths is a dataset of samples with keys and the paths of their files.
type withPaths struct {
	formats.Dataset
	samples []formats.Info
}

func (d withPaths) Len() int                         { return len(d.samples) }
func (d withPaths) Info(i int) (formats.Info, error) { return d.samples[i], nil }

// A file of several samples is no way to one of them.
func TestLocateSharedFiles(t *testing.T) {
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
