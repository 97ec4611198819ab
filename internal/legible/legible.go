// Package legible makes names and messages that come from data, such as file names, printable on
// one line. File names may contain characters that move a terminal's cursor, change its colors,
// end a line or reverse the text, and bytes that are not text.
// It also reads sizes as people write them.
package legible

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether r is not a letter, mark, number, sign or space: control characters,
// characters that change the direction of writing or have no width, and bytes that are not text.
func Hidden(r rune) bool {
	if ' ' <= r && r < 0x7f { // the common case: the tables of Unicode take longer
		return false
	}
	return !unicode.IsGraphic(r) || r == utf8.RuneError
}

// IsQuoted reports whether Name quotes a name: if something in it is hidden, or if it begins with a
// quotation mark itself, so that a text that begins with one is always quoted.
func IsQuoted(name string) bool {
	return strings.HasPrefix(name, `"`) || strings.ContainsFunc(name, Hidden)
}

// Name returns a name for a line of text: as it is, or quoted as a Go string, "a\xffb". Original
// is its inverse.
func Name(name string) string {
	if IsQuoted(name) {
		return quote(name)
	}
	return strings.Clone(name)
}

// UTF8 returns a name for JSON, where only bytes that are not text must be quoted. Original is its
// inverse.
func UTF8(name string) string {
	if strings.HasPrefix(name, `"`) || !utf8.ValidString(name) {
		return quote(name)
	}
	return name
}

// quote is strconv.Quote, but also quotes the character that stands for bytes that are not text.
func quote(text string) string { return strings.ReplaceAll(strconv.Quote(text), "\ufffd", `\ufffd`) }

// Original returns the name that Name or UTF8 turned into text.
func Original(text string) string {
	if name, err := strconv.Unquote(text); err == nil && text[0] == '"' {
		return name
	}
	return text
}

// Line escapes the hidden characters in a message.
func Line(message string) string { return Escape(message, Hidden) }

// Escape escapes the characters for which is returns true.
func Escape(text string, is func(rune) bool) string {
	return Replace(text, is, func(b *strings.Builder, char string) {
		quoted := quote(char)
		b.WriteString(quoted[1 : len(quoted)-1])
	})
}

// Replace calls write to write the replacement of each character for which is returns true.
func Replace(text string, is func(rune) bool, write func(b *strings.Builder, char string)) string {
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
