package hook

import (
	"path/filepath"
	"strings"
)

// copilotTranscript is the log of events that Copilot CLI writes. The answer is
// in it when the hook for the end of the turn runs, or soon after.
func copilotTranscript() *transcript {
	return &transcript{
		folder: Files.copilotSessions,
		fits:   func(path, session string) bool { return path == session+"/events.jsonl" },
		read:   readCopilot,
	}
}

// copilotSessions is where Copilot CLI has a folder for each session.
func (f Files) copilotSessions() string {
	dir := filepath.Join(f.Home, ".copilot")
	if f.Env != nil && filepath.IsAbs(f.Env("COPILOT_HOME")) {
		dir = filepath.Clean(f.Env("COPILOT_HOME"))
	}
	return filepath.Join(dir, "session-state")
}

// vsCodeTranscript is the same log, which VS Code keeps with each workspace; where
// these are depends on the system and the edition.
func vsCodeTranscript() *transcript {
	return &transcript{
		folder: func(f Files) string { return f.Home },
		fits: func(path, session string) bool {
			parts := strings.Split(path, "/")
			n := len(parts)
			return n > 5 && parts[n-5] == "workspaceStorage" && strings.EqualFold(parts[n-3], "GitHub.copilot-chat") &&
				parts[n-2] == "transcripts" && isSessionFile(path, session)
		},
		read: readCopilot,
	}
}

// readCopilot returns the answer of the last turn. It passes over messages of subagents,
// which name the use of the tool that started them. The prompt has an event of its own.
func readCopilot(_ *draft, lines func(func(string) bool)) (s said) {
	told := false // the hooks at the end of the turn have run
	lines(func(line string) bool {
		v, ok := lineAbout(line, "assistant.message", "user.message", "hook.end")
		data := v.get("data")
		switch kind := v.get("type").str(); {
		case !ok || data.first("parentToolCallId", "agentId").kind == text:
		case kind == "user.message":
			return false
		case kind == "hook.end":
			told = told || s.turn == "" && data.get("hookType").str() == "agentStop"
		case kind == "assistant.message":
			text := data.get("content")
			if s.turn == "" {
				s.turn = data.get("interactionId").str()
				s.whole = !told && text.str() != "" && len(data.get("toolRequests").list) == 0
			}
			if s.answer.str() == "" {
				s.answer = text
			}
			return s.answer.str() == ""
		}
		return true
	})
	if told {
		return said{} // of the turn before; this one is not there yet
	}
	return s
}
