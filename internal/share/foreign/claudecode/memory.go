package claudecode

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// indexFile lists the memories of a folder.
const indexFile = "MEMORY.md"

// maxFile bounds a file of Markdown, with room for its head beside what a memory may hold.
const maxFile = amber.MaxContentBytes + 128<<10

// kinds are the types of memories.
var kinds = map[string]amber.MemoryKind{
	"user": amber.UserFact, "feedback": amber.UserPreference, "project": amber.ProjectFact, "reference": amber.WorkspaceFact,
}

// memories reads one folder of memories.
type memories struct {
	folder  *folder
	project string
	user    string
	to      foreign.Sink
	list    []foreign.Memory // without content, for links
	links   [][]string       // of each
}

// rel returns the path of a file in its folder.
func (f *folder) rel(file foreign.File) string {
	if f.path == "" {
		return file.Name
	}
	return strings.TrimPrefix(file.Name, f.path+"/")
}

// key names a file of a folder, or a part of one.
func (m *memories) key(rel string, part ...string) foreign.Key {
	if m.folder.agent != "" {
		rel = m.folder.within + "/" + rel
	}
	return append(foreign.Key{m.project, rel}, part...)
}

// read reads the folder. An index is a note, but where there is nothing that it could be an index of.
func (m *memories) read() error {
	for _, f := range m.folder.files {
		rel := m.folder.rel(f)
		b, err := f.Bytes(maxFile)
		if err != nil {
			m.to.Skip(f.Place(""), "%v", err)
			continue
		}
		switch {
		case rel != indexFile:
			err = m.memory(f, rel, b)
		case len(m.folder.files) == 1:
			err = m.sections(f, rel, b)
		case strings.TrimSpace(string(b)) != "":
			err = m.to.Note(foreign.Note{
				Place: f.Place(""), Name: m.noteName(), Content: string(b), UpdatedAt: f.ModifiedAt(),
			})
		}
		if err != nil {
			return err
		}
	}
	return m.relate()
}

func (m *memories) noteName() string {
	parts := []string{name, m.project}
	if m.folder.agent != "" {
		parts = append(parts, m.folder.within)
	}
	return path.Join(append(parts, "MEMORY")...)
}

// memory gives out the memory of a file. Its head has the same fields in two generations, the second of which keeps
// most of them in metadata.
func (m *memories) memory(f foreign.File, rel string, b []byte) error {
	at := f.Place("")
	front, body, err := foreign.SplitFront(b)
	if err != nil {
		m.to.Skip(foreign.Place{File: f.Name, At: "front matter"}, "%v; the file is read as text", err)
	}
	h := headOf(front)
	if h.amberID != "" {
		body = ownBody(b, body)
	} else {
		body = strings.TrimSpace(body)
	}
	if strings.TrimSpace(body) == "" {
		m.to.Skip(at, "file has no text below its front matter")
		return nil
	}
	mem := m.basic(f, rel, h.typ)
	mem.Key, mem.Title, mem.Topic = m.key(rel), cmp.Or(h.name, f.Stem()), foreign.Slug(f.Stem())
	mem.Content = body
	m.fill(&mem, h)
	return m.tell(mem)
}

// fill adds what the head of a memory says.
func (m *memories) fill(mem *foreign.Memory, h head) {
	mem.Summary, mem.AmberID = h.description, h.amberID
	if h.session != "" {
		mem.SessionID = amber.SessionID(h.session)
		mem.SourceRefs = append(mem.SourceRefs, amber.SourceRef{Kind: "session", Value: h.session})
	}
	if h.modified != "" {
		if changed, err := foreign.Text(h.modified); err != nil {
			m.to.Skip(foreign.Place{File: mem.Place.File, At: "modified"}, "%v; the time of the file is taken", err)
		} else {
			mem.CreatedAt, mem.UpdatedAt = changed, changed
		}
	}
	if len(h.rest) > 0 {
		mem.Foreign = h.rest
	}
}

// basic returns what a memory has from where it lies.
func (m *memories) basic(f foreign.File, rel, typ string) foreign.Memory {
	mem := foreign.Memory{
		Place: f.Place(""), Kind: kinds[strings.ToLower(typ)],
		SourceRefs: []amber.SourceRef{{Kind: "file", Value: path.Join(m.folder.within, rel)}},
		CreatedAt:  f.ModifiedAt(), UpdatedAt: f.ModifiedAt(),
	}
	if mem.Kind == "" {
		mem.Kind = amber.WorkspaceFact
	}
	switch {
	case (mem.Kind == amber.UserFact || m.folder.user) && m.user != "":
		mem.Scope, mem.UserID = amber.ScopeUser, m.user
	case m.project != "":
		mem.Scope, mem.ProjectID = amber.ScopeProject, m.project
	}
	if m.folder.agent != "" {
		mem.Metadata = map[string]string{"agent": m.folder.agent}
	}
	return mem
}

// tell gives out a memory and keeps what links need.
func (m *memories) tell(mem foreign.Memory) error {
	m.links = append(m.links, linksOf(mem.Content))
	m.list = append(m.list, foreign.Memory{Place: mem.Place, Key: mem.Key, Title: mem.Title, UpdatedAt: mem.UpdatedAt})
	return m.to.Memory(mem)
}

// head is what the front matter of a memory says.
type head struct {
	name, description, typ, session, modified, amberID string

	rest map[string]any // what has no place in Amber
}

func headOf(front foreign.Front) head {
	inner := front.Sub("metadata")
	either := func(field string) string { return cmp.Or(inner.Text(field), front.Text(field)) }
	h := head{
		name: clip.Line(front.Text("name")), description: strings.TrimSpace(front.Text("description")), typ: either("type"),
		session: either("originSessionId"), modified: either("modified"), amberID: inner.Text("amber_id"), rest: map[string]any{},
	}
	if amber.CheckID("session id", h.session) != nil {
		h.session = ""
	}
	for k, v := range front {
		if k != "name" && k != "description" && k != "metadata" {
			h.keep(k, v)
		}
	}
	for k, v := range inner {
		h.keep(k, v)
	}
	if inner == nil && front["metadata"] != nil {
		h.rest["metadata"] = front["metadata"]
	}
	return h
}

// keep notes a field that the memory itself does not hold.
func (h *head) keep(field string, v any) {
	switch field {
	case "amber_id", "amber_digest":
		return
	case "node_type":
		if v == "memory" {
			return
		}
	case "type":
		if kinds[h.typ] != "" {
			return
		}
	case "originSessionId":
		if h.session != "" {
			return
		}
	}
	h.rest[field] = v
}

// sections splits a file that holds memories itself at its headings.
func (m *memories) sections(f foreign.File, rel string, b []byte) error {
	_, text, _ := foreign.SplitFront(b)
	times := map[string]int{}
	for _, s := range split(text) {
		title := cmp.Or(s.heading, f.Stem())
		part := s.heading
		if times[part]++; times[part] > 1 {
			part = fmt.Sprintf("%s (%d)", part, times[part])
		}
		mem := m.basic(f, rel, "")
		mem.Place.At = fmt.Sprintf("line %d", s.line)
		mem.Key, mem.Title, mem.Topic, mem.Content = m.key(rel, part), title, foreign.Slug(title), s.text
		if err := m.tell(mem); err != nil {
			return err
		}
	}
	return nil
}
