package nexus

import (
	"bytes"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// headBytes is how much of a file is read to recognise its format.
const headBytes = 4 << 10

// isRetry reports whether a file is what nexus-memory-hooks keeps of an event that it could not store: one JSON object for each,
// in its folder pending-enrichment.
func isRetry(head []byte) bool {
	event, entries := bytes.Index(head, []byte(`"normalized_event"`)), bytes.Index(head, []byte(`"entries"`))
	return event >= 0 && (entries < 0 || event < entries)
}

// retry reads such a file. It reads a file that is cut off up to the cut.
func (n *reader) retry(raw []byte) error {
	if len(raw) > maxEntry {
		return amber.Errorf(amber.KindQuota, "read buffer", "", "the event has more than %d bytes", maxEntry)
	}
	raw = bytes.TrimPrefix(bytes.TrimSpace(bytes.ToValidUTF8(raw, []byte("\uFFFD"))), []byte("\uFEFF"))
	n.report.Entries, n.found = 1, true
	torn := !json.Valid(raw)
	if !torn {
		n.report.Salvaged = 1
		return n.retried(raw, false)
	}
	part, ok := salvage(raw)
	n.report.Truncated = true
	if !ok {
		n.report.BytesUnread = int64(len(raw))
		return nil
	}
	n.report.Partial = 1
	return n.retried(part, true)
}

// retried hands out what was said and done in the event, what nexus made of it, and the whole of it.
func (n *reader) retried(raw []byte, torn bool) error {
	fields := jsonFields(raw)
	event := jsonFields(fields["normalized_event"])
	if event == nil {
		return errNotBuffer("normalized_event is not an object")
	}
	n.agent, n.startedAt = foreign.StringOf(fields["agent"]), foreign.StringOf(fields["created_at"])
	e := bufferEntry{reader: n, torn: torn, same: map[string]int{}, place: "retry of " + n.startedAt}
	e.at = e.moment(foreign.StringOf(event["observed_at"]), e.moment(n.startedAt, amber.At(n.clock())))
	if err := e.findSession(map[string]json.RawMessage{"agent_type": event["agent"], "session_id": event["session_id"]}); err != nil {
		return err
	}
	for i, said := range []struct{ role, field string }{{"user", "user_message_text"}, {"assistant", "assistant_message_text"}} {
		message := map[string]json.RawMessage{"role": text(said.role), "content": event[said.field], "timestamp": event["observed_at"]}
		if err := e.retriedItem("conversation", i, foreign.StringOf(event[said.field]), message); err != nil {
			return err
		}
	}
	command := foreign.StringOf(jsonFields(event["tool_input"])["command"])
	if err := e.retriedItem("commands_run", 0, command, command); err != nil {
		return err
	}
	var candidates []map[string]json.RawMessage
	_ = json.Unmarshal(fields["candidates"], &candidates) // what is no list stays with the whole
	for i, c := range candidates {
		learnt := foreign.StringOf(c["memory_text"])
		if err := e.retriedItem("insights", i, learnt, learnt); err != nil {
			return err
		}
	}
	return e.rest(fields, nil, raw)
}

// retriedItem hands out one item as if it stood in a list of a buffer, unless there is no text.
func (e bufferEntry) retriedItem(list string, index int, text string, item any) error {
	if text == "" {
		return nil
	}
	raw, err := json.Marshal(item)
	if err != nil {
		return err
	}
	for _, l := range lists {
		if l.name == list {
			return e.item(list, index, raw, l.fill)
		}
	}
	return nil
}

func text(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always marshals
	return raw
}
