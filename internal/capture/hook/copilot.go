package hook

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// copilot is GitHub's CLI and cloud agent. The case of the names in the
// configuration decides the case of the payload's members; payloads with
// camelCase do not name their event.
func copilot() dialect {
	return dialect{
		host:    Copilot,
		aliases: []string{"github-copilot", "copilot-cli"},
		events: append(claudeEvents(),
			event{"userPromptSubmitted", journal.HostPrompt, true},
			event{"agentStop", journal.HostTurnEnd, false},
			event{"errorOccurred", journal.HostError, false},
		),
		transcript: copilotTranscript(),
		reply:      top,
	}
}

// sharing are the hosts whose hooks Copilot CLI and VS Code run as well: their
// own, which lie in the same files, and those of Claude Code.
var sharing = []Host{Copilot, VSCode, ClaudeCode}

// isCopilotOrVSCode returns which of the two a payload is from that came through
// hooks of one of the hosts that share them, "" when it is from neither or cannot
// be told.
func isCopilotOrVSCode(in Input, p value) Host {
	if !slices.Contains(sharing, in.Host) {
		return ""
	}
	path := strings.ToLower(strings.ReplaceAll(p.first("transcript_path", "transcriptPath").str(), `\`, "/"))
	switch {
	case strings.Contains(path, "/github.copilot-chat/"):
		return VSCode
	case strings.Contains(path, "/.copilot/") && strings.HasSuffix(path, "/events.jsonl"):
		return Copilot
	case in.Host == ClaudeCode:
		return ""
	case p.get("hookEventName").kind == text, p.get("tool_use_id").kind == text:
		return VSCode
	case p.get("timestamp").kind == number, p.first("initial_prompt", "tool_result").kind > null:
		return Copilot
	case path != "" && !strings.HasSuffix(path, "/events.jsonl"):
		return VSCode
	}
	return in.ownerOf(p)
}

// ownerOf looks for the folder that Copilot CLI keeps for each session. The only events
// that VS Code sends without a transcript are those of prompts and subagents.
func (in Input) ownerOf(p value) Host {
	switch fold(cmp.Or(p.get("hook_event_name").str(), in.Event)) {
	case "userpromptsubmit", "subagentstart", "subagentstop":
	default:
		return ""
	}
	id := p.get("session_id").str()
	if in.Files == nil || id == "" || !filepath.IsLocal(id) || strings.ContainsAny(id, `/\`) {
		return ""
	}
	if in.Files.exists(filepath.Join(in.Files.copilotSessions(), id)) {
		return Copilot
	}
	return VSCode
}
