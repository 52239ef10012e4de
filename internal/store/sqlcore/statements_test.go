package sqlcore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// Every constant of this package that is a statement is among the statements, so that a test
// of an engine that goes through them leaves none out.
func TestEveryStatementIsListed(t *testing.T) {
	t.Parallel()
	begins := regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|SAVEPOINT|ROLLBACK|RELEASE)\b`)
	var found []string
	for _, entry := range must.Get(os.ReadDir("."))(t) {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0))(t)
		for _, decl := range file.Decls {
			consts, ok := decl.(*ast.GenDecl)
			if !ok || consts.Tok != token.CONST {
				continue
			}
			for _, spec := range consts.Specs {
				v := spec.(*ast.ValueSpec)
				for i, value := range v.Values {
					if begins.MatchString(firstText(t, value)) {
						found = append(found, v.Names[i].Name)
					}
				}
			}
		}
	}
	slices.Sort(found)
	must.Equal(t, "statements", slices.Sorted(maps.Keys(Statements())), found)
}

// firstText returns what a sum of texts begins with.
func firstText(t *testing.T, e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return must.Get(strconv.Unquote(x.Value))(t)
		}
	case *ast.BinaryExpr:
		return firstText(t, x.X)
	}
	return ""
}
