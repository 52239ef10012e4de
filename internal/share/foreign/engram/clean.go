package engram

import (
	"bytes"
	"reflect"
)

// JSON returns the row as it stands in a chunk.
func (e Entity) JSON() []byte {
	switch {
	case e.Session != nil:
		return e.Session.encode()
	case e.Observation != nil:
		return e.Observation.encode()
	case e.Prompt != nil:
		return e.Prompt.encode()
	}
	return nil
}

// JSON returns the mutation as it stands in a chunk.
func (m Mutation) JSON() []byte { return m.encode() }

// Names returns what other rows and other databases know the row by.
func (e Entity) Names() []string {
	switch {
	case e.Session != nil:
		return []string{e.Session.ID, e.Session.Project}
	case e.Observation != nil:
		o := e.Observation
		return []string{deref(o.SyncID), o.SessionID, deref(o.Project), deref(o.TopicKey)}
	case e.Prompt != nil:
		return []string{deref(e.Prompt.SyncID), e.Prompt.SessionID, e.Prompt.Project}
	}
	return nil
}

// Redacted returns the row as redact leaves it. The function redact gets the JSON of the row and returns JSON. It may
// change texts only: type, title, content, directory, summary, the name of a tool, fields that are not known. Redacted
// reports false when redact changes a name, a number or a time, or finds something anew each time.
func (e Entity) Redacted(redact func(row []byte) []byte) (Entity, bool) {
	const tries = 3 // fields that are not known move to the end, where they may read differently
	for range tries {
		raw := e.JSON()
		clean := redact(raw)
		if bytes.Equal(raw, clean) {
			return e, true
		}
		next, err := e.decode(clean)
		if err != nil || !reflect.DeepEqual(e.withoutText(), next.withoutText()) {
			return e, false
		}
		e = next
	}
	return e, false
}

// decode reads a row of the same kind.
func (e Entity) decode(raw []byte) (Entity, error) {
	switch {
	case e.Session != nil:
		var s Session
		return Entity{Session: &s}, s.decode(raw)
	case e.Observation != nil:
		var o Observation
		return Entity{Observation: &o}, o.decode(raw)
	default:
		var p Prompt
		return Entity{Prompt: &p}, p.decode(raw)
	}
}

// withoutText returns a copy of what must not change.
func (e Entity) withoutText() Entity {
	switch {
	case e.Session != nil:
		s := *e.Session
		s.Directory, s.Summary, s.extra = "", nil, ""
		return Entity{Session: &s}
	case e.Observation != nil:
		o := *e.Observation
		o.Type, o.Title, o.Content, o.ToolName, o.extra = "", "", "", nil, ""
		return Entity{Observation: &o}
	case e.Prompt != nil:
		p := *e.Prompt
		p.Content, p.extra = "", ""
		return Entity{Prompt: &p}
	}
	return e
}
