package interpreter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/interpreter"
)

// TestCurrentFolderIsNotImported: neither by the code nor while Python starts, whatever PYTHONPATH is; a folder
// that it names is.
func TestCurrentFolderIsNotImported(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	folder, named := t.TempDir(), t.TempDir()
	for _, name := range []string{"json.py", "sitecustomize.py", "encodings.py", "dsconv.py"} {
		text := "open('was-imported', 'w')\nraise SystemExit('the current folder is imported')\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(named, "mine.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{named, named + ":", ":" + named, "::" + named + "::"} {
		t.Setenv("PYTHONPATH", path)
		c := interpreter.Command(t.Context(), python, "import json, mine, sys; print(json.dumps(sys.argv[1:]))", "a b", "-c")
		c.Dir = folder
		out, err := c.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != `["a b", "-c"]` {
			t.Errorf("PYTHONPATH=%s: %q: %v", path, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "was-imported")); err == nil {
		t.Error("a file of the current folder ran")
	}
}
