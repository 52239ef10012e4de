package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// phrases are expressions that readers who learnt English at school have to decode.
// Each has a plain replacement, which depends on the sentence.
var phrases = []string{
	"all the same",
	"as good as",
	"whoever",
	"is something else",
	"there is a served",
	"nobody can tell",
	"half a number",
	"next line does not come",
	"nobody would look at",
	"was never confirmed",
	"for who says",
	"is with for who",
	"Idempotency-Key is none",
}

// banned finds the phrases in text whose white space is single spaces.
var banned = regexp.MustCompile(`(?i)\b(` + strings.Join(phrases, "|") + `)\b`)

// quoting are files that name a banned phrase without using it: this list with its
// tests, the stop words of English, and what was said at the time.
var quoting = []string{
	"CHANGELOG.md", "internal/recall/analyze/stopword.go", "internal/archtest/english.go", "internal/archtest/phrases.go", "internal/archtest/phrases_test.go",
}

// Phrases reads the comments and strings of every Go file below root, tests
// included, and every Markdown file but the changelog and docs/decisions. It returns
// each banned phrase, and each banned construction of a comment, with its file and line, sorted.
func Phrases(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if unread(rel, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case slices.Contains(quoting, rel):
		case filepath.Ext(rel) == ".go":
			some, err := phrasesOfGo(file, rel)
			found = append(found, some...)
			return err
		case filepath.Ext(rel) == ".md":
			text, err := os.ReadFile(file)
			found = append(found, phrasesOf(rel, 1, string(text))...)
			return err
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

// unread reports whether a folder holds texts that are not checked: those of others,
// and those that record what was said at the time.
func unread(rel, name string) bool {
	return slices.Contains([]string{"testdata", "bin", "node_modules"}, name) || strings.HasPrefix(name, ".") && rel != "." ||
		rel == "changelog" || rel == "docs/decisions"
}

func phrasesOfGo(file, rel string) (found []string, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	line := func(n ast.Node) int { return set.Position(n.Pos()).Line }
	for _, c := range f.Comments {
		found = append(found, phrasesOf(rel, line(c), c.Text())...)
	}
	found = append(found, constructionsOf(set, f, rel)...)
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				found = append(found, phrasesOf(rel, line(lit), text)...)
			}
		}
		return true
	})
	return found, nil
}

// phrasesOf looks through a text that begins at a line of a file. A phrase may be
// broken across two lines.
func phrasesOf(rel string, first int, text string) (found []string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		l = strings.Join(strings.Fields(l), " ")
		whole := l
		if i+1 < len(lines) {
			whole += " " + strings.Join(strings.Fields(lines[i+1]), " ")
		}
		for _, at := range banned.FindAllStringIndex(whole, -1) {
			if at[0] < len(l) { // else it is found with the next line
				found = append(found, fmt.Sprintf("%s:%d: %q is not plain English", rel, first+i, strings.ToLower(whole[at[0]:at[1]])))
			}
		}
	}
	return found
}
