package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of the house. They only fall: a change that makes a package or a type smaller lowers its limit with it.
const (
	maxPackage = 8_400 // lines of code of a package
	maxRoom    = 3_000 // of a room of the command line
	maxMethods = 110   // of a type
)

// packageLimits are those of packages that have another limit than the rest.
var packageLimits = map[string]int{
	".":               3_900, // the nouns and contracts
	"cmd/amber":       900,   // wires the rooms
	"store/storetest": 9_000, // the suite of a store, which no user runs
}

// methodLimits are those of types that are above the limit and have to be split.
var methodLimits = map[string]int{
	"store/inmem.Store": 148, // every contract in memory, the double of tests
}

// Size counts lines of code and methods of the packages below root, without tests, and returns each package and type above
// its limit, one line each, sorted. A line of code has a token that is no comment.
func Size(root string) ([]string, error) {
	lines, methods := map[string]int{}, map[string]int{}
	err := sources(root, parser.SkipObjectResolution, func(file string, f *ast.File) error {
		src, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		lines[path.Dir(file)] += linesOfCode(src)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[path.Dir(file)+"."+receiver(fn)]++
			}
		}
		return nil
	})
	var found []string
	for _, p := range slices.Sorted(maps.Keys(lines)) {
		limit, own := packageLimits[p]
		switch {
		case own:
		case strings.HasPrefix(p, "cmd/amber/internal/"):
			limit = maxRoom
		default:
			limit = maxPackage
		}
		if lines[p] > limit {
			found = append(found, fmt.Sprintf("package %s has %d lines of code, the limit is %d", p, lines[p], limit))
		}
	}
	for _, t := range slices.Sorted(maps.Keys(methods)) {
		if limit := max(methodLimits[t], maxMethods); methods[t] > limit {
			found = append(found, fmt.Sprintf("type %s has %d methods, the limit is %d", t, methods[t], limit))
		}
	}
	return found, err
}

// linesOfCode counts the lines on which a token begins or goes on.
func linesOfCode(src []byte) (n int) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	last := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(lit, "\n")
		n += end - max(first-1, last)
		last = max(last, end)
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
