//go:build cgo

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A limit of the process under which Go's runtime cannot start is said in a line.
func TestLowLimits(t *testing.T) {
	for limit, want := range map[string]string{
		"ulimit -v 400000":  "390 MiB of addresses",
		"ulimit -v 1500000": "1464 MiB of addresses",
	} {
		out, err := exec.Command("sh", "-c", limit+`; exec "$0" -test.run=^$`, os.Args[0]).CombinedOutput()
		said := string(out)
		if err == nil || !strings.HasPrefix(said, "dsconv: ") || !strings.Contains(said, want) || !strings.Contains(said, "ulimit") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: %v, %q", limit, err, said)
		}
	}
}
