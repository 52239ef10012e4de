package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// counted are the packages that tell people and agents numbers of things.
var counted = []string{"cmd/amber", "internal/serve"}

// telling are the calls that make what is told. Errors are left out: the numbers in them are mostly limits.
var telling = []string{"Sprintf", "Fprintf", "Appendf", "Note", "Warn", "Confirm", "Wrapped", "note", "warn", "say"}

// thing is a number and the plural of what it counts, with the word before; bound is a word after which the number is a limit, or the
// second of two.
var (
	thing = regexp.MustCompile(`([A-Za-z]+)? ?%d ([a-z]+ )??([a-z]+s|entities|memories)\b`)
	bound = []string{"than", "most", "least", "of", "to", "last", "first", "every", "within"}
	// verbs and such, which are no plurals
	verbs = []string{"is", "was", "has", "does", "this", "ms", "as", "says", "others"}
)

// Counts reads the Go files of the packages that tell numbers and returns the formats that say "1 things": a number of things goes
// through words.Count.
func Counts(root string) ([]string, error) {
	var broken []string
	err := sources(root, parser.SkipObjectResolution, func(file string, f *ast.File) error {
		if !slices.ContainsFunc(counted, func(dir string) bool { return strings.HasPrefix(file, dir+"/") }) {
			return nil
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains(telling, nameOf(call.Fun)) {
				return true
			}
			for _, arg := range call.Args {
				if text, ok := arg.(*ast.BasicLit); ok && text.Kind == token.STRING {
					broken = append(broken, plurals(file, text)...)
				}
			}
			return true
		})
		return nil
	})
	slices.Sort(broken)
	return broken, err
}

func nameOf(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

func plurals(file string, lit *ast.BasicLit) (broken []string) {
	text, err := strconv.Unquote(lit.Value)
	if err != nil || strings.Contains(text, "want ") || strings.Contains(text, "limit ") { // it refuses a number that is too large
		return nil
	}
	for _, m := range thing.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(bound, m[1]) && !slices.Contains(verbs, m[3]) {
			broken = append(broken, fmt.Sprintf("%s says %q: internal/words counts one thing as one", file, m[0]))
		}
	}
	return broken
}
