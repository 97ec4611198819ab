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

// Names come from files, so they may contain characters that move a terminal's cursor, change its
// colours, or hide or reverse text. Everything that the commands print goes through escapeHidden or,
// as JSON, through writeJSON. Only dsconv cat writes bytes as they are.

// mustEscape reports whether r is a hidden character other than newline and tab.
func mustEscape(r rune) bool { return r != '\n' && r != '\t' && legible.Hidden(r) }

// printable escapes a key or path for a line of text; legible.Original reverses it.
func printable(s string) string { return legible.Name(s) }

// appendPrintable appends printable(s).
func appendPrintable(to []byte, s string) []byte {
	if legible.IsQuoted(s) {
		return append(to, legible.Name(s)...)
	}
	return append(to, s...)
}

// escapeHidden escapes the hidden characters of text, apart from newlines and tabs.
func escapeHidden(text string) string { return legible.Escape(text, mustEscape) }

// printTo writes formatted text to w, escaped by escapeHidden.
func printTo(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, escapeHidden(fmt.Sprintf(format, args...)))
	return err
}

// writeJSON writes v and a newline. Hidden characters, which JSON allows in strings, are written as
// escapes, so the value is the same.
func writeJSON(w io.Writer, v any, indent string) error { return newJSONWriter(w, indent).write(v) }

// isPlainASCII reports whether text has only printable ASCII characters and newlines. Most JSON does,
// and this check is five times as fast as decoding the characters.
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
