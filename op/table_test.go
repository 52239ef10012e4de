package op_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
)

// Every operation that is declared is in the table, once.
func TestEveryOperationIsInTheTable(t *testing.T) {
	t.Parallel()
	ids, routes := map[string]bool{}, map[string]bool{}
	for _, o := range op.All() {
		if ids[o.ID] || routes[o.HTTP] {
			t.Errorf("%s, %s is in the table twice", o.ID, o.HTTP)
		}
		ids[o.ID], routes[o.HTTP] = true, true
		if method, _, ok := strings.Cut(o.HTTP, " /"); !ok || !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) {
			t.Errorf("%s has the route %q", o.ID, o.HTTP)
		}
	}
	declared := map[string]bool{}
	files := must.Get(filepath.Glob("*.go"))(t)
	for _, name := range files {
		f := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, _ := lit.Key.(*ast.Ident)
			value, _ := lit.Value.(*ast.BasicLit)
			if key != nil && key.Name == "ID" && value != nil && strings.Contains(value.Value, ".") {
				declared[strings.Trim(value.Value, `"`)] = true
			}
			return true
		})
	}
	for id := range declared {
		if !ids[id] {
			t.Errorf("%s is declared and not in the table", id)
		}
	}
	if len(declared) < 100 {
		t.Errorf("only %d declarations were found", len(declared))
	}
}

// A change is written down, so it says by its kind that it is one, and what may be repeated or is lasting changes something.
func TestKindsAgree(t *testing.T) {
	t.Parallel()
	for _, o := range op.All() {
		for _, k := range []op.Kind{op.Shows, op.Repeats, op.Lasting, op.OwnKey} {
			if o.Is(k) && !o.Is(op.Changes) {
				t.Errorf("%s is of a kind that only changes are of, and changes nothing", o.ID)
			}
		}
		if o.Is(op.Changes) && o.Method() == "GET" {
			t.Errorf("%s changes something by GET", o.ID)
		}
	}
}
