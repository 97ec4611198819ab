package main

import (
	"bytes"
	"context"
	"iter"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// allCommands yields all commands and their subcommands, with the words that call them.
func allCommands() iter.Seq2[string, *cli.Command] {
	return func(yield func(string, *cli.Command) bool) {
		for _, cmd := range newApp(&console{}).Commands {
			if !yield("dsconv "+cmd.Name, cmd) {
				return
			}
			for _, sub := range cmd.Subcommands {
				if !yield("dsconv "+cmd.Name+" "+sub.Name, sub) {
					return
				}
			}
		}
	}
}

var placeholder = regexp.MustCompile("`[A-Z][A-Za-z,=]*`")

var noise = regexp.MustCompile(`.*(-\S+ value\b|\(default: false\)).*`)

// Help says what each flag takes, and no default that goes without saying.
func TestHelpNamesWhatFlagsTake(t *testing.T) {
	for words, cmd := range allCommands() {
		for _, f := range cmd.Flags {
			doc := f.(cli.DocGenerationFlag)
			if named := placeholder.FindAllString(doc.GetUsage(), -1); doc.TakesValue() && len(named) != 1 {
				t.Errorf("%s --%s has the placeholders %q, want one such as `FILE`: %s", words, f.Names()[0], named, doc.GetUsage())
			}
		}
		var out bytes.Buffer
		if code := run(context.Background(), append(strings.Fields(words), "--help"), &console{out: &out, err: &out}); code != exitDone {
			t.Errorf("%s --help: exit code %d", words, code)
		}
		_, options, _ := strings.Cut(out.String(), "OPTIONS:")
		for _, line := range noise.FindAllString(options, -1) {
			t.Errorf("%s --help: %s", words, line)
		}
	}
}
