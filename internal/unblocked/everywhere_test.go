package unblocked

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the folders whose programs and tests open only files of their own, of the kernel or of this repository.
var elsewhere = []string{
	"bench/internal", "bench/monitor", "build", "examples", "internal/durable", "internal/procmemory", "internal/synth", "internal/testing", "internal/unblocked",
	"lab", "python", "scripts", "testdata",
}

// All other packages open and read files through this one: os.Open and os.ReadFile wait for a pipe that a stranger has put
// in the place of a file, and nothing can interrupt that.
func TestNothingElseOpensFiles(t *testing.T) {
	root := filepath.Join("..", "..")
	checked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains(elsewhere, filepath.ToSlash(rel)) || strings.HasPrefix(d.Name(), ".git")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		checked++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			called, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := called.X.(*ast.Ident); ok && of.Name == "os" && (called.Sel.Name == "Open" || called.Sel.Name == "ReadFile") {
				t.Errorf("%s: os.%s waits for a pipe: use internal/unblocked", files.Position(n.Pos()), called.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil || checked < 300 {
		t.Errorf("%d files checked, %v", checked, err)
	}
}
