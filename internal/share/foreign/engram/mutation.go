package engram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// thing is what a mutation is about.
type thing struct{ entity, key string }

// place is a mutation and where in the list it stands.
type place struct {
	Mutation
	at int
}

// latestMutations returns of each thing the mutation with the highest seq, in the order in which Engram applies them:
// sessions, other rows, relations, then deletions, those of sessions last.
func latestMutations(all []Mutation) []place {
	best := map[thing]place{}
	for i, m := range all {
		t := thing{m.Entity, strings.TrimSpace(m.EntityKey)}
		if was, there := best[t]; !there || m.Seq >= was.Seq {
			best[t] = place{m, i}
		}
	}
	phases := make([][]place, 5)
	for i, m := range all {
		t := thing{m.Entity, strings.TrimSpace(m.EntityKey)}
		if p := best[t]; p.at == i {
			phases[phase(m)] = append(phases[phase(m)], p)
		}
	}
	var out []place
	for _, p := range phases {
		out = append(out, p...)
	}
	return out
}

func phase(m Mutation) int {
	switch {
	case m.Op == "delete" && m.Entity == "session":
		return 4
	case m.Op == "delete":
		return 3
	case m.Entity == "relation":
		return 2
	case m.Entity == "session":
		return 0
	}
	return 1
}

// changes applies mutations. Those of memories become versions; the rows of the others are returned. First is the ordinal of
// the first mutation.
func (r *reader) changes(all []place, first int) []Row {
	if len(all) == 0 {
		return nil
	}
	sub := reader{chunk: r.chunk}
	sessions, observations := r.index()
	for _, m := range all {
		what := "mutation of " + clip.Name(m.Entity)
		ordinal := first + m.at
		switch (thing{m.Entity, m.Op}) {
		case thing{"session", "upsert"}:
			row, err := r.sessionChange(m.Mutation, sessions)
			sub.add(what, ordinal, row, err)
		case thing{"prompt", "upsert"}:
			row, err := r.promptChange(m.Mutation)
			sub.add(what, ordinal, row, err)
		case thing{"observation", "upsert"}:
			v, err := r.observationChange(m.Mutation, observations)
			r.keepChange(what, ordinal, v, err)
		case thing{"observation", "delete"}:
			v, err := r.observationGone(m.Mutation)
			r.keepChange(what, ordinal, v, err)
		case thing{"relation", "upsert"}, thing{"relation", "delete"}:
			row, err := r.relationChange(m.Mutation)
			sub.add(what, ordinal, row, err)
		case thing{"session", "delete"}, thing{"prompt", "delete"}:
			row, err := gone(m.Mutation)
			sub.add(what, ordinal, row, err)
		default:
			sub.drop(fmt.Sprintf("%s in row %d", what, ordinal), fmt.Errorf("%s of %s is not known", clip.Name(m.Op), clip.Name(m.Entity)))
		}
	}
	r.dropped = append(r.dropped, sub.dropped...)
	return sub.rows
}

// keepChange takes a version of a mutation in, after the rows. It drops a version that says the same as a row of the
// chunk.
func (r *reader) keepChange(what string, ordinal int, v *version, err error) {
	if err == nil {
		v.rank = 1
		if v.hasText() && r.said[saying{v.memory.ID, v.print, v.deleted.IsZero()}] {
			return
		}
	}
	r.keep(what, ordinal, v, err)
}

// payload reads the row of a mutation, which some versions encoded twice.
func payload(m Mutation, known ...field) (extra string, err error) {
	text := strings.TrimSpace(m.Payload)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal([]byte(text), &text); err != nil {
			return "", errors.New("the payload is not JSON")
		}
	}
	extra, _, err = decodeObject([]byte(text), known...)
	return extra, err
}

// index finds the rows that mutations may be about.
func (r *reader) index() (map[string]Session, map[string]Observation) {
	sessions, observations := map[string]Session{}, map[string]Observation{}
	for _, s := range r.chunk.Sessions {
		sessions[s.ID] = s
	}
	for _, o := range r.chunk.Observations {
		if sync := strings.TrimSpace(deref(o.SyncID)); sync != "" {
			observations[sync] = o
		}
	}
	return sessions, observations
}

var errOther = errors.New("the payload belongs to another row")

// sessionChange reads a session. A payload without a start takes that of the row in the chunk, else the time of the change.
// It comes after that row.
func (r *reader) sessionChange(m Mutation, rows map[string]Session) (Row, error) {
	before, there := rows[m.EntityKey]
	s := before
	if !there {
		s = Session{ID: m.EntityKey, Project: m.Project, StartedAt: m.OccurredAt}
	}
	extra, err := payload(m, fieldsOf(&s)...)
	if err != nil {
		return Row{}, err
	}
	if s.ID != m.EntityKey {
		return Row{}, errOther
	}
	s.extra = extra
	row, err := r.session(s)
	if err != nil || !there {
		return row, err
	}
	row.Link = amber.SyncLink{} // the row of the chunk has it
	if first, err := r.session(before); err == nil {
		if o, p := &row.Record.Session.Origin, first.Record.Session.Origin; *o != p && !o.After(p) {
			o.Counter = p.Counter + 1
		}
	}
	return row, nil
}

func (r *reader) promptChange(m Mutation) (Row, error) {
	p := Prompt{SyncID: &m.EntityKey, CreatedAt: m.OccurredAt, Project: m.Project}
	extra, err := payload(m, fieldsOf(&p)...)
	if err != nil {
		return Row{}, err
	}
	if p.SyncID == nil || *p.SyncID != m.EntityKey {
		return Row{}, errOther
	}
	p.extra = extra
	return r.prompt(p)
}

// observationChange reads a memory. Fields that the payload lacks come from the row of the same chunk, else from the
// mutation.
func (r *reader) observationChange(m Mutation, rows map[string]Observation) (*version, error) {
	o, there := rows[strings.TrimSpace(m.EntityKey)]
	if !there {
		o = Observation{SyncID: &m.EntityKey, Scope: "project", RevisionCount: 1, DuplicateCount: 1, CreatedAt: m.OccurredAt}
		if m.Project != "" {
			o.Project = &m.Project
		}
	}
	var deleted bool
	extra, err := payload(m, append(fieldsOf(&o), field{"deleted", &deleted})...)
	if err != nil {
		return nil, err
	}
	if o.SyncID == nil || strings.TrimSpace(*o.SyncID) != strings.TrimSpace(m.EntityKey) {
		return nil, errOther
	}
	o.extra = extra
	o.UpdatedAt = cmp.Or(o.UpdatedAt, m.OccurredAt)
	if deleted && o.DeletedAt == nil {
		o.DeletedAt = &m.OccurredAt
	}
	return r.version(o)
}

// observationGone reads a deletion. It names a sync_id and no more; whose memory that is, the rows of the chunk may tell.
func (r *reader) observationGone(m Mutation) (*version, error) {
	var project, deletedAt *string
	if _, err := payload(m, field{"project", &project}, field{"deleted_at", &deletedAt}); err != nil {
		return nil, err
	}
	key := strings.TrimSpace(m.EntityKey)
	if key == "" {
		return nil, errors.New("the row has no key")
	}
	at := latest(parseTime(deref(deletedAt)), parseTime(m.OccurredAt))
	if at.IsZero() {
		return nil, errors.New("the row has no valid time")
	}
	mem, known := r.named(key)
	if !known {
		mem = amber.Memory{ID: memoryOfSync(key), Kind: amber.WorkspaceFact, Scope: amber.ScopeGlobal, CreatedAt: at}
	}
	if id, err := cleanID("project id", deref(project)); err == nil && id != "" && !known {
		mem.Scope, mem.ProjectID = amber.ScopeProject, r.project.Of(id)
	}
	sum := fmt.Sprintf("%x", foreign.Digest(syncName, "observation", key))
	o := amber.Origin{Device: tool, Counter: goneCounter, Clock: stamp(at, sum)}
	v := &version{memory: tombstone(mem, at, o), deleted: at, print: sum}
	return v, amber.SyncRecord{Memory: &v.memory}.Check()
}

// gone reads the deletion of a session or a prompt.
func gone(m Mutation) (Row, error) {
	key := strings.TrimSpace(m.EntityKey)
	if key == "" {
		return Row{}, errors.New("the row has no key")
	}
	g := amber.SyncGone{Scope: amber.ChangeSession, ID: key}
	if m.Entity == "prompt" {
		g = amber.SyncGone{Scope: amber.ChangeTurn, ID: string(turnOfSync(key))}
	}
	var deletedAt *string
	if _, err := payload(m, field{"deleted_at", &deletedAt}); err != nil {
		return Row{}, err
	}
	at := latest(parseTime(deref(deletedAt)), parseTime(m.OccurredAt))
	g.Origin = amber.Origin{Device: tool, Counter: goneCounter, Clock: stamp(at, fmt.Sprintf("%x", foreign.Digest(syncName, m.Entity, key)))}
	return Row{Record: amber.SyncRecord{Gone: &g}}, nil
}
