package edit

import (
	"testing"

	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess"
)

// The recipe names every version of the decoder that read an image of the dataset.
func TestWithDecoder(t *testing.T) {
	now := jpeg.DecoderVersion()
	for was, want := range map[string]string{"": "", now: now, "0.1": "0.1, " + now, "0.1, " + now: "0.1, " + now} {
		m := map[string]string{"encode": "png"}
		if was != "" {
			m[preprocess.DecoderVersionKey] = was
		}
		if got := withDecoder(m)[preprocess.DecoderVersionKey]; got != want || m[preprocess.DecoderVersionKey] != was {
			t.Errorf("%q becomes %q, want %q", was, got, want)
		}
	}
}
