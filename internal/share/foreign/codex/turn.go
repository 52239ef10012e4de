package codex

import (
	"encoding/hex"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// turn returns what a line says; ok is false where it is nothing to keep.
func (w *walk) turn(l line, at foreign.Place) (t foreign.Turn, ok bool) {
	if l.kind == kindCompacted {
		o, err := foreign.ParseObject(l.payload)
		if err != nil || strings.TrimSpace(o.Text("message")) == "" {
			return t, false
		}
		return foreign.Turn{Key: w.key(l, "compacted "), Role: amber.RoleSystem, Compaction: o.Text("message")}, true
	}
	it, err := foreign.ParseItem(l.payload)
	if err != nil {
		w.skip(at, "payload %v", err)
		return t, false
	}
	t.Key = w.key(l, "item ")
	switch {
	case it.Type == "message":
		t.Role, t.Content = message(it)
	case it.Call != nil:
		t.Role, t.Activity = amber.RoleAssistant, w.activity(it)
	case it.Output != "":
		t.Role, t.Content = amber.RoleTool, it.Output
		w.noteFailure(it)
	}
	return t, strings.TrimSpace(t.Content) != "" || len(t.Activity) > 0
}

// key names a line by its ordinal, else by what it and all before it say: messages often have no id, and after a revert another
// line has the same number. So the lines that a later version of a thread repeats have the keys they had, and those behind them
// others, whichever of its files are there.
func (w *walk) key(l line, what string) foreign.Key {
	if l.ordinal != "" {
		return foreign.Key{w.thread, l.ordinal}
	}
	return foreign.Key{w.thread, what + hex.EncodeToString(w.chain[:])}
}

// message returns the role and the text of a message. A message of a developer or the system is the program's, and has
// neither.
func message(it foreign.Item) (amber.Role, string) {
	switch it.Role {
	case "user":
		return amber.RoleUser, said(it.Parts)
	case "assistant":
		return amber.RoleAssistant, it.Text()
	}
	return "", ""
}

func (w *walk) activity(it foreign.Item) []amber.Activity {
	c := *it.Call
	c.Directory = w.dir
	c.Output, c.Failed = w.failed[it.CallID], false
	if _, known := w.failed[it.CallID]; known {
		c.Failed = true
	}
	return c.Activity()
}

// noteFailure remembers for the second pass that a call failed: its answer comes behind it.
func (w *walk) noteFailure(it foreign.Item) {
	if it.Failed && it.CallID != "" && len(w.failed) < maxFailed {
		w.failed[it.CallID] = it.Output[:min(len(it.Output), maxSaid)]
	}
}
