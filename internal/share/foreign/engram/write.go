package engram

import (
	"cmp"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// FromRecord makes a row of a session, a live memory or a prompt. The number of the row is 0 or what it was; the caller
// gives new rows theirs.
//
// A record with the link of the row it came from, and with the same text, becomes that very row. A memory that Engram
// wrote, but without the link, becomes the row it was last. Anything else is written anew. A record that was changed
// here keeps what Engram knew about it. A record of Amber's own gets its id as sync_id, and the session
// [ManualSession] when it has none. The version, and the fields that have no place in Engram, go into a member of
// their own; see docs/format/engram.md.
//
// Errors: refused for memories of a user, a session or a workspace, which Engram cannot keep to them; unsupported for
// everything else that is no row, tombstones among it.
func FromRecord(r amber.SyncRecord, link *amber.SyncLink) (Entity, error) {
	return Project("").FromRecord(r, link)
}

// FromRecord is the function of that name for a folder of the project: a row that is written anew has Engram's name of it.
func (p Project) FromRecord(r amber.SyncRecord, link *amber.SyncLink) (Entity, error) {
	switch {
	case r.Session != nil:
		s := p.fromSession(*r.Session, link)
		return Entity{Session: &s}, nil
	case r.Prompt != nil:
		q := p.fromPrompt(*r.Prompt, link)
		return Entity{Prompt: &q}, nil
	case r.Memory != nil && r.Memory.DeletedAt.IsZero():
		o, err := p.fromMemory(*r.Memory, link)
		return Entity{Observation: &o}, err
	}
	return Entity{}, amber.Errorf(amber.KindUnsupported, "write engram row", r.Ref().ID, "Engram has no kind of row for this record")
}

func (p Project) fromSession(s amber.SyncSession, link *amber.SyncLink) Session {
	if link != nil && link.Version == s.Origin {
		if k, ok := keptIn[keptSession](link.Extra); ok {
			row := k.session(s.Summary)
			if row.sound() {
				return row
			}
		}
	}
	row := Session{ID: string(s.ID), Project: p.Called(s.Project), Directory: s.Directory, StartedAt: formatTime(s.StartedAt)}
	row.Directory = cmp.Or(row.Directory, noDirectory)
	if !s.EndedAt.IsZero() {
		ended := formatTime(s.EndedAt)
		row.EndedAt = &ended
	}
	if s.Summary != "" {
		row.Summary = &s.Summary
	}
	if s.Origin.Device != tool {
		row.extra = withMember("", memberOfSession(s))
	}
	return row
}

// noDirectory is written where none is known: later versions refuse a blank one.
const noDirectory = "."

// ManualSession returns the session of memories that have none. Every row of Engram has one, and a chunk must bring it.
func ManualSession(project string, at amber.Time) Session {
	return Session{ID: manualSessionID(project), Project: project, Directory: noDirectory, StartedAt: formatTime(at)}
}

func manualSessionID(project string) string {
	if project == "" {
		return "amber"
	}
	if id := "amber-" + project; len(id) <= amber.MaxIDBytes {
		return id
	}
	return "amber-" + fmt.Sprintf("%x", foreign.Digest(project))[:32]
}

func (p Project) fromPrompt(t amber.Turn, link *amber.SyncLink) Prompt {
	if link != nil {
		if k, ok := keptIn[keptPrompt](link.Extra); ok {
			row := k.prompt(t.Content)
			row.ID = link.LocalID
			if row.Fingerprint() == link.Fingerprint && row.sound() {
				return row
			}
		}
	}
	id := string(t.ID)
	return Prompt{SyncID: &id, SessionID: string(t.SessionID), Content: t.Content, Project: p.Called(t.ProjectID), CreatedAt: formatTime(t.CreatedAt)}
}

func (p Project) fromMemory(m amber.SyncMemory, link *amber.SyncLink) (Observation, error) {
	f, isForeign := keptIn[observed](string(m.Foreign[tool]))
	if link != nil && (link.Version == m.Origin || m.Origin.Device == tool) {
		k, ok := keptIn[kept](link.Extra)
		switch {
		case ok && k.Amber != nil:
			k.ID = link.LocalID
			if row, ok := k.again(m); ok && link.Version == m.Origin && row.Fingerprint() == link.Fingerprint {
				return row, nil
			}
		case ok:
			row := k.observation(f.texts(m.Memory))
			row.ID = link.LocalID
			if row.Title == "" && !isForeign {
				row.Title = firstLine(m.Content)
			}
			// The fingerprint tells that it is this row, and not another version of the memory.
			if row.Fingerprint() == link.Fingerprint && row.sound() {
				return row, nil
			}
		}
	}
	if m.Scope != amber.ScopeProject && m.Scope != amber.ScopeGlobal {
		return Observation{}, amber.Errorf(amber.KindRefused, "write engram row", string(m.ID), "a memory of scope %s is not exported", m.Scope)
	}
	if isForeign {
		row := f.observation(f.texts(m.Memory))
		switch {
		case !row.sound() || !row.isOf(m.Memory):
		case m.Origin.Device == tool:
			return row, nil
		default:
			return changed(row, m), nil
		}
	}
	return p.own(m), nil
}

// isOf reports whether the row is seen where the memory is: the fields that came with a memory must not show it to
// more readers.
func (o Observation) isOf(m amber.Memory) bool {
	project, err := cleanID("project id", deref(o.Project))
	project = Project(m.ProjectID).Of(project)
	return err == nil && project == m.ProjectID && scopeOf(o.Scope, project) == m.Scope
}

// changed is a row of Engram that was edited here.
func changed(row Observation, m amber.SyncMemory) Observation {
	if kindOf(row.Type) != m.Kind {
		row.Type = types[m.Kind]
	}
	row.UpdatedAt = formatTime(m.UpdatedAt)
	row.LastSeenAt = &row.UpdatedAt
	row.RevisionCount, row.DeletedAt = counted(m), nil
	row.extra = withMember(row.extra, memberOf(m))
	return row
}

// own is a memory that Engram never saw.
func (p Project) own(m amber.SyncMemory) Observation {
	id := string(m.ID)
	o := Observation{
		SyncID: &id, SessionID: string(m.SessionID), Type: types[m.Kind], Title: m.Title, Content: m.Content, Scope: "project",
		RevisionCount: counted(m), DuplicateCount: m.DuplicateCount + 1,
		CreatedAt: formatTime(m.CreatedAt), UpdatedAt: formatTime(m.UpdatedAt),
	}
	if m.Scope == amber.ScopeGlobal {
		o.Scope = "global" // to 1.7.0 that is project
	}
	if o.SessionID == "" {
		o.SessionID = manualSessionID(m.ProjectID)
	}
	if o.Title == "" {
		o.Title = firstLine(m.Content)
	}
	if m.ProjectID != "" {
		called := p.Called(m.ProjectID)
		o.Project = &called
	}
	if m.Topic != "" {
		o.TopicKey = &m.Topic
	}
	o.LastSeenAt = &o.UpdatedAt
	o.extra = withMember("", memberOf(m))
	return o
}

func counted(m amber.SyncMemory) int64 { return int64(min(m.Origin.Counter, 1<<31-1)) }

// sound reports whether the row can be read again as it is. The fields that are kept of a row may come from any
// source.
func (s Session) sound() bool {
	var again Session
	return s.extra == "" || again.decode(s.encode()) == nil && again.extra == s.extra
}

func (o Observation) sound() bool {
	var again Observation
	return o.extra == "" || again.decode(o.encode()) == nil && again.extra == o.extra
}

func (p Prompt) sound() bool {
	var again Prompt
	return p.extra == "" || again.decode(p.encode()) == nil && again.extra == p.extra
}
