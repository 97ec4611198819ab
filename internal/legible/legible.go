// Package legible writes names and messages that come from data, such as file names, so that a
// line of text shows them as they are. File names can hold what moves a terminal's cursor, changes
// its colors, ends a line or turns its text, and bytes that are no text at all.
package legible

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether r is no letter, mark, number, sign or space: control characters, those
// that turn the direction of writing or have no width, and bytes that are no text.
func Hidden(r rune) bool {
	if ' ' <= r && r < 0x7f { // most are of these, and the tables of Unicode take longer
		return false
	}
	return !unicode.IsGraphic(r) || r == utf8.RuneError
}

// IsQuoted reports whether Name quotes a name: if something in it is hidden, or if it begins with a
// quote itself, so that what begins with one is always quoted.
func IsQuoted(name string) bool {
	return strings.HasPrefix(name, `"`) || strings.ContainsFunc(name, Hidden)
}

// Name makes a name fit for a line of text: as it is, or quoted as a Go string, "a\xffb". Original
// undoes it.
func Name(name string) string {
	if IsQuoted(name) {
		return quote(name)
	}
	return strings.Clone(name)
}

// UTF8 makes a name fit for JSON, where only what is no text has to be quoted. Original undoes it.
func UTF8(name string) string {
	if strings.HasPrefix(name, `"`) || !utf8.ValidString(name) {
		return quote(name)
	}
	return name
}

// quote is strconv.Quote, which leaves the character that stands for bytes that are no text.
func quote(text string) string { return strings.ReplaceAll(strconv.Quote(text), "\ufffd", `\ufffd`) }

// Original is the name of which Name or UTF8 made text.
func Original(text string) string {
	if name, err := strconv.Unquote(text); err == nil && text[0] == '"' {
		return name
	}
	return text
}

// Line escapes what is hidden in a message, and leaves the rest.
func Line(message string) string { return Escape(message, Hidden) }

// Escape escapes the characters that is chooses.
func Escape(text string, is func(rune) bool) string {
	return Replace(text, is, func(b *strings.Builder, char string) {
		quoted := quote(char)
		b.WriteString(quoted[1 : len(quoted)-1])
	})
}

// Replace lets write put something in the place of each character that is chooses.
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
