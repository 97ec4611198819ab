// Package interpreter starts Python.
package interpreter

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// search is the variable with the folders that Python imports from, before its own.
const search = "PYTHONPATH"

// isolated comes before all code. Python imports from the current folder first, where a stranger's json.py may
// lie: sys needs no file, and the folder is gone before anything else is imported. (-P does that since Python 3.11.)
const isolated = "import sys\nsys.path[:] = [p for p in sys.path if p]\n"

// Command returns a command that runs code in the Python called name, which imports nothing from the current
// folder unless the user's PYTHONPATH names that. The code finds args in sys.argv[1:].
func Command(ctx context.Context, name, code string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, append([]string{"-c", isolated + code}, args...)...)
	if folders, set := os.LookupEnv(search); set {
		c.Env = append(os.Environ(), search+"="+named(folders))
	}
	return c
}

// named leaves out the folders without a name: they mean the current one, and come from
// PYTHONPATH=$PYTHONPATH:/more where there was none before.
func named(folders string) string {
	list := slices.DeleteFunc(filepath.SplitList(folders), func(f string) bool { return f == "" })
	return strings.Join(list, string(filepath.ListSeparator))
}
