package nonsense_test

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// notPublic are folders whose packages are not for users, or only for their tests.
var notPublic = map[string]bool{
	"internal": true, "cmd": true, "python": true, "examples": true, "scripts": true, "testdata": true, "build": true, "bin": true,
	"lab": true, "formattest": true, ".git": true,
}

// Each exported function and method of the public packages is called with nonsense by TestNonsenseIsRefused, or in the list
// of those that cannot be misused. A new one without either fails here.
func TestEveryExportedFunctionIsTestedForMisuse(t *testing.T) {
	listed := map[string]bool{}
	for _, f := range functions {
		listed[nameOf(f)] = true
	}
	for _, typ := range types {
		for m := range typ.Methods() {
			listed[methodName(typ.String(), m.Name)] = true
		}
	}
	exported := exportedFunctions(t)
	for _, name := range exported {
		if !listed[name] && !harmless[name] {
			t.Errorf("%s: add it to functions, or its type to types (functions_test.go)", name)
		}
	}
	for name := range harmless {
		if !slices.Contains(exported, name) {
			t.Errorf("there is no exported function %s: delete it from harmless (functions_test.go)", name)
		}
	}
	if len(exported) < 100 {
		t.Errorf("only %d exported functions were found", len(exported))
	}
}

var instance = regexp.MustCompile(`\[.*\]`)

// nameOf returns what a function is called in the code of another package: reader.New.
func nameOf(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return instance.ReplaceAllString(name[strings.LastIndex(name, "/")+1:], "")
}

func methodName(typ, method string) string {
	return strings.TrimPrefix(typ, "*") + "." + method
}

func exportedFunctions(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(root, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if notPublic[entry.Name()] {
			return filepath.SkipDir
		}
		p, err := build.ImportDir(dir, 0)
		var none *build.NoGoError
		if errors.As(err, &none) || err == nil && p.Name == "main" {
			return nil
		}
		if err != nil {
			return err
		}
		for _, file := range append(p.GoFiles, p.CgoFiles...) {
			list = append(list, exportedIn(t, p.Name, filepath.Join(dir, file))...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func exportedIn(t *testing.T, pkg, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() {
			continue
		}
		if f.Recv == nil {
			list = append(list, pkg+"."+f.Name.Name)
		} else if receiver := receiverOf(f); ast.IsExported(receiver) {
			list = append(list, methodName(pkg+"."+receiver, f.Name.Name))
		}
	}
	return list
}

func receiverOf(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	return of.(*ast.Ident).Name
}
