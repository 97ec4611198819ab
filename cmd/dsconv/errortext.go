package main

import (
	"errors"
	"strings"

	"github.com/dsconv/dsconv/internal/legible"
)

var errInterrupted = errors.New("interrupted")

// linesOf is the text of an error in lines. What else ends a line in it comes from names, and is
// escaped.
func errorLines(err error) []string {
	text := err.Error()
	var inner []string
	core := text
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var texts []string
		for _, one := range joined.Unwrap() {
			texts = append(texts, one.Error())
			inner = append(inner, errorLines(one)...)
		}
		core = strings.Join(texts, "\n")
	} else if one := errors.Unwrap(err); one != nil {
		core, inner = one.Error(), errorLines(one)
	}
	before, after, found := strings.Cut(text, core)
	if inner == nil || !found || core == "" {
		return []string{legible.Line(text)}
	}
	inner[0] = legible.Line(before) + inner[0]
	after, hint, more := strings.Cut(after, "\n")
	inner[len(inner)-1] += legible.Line(after)
	if more {
		inner = append(inner, legible.Line(hint))
	}
	return inner
}
