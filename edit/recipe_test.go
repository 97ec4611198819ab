package edit

import (
	"maps"
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

// A merged dataset whose images not one decoder decoded says so, if one of them was a GPU.
func TestMixDecoders(t *testing.T) {
	gpu := func(card, engine string) map[string]string {
		return map[string]string{"encode": "png", "decoder": "gpu", "nvjpeg": "13.3.2", "card": card, "jpeg-engine": engine}
	}
	cpu, none := map[string]string{"encode": "png", "decoder": "libjpeg-turbo"}, map[string]string(nil)
	merged := map[string]string{"encode": "png", "decoder": "mixed"}
	for _, recipes := range [][]map[string]string{
		{gpu("H200", "true"), cpu},
		{cpu, gpu("H200", "true")},
		{none, gpu("H200", "true")},
		{gpu("H200", "true"), gpu("A100", "true")},
		{gpu("H200", "true"), gpu("H200", "")},
		{merged, cpu},
		{gpu("H200", "true"), merged},
	} {
		got := map[string]string{"encode": "png", "card": "H200", "nvjpeg": "13.3.2"}
		if mixDecoders(got, recipes); !maps.Equal(got, merged) {
			t.Errorf("%v become %v", recipes, got)
		}
	}
	for _, recipes := range [][]map[string]string{{gpu("H200", "true"), gpu("H200", "true")}, {cpu, none}, {merged, merged}} {
		got := maps.Clone(recipes[0])
		if mixDecoders(got, recipes); !maps.Equal(got, recipes[0]) {
			t.Errorf("%v become %v", recipes, got)
		}
	}
}
