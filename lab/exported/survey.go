package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// std are packages of the standard library whose interfaces our methods may be for.
var std = []string{
	"context", "encoding", "encoding/json", "errors", "flag", "fmt", "hash", "image", "image/color", "io", "io/fs", "sort", "testing",
}

// load looks at the packages of the modules.
func (s *survey) load(env string, modules []string) error {
	fset := token.NewFileSet()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax |
			packages.NeedTypesInfo | packages.NeedDeps, // with dependencies from their source, none is compiled
		Dir: s.root, Fset: fset, Tests: true, Env: append(os.Environ(), env), BuildFlags: []string{"-tags=deadcode"},
		ParseFile: s.parse,
	}, append(modules, std...)...)
	if err != nil {
		return err
	}
	asks := interfaces{}
	var ours []*packages.Package
	for _, p := range loaded {
		asks.add(p)
		if p.PkgPath != module && p.PkgPath != module+"_test" && !strings.HasPrefix(p.PkgPath, module+"/") {
			continue
		}
		if len(p.Errors) > 0 {
			return fmt.Errorf("%s (%s): %w", p.ID, env, p.Errors[0])
		}
		ours = append(ours, p)
	}
	for _, p := range ours {
		if p.Name != "main" && p.ID == p.PkgPath {
			(&declarations{survey: s, fset: fset, pkg: p.PkgPath, asks: asks}).add(p.Types.Scope())
		}
	}
	for _, p := range ours {
		(&uses{survey: s, fset: fset, asks: asks}).add(p)
	}
	return nil
}

// parse leaves out what the functions of others do. Files that cgo made, in Go's cache, have other endings.
func (s *survey) parse(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err == nil && strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, s.root+string(filepath.Separator)) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
	}
	return file, err
}

// position is where an object is declared; an instance of a generic one is declared where that is.
func position(fset *token.FileSet, o types.Object) string {
	switch generic := o.(type) {
	case *types.Var:
		o = generic.Origin()
	case *types.Func:
		o = generic.Origin()
	}
	at := fset.Position(o.Pos())
	return fmt.Sprintf("%s:%d:%d", at.Filename, at.Line, at.Column)
}

// interfaces are those that methods may be for, by the names of their methods.
type interfaces map[string][]*types.Interface

// add takes the interfaces that a package declares, and those that our packages mention.
func (a interfaces) add(p *packages.Package) {
	for _, label := range p.Types.Scope().Names() {
		if t, ok := p.Types.Scope().Lookup(label).(*types.TypeName); ok {
			a.addType(t.Type())
		}
	}
	if !strings.HasPrefix(p.PkgPath, module) {
		return
	}
	for _, tv := range p.TypesInfo.Types {
		a.addType(tv.Type)
		if call, ok := tv.Type.(*types.Signature); ok {
			for v := range call.Params().Variables() {
				a.addType(v.Type())
			}
		}
	}
}

func (a interfaces) addType(t types.Type) {
	if i, ok := t.Underlying().(*types.Interface); ok {
		for m := range i.Methods() {
			a[m.Name()] = append(a[m.Name()], i)
		}
	}
}

// needs reports whether the method lets t satisfy an interface.
func (a interfaces) needs(t *types.Named, method string) bool {
	switch method {
	case "Is", "As", "Unwrap": // package errors names no interface for them
		return true
	}
	seen := map[*types.Interface]bool{}
	for _, i := range a[method] {
		if !seen[i] && types.Implements(types.NewPointer(t), i) {
			return true
		}
		seen[i] = true
	}
	return false
}
