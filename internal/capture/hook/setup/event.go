package setup

import "strings"

// event is an event that a host gives to Amber, and how many seconds Amber may
// take for it.
type event struct {
	name    string
	seconds int
}

// usual is how long a hook may take. It takes a few milliseconds; a host that
// waits longer than this has a disk that stands still.
const usual = 10

func eventsOf(names string) (out []event) {
	for name := range strings.FieldsSeq(names) {
		out = append(out, event{name, usual})
	}
	return out
}

// The events each host is asked for. Not those before a tool: what comes after
// says all of it, and each costs a process.
func codexEvents() []event {
	events := eventsOf("SessionStart UserPromptSubmit PostToolUse SubagentStart SubagentStop PreCompact PostCompact Stop")
	// Codex allows SessionEnd 3 s and complains about more.
	return append(events, event{"SessionEnd", 3})
}

func geminiEvents() []event {
	return eventsOf("SessionStart BeforeAgent AfterTool AfterAgent PreCompress SessionEnd")
}

func cursorEvents() []event {
	return eventsOf("sessionStart beforeSubmitPrompt postToolUse postToolUseFailure subagentStart subagentStop preCompact afterAgentResponse stop sessionEnd")
}

// copilotEvents are those of Copilot and of VS Code, which read the same files
// and pass over names they do not know. Names in this spelling make both send the
// payload of Claude Code.
func copilotEvents() []event {
	return eventsOf("SessionStart UserPromptSubmit PostToolUse PostToolUseFailure SubagentStart SubagentStop PreCompact Stop ErrorOccurred SessionEnd")
}

func droidEvents() []event {
	return eventsOf("SessionStart UserPromptSubmit PostToolUse SubagentStop PreCompact Stop SessionEnd")
}

// handler is an entry that runs a command. The order of its fields is the
// order in the file.
type handler struct {
	Type       string `json:"type,omitempty"`
	Command    string `json:"command,omitempty"`
	Bash       string `json:"bash,omitempty"`
	PowerShell string `json:"powershell,omitempty"`
	Timeout    int    `json:"timeout,omitempty"`
	TimeoutSec int    `json:"timeoutSec,omitempty"`
}

// group is a list of entries as most hosts have them; without a matcher it is
// for everything.
type group struct {
	Hooks []handler `json:"hooks"`
}
