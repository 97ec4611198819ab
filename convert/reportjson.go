package convert

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/dsconv/dsconv/internal/legible"
)

// JSON is UTF-8, but a path may have any bytes. legible.UTF8 encodes it; legible.Original decodes it.

type problemFields Problem

// isInvalidUTF8 reports whether r is what bytes that are not UTF-8 decode to.
func isInvalidUTF8(r rune) bool { return r == utf8.RuneError }

// MarshalJSON encodes k with its path as UTF-8.
func (k Problem) MarshalJSON() ([]byte, error) {
	k.Path, k.Cause = legible.UTF8(k.Path), legible.Escape(k.Cause, isInvalidUTF8)
	return json.Marshal(problemFields(k))
}

// UnmarshalJSON decodes what MarshalJSON encoded.
func (k *Problem) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*problemFields)(k))
	k.Path = legible.Original(k.Path)
	return err
}
