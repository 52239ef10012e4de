package engram

import (
	"bytes"
	"reflect"
)

// row returns the one row that is set; nil for none.
func (e Entity) row() row {
	switch {
	case e.Session != nil:
		return *e.Session
	case e.Observation != nil:
		return *e.Observation
	case e.Prompt != nil:
		return *e.Prompt
	}
	return nil
}

// row is what rows of every kind have.
type row interface {
	encode() []byte
	Fingerprint() string
}

// JSON returns the row as it stands in a chunk.
func (e Entity) JSON() []byte { return e.row().encode() }

// Fingerprint names the row, as that of its kind does.
func (e Entity) Fingerprint() string { return e.row().Fingerprint() }

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
