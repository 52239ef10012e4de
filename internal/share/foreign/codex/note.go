package codex

import (
	"path"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// noteTime is the time in the name of a note.
const noteTime = "2006-01-02T15-04-05"

// idLine is the last line of a note that Amber wrote.
var idLine = pattern.Of(`\n\n<!-- amber:(.{1,200}) -->\s*$`)

// readNote reads a note that a person asked the program to remember.
func (r *reader) readNote(f foreign.File) error {
	text, ok := r.text(f)
	if !ok {
		return nil
	}
	base := path.Base(f.Name)
	m := foreign.Memory{
		Place: foreign.Place{File: f.Name}, Key: foreign.Key{base}, Kind: amber.WorkspaceFact,
		Identities: amber.Identities{UserID: r.o.User, ProjectID: r.o.Project}, UpdatedAt: f.ModifiedAt(),
	}
	if id := idLine().FindStringSubmatchIndex(text); id != nil {
		text, m.AmberID = text[:id[0]], text[id[2]:id[3]]
	} else {
		text = strings.TrimSpace(text)
	}
	if strings.TrimSpace(text) == "" {
		r.to.Skip(m.Place, "the note is empty")
		return nil
	}
	m.Content = text
	if name := noteName().FindStringSubmatch(base); name != nil {
		m.Title = words(name[2])
		if at, err := time.Parse(noteTime, name[1]); err == nil {
			m.CreatedAt, _ = foreign.Moment(at) // the file has a time, too
		}
	}
	return r.to.Memory(m)
}
