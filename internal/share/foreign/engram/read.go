package engram

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// ReadOptions say how rows are read.
type ReadOptions struct {
	// User is whose personal memories these are: created_by of the entry. "" and what cannot be an id means "engram".
	User string
	// Project is the project of the folder: rows that have Engram's name of it belong to it.
	Project Project
	// Named returns the memory that a sync_id names, for relations and deletions of rows that are in another chunk. Nil, and
	// false, mean that the sync_id itself says all there is to know.
	Named func(sync string) (amber.Memory, bool)
}

// Row is a record and the row it came from. A record that is no row by itself, as the live version of a row that was
// deleted, a tombstone without a row, or a relation, has a link without Tool, which is not to be noted.
type Row struct {
	Record amber.SyncRecord
	Link   amber.SyncLink
	// Exact tells that Amber wrote the row for this very version, which is not to be changed nor taken for another.
	Exact bool
}

// ToRecords reads the rows of a chunk or a backup. Every record passes [amber.SyncRecord.Check], and links have the chunk
// and the place of the row in it: sessions, then observations, then prompts, then mutations.
//
//   - A session is a session. A prompt is a turn of the user.
//   - An observation is a version of a memory, its counter the revision_count of the row. A deleted one is two: the text,
//     and the tombstone that saw it. Rows of one memory follow each other, deleted ones first.
//   - A row that Amber wrote says which version it is, and counts as that version if the row was not changed since.
//   - Of the mutations of one thing that with the highest seq counts, and more than a row of the same chunk.
//
// Nothing is shortened. A row that Amber has no room for is in dropped, with its place and the reason; the others are not
// affected by it.
func ToRecords(c Chunk, o ReadOptions) (rows []Row, dropped []string) {
	r := newReader(c, o)
	if len(c.unknown) > 0 {
		r.drop("the chunk", fmt.Errorf("unknown fields: %s", clip.Name(strings.Join(c.unknown, ", "))))
	}
	r.read()
	return r.rows, r.dropped
}

func newReader(c Chunk, o ReadOptions) *reader {
	r := &reader{
		chunk: c, user: tool, project: o.Project, elsewhere: o.Named, dropped: slices.Clone(c.bad),
		versions: map[amber.MemoryID][]*version{}, ofSync: map[string]amber.MemoryID{}, said: map[saying]bool{},
	}
	if id, err := cleanID("user", o.User); err == nil && id != "" {
		r.user = id
	}
	return r
}

type reader struct {
	chunk     Chunk
	user      string
	project   Project
	elsewhere func(sync string) (amber.Memory, bool) // memories of rows in other chunks, nil where the caller has none
	versions  map[amber.MemoryID][]*version
	ofSync    map[string]amber.MemoryID // the memories of rows that have a sync_id
	said      map[saying]bool
	observed  []*version // in the order of the chunk
	rows      []Row
	dropped   []string
}

func (r *reader) read() {
	latest := latestMutations(r.chunk.Mutations)
	ordinal := 0
	for _, s := range r.chunk.Sessions {
		row, err := r.session(s)
		r.add("session", ordinal, row, err)
		ordinal++
	}
	for _, o := range r.chunk.Observations {
		v, err := r.version(o)
		r.keep("observation", ordinal, v, err)
		ordinal++
	}
	prompts := ordinal
	ordinal += len(r.chunk.Prompts)
	changes := r.changes(latest, ordinal)
	r.order()
	for _, v := range r.observed {
		r.emit(v)
	}
	for i, p := range r.chunk.Prompts {
		row, err := r.prompt(p)
		r.add("prompt", prompts+i, row, err)
	}
	r.rows = append(r.rows, changes...)
}

func (r *reader) drop(what string, err error) {
	r.dropped = append(r.dropped, what+": "+err.Error())
}

// add takes a row in, or says why not.
func (r *reader) add(what string, ordinal int, row Row, err error) {
	if err == nil {
		err = row.Record.Check()
	}
	if err == nil {
		err = checkKept(row.Link)
	}
	if err != nil {
		r.drop(fmt.Sprintf("%s in row %d", what, ordinal), err)
		return
	}
	if row.Link.Tool != "" {
		row.Link.Chunk, row.Link.Ordinal = r.chunk.ID, ordinal
	}
	r.rows = append(r.rows, row)
}

func (r *reader) session(s Session) (Row, error) {
	if exact, ok := s.sessionOf(); ok {
		exact.Project = r.project.Of(exact.Project)
		rec := amber.SyncRecord{Session: &exact}
		return Row{rec, LinkOf(Entity{Session: &s}, rec), true}, nil
	}
	id, err := cleanID("session id", s.ID)
	if err != nil {
		return Row{}, err
	}
	if id == "" {
		return Row{}, errors.New("the row has no id")
	}
	project, err := cleanID("project id", s.Project)
	if err != nil {
		return Row{}, err
	}
	started, ended := parseTime(s.StartedAt), parseTime(deref(s.EndedAt))
	last := latest(started, ended)
	directory, _ := clean(s.Directory, unprinted)
	summary, _ := clean(deref(s.Summary), control)
	session := amber.SyncSession{
		Session: amber.Session{
			ID: amber.SessionID(id), Name: sessionName(id), Binding: tool, Project: r.project.Of(project), Directory: directory,
			StartedAt: started, EndedAt: ended, Summary: summary, CreatedAt: started, UpdatedAt: last,
		},
		// The low bits tell versions of one second apart, so they come from all of the row.
		Origin: amber.Origin{Device: tool, Counter: 1, Clock: stamp(last, fmt.Sprintf("%x", foreign.Digest(string(s.encode()))))},
	}
	if s.EndedAt != nil {
		session.Origin.Counter = 2
	}
	if !ended.IsZero() {
		session.EndReason = amber.EndEnded
	}
	rec := amber.SyncRecord{Session: &session}
	return Row{Record: rec, Link: LinkOf(Entity{Session: &s}, rec)}, nil
}

func (r *reader) prompt(p Prompt) (Row, error) {
	session, err := cleanID("session id", p.SessionID)
	if err != nil {
		return Row{}, err
	}
	project, err := cleanID("project id", p.Project)
	if err != nil {
		return Row{}, err
	}
	content, _ := clean(p.Content, zero)
	rec := amber.SyncRecord{Prompt: &amber.Turn{
		ID: turnID(p), SessionID: amber.SessionID(session), Role: amber.RoleUser, Content: content, ProjectID: r.project.Of(project),
		CreatedAt: parseTime(p.CreatedAt),
	}}
	return Row{Record: rec, Link: LinkOf(Entity{Prompt: &p}, rec)}, nil
}
