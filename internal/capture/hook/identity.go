package hook

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// digest returns 32 hex digits that depend on the parts and where each ends.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		io.WriteString(h, p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// session takes the id of the session. Payloads without one belong together
// when they come from one process of a host, or else from one directory.
func (d *draft) session() amber.SessionID {
	if id := d.id(d.dialect.sessionFields()...); id != "" {
		return amber.SessionID(id)
	}
	p := d.in.Process
	return amber.SessionID("none-" + digest(d.ev.Host, d.ev.Directory,
		strconv.Itoa(p.PID), strconv.FormatInt(p.Start, 10), p.Boot, p.Namespace))
}

// identify sets the event's id.
func (d *draft) identify() {
	parts := []string{"amber event 1", d.ev.Host, string(d.ev.SessionID), d.sharedName()}
	ids := d.nativeIDs()
	if d.ev.Native = ids != nil; d.ev.Native {
		parts = append(append(parts, "native"), ids...)
	} else {
		parts = append(parts, "content", d.content())
	}
	d.ev.EventID = digest(parts...)
}

// sharedName is the name that all deliveries of an event share. Codex reports the end
// of a turn in two ways, under two names.
func (d *draft) sharedName() string {
	if d.dialect.host == Codex && d.ev.Kind == journal.HostTurnEnd {
		return string(d.ev.Kind)
	}
	return fold(d.event.name)
}

// nativeIDs returns what tells the event from every other one of its name and
// session, nil when the host gives nothing that does.
//
// A turn can end more than once when a hook sends the agent back to work, so
// the answer is part of what identifies its end. Starts, ends and compactions
// happen again and again under the same ids, or have none.
func (d *draft) nativeIDs() []string {
	ev := &d.ev
	switch {
	case ev.Kind == journal.HostToolBefore || ev.Kind == journal.HostToolAfter:
		if ev.ToolUseID != "" {
			return []string{ev.ToolUseID, ev.SubagentID}
		}
	case ev.Kind == journal.HostPrompt && ev.TurnID != "":
		return []string{ev.TurnID, ev.SubagentID, digest(ev.Prompt)}
	case ev.Kind == journal.HostTurnEnd && ev.TurnID != "":
		return append(d.ending(), ev.TurnID, ev.SubagentID)
	case ev.Kind == journal.HostSubagentEnd && ev.SubagentID != "" && ev.Answer != "":
		return append(d.ending(), ev.SubagentID)
	}
	return nil
}

func (d *draft) ending() []string {
	again := d.value.get("stop_hook_active").isTrue()
	return []string{digest(d.ev.Answer), d.ev.Reason, strconv.FormatBool(again), d.id("partID")}
}

// content returns what the event says, in a form that is the same for every
// delivery of it: without places, which a host may or may not name, and without
// times, since a host may mean the time at which it ran the hook.
func (d *draft) content() string {
	said := journal.HostEvent{
		Kind: d.ev.Kind, TurnID: d.ev.TurnID, ToolUseID: d.ev.ToolUseID, SubagentID: d.ev.SubagentID,
		Reason: d.ev.Reason, Prompt: d.ev.Prompt, Answer: d.ev.Answer, Message: d.ev.Message,
		Tool: d.ev.Tool, Files: d.ev.Files, Tasks: d.ev.Tasks,
	}
	if d.ev.Kind == journal.HostOther {
		said.Raw = d.ev.Raw // beyond what was taken, and so without the time
	}
	b, err := json.Marshal(said)
	if err != nil {
		panic("hook: an event always marshals: " + err.Error())
	}
	return string(b)
}
