package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A result that cannot be printed is an error, whatever prints it.
func TestResultThatCannotBePrinted(t *testing.T) {
	src := samples(t, "20", "16x16")
	dst := filepath.Join(t.TempDir(), "x.tar")
	for _, args := range [][]string{
		{"pack", src, dst}, {"pack", src, dst, "--force", "--json"}, {"info", dst}, {"ls", dst}, {"verify", dst}, {"diff", dst, src}, {"help"}, {"pack", "--help"},
	} {
		var said strings.Builder
		code := run(t.Context(), append([]string{"dsconv"}, args...), &console{in: strings.NewReader(""), out: fullDisk{}, err: &said})
		if code != exitFailed && code != exitUnknown || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%v: exit code %d: %s", args, code, said.String())
		}
	}
}
