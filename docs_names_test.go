package dsconv_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each Go name in a document, such as `reader.Batch` or `Loader.Close`, is one of the code.
func TestNamesInDocumentsExist(t *testing.T) {
	all := codeNames(t)
	documents := []string{
		"docs/go.md", "docs/own-format.md", "docs/loader.md", "docs/design.md", "docs/glossary.md", "docs/pixels.md", "CONTRIBUTING.md",
	}
	count := 0
	for _, document := range documents {
		text := read(t, document)
		for _, found := range goName.FindAllStringSubmatch(text, -1) {
			first, rest := found[1], found[2]
			if _, known := all[first]; !known {
				continue // not a package or type of this module
			}
			count++
			if !slices.Contains(all[first], rest) {
				t.Errorf("%s: %s has no %s", document, first, rest)
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d names were found", count)
	}
}

// goName is `package.Name`, `package.Type.Member` (whose first two are checked) or `Type.Member`.
var goName = regexp.MustCompile("`([A-Za-z][a-z0-9A-Z]*)\\.([A-Z]\\w*)[^`]*`")

// codeNames returns what may follow the point, by package and by exported type.
func codeNames(t *testing.T) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{"build", "bin", ".git", "testdata", "python", "scripts"}, e.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			addNames(names, f.Name.Name, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func addNames(names map[string][]string, pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names[pkg] = append(names[pkg], d.Name.Name)
			return
		}
		if receiver := typeName(d.Recv.List[0].Type); ast.IsExported(receiver) {
			names[receiver] = append(names[receiver], d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names[pkg] = append(names[pkg], name.Name)
				}
			case *ast.TypeSpec:
				names[pkg] = append(names[pkg], spec.Name.Name)
				if spec.Name.IsExported() {
					names[spec.Name.Name] = append(names[spec.Name.Name], members(spec.Type)...)
				}
			}
		}
	}
}

// members returns the fields of a struct or the methods of an interface; of what is embedded its name.
func members(e ast.Expr) (list []string) {
	var fields *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		fields = e.Fields
	case *ast.InterfaceType:
		fields = e.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		for _, name := range f.Names {
			list = append(list, name.Name)
		}
		if len(f.Names) == 0 {
			list = append(list, typeName(f.Type))
		}
	}
	return list
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
