package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

var placeholder = regexp.MustCompile("`[A-Z][A-Za-z,=]*`")

var noise = regexp.MustCompile(`.*(-\S+ value\b|\(default: false\)).*`)

// Help says what each flag takes, and no default that goes without saying.
func TestHelpNamesWhatFlagsTake(t *testing.T) {
	for _, cmd := range newApp(&console{}).Commands {
		for _, f := range cmd.Flags {
			doc := f.(cli.DocGenerationFlag)
			if named := placeholder.FindAllString(doc.GetUsage(), -1); doc.TakesValue() && len(named) != 1 {
				t.Errorf("dsconv %s --%s has the placeholders %q, want one such as `FILE`: %s", cmd.Name, f.Names()[0], named, doc.GetUsage())
			}
		}
		var out bytes.Buffer
		if code := run(context.Background(), []string{"dsconv", cmd.Name, "--help"}, &console{out: &out, err: &out}); code != exitDone {
			t.Errorf("dsconv %s --help: exit code %d", cmd.Name, code)
		}
		_, options, _ := strings.Cut(out.String(), "OPTIONS:")
		for _, line := range noise.FindAllString(options, -1) {
			t.Errorf("dsconv %s --help: %s", cmd.Name, line)
		}
	}
}
