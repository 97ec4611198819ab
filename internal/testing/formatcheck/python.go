package formatcheck

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Python runs a script with the interpreter that DSCONV_PYTHON names and gives what it
// prints, warnings included. Without one the test is skipped.
func Python(t testing.TB, script string, args ...string) string {
	t.Helper()
	return pythonOf(t, "DSCONV_PYTHON", script, args...)
}

// TorchPython is Python with torchvision: the interpreter that DSCONV_TORCH_PYTHON names.
func TorchPython(t testing.TB, script string, args ...string) string {
	t.Helper()
	return pythonOf(t, "DSCONV_TORCH_PYTHON", script, args...)
}

// ForeignPython is Python with the large libraries that write datasets, such as datasets and TensorFlow: the
// interpreter that DSCONV_FOREIGN_PYTHON names. make foreign installs it.
func ForeignPython(t testing.TB, script string, args ...string) string {
	t.Helper()
	return pythonOf(t, "DSCONV_FOREIGN_PYTHON", script, args...)
}

func pythonOf(t testing.TB, variable, script string, args ...string) string {
	t.Helper()
	interpreter := os.Getenv(variable)
	if interpreter == "" {
		t.Skip(variable + " is not set")
	}
	out, err := exec.Command(interpreter, append([]string{"-c", script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("python: %v\n%s\n%s", err, script, out)
	}
	return string(out)
}

// ReadJSON reads the JSON file at path, as a script has written it.
func ReadJSON(t testing.TB, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// PythonAgrees runs a script that compares the dataset in dir with want, which it finds
// there in want.json, and that prints "ok" and the number of samples it compared.
func PythonAgrees(t testing.TB, script, dir string, want []map[string]any) {
	t.Helper()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "want.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Python(t, script, dir); !strings.HasPrefix(got, fmt.Sprintf("ok %d", len(want))) {
		t.Fatalf("python says %s", got)
	}
}
