package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"maps"
	"path"
	"slices"
	"strings"
)

// Exported returns the names that a program may use, of the packages below root that are neither below an internal folder nor
// programs: a line for each type, with its fields and methods, for each function, constant and variable, sorted.
func Exported(root string) (string, error) {
	names := map[string][]string{} // by package and name, the members
	err := sources(root, parser.SkipObjectResolution, func(file string, f *ast.File) error {
		pkg := path.Dir(file)
		if strings.Contains("/"+pkg+"/", "/internal/") || f.Name.Name == "main" {
			return nil
		}
		for _, d := range f.Decls {
			for _, name := range exportedOf(d) {
				owner, member, ok := strings.Cut(name, ".")
				owner = pkg + " " + owner
				names[owner] = append(names[owner], member)
				if !ok {
					names[owner] = names[owner][:len(names[owner])-1]
				}
			}
		}
		return nil
	})
	var b strings.Builder
	for _, owner := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[owner])
		fmt.Fprintln(&b, strings.Join(append([]string{owner}, names[owner]...), " "))
	}
	return b.String(), err
}

// exportedOf returns the exported names of a declaration.
func exportedOf(d ast.Decl) (names []string) {
	add := func(owner string, ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, owner+id.Name)
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		switch {
		case d.Recv == nil:
			add("", d.Name)
		case ast.IsExported(receiver(d)):
			add(receiver(d)+".", d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				add("", spec.Names...)
			case *ast.TypeSpec:
				add("", spec.Name)
				if spec.Name.IsExported() {
					for _, id := range members(spec.Type) {
						add(spec.Name.Name+".", id)
					}
				}
			}
		}
	}
	return names
}

// members returns the names of the fields of a struct and of the methods of an interface, embedded ones by their type.
func members(t ast.Expr) (ids []*ast.Ident) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		ids = append(ids, f.Names...)
		if len(f.Names) > 0 {
			continue
		}
		switch x := f.Type.(type) {
		case *ast.StarExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				ids = append(ids, id)
			}
		case *ast.Ident:
			ids = append(ids, x)
		case *ast.SelectorExpr:
			ids = append(ids, x.Sel)
		}
	}
	return ids
}
