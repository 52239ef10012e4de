package engram

import (
	"bytes"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// memberName is the member that rows of Amber carry at their end. Engram passes over it; an Amber that reads the row knows
// by it which version of which memory or session the row is.
const memberName = "amber"

// maxMember bounds the member, so that a row stays below [MaxRowBytes] whatever its text.
const maxMember = 1 << 20

// memoryMember is the version of a memory but for its content, which the row has. It holds neither the user nor the
// trust of the memory: these do not concern other readers of the folder.
type memoryMember struct {
	ID            amber.MemoryID             `json:"id"`
	Kind          amber.MemoryKind           `json:"kind"`
	Scope         amber.Scope                `json:"scope"`
	SessionID     amber.SessionID            `json:"session_id,omitempty"`
	ProjectID     string                     `json:"project_id,omitempty"`
	WorkspaceID   string                     `json:"workspace_id,omitempty"`
	Title         string                     `json:"title,omitempty"`
	Summary       string                     `json:"summary,omitempty"`
	Topic         string                     `json:"topic,omitempty"`
	Tags          []string                   `json:"tags,omitempty"`
	Metadata      map[string]string          `json:"metadata,omitempty"`
	SourceRefs    []amber.SourceRef          `json:"source_refs,omitempty"`
	Origin        amber.Origin               `json:"origin"`
	Saw           []amber.Origin             `json:"saw,omitempty"`
	Revision      int64                      `json:"revision"`
	ContentDigest string                     `json:"content_digest"`
	CreatedAt     amber.Time                 `json:"created_at"`
	UpdatedAt     amber.Time                 `json:"updated_at"`
	Foreign       map[string]json.RawMessage `json:"foreign,omitempty"`
}

func memberOf(m amber.SyncMemory) memoryMember {
	return memoryMember{
		ID: m.ID, Kind: m.Kind, Scope: m.Scope, SessionID: m.SessionID, ProjectID: m.ProjectID, WorkspaceID: m.WorkspaceID,
		Title: m.Title, Summary: m.Summary, Topic: m.Topic, Tags: m.Tags, Metadata: m.Metadata, SourceRefs: m.SourceRefs,
		Origin: m.Origin, Saw: m.Saw, Revision: m.Revision, ContentDigest: m.ContentDigest,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, Foreign: m.Foreign,
	}
}

// memory returns the version with the content that the row has.
func (a memoryMember) memory(content string) amber.SyncMemory {
	m := amber.SyncMemory{Memory: amber.Memory{
		ID: a.ID, Kind: a.Kind, Scope: a.Scope,
		Identities: amber.Identities{SessionID: a.SessionID, ProjectID: a.ProjectID, WorkspaceID: a.WorkspaceID},
		Title:      a.Title, Content: content, Summary: a.Summary, Topic: a.Topic, Tags: a.Tags, Metadata: a.Metadata, SourceRefs: a.SourceRefs,
		Trust: amber.TrustImported, Origin: a.Origin, Revision: a.Revision, ContentDigest: a.ContentDigest,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, Foreign: a.Foreign,
	}, Saw: a.Saw}
	foreign.FillLists(&m.Memory)
	return m
}

// sessionMember is the version of a session but for what the row has as it is.
type sessionMember struct {
	Name      string          `json:"name"`
	Binding   string          `json:"binding"`
	Directory string          `json:"directory,omitempty"`
	StartedAt amber.Time      `json:"started_at"`
	EndedAt   amber.Time      `json:"ended_at,omitzero"`
	EndReason amber.EndReason `json:"end_reason,omitempty"`
	Parent    amber.SessionID `json:"parent,omitempty"`
	Origin    amber.Origin    `json:"origin"`
	CreatedAt amber.Time      `json:"created_at"`
	UpdatedAt amber.Time      `json:"updated_at"`
}

func memberOfSession(s amber.SyncSession) sessionMember {
	return sessionMember{
		Name: s.Name, Binding: s.Binding, Directory: s.Directory, StartedAt: s.StartedAt, EndedAt: s.EndedAt, EndReason: s.EndReason,
		Parent: s.Parent, Origin: s.Origin, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
}

func (a sessionMember) session(row Session) amber.SyncSession {
	return amber.SyncSession{
		Session: amber.Session{
			ID: amber.SessionID(row.ID), Name: a.Name, Binding: a.Binding, Project: row.Project, Directory: a.Directory,
			StartedAt: a.StartedAt, EndedAt: a.EndedAt, EndReason: a.EndReason, Summary: deref(row.Summary), Parent: a.Parent,
			CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		},
		Origin: a.Origin,
	}
}

// withMember adds the member to others. It leaves out a member that is too large, or that has fields of other tools
// that are no JSON: then every reader takes the row for one of Engram's.
func withMember(extra string, member any) string {
	extra, _, _ = cutMember(extra)
	b, err := json.Marshal(member)
	if err != nil || len(b) > maxMember {
		return extra
	}
	if extra != "" {
		extra += ","
	}
	return extra + `"` + memberName + `":` + string(b)
}

// cutMember parts the member from others, and reports whether it is there.
func cutMember(extra string) (others string, member json.RawMessage, ok bool) {
	if extra == "" {
		return "", nil, false
	}
	others, _, err := decodeObject([]byte("{"+extra+"}"), field{memberName, &member})
	if err != nil || member == nil {
		return extra, nil, false
	}
	return others, member, true
}

// memoryOf returns the version that the row says it is. Amber believes it when it would write this very row for that
// version, and not where a person edited the row or made the member up. The number of the row and how often it was
// written again are not part of the version.
func (o Observation) memoryOf() (amber.SyncMemory, bool) {
	_, raw, ok := cutMember(o.extra)
	var a memoryMember
	if !ok || json.Unmarshal(raw, &a) != nil || a.Origin.Counter > amber.MaxCounterJump {
		return amber.SyncMemory{}, false
	}
	var text amber.Memory
	if setText(&text, o) != nil {
		return amber.SyncMemory{}, false
	}
	m := a.memory(text.Content)
	if (amber.SyncRecord{Memory: &m}).Check() != nil {
		return amber.SyncMemory{}, false
	}
	row, err := callerOf(o.Project, m.ProjectID).fromMemory(m, nil)
	row.ID, row.DuplicateCount = o.ID, o.DuplicateCount
	return m, err == nil && bytes.Equal(row.encode(), o.encode())
}

// sessionOf does the same for a session.
func (s Session) sessionOf() (amber.SyncSession, bool) {
	_, raw, ok := cutMember(s.extra)
	var a sessionMember
	if !ok || json.Unmarshal(raw, &a) != nil || a.Origin.Counter > amber.MaxCounterJump {
		return amber.SyncSession{}, false
	}
	n := a.session(s)
	if (amber.SyncRecord{Session: &n}).Check() != nil {
		return amber.SyncSession{}, false
	}
	return n, bytes.Equal(Project("").fromSession(n, nil).encode(), s.encode())
}

// Version returns the origin of the version that the row says it is, and false for a row without a member that is
// believed.
func (e Entity) Version() (o amber.Origin, ok bool) {
	switch {
	case e.Session != nil:
		s, ok := e.Session.sessionOf()
		return s.Origin, ok
	case e.Observation != nil:
		m, ok := e.Observation.memoryOf()
		return m.Origin, ok
	}
	return o, false
}

// keptMember is what a link keeps of the member: stores number revisions for themselves, and know more or less of what a
// version has seen. The rest is made from the version, as a link has no text.
type keptMember struct {
	Revision int64          `json:"revision"`
	Saw      []amber.Origin `json:"saw,omitempty"`
}

// linked returns what a link keeps of a row.
func linked(o Observation) kept {
	k := keepObservation(o)
	if m, ok := o.memoryOf(); ok {
		k.Extra, k.Amber = "", &keptMember{m.Revision, m.Saw}
	}
	return k
}

// again returns the row that was written for the version, with the number it had.
func (k kept) again(m amber.SyncMemory) (Observation, bool) {
	m.Revision, m.Saw = k.Amber.Revision, k.Amber.Saw
	row, err := callerOf(k.Project, m.ProjectID).fromMemory(m, nil)
	row.ID, row.DuplicateCount = k.ID, k.DuplicateCount
	return row, err == nil
}
