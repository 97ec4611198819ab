package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dsconv/dsconv/internal/legible"
)

// Names come from files, so that they can hold what moves a terminal's cursor, changes its colours
// or hides and turns its text. Everything that the commands print goes through harmless or, as
// JSON, through writeJSON; dsconv cat alone writes bytes as they are.

// moves reports whether r is hidden and neither ends a line nor a column.
func mustEscape(r rune) bool { return r != '\n' && r != '\t' && legible.Hidden(r) }

// printable makes a key or path fit for a line of text; legible.Original undoes it.
func printable(s string) string { return legible.Name(s) }

// appendPrintable appends printable(s).
func appendPrintable(to []byte, s string) []byte {
	if legible.IsQuoted(s) {
		return append(to, legible.Name(s)...)
	}
	return append(to, s...)
}

// harmless is text whose lines a terminal shows as they are.
func escapeHidden(text string) string { return legible.Escape(text, mustEscape) }

// printTo writes harmless text.
func printTo(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, escapeHidden(fmt.Sprintf(format, args...)))
	return err
}

// writeJSON writes v and the end of a line. Hidden characters, which JSON allows in strings, are
// escaped there, so that the value is the same.
func writeJSON(w io.Writer, v any, indent string) error { return newJSONWriter(w, indent).write(v) }

// ascii reports whether all of text is printable ASCII or the end of a line. Of JSON most is, and
// this is five times as fast as a look at each character.
func isPlainASCII(text []byte) bool {
	for _, c := range text {
		if c-' ' > '~'-' ' && c != '\n' {
			return false
		}
	}
	return true
}

// jsonWriter is writeJSON for many values.
type jsonWriter struct {
	w    io.Writer
	text bytes.Buffer
	enc  *json.Encoder
}

func newJSONWriter(w io.Writer, indent string) *jsonWriter {
	j := &jsonWriter{w: w}
	j.enc = json.NewEncoder(&j.text)
	j.enc.SetIndent("", indent)
	j.enc.SetEscapeHTML(false)
	return j
}

func (j *jsonWriter) write(v any) error {
	j.text.Reset()
	if err := j.enc.Encode(v); err != nil {
		return err
	}
	text := j.text.Bytes()
	if !isPlainASCII(text) && bytes.ContainsFunc(text, mustEscape) {
		text = []byte(legible.Replace(string(text), mustEscape, func(b *strings.Builder, char string) {
			r, _ := utf8.DecodeRuneInString(char)
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(b, `\u%04x`, unit)
			}
		}))
	}
	_, err := j.w.Write(text)
	return err
}
