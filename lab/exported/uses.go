package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/go/packages"
)

// uses marks what the files of a package use of other packages.
type uses struct {
	*survey
	fset *token.FileSet
	asks interfaces
	dir  string // of the package itself
}

func (u *uses) add(p *packages.Package) {
	for _, file := range p.Syntax {
		at := u.fset.Position(file.Package).Filename
		u.dir = filepath.Dir(at)
		if base := filepath.Base(at); strings.HasPrefix(base, "example") && strings.HasSuffix(base, "_test.go") {
			u.dir = "" // an example shows what users do
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				u.mark(p.TypesInfo.Uses[n])
			case *ast.CompositeLit:
				u.markUnkeyed(p.TypesInfo.TypeOf(n), n)
			case *ast.CallExpr:
				u.markConverted(p.TypesInfo, n)
			}
			return true
		})
		for _, label := range p.Types.Scope().Names() {
			if t, ok := p.Types.Scope().Lookup(label).(*types.TypeName); ok {
				u.markPromoted(t)
			}
		}
	}
}

func (u *uses) mark(o types.Object) {
	if o == nil || o.Pkg() == nil || !o.Exported() {
		return
	}
	n := u.at[position(u.fset, o)]
	if n == nil || filepath.Dir(n.file) == u.dir {
		return
	}
	n.used = true
	if _, isConst := o.(*types.Const); isConst {
		if named, ok := o.Type().(*types.Named); ok {
			u.mark(named.Obj())
		}
	}
}

// markUnkeyed marks the fields of a struct that is written without their names.
func (u *uses) markUnkeyed(t types.Type, literal *ast.CompositeLit) {
	if t == nil || len(literal.Elts) == 0 {
		return
	}
	if _, keyed := literal.Elts[0].(*ast.KeyValueExpr); keyed {
		return
	}
	if under, ok := t.Underlying().(*types.Struct); ok {
		for f := range under.Fields() {
			u.mark(f)
		}
	}
}

// markConverted marks the fields of a struct that another one is converted to: both need the same.
func (u *uses) markConverted(info *types.Info, call *ast.CallExpr) {
	if to := info.Types[call.Fun]; to.IsType() && to.Type != nil {
		if under, ok := to.Type.Underlying().(*types.Struct); ok {
			for f := range under.Fields() {
				u.mark(f)
			}
		}
	}
}

// markPromoted marks the methods of embedded types that let t satisfy an interface.
func (u *uses) markPromoted(t *types.TypeName) {
	named, ok := t.Type().(*types.Named)
	if !ok {
		return
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return
	}
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if len(m.Index()) > 1 && m.Obj().Exported() && u.asks.needs(named, m.Obj().Name()) {
			u.mark(m.Obj())
		}
	}
}

// mention is a name of a package in prose or code: reader.Loader, reader.Loader.Close.
var mention = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`)

// readDocs marks what the README and the documents mention.
func (s *survey) readDocs(root string) error {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return err
	}
	said := map[string]bool{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, m := range mention.FindAllStringSubmatch(string(text), -1) {
			said[m[1]+"."+m[2]] = true
		}
	}
	for _, n := range s.names {
		n.used = n.used || said[path.Base(n.pkg)+"."+n.label]
	}
	return nil
}
