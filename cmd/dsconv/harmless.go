package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Names come from files, so that they can hold what moves a terminal's cursor, changes its colours
// or hides and turns its text. Everything that the commands print goes through harmless or, as
// JSON, through writeJSON; dsconv cat alone writes bytes as they are.

// hidden reports whether r is no letter, mark, number, sign or space: control characters, those
// that turn the direction of writing or have no width, and bytes that are no text.
func hidden(r rune) bool {
	if ' ' <= r && r < 0x7f { // most are of these, and the tables of Unicode take longer
		return false
	}
	return !unicode.IsGraphic(r) || r == utf8.RuneError
}

// moves reports whether r is hidden and neither ends a line nor a column.
func moves(r rune) bool { return r != '\n' && r != '\t' && hidden(r) }

// printable makes a key or path fit for a line of text: what is not printable is quoted.
func printable(s string) string {
	if strings.ContainsFunc(s, hidden) {
		return strconv.Quote(s)
	}
	return strings.Clone(s)
}

// harmless is text whose lines a terminal shows as they are.
func harmless(text string) string {
	return escape(text, moves, func(b *strings.Builder, char string) {
		quoted := strconv.Quote(char)
		b.WriteString(quoted[1 : len(quoted)-1])
	})
}

// escape lets each character that is to be escaped be written anew.
func escape(text string, is func(rune) bool, write func(b *strings.Builder, char string)) string {
	if !strings.ContainsFunc(text, is) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if is(r) {
			write(&b, text[:n])
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// printTo writes harmless text.
func printTo(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, harmless(fmt.Sprintf(format, args...)))
	return err
}

// writeJSON writes v and the end of a line. Hidden characters, which JSON allows in strings, are
// escaped there, so that the value is the same.
func writeJSON(w io.Writer, v any, indent string) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escape(text.String(), moves, func(b *strings.Builder, char string) {
		r, _ := utf8.DecodeRuneInString(char)
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	}))
	return err
}
