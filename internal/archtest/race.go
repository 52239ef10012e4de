package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// lane is the first line of a test that make test-race runs in a package of MARKED.
const lane = "\trace.Lane(t)"

// Races compares the lists RACED, UNRACED and MARKED of the Makefile with the packages below root: each package whose program
// code has goroutines is in one of them. A test is marked with race.Lane in its first line, in a package of MARKED,
// and each of those packages has one.
func Races(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	marked := listed(string(text), "MARKED")
	all := slices.Concat(marked, listed(string(text), "RACED"), listed(string(text), "UNRACED"))
	var broken []string
	started := map[string]bool{}
	err = sources(root, parser.SkipObjectResolution, func(file string, f *ast.File) error {
		pkg := path.Dir(file)
		started[pkg] = started[pkg] || starts(f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, pkg := range all {
		if _, ok := started[pkg]; !ok {
			broken = append(broken, pkg+" is in a list of the race detector in the Makefile and no package")
		}
	}
	for pkg, yes := range started {
		if yes && !strings.HasPrefix(pkg, "tools/") && !slices.Contains(all, pkg) {
			broken = append(broken, pkg+" starts goroutines, and no list of the race detector in the Makefile has it")
		}
	}
	lanes, err := marks(root)
	if err != nil {
		return nil, err
	}
	for _, m := range lanes {
		if !m.first || !slices.Contains(marked, path.Dir(m.file)) {
			broken = append(broken, m.file+" has race.Lane elsewhere than in the first line of a test in a package of MARKED")
		}
	}
	for _, pkg := range marked {
		if !slices.ContainsFunc(lanes, func(m mark) bool { return path.Dir(m.file) == pkg }) {
			broken = append(broken, fmt.Sprintf("%s is in MARKED, and none of its tests is marked with race.Lane", pkg))
		}
	}
	slices.Sort(broken)
	return broken, nil
}

// listed returns the words of a list in a Makefile, with the names in $(addprefix DIR, NAMES) behind their folder.
func listed(makefile, name string) (words []string) {
	_, list, _ := strings.Cut(makefile, "\n"+name+" := ")
	list, _, _ = strings.Cut(strings.ReplaceAll(list, "\\\n", " "), "\n")
	plain, rest, _ := strings.Cut(list, "$(addprefix ")
	words = strings.Fields(plain)
	prefix, names, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(rest), ")"), ",")
	for _, n := range strings.Fields(names) {
		words = append(words, prefix+n)
	}
	return words
}

// starts reports whether a file starts goroutines: with go, or by a method Go such as that of sync.WaitGroup.
func starts(f *ast.File) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found = true
			}
		}
		return !found
	})
	return found
}

// mark is a call of race.Lane: in which file, and whether it is the first line of a test.
type mark struct {
	file  string
	first bool
}

func marks(root string) (found []mark, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != root || d.Name() == "archtest") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		before := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if strings.Contains(line, "race.Lane(") {
				found = append(found, mark{filepath.ToSlash(rel), line == lane && strings.HasPrefix(before, "func Test")})
			}
			before = line
		}
		return err
	})
	return found, err
}
