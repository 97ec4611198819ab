package preprocess

import (
	"encoding"
	"testing"

	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// FuzzParse checks that parsed options print as the same text, and that a recipe with them is valid or
// refused.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "keep", "raw", "png", "jpeg", "jpeg:90", "jpeg:101", "jpeg:+9", "shorter:256", "exact:224x224", "fit:1x65535", "cover:0x1", "longer:-1", "exact:1x1x1",
		"zstd", "zstd:22", "zstd:23", "rgb", "gray", "bilinear", "lanczos", "apply", "shorter:٣",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if e, err := parsed[codec.EncodeOptions](s); err == nil {
			if again, err := parsed[codec.EncodeOptions](e.String()); err != nil || again != e {
				t.Errorf("encode %q is %q: %v, %v", s, e, again, err)
			}
		}
		if r, err := parseResize(s); err == nil {
			if again, err := parseResize(r.String()); err != nil || again != r || r.W < 0 || r.W > maxSide || r.H < 0 || r.H > maxSide {
				t.Errorf("resize %q is %q: %v, %v", s, r, again, err)
			}
			if err := (Recipe{Resize: r, Encode: codec.EncodeOptions{Encoding: "png"}}).Validate(); err != nil {
				t.Errorf("a recipe with resize %q: %v", s, err)
			}
		}
		if n, err := parsed[Zstd](s); err == nil && (n < 0 || n > 22 || n == 0 && s != "") {
			t.Errorf("compress %q is %d", s, n)
		}
		c, err := parsed[pixel.Color](s)
		if err == nil && string(c) != s {
			t.Errorf("color %q is %q", s, c)
		}
		x, err := parsed[pixel.Filter](s)
		if err == nil && string(x) != s {
			t.Errorf("filter %q is %q", s, x)
		}
	})
}

// parsed reads a value from its text.
func parsed[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](s string) (v T, err error) {
	err = P(&v).UnmarshalText([]byte(s))
	return v, err
}
