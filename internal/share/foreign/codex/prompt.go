package codex

import "strings"

// own are the texts that the program puts into messages of the user, and where each ends; "" where it is the whole part.
var own = []struct{ begin, end string }{
	{"<environment_context>", "</environment_context>"},
	{"# AGENTS.md", "</INSTRUCTIONS>"},
	{"<INSTRUCTIONS>", "</INSTRUCTIONS>"},
	{"<user_instructions>", "</user_instructions>"},
	{"<turn_aborted>", "</turn_aborted>"},
	{"<subagent_notification>", "</subagent_notification>"},
	{"<skill>", "</skill>"},
	{"<goal_context>", "</goal_context>"},
}

// said returns what the user typed: a message without what the program put before it.
func said(parts []string) string {
	var out []string
	for _, p := range parts {
		if p = typed(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}

func typed(part string) string {
	for {
		rest := strings.TrimSpace(part)
		found := false
		for _, o := range own {
			if strings.HasPrefix(rest, o.begin) {
				_, part, _ = strings.Cut(rest, o.end)
				found = true
				break
			}
		}
		if !found {
			return strings.TrimRight(strings.TrimLeft(part, "\r\n"), " \t\r\n")
		}
	}
}
