package journal

import (
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// HostEventSchema is the version of [HostEvent] that this build writes.
const HostEventSchema = 1

// HostEvent is what an agent host said happened, in the words all hosts share.
// Secrets have been removed. As JSON it is the payload of an entry in the crash
// journal.
type HostEvent struct {
	Schema int `json:"schema"`
	// EventID is 32 hex digits. With Native set it comes from ids the host gave,
	// and an event with the same one is the same event. Otherwise it is a digest
	// of what was said, and an event with the same one is the same event when it
	// was observed at most [amber.SameEventWindow] apart.
	EventID       string            `json:"event_id"`
	Native        bool              `json:"native,omitempty"`
	Host          string            `json:"host"` // "claude-code"
	HostVersion   string            `json:"host_version,omitempty"`
	NativeEvent   string            `json:"native_event,omitempty"` // as the host names it
	Kind          EventKind         `json:"kind"`
	SessionID     amber.SessionID   `json:"session_id"`
	ParentSession amber.SessionID   `json:"parent_session_id,omitempty"`
	TurnID        string            `json:"turn_id,omitempty"`
	ToolUseID     string            `json:"tool_use_id,omitempty"`
	SubagentID    string            `json:"subagent_id,omitempty"`
	SubagentType  string            `json:"subagent_type,omitempty"`
	Directory     string            `json:"cwd,omitempty"`
	Project       string            `json:"project,omitempty"` // of the directory
	Roots         []string          `json:"workspace_roots,omitempty"`
	Transcript    string            `json:"transcript_path,omitempty"`
	ObservedAt    amber.Time        `json:"observed_at"`
	NativeAt      amber.Time        `json:"native_ts,omitzero"`
	Model         string            `json:"model,omitempty"`
	Reason        string            `json:"source_or_reason,omitempty"` // why it started, ended, was compacted
	Prompt        string            `json:"prompt,omitempty"`
	Answer        string            `json:"assistant_text,omitempty"`
	Message       string            `json:"message,omitempty"` // of an error or a notification; the summary of a compaction
	Tool          *HostTool         `json:"tool,omitempty"`
	Files         []HostFile        `json:"files,omitempty"`
	Tasks         []HostTask        `json:"tasks,omitempty"`
	Process       amber.HostProcess `json:"process,omitzero"`
	// Shown are the passages that Amber put before the agent, in an event that Amber
	// itself appends.
	Shown []wire.ContextItem `json:"shown,omitempty"`
	// Raw is the payload as it came, without secrets and with long strings cut;
	// a JSON string where it was no JSON. Left out where the fields above say it
	// all or there was no room.
	Raw        json.RawMessage `json:"raw,omitempty"`
	Redactions map[string]int  `json:"redactions,omitempty"` // how many secrets of which rule were removed
	Truncated  int64           `json:"truncated,omitempty"`  // bytes that were left out
}

// EventKind is what an event means, whatever its host calls it.
type EventKind string

// The kinds of host event. An event that no rule knows is other; no event is
// dropped for being unknown.
const (
	HostSessionStart  EventKind = "session.start"
	HostSessionEnd    EventKind = "session.end"
	HostPrompt        EventKind = "prompt"
	HostToolBefore    EventKind = "tool.before"
	HostToolAfter     EventKind = "tool.after"
	HostTurnEnd       EventKind = "turn.end"
	HostCompactBefore EventKind = "compact.before"
	HostCompactAfter  EventKind = "compact.after"
	HostSubagentStart EventKind = "subagent.start"
	HostSubagentEnd   EventKind = "subagent.end"
	HostTaskChange    EventKind = "task"
	HostError         EventKind = "error"
	HostContext       EventKind = "context" // Amber put passages before the agent
	HostOther         EventKind = "other"
)

// HostTool is one use of a tool.
type HostTool struct {
	Name       string          `json:"name"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     string          `json:"output,omitempty"`
	Command    string          `json:"command,omitempty"` // the shell command, where it was one
	Failed     bool            `json:"is_error,omitempty"`
	DurationMS int64           `json:"duration_ms,omitempty"`
}

// HostFile is a file an event touched.
type HostFile struct {
	Path   string     `json:"path"`
	Action FileAction `json:"action"`
}

// FileAction is what happened to a file.
type FileAction string

// The actions.
const (
	FileCreated  FileAction = "created"
	FileModified FileAction = "modified"
	FileDeleted  FileAction = "deleted"
	FileRead     FileAction = "read"
)

// HostTask is an item of the list of things to do that an agent keeps.
type HostTask struct {
	ID     string `json:"id,omitempty"`
	Text   string `json:"description"`
	Status string `json:"status"` // pending, in_progress, completed, failed
}
