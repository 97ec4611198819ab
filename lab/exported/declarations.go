package main

import (
	"go/token"
	"go/types"
)

// declarations adds the exported names of one package.
type declarations struct {
	*survey
	fset *token.FileSet
	pkg  string
	asks interfaces
}

func (d *declarations) add(scope *types.Scope) {
	for _, label := range scope.Names() {
		o := scope.Lookup(label)
		if !o.Exported() {
			continue
		}
		t, isType := o.(*types.TypeName)
		if !isType {
			d.name(o, label)
			continue
		}
		n := d.name(t, label)
		if named, ok := t.Type().(*types.Named); ok && !t.IsAlias() {
			d.members(n, named)
		}
	}
	for _, label := range scope.Names() {
		if c, ok := scope.Lookup(label).(*types.Const); ok && c.Exported() {
			d.constant(c)
		}
	}
}

func (d *declarations) name(o types.Object, label string) *name {
	key := d.pkg + "." + label
	n := d.names[key]
	if n == nil {
		at := d.fset.Position(o.Pos())
		n = &name{pkg: d.pkg, label: label, file: at.Filename, line: at.Line}
		d.names[key] = n
	}
	d.at[position(d.fset, o)] = n
	if _, isType := o.(*types.TypeName); !isType {
		d.lead(n, o.Type())
	}
	return n
}

// constant lets a constant come with its type, and the type with it.
func (d *declarations) constant(c *types.Const) {
	named, ok := c.Type().(*types.Named)
	if !ok {
		return
	}
	if t := d.at[position(d.fset, named.Obj())]; t != nil {
		t.leads = append(t.leads, position(d.fset, c))
	}
}

func (d *declarations) members(t *name, named *types.Named) {
	switch under := named.Underlying().(type) {
	case *types.Struct:
		for i := range under.NumFields() {
			f := under.Field(i)
			if !f.Exported() {
				continue
			}
			n := d.name(f, t.label+"."+f.Name())
			n.used = n.used || under.Tag(i) != "" || f.Embedded()
		}
	case *types.Interface:
		// Who uses an interface uses all of its methods: with one less it is another interface.
		for m := range under.ExplicitMethods() {
			if m.Exported() {
				d.name(m, t.label+"."+m.Name())
				t.leads = append(t.leads, position(d.fset, m))
			}
		}
	default:
		d.lead(t, under)
	}
	for m := range named.Methods() {
		if m.Exported() {
			n := d.name(m, t.label+"."+m.Name())
			n.used = n.used || d.asks.needs(named, m.Name())
		}
	}
}

// lead lets the named types that appear in t come with n: who has an n meets them.
func (d *declarations) lead(n *name, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		n.leads = append(n.leads, position(d.fset, t.Obj()))
		d.lead(n, types.Unalias(t))
	case *types.Named:
		n.leads = append(n.leads, position(d.fset, t.Obj()))
		for a := range t.TypeArgs().Types() {
			d.lead(n, a)
		}
	case *types.Map:
		d.lead(n, t.Key())
		d.lead(n, t.Elem())
	case *types.Signature:
		for v := range t.Params().Variables() {
			d.lead(n, v.Type())
		}
		for v := range t.Results().Variables() {
			d.lead(n, v.Type())
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		d.lead(n, t.Elem())
	}
}
