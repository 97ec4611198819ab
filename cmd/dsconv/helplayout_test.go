package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/mattn/go-runewidth"
)

// TestHelpFits: no help text is wider than the terminal, apart from words that are.
func TestHelpFits(t *testing.T) {
	for _, columns := range []int{40, 80, 200, 0} {
		width := min(columns, widestHelp)
		if columns == 0 {
			width = usualHelp
		}
		for words, cmd := range allCommands() {
			var out bytes.Buffer
			if code := run(context.Background(), append(strings.Fields(words), "--help"), &console{out: &out, err: &out, columns: columns}); code != exitDone {
				t.Errorf("%s: exit code %d", cmd.Name, code)
			}
			for _, line := range strings.Split(out.String(), "\n") {
				if runewidth.StringWidth(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s, %d columns: %s", cmd.Name, columns, line)
				}
			}
			if cmd.Name == "rm" && columns > 0 {
				sameScreen(t, fmt.Sprintf("rm-help-%d.txt", columns), out.String())
			}
		}
	}
}

// TestManPage: it has every command, flag and exit code, and groff and mandoc have no complaints.
func TestManPage(t *testing.T) {
	var out bytes.Buffer
	c := &console{out: &out, err: &out}
	if code := run(context.Background(), []string{"dsconv", "man"}, c); code != exitDone {
		t.Fatal(out.String())
	}
	page := strings.ReplaceAll(out.String(), `\-`, "-")
	for _, cmd := range allCommands() {
		if !strings.Contains(page, "\n.SH "+cmd.Name+"\n") && !strings.Contains(page, "\n.SS "+cmd.Name+"\n") {
			t.Errorf("%s is missing", cmd.Name)
		}
		for _, f := range cmd.Flags {
			visible, ok := f.(cli.VisibleFlag)
			if name := f.Names()[0]; ok && visible.IsVisible() && len(name) > 1 && !strings.Contains(page, "--"+name) {
				t.Errorf("--%s is missing", name)
			}
		}
	}
	for _, text := range []string{"--classes", "3 some skipped", "'*.png'"} {
		if !strings.Contains(page, text) {
			t.Errorf("%q is missing", text)
		}
	}
	for _, checker := range [][]string{{"groff", "-man", "-Tutf8", "-ww", "-z"}, {"mandoc", "-T", "lint", "-W", "error"}} {
		t.Run(checker[0], func(t *testing.T) {
			if _, err := exec.LookPath(checker[0]); err != nil {
				t.Skipf("there is no %s", checker[0])
			}
			cmd := exec.Command(checker[0], checker[1:]...)
			cmd.Stdin = bytes.NewReader(out.Bytes())
			if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}
