package claudecode

import (
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
)

// section is what lies below a heading.
type section struct {
	heading, text string
	line          int
}

// split cuts Markdown at its headings. A heading with nothing below it makes no section.
func split(text string) []section {
	var out []section
	cur := section{line: 1}
	var body strings.Builder
	flush := func() {
		if cur.text = strings.TrimSpace(body.String()); cur.text != "" {
			out = append(out, cur)
		}
		body.Reset()
	}
	for l := range codeLines(text) {
		if heading, ok := headingOf(l.text); ok && !l.code {
			flush()
			cur = section{heading: heading, line: l.n}
			continue
		}
		body.WriteString(l.text)
		body.WriteByte('\n')
	}
	flush()
	return out
}

// headingOf returns the text of a heading.
func headingOf(line string) (string, bool) {
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	if marks < 1 || marks > 6 || len(line) > marks && line[marks] != ' ' && line[marks] != '\t' {
		return "", false
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[marks:]), "#")), true
}

// mdLine is a line of Markdown, and whether it is in a block of code.
type mdLine struct {
	n    int
	text string
	code bool
}

// codeLines yields the lines of Markdown.
func codeLines(text string) func(yield func(mdLine) bool) {
	return func(yield func(mdLine) bool) {
		fence, n := "", 0
		for l := range strings.Lines(text) {
			n++
			l = strings.TrimRight(l, "\r\n")
			mark := fenceOf(l)
			code := fence != "" || mark != ""
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(l), mark[:1]) == "":
				fence = ""
			}
			if !yield(mdLine{n, l, code}) {
				return
			}
		}
	}
}

// fenceOf returns the marks that begin or end a block of code; "" for another line.
func fenceOf(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 {
		return ""
	}
	for _, c := range []string{"`", "~"} {
		if n := len(trimmed) - len(strings.TrimLeft(trimmed, c)); n >= 3 {
			return trimmed[:n]
		}
	}
	return ""
}

var codeSpans = pattern.Of("`[^`]*`")

// prose yields the lines of Markdown that are no code, without the code in them.
func prose(text string) func(yield func(n int, line string) bool) {
	return func(yield func(int, string) bool) {
		for l := range codeLines(text) {
			if !l.code && !yield(l.n, codeSpans().ReplaceAllString(l.text, "")) {
				return
			}
		}
	}
}

var wikiLinks = pattern.Of(`\[\[([^\[\]\n]{1,300})\]\]`)

// maxLinks bounds the links of one memory.
const maxLinks = 200

// linksOf returns the names that [[links]] of a text point to, each once.
func linksOf(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, line := range prose(text) {
		for _, match := range wikiLinks().FindAllStringSubmatch(line, maxLinks) {
			target, _, _ := strings.Cut(match[1], "|")
			target, _, _ = strings.Cut(target, "#")
			target = strings.TrimSuffix(strings.TrimSpace(target), ".md")
			if target != "" && !seen[target] && len(out) < maxLinks {
				seen[target] = true
				out = append(out, target)
			}
		}
	}
	return out
}
