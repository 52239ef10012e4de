package cogx

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// system is what Amber calls itself in a record.
const system = "amber"

// writer writes an archive.
type writer struct {
	to     foreign.Output
	agent  amber.AgentID
	counts map[string]int
	ends   map[amber.MemoryID]string // memories that relations lead to, by their names
}

func write(ctx context.Context, c foreign.Contents, o foreign.WriteOptions, to foreign.Output) error {
	w := &writer{to: to, agent: o.Agent, counts: map[string]int{}, ends: map[amber.MemoryID]string{}}
	err := c.Relations(ctx, func(r amber.Relation) error {
		w.ends[r.From], w.ends[r.To] = "", ""
		return nil
	})
	if err != nil {
		return err
	}
	for _, step := range []struct {
		kind  string
		write func(ctx context.Context, c foreign.Contents, put put) error
	}{
		{"memory", w.memories}, {"episode", w.episodes}, {"entity", w.entities}, {"fact", w.facts}, {"document", w.documents},
	} {
		if err := w.records(step.kind, func(put put) error { return step.write(ctx, c, put) }); err != nil {
			return err
		}
	}
	return w.manifest(o)
}

// put writes a record.
type put func(v any) error

// records writes a file of records. It makes no empty file.
func (w *writer) records(kind string, fill func(put) error) (err error) {
	var file io.WriteCloser
	var out *bufio.Writer
	err = fill(func(v any) error {
		if file == nil {
			if file, err = w.to.Create(kinds[kindOf(kind)].file); err != nil {
				return err
			}
			out = bufio.NewWriter(file)
		}
		w.counts[kind]++
		return writeLine(out, v)
	})
	if file != nil {
		err = cmp.Or(err, out.Flush(), file.Close())
	}
	return err
}

// streamed is a record that is too long to be held.
type streamed interface{ writeTo(out io.Writer) error }

func writeLine(out *bufio.Writer, v any) error {
	if s, ok := v.(streamed); ok {
		return cmp.Or(s.writeTo(out), out.WriteByte('\n'))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// head is what all records have.
type head struct {
	Kind           string         `json:"kind"`
	ExternalSystem string         `json:"external_system"`
	ExternalID     string         `json:"external_id"`
	Scope          scope          `json:"scope"`
	CreatedAt      amber.Time     `json:"created_at,omitzero"`
	UpdatedAt      amber.Time     `json:"updated_at,omitzero"`
	Metadata       map[string]any `json:"metadata"`
}

type scope struct {
	UserID    string          `json:"user_id,omitempty"`
	AgentID   amber.AgentID   `json:"agent_id,omitempty"`
	SessionID amber.SessionID `json:"session_id,omitempty"`
}

func (w *writer) head(kind, id string, created, updated amber.Time, own any) head {
	return head{kind, system, id, scope{AgentID: w.agent}, created, updated, map[string]any{"amber": own}}
}

// everything is what Amber knows of a memory beside its text, tags and times.
type everything struct {
	Kind  amber.MemoryKind `json:"kind"`
	Scope amber.Scope      `json:"scope"`
	amber.Identities
	Title          string                     `json:"title,omitempty"`
	Summary        string                     `json:"summary,omitempty"`
	Topic          string                     `json:"topic,omitempty"`
	Metadata       map[string]string          `json:"metadata,omitempty"`
	SourceRefs     []amber.SourceRef          `json:"source_refs,omitempty"`
	Trust          amber.Trust                `json:"trust,omitempty"`
	Origin         amber.Origin               `json:"origin"`
	Revision       int64                      `json:"revision"`
	ContentDigest  string                     `json:"content_digest,omitempty"`
	DuplicateCount int64                      `json:"duplicate_count,omitempty"`
	Foreign        map[string]json.RawMessage `json:"foreign,omitempty"`
}

type memory struct {
	head
	Content    string   `json:"content"`
	Categories []string `json:"categories,omitempty"`
}

func (w *writer) memories(ctx context.Context, c foreign.Contents, put put) error {
	return c.Memories(ctx, func(m amber.Memory) error {
		if _, related := w.ends[m.ID]; related {
			w.ends[m.ID] = foreign.TitleOf(m)
		}
		h := w.head("memory", string(m.ID), m.CreatedAt, m.UpdatedAt, everything{
			m.Kind, m.Scope, m.Identities, m.Title, m.Summary, m.Topic, m.Metadata, m.SourceRefs, m.Trust, m.Origin, m.Revision,
			m.ContentDigest, m.DuplicateCount, m.Foreign,
		})
		h.Scope.UserID, h.Scope.SessionID = m.UserID, m.SessionID
		return put(memory{h, m.Content, m.Tags})
	})
}

type entity struct {
	head
	Name       string `json:"name"`
	EntityType string `json:"entity_type"`
}

func entityID(id amber.MemoryID) string { return "entity-" + string(id) }

// entities writes a thing for each memory that has a relation: facts lead from things to things.
func (w *writer) entities(ctx context.Context, c foreign.Contents, put put) error {
	if len(w.ends) == 0 {
		return nil
	}
	return c.Memories(ctx, func(m amber.Memory) error {
		if w.ends[m.ID] == "" {
			return nil
		}
		h := w.head("entity", entityID(m.ID), m.CreatedAt, m.UpdatedAt, map[string]string{"memory": string(m.ID)})
		return put(entity{h, foreign.TitleOf(m), "memory"})
	})
}

type fact struct {
	head
	SubjectRef string  `json:"subject_ref"`
	Predicate  string  `json:"predicate"`
	ObjectRef  string  `json:"object_ref"`
	FactText   string  `json:"fact_text"`
	Confidence float64 `json:"confidence"`
}

func (w *writer) facts(ctx context.Context, c foreign.Contents, put put) error {
	return c.Relations(ctx, func(r amber.Relation) error {
		from, to := w.ends[r.From], w.ends[r.To]
		if from == "" || to == "" {
			return nil
		}
		id := cmp.Or(r.ID, string(r.From)+":"+r.Type+":"+string(r.To))
		h := w.head("fact", id, r.CreatedAt, amber.Time{}, map[string]any{"relation": r.ID})
		return put(fact{h, entityID(r.From), r.Type, entityID(r.To), from + " " + r.Type + " " + to, r.Strength})
	})
}

type document struct {
	head
	Content  string `json:"content"`
	Title    string `json:"title"`
	MimeType string `json:"mime_type"`
}

func (w *writer) documents(ctx context.Context, c foreign.Contents, put put) error {
	return c.Notes(ctx, func(n amber.Note) error {
		h := w.head("document", "note:"+n.Name, n.UpdatedAt, n.UpdatedAt, map[string]string{"note": n.Name})
		return put(document{h, n.Content, n.Name, "text/markdown"})
	})
}

// session is what Amber knows of a session.
type session struct {
	Binding   string          `json:"binding,omitempty"`
	Project   string          `json:"project,omitempty"`
	Directory string          `json:"directory,omitempty"`
	StartedAt amber.Time      `json:"started_at,omitzero"`
	EndedAt   amber.Time      `json:"ended_at,omitzero"`
	EndReason amber.EndReason `json:"end_reason,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	Parent    amber.SessionID `json:"parent,omitempty"`
	Trust     amber.Trust     `json:"trust,omitempty"`
}

type episode struct {
	head
	Title string `json:"title"`
	turns func(func(amber.Turn) error) error
}

type turn struct {
	Role       amber.Role `json:"role"`
	Content    string     `json:"content"`
	OccurredAt amber.Time `json:"occurred_at,omitzero"`
}

// writeTo writes the turns one by one: a conversation can be long.
func (e episode) writeTo(out io.Writer) error {
	b, err := json.Marshal(struct {
		head
		Title string `json:"title"`
	}{e.head, e.Title})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, string(b[:len(b)-1])+`,"turns":[`); err != nil {
		return err
	}
	first := true
	err = e.turns(func(t amber.Turn) error {
		b, err := json.Marshal(turn{t.Role, t.Content, t.CreatedAt})
		if err != nil {
			return err
		}
		if !first {
			b = append([]byte{','}, b...)
		}
		first = false
		_, err = out.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, "]}")
	return err
}

func (w *writer) episodes(ctx context.Context, c foreign.Contents, put put) error {
	return c.Sessions(ctx, func(s amber.Session, turns func(func(amber.Turn) error) error) error {
		h := w.head("episode", string(s.ID), s.CreatedAt, s.UpdatedAt, session{
			s.Binding, s.Project, s.Directory, s.StartedAt, s.EndedAt, s.EndReason, s.Summary, s.Parent, s.Trust,
		})
		h.Scope.SessionID = s.ID
		return put(episode{h, s.Name, turns})
	})
}

// manifest is written last, when it is known how many records there are.
func (w *writer) manifest(o foreign.WriteOptions) error {
	b, err := json.MarshalIndent(struct {
		Version    string         `json:"cogx_version"`
		System     string         `json:"source_system"`
		ExportedAt amber.Time     `json:"exported_at,omitzero"`
		Counts     map[string]int `json:"counts"`
	}{version, system, o.At, w.counts}, "", "  ")
	if err != nil {
		return err
	}
	return foreign.WriteText(w.to, manifest, string(b)+"\n")
}
