package hook

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// draft is an event being made from a payload.
type draft struct {
	in      Input
	dialect dialect
	event   event
	clean   *cleaner
	raw     value // the payload; only ids and the directory are taken from it
	value   value // the payload without secrets
	taken   map[string]bool
	ev      journal.HostEvent
}

// Bounds of fields.
const (
	maxName = 200 // a model, a reason, a tool
	maxPath = 4 << 10
	maxList = 200 // files, tasks, roots
)

// take returns the first of the named members that is of one of the kinds, or
// of any when none are given. The event holds it from now on.
func (d *draft) take(names []string, kinds ...kind) value {
	for _, n := range names {
		if v := d.value.get(n); v.kind > null && (len(kinds) == 0 || slices.Contains(kinds, v.kind)) {
			d.taken[n] = true
			return v
		}
	}
	return value{}
}

// any, list and text take a value, a list and a text.
func (d *draft) any(names ...string) value { return d.take(names) }

func (d *draft) list(names ...string) []value { return d.take(names, array).list }

func (d *draft) text(names ...string) string { return d.take(names, text).text }

// name takes a short text.
func (d *draft) name(names ...string) string {
	return d.clean.clip(d.take(names, text, number).text, maxName)
}

// id takes an identifier. The digest takes the place of an identifier that is hostile
// or holds a secret.
func (d *draft) id(names ...string) string {
	d.take(names, text, number)
	return d.safeID(d.raw.scalar(names...))
}

func (d *draft) safeID(s string) string {
	if s == "" || amber.CheckID("id", s) == nil && !d.clean.isSecret(s) {
		return s
	}
	return "x-" + digest(s)
}

// path takes a path.
func (d *draft) path(names ...string) string {
	return cleanPath(d.text(names...))
}

// cleanPath returns "" for what is no path.
func cleanPath(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxPath || strings.ContainsRune(s, 0) {
		return ""
	}
	return filepath.Clean(s)
}

// nameEvent sets what kind of event it is.
func (d *draft) nameEvent(broken bool) {
	name := d.name(d.dialect.nameFields()...)
	if name == "" {
		name = d.clean.clip(d.clean.text(d.in.Event), maxName)
	}
	d.event = d.dialect.event(name)
	d.ev.NativeEvent, d.ev.Kind = name, d.event.kind
	if broken {
		d.ev.Kind = journal.HostOther
	}
}

// fillPlace sets whose event it is, where and when it happened.
func (d *draft) fillPlace() {
	d.ev.HostVersion = d.name("cursor_version", "host_version")
	d.ev.TurnID = d.id("turn_id", "prompt_id", "generation_id", "turn-id", "turnId", "messageID")
	d.ev.ToolUseID = d.id("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "callID")
	d.ev.SubagentID = d.id("agent_id", "agentId", "subagent_id")
	d.ev.SubagentType = d.name("agent_type", "agentName", "agent_name", "subagent_type")
	d.ev.ParentSession = amber.SessionID(d.id("parent_session_id", "parentID", "parent_conversation_id"))
	d.fillDirectory()
	d.ev.Transcript = d.path("transcript_path", "transcriptPath")
	d.ev.Model = d.model()
	d.ev.NativeAt = timeOf(d.any("timestamp"))
	d.ev.SessionID = d.session()
}

// fillDirectory sets the directory and its project. The project is looked for
// in the directory as it really is.
func (d *draft) fillDirectory() {
	d.text("cwd", "directory")
	for _, r := range d.list("workspace_roots", "workspaceRoots") {
		if p := cleanPath(r.str()); p != "" && len(d.ev.Roots) < maxList {
			d.ev.Roots = append(d.ev.Roots, p)
		}
	}
	dir := cleanPath(d.raw.first("cwd", "directory").str())
	if roots := d.raw.first("workspace_roots", "workspaceRoots").list; dir == "" && len(roots) > 0 {
		dir = cleanPath(roots[0].str())
	}
	if dir == "" || !isAbs(dir) {
		dir = cleanPath(filepath.Join(d.in.Directory, dir))
	}
	d.ev.Directory = d.clean.quietly(dir)
	if d.in.Project != nil && dir != "" {
		d.ev.Project = clip.Bytes(d.clean.text(d.in.Project(dir)), amber.MaxIDBytes)
	}
}

// isAbs reports whether a path is absolute on any system: what a host says need
// not be about the system the hook runs on.
func isAbs(p string) bool {
	return filepath.IsAbs(p) || strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\\`) ||
		len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// model takes the model, which OpenCode names in two parts.
func (d *draft) model() string {
	v := d.any("model", "model_id")
	if v.kind == object {
		parts := []string{v.get("providerID").str(), v.get("modelID").str()}
		return clip.Bytes(strings.Trim(strings.Join(parts, "/"), "/"), maxName)
	}
	return clip.Bytes(v.text, maxName)
}

// timeOf reads a time in RFC 3339 or in milliseconds; the zero time when it is
// neither, or in another century.
func timeOf(v value) amber.Time {
	var t amber.Time
	switch v.kind {
	case text:
		t, _ = amber.ParseTime(v.text)
	case number:
		if ms, err := strconv.ParseFloat(v.text, 64); err == nil && math.Abs(ms) < 1e15 {
			t = amber.UnixMilli(int64(ms))
		}
	}
	const first, last = 946_684_800_000, 4_102_444_800_000 // 2000 and 2100
	if t.UnixMilli() < first || t.UnixMilli() >= last {
		return amber.Time{}
	}
	return t
}

// fillContent sets what the event says, by its kind.
func (d *draft) fillContent() {
	switch d.ev.Kind {
	case journal.HostSessionStart, journal.HostSessionEnd:
		d.ev.Reason = d.name("source", "reason")
	case journal.HostPrompt:
		d.ev.Prompt = d.text("prompt")
	case journal.HostToolBefore, journal.HostToolAfter:
		d.fillTool()
	case journal.HostTurnEnd, journal.HostSubagentEnd:
		d.ev.Reason = d.name("stop_reason", "stopReason", "status")
		d.ev.Answer = d.text("last_assistant_message", "last-assistant-message", "prompt_response", "text")
	case journal.HostCompactBefore, journal.HostCompactAfter:
		d.ev.Reason = d.name("trigger", "source")
		d.ev.Message = d.text("compact_summary")
	case journal.HostTaskChange:
		d.fillTasks()
	case journal.HostError:
		d.ev.Message = d.errorText()
	case journal.HostOther:
		d.ev.Message = d.text("message")
	}
	if d.dialect.fill != nil {
		d.dialect.fill(d)
	}
	if d.ev.Kind == journal.HostToolAfter {
		d.fillFiles()
	}
}

// errorText takes what is said about an error, which may be an object.
func (d *draft) errorText() string {
	v := d.any("error", "error_message", "errorMessage")
	if s := v.str(); s != "" {
		return strings.TrimSpace(s + "\n" + d.text("error_details"))
	}
	data := v.get("data").first("message")
	return strings.TrimPrefix(v.first("name").str()+": "+cmp.Or(v.first("message").str(), data.str()), ": ")
}

// fillRaw keeps what the payload says beyond the fields. It keeps nothing more of an
// event before a tool, since the event after the tool says the same again.
func (d *draft) fillRaw() {
	v := d.value
	if v.kind == object {
		v = v.without(func(key string) bool { return d.taken[key] || d.value.get(key).kind == null })
	}
	if d.ev.Kind == journal.HostToolBefore || v.kind <= null || v.kind == object && len(v.keys) == 0 {
		return
	}
	d.ev.Raw = v.appendJSON(nil)
}
