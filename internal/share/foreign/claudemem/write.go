package claudemem

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// write writes files that the program's importer takes one by one.
func write(ctx context.Context, c foreign.Contents, o foreign.WriteOptions, to foreign.Output) error {
	w := &writer{o: o, to: to, known: map[string]*sessionRow{}, taken: foreign.Seen{}, summed: map[string]bool{}}
	if err := c.Sessions(ctx, func(s amber.Session, _ func(func(amber.Turn) error) error) error { w.know(s); return nil }); err != nil {
		return err
	}
	if err := c.Memories(ctx, w.memory); err != nil {
		return err
	}
	if err := c.Sessions(ctx, w.turns); err != nil {
		return err
	}
	return w.finish()
}

type writer struct {
	o      foreign.WriteOptions
	to     foreign.Output
	batch  batch
	files  int
	known  map[string]*sessionRow // by memory session id
	taken  foreign.Seen           // keys of observations
	summed map[string]bool        // sessions with a summary: the program keeps one
}

type sessionRow struct {
	ContentSessionID string     `json:"content_session_id"`
	MemorySessionID  string     `json:"memory_session_id"`
	Project          string     `json:"project"`
	PlatformSource   string     `json:"platform_source"`
	UserPrompt       string     `json:"user_prompt"`
	StartedAt        amber.Time `json:"started_at"`
	StartedAtEpoch   int64      `json:"started_at_epoch"`
	CompletedAt      amber.Time `json:"completed_at"`
	CompletedAtEpoch int64      `json:"completed_at_epoch"`
	Status           string     `json:"status"`
}

// know makes the row of a session. Its ids are not those of the host: the program passes over a session that it has,
// and rows that refer to the ids of another one would not be taken.
func (w *writer) know(s amber.Session) {
	end := cmp.Or(s.EndedAt, s.UpdatedAt, s.StartedAt)
	w.add(ownSession+string(s.ID), s.Project, s.Name, s.StartedAt, end)
}

func (w *writer) add(id, project, prompt string, start, end amber.Time) *sessionRow {
	start = cmp.Or(start, end, w.o.At)
	end = cmp.Or(end, start)
	row := &sessionRow{id, id, w.project(project), "claude", prompt, start, start.UnixMilli(), end, end.UnixMilli(), "completed"}
	w.known[id] = row
	return row
}

// project names a project, as every row needs one.
func (w *writer) project(project string) string { return cmp.Or(project, w.o.Project, "amber") }

// session returns the row of a memory's session, or of the session for all memories of its project that have none.
func (w *writer) session(m amber.Memory) *sessionRow {
	id := ownProject + w.project(m.ProjectID)
	if m.SessionID != "" {
		id = ownSession + string(m.SessionID)
	}
	if row := w.known[id]; row != nil {
		return row
	}
	return w.add(id, m.ProjectID, "", m.CreatedAt, m.CreatedAt)
}

type observationRow struct {
	MemorySessionID string     `json:"memory_session_id"`
	Project         string     `json:"project"`
	Text            *string    `json:"text"`
	Type            string     `json:"type"`
	Title           string     `json:"title"`
	Subtitle        string     `json:"subtitle"`
	Facts           string     `json:"facts"`
	Narrative       string     `json:"narrative"`
	Concepts        string     `json:"concepts"`
	FilesRead       string     `json:"files_read"`
	FilesModified   string     `json:"files_modified"`
	PromptNumber    int        `json:"prompt_number"`
	DiscoveryTokens int        `json:"discovery_tokens"`
	CreatedAt       amber.Time `json:"created_at"`
	CreatedAtEpoch  int64      `json:"created_at_epoch"`
}

func (w *writer) memory(m amber.Memory) error {
	s := w.session(m)
	if columns, ok := columnsOf(m.Content); ok && m.Kind == amber.SessionSummary && !w.summed[s.MemorySessionID] {
		w.summed[s.MemorySessionID] = true
		return w.put(&w.batch.summaries, w.summary(m, s, columns), s)
	}
	title, at := cmp.Or(m.Title, shortened(m.Content)), m.CreatedAt
	for w.taken.Add(foreign.Key{s.MemorySessionID, title, at.String()}) != foreign.First {
		at = amber.UnixMilli(at.UnixMilli() + 1) // the program passes over a second row of this session, title and time
	}
	return w.put(&w.batch.observations, observationRow{
		MemorySessionID: s.MemorySessionID, Project: w.project(m.ProjectID), Type: typeOf(m), Title: title, Subtitle: m.Summary,
		Facts: "[]", Narrative: m.Content, Concepts: jsonText(append(append([]string{}, m.Tags...), idMark+string(m.ID))),
		FilesRead: jsonText(filesOf(m)), FilesModified: "[]", CreatedAt: at, CreatedAtEpoch: at.UnixMilli(),
	}, s)
}

// maxTitle bounds a title that is the beginning of a text, in characters.
const maxTitle = 80

func shortened(content string) string {
	return clip.Runes(firstLine(content), maxTitle+1)
}

// typeOf returns the type that the memory came with, or the one that says most of its kind: older versions take no others.
func typeOf(m amber.Memory) string {
	var kept struct{ Type string }
	if json.Unmarshal(m.Foreign[name], &kept) == nil && kept.Type != "" && kindOf(kept.Type) == m.Kind {
		return kept.Type
	}
	switch m.Kind {
	case amber.HistoricalCase:
		return "bugfix"
	case amber.ProjectFact, amber.Constraint:
		return "decision"
	}
	return "discovery"
}

func filesOf(m amber.Memory) []string {
	files := []string{}
	for _, r := range m.SourceRefs {
		if r.Kind == "file" {
			files = append(files, r.Value)
		}
	}
	return files
}

// jsonText returns a list as the text of a column.
func jsonText(list []string) string { return string(foreign.JSON(list)) }

type summaryRow struct {
	MemorySessionID string     `json:"memory_session_id"`
	Project         string     `json:"project"`
	Request         string     `json:"request"`
	Investigated    string     `json:"investigated"`
	Learned         string     `json:"learned"`
	Completed       string     `json:"completed"`
	NextSteps       string     `json:"next_steps"`
	Notes           string     `json:"notes"`
	FilesRead       string     `json:"files_read"`
	FilesEdited     string     `json:"files_edited"`
	PromptNumber    int        `json:"prompt_number"`
	DiscoveryTokens int        `json:"discovery_tokens"`
	CreatedAt       amber.Time `json:"created_at"`
	CreatedAtEpoch  int64      `json:"created_at_epoch"`
}

func (w *writer) summary(m amber.Memory, s *sessionRow, c texts) summaryRow {
	return summaryRow{
		MemorySessionID: s.MemorySessionID, Project: w.project(m.ProjectID),
		Request: c["request"], Investigated: c["investigated"], Learned: c["learned"], Completed: c["completed"],
		NextSteps: c["next_steps"], Notes: markNotes(c["notes"], m.ID), FilesRead: jsonText(filesOf(m)), FilesEdited: "[]",
		CreatedAt: m.CreatedAt, CreatedAtEpoch: m.CreatedAt.UnixMilli(),
	}
}

type promptRow struct {
	ContentSessionID string     `json:"content_session_id"`
	PromptNumber     int        `json:"prompt_number"`
	PromptText       string     `json:"prompt_text"`
	CreatedAt        amber.Time `json:"created_at"`
	CreatedAtEpoch   int64      `json:"created_at_epoch"`
}

// turns writes what the user said.
func (w *writer) turns(s amber.Session, turns func(func(amber.Turn) error) error) error {
	row, n := w.known[ownSession+string(s.ID)], 0
	return turns(func(t amber.Turn) error {
		if t.Role != amber.RoleUser {
			return nil
		}
		n++
		return w.put(&w.batch.prompts, promptRow{row.ContentSessionID, n, t.Content, t.CreatedAt, t.CreatedAt.UnixMilli()}, row)
	})
}
