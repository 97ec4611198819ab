package reader

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// A function that refuses an image, or panics on it, makes that sample bad, by its key.
func TestFuncMakesSamplesBad(t *testing.T) {
	ds := rawImages(30, 4, 4, 3)
	refused := ds.samples[7]
	for want, act := range map[string]func() error{
		"func:strict: too dark":  func() error { return errors.New("too dark") },
		"func:strict: panic: oh": func() error { panic("oh") },
	} {
		strict := augment.Func{Name: "strict", Apply: func(m *pixel.Image, _ *random.Rand) error {
			if bytes.Equal(m.Pix, refused.Values[0].Data) {
				return act()
			}
			return nil
		}}
		l := makeLoader(t, ds, Config{BatchSize: 5, Workers: 3, OnError: Skip, Transforms: augment.Ops{strict}})
		n := 0
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n += b.N
		}
		if n != 29 {
			t.Errorf("%d samples, want 29", n)
		}
		var b Batch
		if err := l.At(7, &b); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), refused.Key) {
			t.Errorf("error %v, want one with %q and %q", err, want, refused.Key)
		}
	}
}
