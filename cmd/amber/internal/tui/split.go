package tui

import (
	"strings"

	"github.com/amber-memory/amber"
)

// splitWords splits a command line as a shell does: at blanks, with quotes and backslashes. Nothing is
// expanded. Errors: invalid for a quote that is not closed.
func splitWords(s string) (list []string, err error) {
	var b strings.Builder
	in, quote, escaped := false, rune(0), false
	for _, r := range s {
		switch {
		case escaped:
			escaped = false
			b.WriteRune(r)
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			in, quote = true, r
		case r == ' ' || r == '\t':
			if in {
				list = append(list, b.String())
			}
			in = false
			b.Reset()
		default:
			in = true
			b.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, amber.Errorf(amber.KindInvalid, "read command line", "", "a quote or a backslash at the end is not closed")
	}
	if in {
		list = append(list, b.String())
	}
	return list, nil
}

// quoted is a word as it is typed in a shell.
func quoted(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@+,=", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
