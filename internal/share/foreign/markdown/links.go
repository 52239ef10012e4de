package markdown

import (
	"net/url"
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
)

// withoutCode returns text with the code in it, between backticks, as backticks. Its length stays.
func withoutCode(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	runs := backticks(text)
	next := make([]int, len(runs)) // the next run of the same length; 0 for none
	seen := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		next[i] = seen[runs[i].length]
		seen[runs[i].length] = i
	}
	out := []byte(text)
	for i := 0; i < len(runs); i++ {
		if next[i] == 0 || isEscaped(text, runs[i].at) {
			continue
		}
		last := runs[next[i]]
		for j := runs[i].at; j < last.at+last.length; j++ {
			if out[j] != '\n' {
				out[j] = '`'
			}
		}
		i = next[i]
	}
	return string(out)
}

type run struct{ at, length int }

func backticks(text string) (out []run) {
	for i := 0; i < len(text); i++ {
		if text[i] != '`' {
			continue
		}
		at := i
		for i < len(text) && text[i] == '`' {
			i++
		}
		out = append(out, run{at, i - at})
	}
	return out
}

// isEscaped reports whether a backslash takes its meaning from the character at a place.
func isEscaped(text string, at int) bool {
	n := 0
	for at--; at >= 0 && text[at] == '\\'; at-- {
		n++
	}
	return n%2 == 1
}

// definition is a line that names the target of links elsewhere.
var definition = pattern.Of(`^ {0,3}\[([^\[\]]+)\]:\s*(<[^<>]*>|\S+)(\s+("[^"]*"|'[^']*'|\([^()]*\)))?\s*$`)

// reference keeps such a line.
func (s *scan) reference(text string) bool {
	m := definition().FindStringSubmatch(text)
	if m == nil {
		return false
	}
	if label := fold(m[1]); s.doc.refs[label] == "" {
		s.doc.refs[label] = strings.Trim(m[2], "<>")
	}
	return true
}

// fold makes two spellings of a label or title equal.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// wikiLinks returns the targets of [[...]] in a text without code. Source is the text with it.
func wikiLinks(text, source string) (out []string) {
	for start := 0; ; {
		from, to := nextWikiLink(text, start)
		if from < 0 {
			return out
		}
		if target := linkTarget(source[from+2 : to]); target != "" {
			out = append(out, target)
		}
		start = to + 2
	}
}

// nextWikiLink returns where the next link begins and where its closing brackets are.
func nextWikiLink(text string, at int) (from, to int) {
	from, depth := -1, 0
	for at+1 < len(text) {
		switch {
		case strings.HasPrefix(text[at:], `\[[`):
			at++
		case text[at] == '\\': // takes the meaning of what follows
		case text[at:at+2] == "[[":
			if depth++; depth == 1 {
				from = at
			}
		case text[at:at+2] == "]]" && depth > 0:
			if depth--; depth == 0 {
				return from, at
			}
		default:
			at++
			continue
		}
		at += 2
	}
	return -1, -1
}

// linkTarget returns what is between the brackets of a link: the note of a project is below its folder.
func linkTarget(s string) string {
	s = strings.TrimSpace(s)
	if project, rest, ok := strings.Cut(s, "::"); ok {
		s = project + "/" + strings.TrimLeft(rest, "/")
	}
	return s
}

var (
	inlineLink = pattern.Of(`\]\(\s*(<[^<>\n]*>|[^\s<>()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`)
	refLink    = pattern.Of(`\[([^\[\]]+)\](?:\[([^\[\]]*)\])?`)
)

// fileLinks returns the files that Markdown links of a text without code name, as the text spells them.
func (d document) fileLinks(text string) (out []string) {
	if !strings.Contains(text, "]") {
		return nil
	}
	opened := brackets(text)
	add := func(bracket int, href string) {
		if from, ok := opened[bracket]; !ok || from > 0 && text[from-1] == '!' {
			return
		}
		if target := filePath(strings.Trim(href, "<>")); target != "" {
			out = append(out, target)
		}
	}
	for _, m := range inlineLink().FindAllStringSubmatchIndex(text, -1) {
		add(m[0], text[m[2]:m[3]])
	}
	if len(d.refs) == 0 {
		return out
	}
	for _, m := range refLink().FindAllStringSubmatchIndex(text, -1) {
		label := text[m[2]:m[3]]
		if m[4] >= 0 && m[5] > m[4] {
			label = text[m[4]:m[5]]
		}
		if inline := m[1] < len(text) && text[m[1]] == '('; !inline && d.refs[fold(label)] != "" {
			add(m[3], d.refs[fold(label)])
		}
	}
	return out
}

// brackets returns where the bracket opens that each closing one closes.
func brackets(text string) map[int]int {
	opened := map[int]int{}
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			open = append(open, i)
		case ']':
			if n := len(open); n > 0 {
				opened[i] = open[n-1]
				open = open[:n-1]
			}
		}
	}
	return opened
}

// filePath returns the path that a link names, from the note on or from the root of the folder; "" for a link to
// elsewhere.
func filePath(href string) string {
	u, err := url.Parse(href)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || strings.HasPrefix(href, "//") ||
		strings.ContainsAny(u.Path, "\\\x00") || strings.HasSuffix(u.Path, "/") {
		return ""
	}
	if isPath(u.Path) {
		return u.Path
	}
	return "./" + u.Path
}

// isPath reports whether a target names a file by where it lies.
func isPath(target string) bool {
	return strings.HasPrefix(target, "/") || strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
}
