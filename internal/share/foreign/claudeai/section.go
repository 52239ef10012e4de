package claudeai

import (
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
)

// section is a part of a Markdown text with its heading; "" for what comes before the first.
type section struct{ heading, text string }

var heading = pattern.Of(`^(?:#{1,6}[ \t]+(.{1,200}?)[ \t]*#*|\*\*([^*]{1,200})\*\*:?)$`)

// sections splits a text at headings and at lines in bold. Empty sections are left out.
func sections(text string) (out []section) {
	var name string
	var body []string
	end := func() {
		if s := strings.TrimSpace(strings.Join(body, "\n")); s != "" {
			out = append(out, section{name, s})
		}
		body = nil
	}
	fence := false
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fence = !fence
		}
		if found := headingOf(line); found != "" && !fence {
			end()
			name = found
			continue
		}
		body = append(body, line)
	}
	end()
	return out
}

// headingOf returns the heading that a line is; "" for none.
func headingOf(line string) string {
	m := heading().FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return ""
	}
	return strings.Trim(m[1]+m[2], " \t*:")
}
