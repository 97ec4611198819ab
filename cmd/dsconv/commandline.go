package main

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

type commandLineKey struct{}

// withTyped remembers what was typed, so that an unfinished dataset can tell what began it.
func withCommandLine(ctx context.Context, args []string) context.Context {
	return context.WithValue(ctx, commandLineKey{}, args)
}

// plain are words that a shell takes as they are.
var plain = regexp.MustCompile(`^[\w./%=+,:@-]+$`)

// mostTyped bounds what is kept of a command, such as one with a thousand keys.
const maxCommandLine = 500

// typed is the command as it can be typed again. Without --discard: it would not go on.
func commandLine(ctx context.Context) string {
	args, _ := ctx.Value(commandLineKey{}).([]string)
	if len(args) == 0 {
		return ""
	}
	words := []string{"dsconv"}
	for _, word := range slices.DeleteFunc(slices.Clone(args[1:]), func(word string) bool { return word == "--discard" }) {
		if !plain.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	text := strings.Join(words, " ")
	if len(text) > maxCommandLine {
		return strings.ToValidUTF8(text[:maxCommandLine], "") + " ..."
	}
	return text
}
