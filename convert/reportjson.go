package convert

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/dsconv/dsconv/internal/legible"
)

// JSON is UTF-8, and paths need not be: they go through legible.UTF8 and come back as they were.

type (
	skipFields    Skip
	warningFields Warning
)

// isBroken reports bytes that are no text, which decode to r.
func isInvalidUTF8(r rune) bool { return r == utf8.RuneError }

// MarshalJSON writes k with a path that is UTF-8.
func (k Skip) MarshalJSON() ([]byte, error) {
	k.Path, k.Cause = legible.UTF8(k.Path), legible.Escape(k.Cause, isInvalidUTF8)
	return json.Marshal(skipFields(k))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (k *Skip) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*skipFields)(k))
	k.Path = legible.Original(k.Path)
	return err
}

// MarshalJSON writes w with a path that is UTF-8.
func (w Warning) MarshalJSON() ([]byte, error) {
	w.Path = legible.UTF8(w.Path)
	return json.Marshal(warningFields(w))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (w *Warning) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*warningFields)(w))
	w.Path = legible.Original(w.Path)
	return err
}
