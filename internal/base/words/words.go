// Package words says in plain words what records keep as codes and numbers: how a session ended, which host it ran in,
// how many things there are.
package words

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// ends are the reasons that Amber and the hosts give for the end of a session.
var ends = map[amber.EndReason]string{
	amber.EndEnded:                "ended",
	amber.EndCrash:                "crashed",
	amber.EndIdle:                 "went silent",
	"":                            "ended",
	"other":                       "ended",
	"exit":                        "closed",
	"user_close":                  "closed",
	"window_close":                "closed",
	"prompt_input_exit":           "closed",
	"sigint":                      "interrupted",
	"interrupt":                   "interrupted",
	"aborted":                     "interrupted",
	"clear":                       "cleared",
	"reset":                       "cleared",
	"resume":                      "resumed elsewhere",
	"logout":                      "logged out",
	"complete":                    "completed",
	"completed":                   "completed",
	"error":                       "failed",
	"bypass_permissions_disabled": "ended, the bypass of permissions was switched off",
}

// State says whether a session is open, and otherwise how it ended. A reason that is not known is shown as it is.
func State(s amber.Session) string {
	if s.EndedAt.IsZero() {
		return "open"
	}
	if said, ok := ends[s.EndReason]; ok {
		return said
	}
	return strings.ReplaceAll(string(s.EndReason), "_", " ")
}

// hosts are the names of hosts as their makers write them.
var hosts = map[string]string{
	amber.DefaultBinding: "command line",
	"page":               "the page",
	"tui":                "the terminal UI",
	"qwen":               "Qwen Code",
	"goose":              "Goose",
	"amp":                "Amp",
	"claude-code":        "Claude Code",
	"codex":              "Codex",
	"gemini":             "Gemini CLI",
	"cursor":             "Cursor",
	"copilot":            "GitHub Copilot CLI",
	"vscode":             "VS Code",
	"opencode":           "OpenCode",
	"droid":              "Factory Droid",
	"generic":            "another host",
	"chatgpt":            "ChatGPT",
	"claude-ai":          "Claude.ai",
}

// Host names the host, chat or terminal that a binding means. A binding that is not known is shown as it is.
func Host(binding string) string {
	if title, ok := hosts[binding]; ok {
		return title
	}
	return binding
}

// Author says who wrote something of a trust: the owner or an agent, in which program and session, by which token.
func Author(t amber.Trust, a amber.Author) string {
	said := map[amber.Trust]string{
		amber.TrustOwn: "the owner", amber.TrustSigned: "a trusted key", amber.TrustAgent: "an agent", amber.TrustDerived: "a rule", amber.TrustImported: "another system",
	}[t]
	for _, part := range []struct{ before, name string }{
		{" in ", Host(a.Host)}, {", agent ", a.Agent}, {", session ", string(a.Session)}, {", token ", a.Token},
	} {
		if part.name != "" {
			said += part.before + part.name
		}
	}
	return said
}

// Count writes a number of things: "1 file", "2 files".
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
