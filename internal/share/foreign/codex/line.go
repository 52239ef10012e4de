package codex

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// The kinds of lines that are read; every other is passed over. The messages are there a second time as event_msg.
const (
	kindMeta      = "session_meta"
	kindItem      = "response_item"
	kindCompacted = "compacted"
	kindEvent     = "event_msg"
)

// line is one line of a rollout.
type line struct {
	at, kind, ordinal string
	payload           json.RawMessage
}

// parseLine reads a line. Before September 2025 lines were items without a wrapper, behind a first line with the id.
func parseLine(b []byte) (line, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(b, &m) != nil || m == nil {
		return line{}, false
	}
	l := line{at: foreign.StringOf(m["timestamp"]), kind: foreign.StringOf(m["type"]), ordinal: number(m["ordinal"]), payload: m["payload"]}
	switch {
	case l.payload != nil:
	case l.kind == "" && foreign.StringOf(m["id"]) != "" && l.at != "":
		l.kind, l.payload = kindMeta, b
	case l.kind == "message" || strings.HasSuffix(l.kind, "_call") || strings.HasSuffix(l.kind, "_call_output"):
		l.kind, l.payload = kindItem, b
	}
	return l, true
}

func number(raw json.RawMessage) string {
	var n json.Number
	if json.Unmarshal(raw, &n) != nil {
		return ""
	}
	return n.String()
}

// meta is what the first line says of a thread.
type meta struct {
	id, at, dir, parent string
}

func parseMeta(raw []byte) meta {
	o, err := foreign.ParseObject(raw)
	if err != nil {
		return meta{}
	}
	spawn := o.Sub("source").Sub("subagent").Sub("thread_spawn")
	m := meta{id: o.Text("id", "session_id"), at: o.Text("timestamp"), dir: o.Text("cwd"), parent: o.Text("parent_thread_id")}
	m.parent = cmp.Or(m.parent, spawn.Text("parent_thread_id"), o.Text("forked_from_id"))
	if m.parent == m.id {
		m.parent = ""
	}
	return m
}
