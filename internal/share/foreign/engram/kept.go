package engram

import (
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
)

// maxKept bounds what is kept of a row beside its text.
const maxKept = 64 << 10

// keptSession is what a session needs beside the summary to be written as it was.
type keptSession struct {
	ID        string  `json:"id"`
	Project   string  `json:"project"`
	Directory string  `json:"directory"`
	StartedAt string  `json:"started_at"`
	EndedAt   *string `json:"ended_at,omitempty"`
	Blank     bool    `json:"blank_summary,omitempty"` // it is "" and not absent
	Lost      string  `json:"lost,omitempty"`          // see clean
	Extra     string  `json:"extra,omitempty"`
}

// keptPrompt is what a prompt needs beside its number and its content.
type keptPrompt struct {
	SyncID    *string `json:"sync_id,omitempty"`
	SessionID string  `json:"session_id"`
	Project   string  `json:"project,omitempty"`
	CreatedAt string  `json:"created_at"`
	Lost      string  `json:"lost,omitempty"`
	Extra     string  `json:"extra,omitempty"`
}

// kept is what an observation needs beside title and content.
type kept struct {
	ID             int64   `json:"id"`
	SyncID         *string `json:"sync_id,omitempty"`
	SessionID      string  `json:"session_id"`
	Type           string  `json:"type"`
	ToolName       *string `json:"tool_name,omitempty"`
	Project        *string `json:"project,omitempty"`
	Scope          string  `json:"scope"`
	TopicKey       *string `json:"topic_key,omitempty"`
	RevisionCount  int64   `json:"revision_count"`
	DuplicateCount int64   `json:"duplicate_count"`
	LastSeenAt     *string `json:"last_seen_at,omitempty"`
	ReviewAfter    *string `json:"review_after,omitempty"`
	CreatedAt      string  `json:"created_at"`
	UpdatedAt      string  `json:"updated_at"`
	DeletedAt      *string `json:"deleted_at,omitempty"`
	Extra          string  `json:"extra,omitempty"`

	Amber *keptMember `json:"amber,omitempty"` // of links to rows that say which version they are
}

// observed is the field "engram" of a memory: what is kept, and of the text what had to be changed.
type observed struct {
	kept
	Title *string `json:"title,omitempty"`         // as it was
	Blank *string `json:"blank_content,omitempty"` // the content as it was, when the title takes its place
	Lost  string  `json:"lost,omitempty"`          // see clean
}

func keepObservation(o Observation) kept {
	return kept{
		ID: o.ID, SyncID: o.SyncID, SessionID: o.SessionID, Type: o.Type, ToolName: o.ToolName, Project: o.Project, Scope: o.Scope,
		TopicKey: o.TopicKey, RevisionCount: o.RevisionCount, DuplicateCount: o.DuplicateCount, LastSeenAt: o.LastSeenAt,
		ReviewAfter: o.ReviewAfter, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, DeletedAt: o.DeletedAt, Extra: o.extra,
	}
}

func (k kept) observation(title, content string) Observation {
	return Observation{
		ID: k.ID, SyncID: k.SyncID, SessionID: k.SessionID, Type: k.Type, Title: title, Content: content, ToolName: k.ToolName,
		Project: k.Project, Scope: k.Scope, TopicKey: k.TopicKey, RevisionCount: k.RevisionCount, DuplicateCount: k.DuplicateCount,
		LastSeenAt: k.LastSeenAt, ReviewAfter: k.ReviewAfter, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt, DeletedAt: k.DeletedAt,
		extra: k.Extra,
	}
}

// texts returns title and content of a memory as the row had them, as far as they were not changed since.
func (f observed) texts(m amber.Memory) (title, content string) {
	title, content = m.Title, restore(m.Content, f.Lost)
	if f.Title != nil && cleanTitle(*f.Title) == m.Title {
		title = *f.Title
	}
	if f.Blank != nil && content == title {
		content = *f.Blank
	}
	return title, content
}

func keepSession(s Session) keptSession {
	k := keptSession{ID: s.ID, Project: s.Project, Directory: s.Directory, StartedAt: s.StartedAt, EndedAt: s.EndedAt, Extra: s.extra}
	k.Blank = s.Summary != nil && *s.Summary == ""
	_, k.Lost = clean(deref(s.Summary), control)
	return k
}

func (k keptSession) session(summary string) Session {
	s := Session{ID: k.ID, Project: k.Project, Directory: k.Directory, StartedAt: k.StartedAt, EndedAt: k.EndedAt, extra: k.Extra}
	if summary = restore(summary, k.Lost); summary != "" || k.Blank {
		s.Summary = &summary
	}
	return s
}

func keepPrompt(p Prompt) keptPrompt {
	k := keptPrompt{SyncID: p.SyncID, SessionID: p.SessionID, Project: p.Project, CreatedAt: p.CreatedAt, Extra: p.extra}
	_, k.Lost = clean(p.Content, zero)
	return k
}

func (k keptPrompt) prompt(content string) Prompt {
	return Prompt{
		SyncID: k.SyncID, SessionID: k.SessionID, Content: restore(content, k.Lost), Project: k.Project, CreatedAt: k.CreatedAt, extra: k.Extra,
	}
}

// LinkOf returns the link between a row and the record that it is. Chunk and Ordinal are the caller's to set.
func LinkOf(e Entity, r amber.SyncRecord) amber.SyncLink {
	l := amber.SyncLink{Tool: tool, Ref: r.Ref(), Version: r.Origin()}
	switch {
	case e.Session != nil:
		l.Fingerprint, l.Extra = e.Session.Fingerprint(), string(marshal(keepSession(*e.Session)))
	case e.Observation != nil:
		l.LocalID = e.Observation.ID
		l.Fingerprint, l.Extra = e.Observation.Fingerprint(), string(marshal(linked(*e.Observation)))
	case e.Prompt != nil:
		l.LocalID = e.Prompt.ID
		l.Fingerprint, l.Extra = e.Prompt.Fingerprint(), string(marshal(keepPrompt(*e.Prompt)))
	}
	return l
}

// checkKept bounds a link.
func checkKept(l amber.SyncLink) error {
	if len(l.Extra) > maxKept {
		return fmt.Errorf("%d bytes besides the text, want at most %d", len(l.Extra), maxKept)
	}
	return nil
}

// keptIn reads what a link or a memory keeps, and reports whether there is anything.
func keptIn[T any](raw string) (k T, ok bool) {
	if raw == "" {
		return k, false
	}
	err := json.Unmarshal([]byte(raw), &k)
	return k, err == nil
}
