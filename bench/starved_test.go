package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStarvedInPython: Python's reports of training loops have the same limit of starvation.
func TestStarvedInPython(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "python", "src", "dsconv", "_report.py"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\nSTARVED = %g\n", starvedFrom); !strings.Contains(string(source), want) {
		t.Errorf("_report.py has no line%s", want)
	}
}
