package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// threats is the page of which each section has a promise that a test proves.
const threats = "docs/threat-model.md"

var (
	proofLink = regexp.MustCompile(`\]\(([^)#]+)#([^)]+)\)$`)
	proofTest = regexp.MustCompile(`^(?:Test|Script/)\w+`)
	proofRun  = regexp.MustCompile(`-run (?:'([^']*)'|(\S+))`)
)

// proof is a row of docs/proofs.md.
type proof struct {
	page, section string   // the promise
	tests         []string // functions, TestSuite/NAME for a check of a suite, Script/NAME for a script
	where         []string // their packages
	full          []string // flags in the Makefile
	open          bool     // it says why no test proves the promise, and names tests that come near
}

// Proofs reads docs/proofs.md. A row links the section of a page that has a promise, and names the tests that prove it,
// their packages, and the flags with which the Makefile runs one of them at full size. Proofs returns the sections,
// tests, checks, scripts and flags that do not exist, packages that have no test of their row, and the sections of
// docs/threat-model.md that no row links, one line each, sorted. A row of three cells says why no test proves its
// promise.
func Proofs(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "proofs.md"))
	if err != nil {
		return nil, err
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	unproven, err := sections(root, threats)
	if err != nil {
		return nil, err
	}
	var broken []string
	for line := range strings.Lines(string(text)) {
		p, ok := readProof(line)
		if !ok {
			continue
		}
		linked, err := sections(root, p.page)
		if err != nil || linked[p.section] == 0 {
			broken = append(broken, fmt.Sprintf("docs/proofs.md links %s#%s, which does not exist", p.page, p.section))
		}
		if p.page == threats && !p.open {
			delete(unproven, p.section)
		}
		broken = append(broken, p.missing(root)...)
		for _, flags := range p.full {
			if !p.runs(string(makefile), flags) {
				broken = append(broken,
					fmt.Sprintf("docs/proofs.md names %s, with which the Makefile does not run %s", flags, p.named()))
			}
		}
	}
	for section, level := range unproven {
		if level == 2 {
			broken = append(broken, fmt.Sprintf("docs/proofs.md has no row for %s#%s", threats, section))
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken), nil
}

// readProof reads a line of the page, and reports whether it is a row.
func readProof(line string) (p proof, ok bool) {
	line, ok = strings.CutSuffix(strings.TrimSpace(line), " |")
	cells := strings.Split(strings.TrimPrefix(line, "| "), " | ")
	link := proofLink.FindStringSubmatch(cells[0])
	if !ok || link == nil {
		return proof{}, false
	}
	p = proof{page: path.Join("docs", link[1]), section: link[2]}
	switch len(cells) {
	case 3:
		p.open = true
		p.tests = slices.DeleteFunc(codes(cells[1]), func(c string) bool { return !proofTest.MatchString(c) })
		p.where = codes(cells[2])
	case 4:
		p.tests, p.where, p.full = codes(cells[1]), codes(cells[2]), codes(cells[3])
	}
	return p, true
}

// codes returns the pieces of code in a cell.
func codes(cell string) (found []string) {
	for _, m := range indexCode.FindAllStringSubmatch(cell, -1) {
		found = append(found, m[1])
	}
	return found
}

// named returns the tests of a row as a text.
func (p proof) named() string {
	if len(p.tests) == 0 {
		return "a test"
	}
	return strings.Join(p.tests, ", ")
}

// missing returns the tests of a row that no package of it has, and its packages that have no test of it.
func (p proof) missing(root string) (broken []string) {
	if len(p.tests) == 0 && !p.open {
		broken = append(broken, fmt.Sprintf("docs/proofs.md names no test for a promise of %s#%s", p.page, p.section))
	}
	idle := slices.Clone(p.where)
	for _, test := range p.tests {
		name, check, _ := strings.Cut(test, "/")
		declared, checked := false, check == ""
		for _, pkg := range p.where {
			d, c := holds(root, pkg, name, check)
			declared, checked = declared || d, checked || c
			if d || c {
				idle = slices.DeleteFunc(idle, func(i string) bool { return i == pkg })
			}
		}
		if !declared || !checked {
			broken = append(broken,
				fmt.Sprintf("docs/proofs.md names %s, which is not in %s", test, strings.Join(p.where, ", ")))
		}
	}
	for _, pkg := range idle {
		broken = append(broken, fmt.Sprintf("docs/proofs.md names %s, which does not have %s", pkg, p.named()))
	}
	return broken
}

// holds reports whether a package declares a test, and whether it names a check of a suite. A script is both.
func holds(root, pkg, name, check string) (test, named bool) {
	if name == "Script" {
		there := exists(root, path.Join(pkg, "testdata", "script", check+".txtar"))
		return there, there
	}
	return goText(root, pkg, "*_test.go", "\nfunc "+name+"("), check != "" && goText(root, pkg, "*.go", `"`+check+`"`)
}

// goText reports whether a file of a package contains a text.
func goText(root, pkg, pattern, text string) bool {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), pattern))
	return err == nil && slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), text)
	})
}

// runs reports whether a line of the Makefile has the flags and a package of the row, and runs a test of the row.
func (p proof) runs(makefile, flags string) bool {
	for line := range strings.Lines(makefile) {
		words := strings.Fields(line)
		if !strings.Contains(strings.Join(words, " ")+" ", " "+flags+" ") ||
			!slices.ContainsFunc(p.where, func(pkg string) bool { return slices.Contains(words, "./"+pkg) }) {
			continue
		}
		m := proofRun.FindStringSubmatch(line)
		if m == nil {
			return true
		}
		chosen, err := regexp.Compile(strings.ReplaceAll(m[1]+m[2], "$$", "$"))
		if err == nil && slices.ContainsFunc(p.tests, func(test string) bool {
			name, _, _ := strings.Cut(test, "/")
			return chosen.MatchString(name)
		}) {
			return true
		}
	}
	return false
}

// sections returns the anchors of the headings of a page, each with the level of its heading.
func sections(root, page string) (map[string]int, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		return nil, err
	}
	found, code := map[string]int{}, false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		marks, title, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && !code && marks == strings.Repeat("#", len(marks)) {
			found[anchor(title)] = len(marks)
		}
	}
	return found, nil
}

// anchor returns the name that a heading has in an address.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
