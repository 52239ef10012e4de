package authorship

import "github.com/amber-memory/amber"

// mark is a variable that an agent host sets for the commands that its agent runs, and not for those of its user.
type mark struct {
	host     string
	variable string
	value    string // "": any
}

// marks are those of the hosts that are known. Variables that a host also sets in the terminals of people, as
// CURSOR_TRACE_ID or VSCODE_PID, are not among them.
var marks = []mark{
	{"claude-code", "CLAUDECODE", ""},
	{"codex", "CODEX_SANDBOX", ""},
	{"codex", "CODEX_THREAD_ID", ""},
	{"gemini", "GEMINI_CLI", ""},
	{"qwen", "QWEN_CODE", ""},
	{"cursor", "CURSOR_AGENT", ""},
	{"opencode", "OPENCODE", ""},
	{"copilot", "COPILOT_CLI", ""},
	{"amp", "AGENT", "amp"},
	{"goose", "AGENT", "goose"},
}

// sessions are variables in which hosts name the session of the agent.
var sessions = []string{"CODEX_THREAD_ID", "AMBER_SESSION"}

// Shell returns who speaks through a command line with an environment: the agent whose host runs it, or the owner. Host names
// the program for the owner's case.
func Shell(getenv func(string) string, host string) Writer {
	for _, m := range marks {
		v := getenv(m.variable)
		if v == "" || m.value != "" && v != m.value {
			continue
		}
		a := amber.Author{Host: m.host}
		for _, name := range sessions {
			if s := getenv(name); s != "" && amber.CheckID("session", s) == nil {
				a.Session = amber.SessionID(s)
				break
			}
		}
		return Writer{Trust: amber.TrustAgent, Author: a}
	}
	return Writer{Trust: amber.TrustOwn, Author: amber.Author{Host: host}}
}
