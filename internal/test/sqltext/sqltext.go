// Package sqltext reads the statements of SQL that packages have as constants, so that a test of an engine goes through all of them.
package sqltext

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var begins = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// Constants returns the statements that are constants of the packages in some folders, each by the name of its folder and its own. A folder comes
// behind those that its package imports constants from. Templates, and statements with the arguments of PostgreSQL, are left out.
func Constants(dirs ...string) (map[string]string, error) {
	exported, out := map[string]ast.Expr{}, map[string]string{}
	for _, dir := range dirs {
		values := maps.Clone(exported)
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return nil, err
			}
			constants(file, values)
		}
		for name, value := range values {
			text := folded(values, value)
			if ast.IsExported(name) {
				exported[name] = &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(text)}
			}
			if begins.MatchString(text) && !strings.Contains(text, "$1") && !strings.Contains(text, "%") {
				out[filepath.Base(dir)+" "+name] = text
			}
		}
	}
	return out, nil
}

// constants notes what the constants of a file are.
func constants(file *ast.File, values map[string]ast.Expr) {
	for _, decl := range file.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				values[v.Names[i].Name] = value
			}
		}
	}
}

// folded is the text of a constant, "" where it is none.
func folded(values map[string]ast.Expr, e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return folded(values, x.X) + folded(values, x.Y)
	case *ast.Ident:
		return folded(values, values[x.Name])
	case *ast.SelectorExpr:
		return folded(values, values[x.Sel.Name])
	}
	return ""
}
