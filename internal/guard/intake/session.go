package intake

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/amber-memory/amber"
)

type turns struct {
	amber.Turns
	inlet
}

func (c *cleaner) turn(t amber.Turn) amber.Turn {
	c.ids("turn id", string(t.ID), "session id", string(t.SessionID), "project id", t.ProjectID)
	t.Content = c.text(t.Content)
	return t
}

// AppendTurn implements [amber.Turns].
func (s turns) AppendTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	c := s.cleaner()
	t = c.turn(t)
	return pass(ctx, c, t, s.Turns.AppendTurn)
}

type loops struct {
	amber.Loops
	inlet
}

// SaveLoop implements [amber.Loops].
func (s loops) SaveLoop(ctx context.Context, l amber.LoopSave) (amber.PendingLoop, error) {
	c := s.cleaner()
	c.ids("session id", string(l.SessionID), "run id", l.RunID)
	l.State = c.raw(l.State)
	return pass(ctx, c, l, s.Loops.SaveLoop)
}

type sessions struct {
	amber.Sessions
	inlet
}

func (c *cleaner) start(s amber.SessionStart) amber.SessionStart {
	c.ids("session id", string(s.ID), "binding", s.Binding, "project id", s.Project, "parent session id", string(s.Parent))
	s.Name, s.Directory = c.text(s.Name), c.text(s.Directory)
	return s
}

// StartSession implements [amber.Sessions].
func (s sessions) StartSession(ctx context.Context, in amber.SessionStart) (amber.Session, error) {
	c := s.cleaner()
	in = c.start(in)
	return pass(ctx, c, in, s.Sessions.StartSession)
}

type names struct {
	amber.SessionEditor
	inlet
}

func (c *cleaner) end(e amber.SessionEnd) amber.SessionEnd {
	c.ids("session id", string(e.ID), "end reason", string(e.Reason))
	e.Summary = c.text(e.Summary)
	return e
}

// EndSession implements [amber.SessionEditor].
func (s names) EndSession(ctx context.Context, e amber.SessionEnd) (amber.Session, error) {
	c := s.cleaner()
	e = c.end(e)
	return pass(ctx, c, e, s.SessionEditor.EndSession)
}

// RenameSession implements [amber.SessionEditor].
func (s names) RenameSession(ctx context.Context, id amber.SessionID, name string) (amber.Session, error) {
	c := s.cleaner()
	c.ids("session id", string(id))
	name = c.text(name)
	if err := c.done(ctx); err != nil {
		return amber.Session{}, err
	}
	return s.SessionEditor.RenameSession(ctx, id, name)
}

type states struct {
	amber.SessionStates
	inlet
}

// SaveState implements [amber.SessionStates].
func (s states) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	c := s.cleaner()
	c.ids("session id", string(id))
	doc = c.raw(doc)
	if err := c.done(ctx); err != nil {
		return amber.SessionState{}, err
	}
	return s.SessionStates.SaveState(ctx, id, doc, ifVersion)
}

type documents struct {
	amber.Documents
	inlet
}

// PutDocument implements [amber.Documents].
func (s documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	c := s.cleaner()
	c.ids("document name", w.Name)
	w.Document = c.raw(w.Document)
	return pass(ctx, c, w, s.Documents.PutDocument)
}

type notes struct {
	amber.Notes
	inlet
}

// WriteNote implements [amber.Notes].
func (s notes) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	c := s.cleaner()
	c.ids("note name", w.Name)
	w.Content = c.text(w.Content)
	if err := c.done(ctx); err != nil {
		return amber.Note{}, err
	}
	return s.Notes.WriteNote(ctx, w)
}

type ingester struct {
	amber.Ingester
	inlet
}

// Ingest implements [amber.Ingester].
func (s ingester) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	c := s.cleaner()
	c.ids("host", in.Host, "session id", string(in.Session))
	in.Steps = slices.Clone(in.Steps)
	for i := range in.Steps {
		c.step(&in.Steps[i])
	}
	return pass(ctx, c, in, s.Ingester.Ingest)
}

// step cleans one step; what it points to is copied.
func (c *cleaner) step(s *amber.IngestStep) {
	s.Start = c.start(s.Start)
	s.Turns, s.Activity, s.Memories = slices.Clone(s.Turns), slices.Clone(s.Activity), slices.Clone(s.Memories)
	for i, t := range s.Turns {
		s.Turns[i] = c.turn(t)
	}
	for i, a := range s.Activity {
		s.Activity[i].Name, s.Activity[i].Detail, s.Activity[i].Status = c.text(a.Name), c.text(a.Detail), c.text(a.Status)
	}
	for i, m := range s.Memories {
		s.Memories[i] = c.write(m)
	}
	for _, l := range s.Links {
		c.ids("relation type", l.Type)
	}
	if s.Compaction != nil {
		s.Compaction = new(c.compaction(*s.Compaction))
	}
	if s.End != nil {
		s.End = new(c.end(*s.End))
	}
}
