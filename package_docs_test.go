package dsconv_test

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// go doc of each public package begins with what it is for and has a snippet, which is a piece of an example that is
// compiled. A line "..." stands for lines that are left out.
func TestPackageDocumentsHaveSnippets(t *testing.T) {
	programs := examplePrograms(t)
	packages := publicPackages(t)
	if len(packages) < 15 {
		t.Errorf("only %d public packages were found: %v", len(packages), packages)
	}
	for _, dir := range packages {
		text := packageComment(t, dir)
		count := 0
		for _, block := range new(comment.Parser).Parse(text).Content {
			code, isCode := block.(*comment.Code)
			if !isCode || !goCode.MatchString(code.Text) {
				continue
			}
			count++
			snippet := leftOut.ReplaceAllString(code.Text, "// ...\n")
			if !isPieceOfOne(strings.TrimPrefix(strings.TrimRight(snippet, "\n")+"\n", "// ...\n"), programs) {
				t.Errorf("%s: this snippet of the package's comment is in no example*_test.go:\n%s", dir, code.Text)
			}
		}
		if count == 0 {
			t.Errorf("%s: the package's comment has no Go snippet that shows its use", dir)
		}
	}
}

var (
	// goCode tells Go from tables of a layout on disk: it uses an exported name of a package, or is a call.
	goCode  = regexp.MustCompile(`\b[a-z0-9]+\.[A-Z]\w*[({\[]`)
	leftOut = regexp.MustCompile(`(?m)^\s*\.\.\.\n`)
)

// publicPackages returns the folders of the packages that users import.
func publicPackages(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	var list []string
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch e.Name() {
		case "internal", "cmd", "examples", "python", "testdata", "build", "bin", "scripts", "lab", ".git":
			if e.IsDir() {
				return fs.SkipDir
			}
		}
		dir := filepath.Dir(path)
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !seen[dir] {
			seen[dir] = true
			list = append(list, dir)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func packageComment(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	d, err := doc.NewFromFiles(set, parsed, "github.com/dsconv/dsconv/"+filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	if want := "Package " + d.Name + " "; !strings.HasPrefix(d.Doc, want) {
		t.Errorf("%s: the package's comment must begin with %q and say what the package is for", dir, want)
	}
	return d.Doc
}
