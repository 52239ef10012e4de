package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// construction is a way of writing comments that a reader has to decode, and the plain way.
type construction struct {
	pattern *regexp.Regexp
	plain   string
}

// constructions are banned in every comment. They hide the actor or the thing that a sentence is about.
var constructions = []construction{
	{regexp.MustCompile(`\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever)\b`), "name the actor"},
	{regexp.MustCompile(`(?:^|[.:] )(?:What|Who|One that) [a-z]`), "begin with the actor or the thing"},
	{regexp.MustCompile(`(?:^|[.:] )Of (?:the |a |an |those |these |two |all |each )?[a-z]`), "begin with the actor or the thing"},
	{regexp.MustCompile(`\b(?:tells?|told) (?:what|whether|who|of)\b`), "say reports, returns, lists or names"},
	{regexp.MustCompile(`\b[Ii]t is (?:looked|tried|told|asked|waited)\b`), "name who does it"},
	{regexp.MustCompile(`\b(?:stands? for|comes? with)\b`), "say is, means, has or contains"},
}

// excerpt is how many bytes of a comment are shown, from a construction on.
const excerpt = 60

// constructionsOf returns each banned construction in the comments of a file, with its line. The name that a comment
// documents is not read: it may be one of the words.
func constructionsOf(set *token.FileSet, f *ast.File, rel string) (found []string) {
	names := declared(f)
	for _, group := range f.Comments {
		text := strings.Join(strings.Fields(group.Text()), " ")
		if first, rest, _ := strings.Cut(text, " "); names[first] {
			text = rest
		}
		for _, c := range constructions {
			if at := c.pattern.FindStringIndex(text); at != nil {
				part := strings.TrimLeft(text[at[0]:], ".: ")
				found = append(found, fmt.Sprintf("%s:%d: %q: %s", rel, set.Position(group.Pos()).Line, part[:min(len(part), excerpt)], c.plain))
			}
		}
	}
	return found
}

// declared returns the names of types, functions, methods, constants, variables and fields of a file.
func declared(f *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.Field:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		}
		return true
	})
	return names
}
