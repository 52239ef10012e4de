package claudemem

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// headings are the columns of a summary and what each is called in a memory.
var headings = []struct{ column, heading string }{
	{"request", "## Request\n\n"},
	{"investigated", "## Investigated\n\n"},
	{"learned", "## Learned\n\n"},
	{"completed", "## Completed\n\n"},
	{"next_steps", "## Next steps\n\n"},
	{"notes", "## Notes\n\n"},
}

// summary gives out the summary of a session.
func (r *reader) summary(at foreign.Place, x row) error {
	project, own := project(x, r.o)
	if own {
		return nil
	}
	created, err := timeOf(x, "created_at")
	if err != nil {
		r.to.Skip(at, "created_at: %v", err)
		return nil
	}
	session := memorySession(x)
	columns, id := columnsIn(x)
	fields := kept(x, "memory_session_id", "sdk_session_id", "prompt_number", "origin_device_id", "origin_local_id")
	keepLists(fields, x, "files_read", "files_edited")
	m := foreign.Memory{
		Place: at, Key: foreign.Key{session, "summary", epoch(x)}, Kind: amber.SessionSummary,
		Identities: amber.Identities{SessionID: r.sessionOf(session), ProjectID: project},
		Content:    headed(columns), SourceRefs: files(x, "files_read", "files_edited"), AmberID: id,
		CreatedAt: created, UpdatedAt: created,
	}
	m.Keep(fields)
	return r.memory(m)
}

// columnsIn returns the columns of a summary, and the id that an export wrote.
func columnsIn(r row) (columns texts, id string) {
	columns = texts{}
	for _, h := range headings {
		columns[h.column] = r.Text(h.column)
	}
	columns["notes"], id = unmarkNotes(columns["notes"])
	return columns, id
}

// markNotes adds the id of a memory as the last line of the notes. The program keeps no column that it does not know.
func markNotes(notes string, id amber.MemoryID) string {
	if notes != "" {
		notes += "\n\n"
	}
	return notes + idMark + string(id)
}

// unmarkNotes is the reverse of markNotes.
func unmarkNotes(notes string) (said, id string) {
	at := strings.LastIndex(notes, idMark)
	if at < 0 || at > 0 && notes[at-1] != '\n' {
		return notes, ""
	}
	id = notes[at+len(idMark):]
	if _, err := amber.ParseMemoryID(id); err != nil {
		return notes, ""
	}
	return strings.TrimSuffix(notes[:at], "\n\n"), id
}

func headed(r texts) string {
	var parts []string
	for _, h := range headings {
		if s := strings.TrimSpace(r[h.column]); s != "" {
			parts = append(parts, h.heading+s)
		}
	}
	return strings.Join(parts, "\n\n")
}

// columnsOf is the reverse of headed; ok is false for a text that is no such summary.
func columnsOf(content string) (columns texts, ok bool) {
	columns = texts{}
	rest := content
	for i, h := range headings {
		after, found := strings.CutPrefix(rest, h.heading)
		if !found {
			continue
		}
		end := len(after)
		for _, next := range headings[i+1:] {
			if at := strings.Index(after, "\n\n"+next.heading); at >= 0 {
				end = min(end, at)
			}
		}
		columns[h.column], rest = after[:end], strings.TrimPrefix(after[end:], "\n\n")
	}
	return columns, len(columns) > 0 && headed(columns) == content
}

// texts are the columns of a summary.
type texts map[string]string
