package claudeai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// project is a project of Claude.ai, without its texts.
type project struct {
	UUID      string `json:"uuid"`
	Name      string `json:"name"`
	CreatedAt moment `json:"created_at"`
	UpdatedAt moment `json:"updated_at"`

	file   string
	n      int64  // in a file that is a list; 0 in a file of its own
	folder string // of its notes
	used   map[string]bool
}

// doc is a document of a project.
type doc struct {
	UUID      string `json:"uuid"`
	Name      string `json:"filename"`
	Content   string `json:"content"`
	CreatedAt moment `json:"created_at"`
}

// findProjects reads which projects there are: memories name them, and two may have the same name.
func (r *reader) findProjects() error {
	err := r.each(projects, r.findIn)
	r.nameFolders()
	return err
}

func (r *reader) findIn(f foreign.File) error {
	alone, object := project{file: f.Name}, false
	fields := map[string]any{"uuid": &alone.UUID, "name": &alone.Name, "created_at": &alone.CreatedAt, "updated_at": &alone.UpdatedAt}
	err := r.document(f, false, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			p := project{file: f.Name, n: n}
			if list == "" && foreign.Decode(raw, &p) == nil {
				r.addProject(p)
			}
			object = object || list != ""
			return nil
		},
		Member: func(member string, raw []byte) error {
			object = true
			if into, ok := fields[member]; ok {
				r.decode(foreign.Place{File: f.Name, At: member}, raw, into)
			}
			return nil
		},
	})
	if object {
		r.addProject(alone)
	}
	return err
}

// addProject adds a project. One whose file is cut has at least the name of the file.
func (r *reader) addProject(p project) {
	if inFolder(r.tree, foreign.File{Name: p.file}, projects.String()) {
		p.UUID = cmp.Or(p.UUID, strings.TrimSuffix(path.Base(p.file), ".json"))
	}
	at := foreign.Place{File: p.file}
	if p.n > 0 {
		at.At = fmt.Sprintf("project %d", p.n)
	}
	switch {
	case p.UUID == "":
		r.to.Skip(at, "project has no uuid")
	case r.named[p.UUID] != nil:
		r.to.Skip(at, "project %.60q is there twice; the first is read", p.UUID)
	default:
		p.used = map[string]bool{}
		r.named[p.UUID] = &p
		r.placed[foreign.Place{File: p.file, At: strconv.FormatInt(p.n, 10)}] = &p
	}
}

// nameFolders decides where the notes of projects go. Where several projects have one name, the oldest gets the folder
// of that name alone, so that a new project renames no notes.
func (r *reader) nameFolders() {
	byAge := slices.Collect(maps.Values(r.named))
	slices.SortFunc(byAge, func(a, b *project) int {
		return cmp.Or(cmp.Compare(a.CreatedAt.at.UnixMilli(), b.CreatedAt.at.UnixMilli()), strings.Compare(a.UUID, b.UUID))
	})
	used := map[string]bool{}
	for _, p := range byAge {
		p.folder = unused(used, cmp.Or(element(p.Name), element(p.UUID)), p.UUID)
	}
}

// element makes one element of the name of a note.
func element(s string) string {
	return strings.Trim(strings.NewReplacer("/", "-", "\\", "-").Replace(strings.Join(strings.Fields(s), " ")), " .")
}

// unused returns a name that is not taken, and takes it. A name that is taken has a part of the id added.
func unused(used map[string]bool, name, id string) string {
	lower := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".md") }
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if used[lower(name)] {
		stem += "-" + clip.Bytes(element(id), 8)
		name = stem + ext
	}
	for n := len(used); used[lower(name)]; n++ { // from len(used): many of one name are not counted from 2 each time
		name = fmt.Sprintf("%s-%d%s", stem, n, ext)
	}
	used[lower(name)] = true
	return name
}

// notes gives out the documents and instructions of projects.
func (r *reader) notes() error {
	return r.each(projects, func(f foreign.File) error {
		find := func(n int64) *project { return r.placed[foreign.Place{File: f.Name, At: strconv.FormatInt(n, 10)}] }
		alone := find(0)
		return r.document(f, true, foreign.Document{
			Element: func(list string, n int64, raw []byte) error {
				switch {
				case list == "" && find(n) != nil:
					return r.projectNotes(find(n), f, raw)
				case list == "docs" && alone != nil:
					return r.docNote(alone, f, n, raw)
				}
				return nil
			},
			Member: func(member string, raw []byte) error {
				var text string
				if member != "prompt_template" || alone == nil || json.Unmarshal(raw, &text) != nil {
					return nil
				}
				return r.instructions(alone, f, text)
			},
		})
	})
}

// projectNotes gives out the notes of a project that is an element of a list.
func (r *reader) projectNotes(p *project, f foreign.File, raw []byte) error {
	var texts struct {
		Prompt string            `json:"prompt_template"`
		Docs   []json.RawMessage `json:"docs"`
	}
	if !r.decode(p.place(f, ""), raw, &texts) {
		return nil
	}
	if err := r.instructions(p, f, texts.Prompt); err != nil {
		return err
	}
	for i, raw := range texts.Docs {
		if err := r.docNote(p, f, int64(i+1), raw); err != nil {
			return err
		}
	}
	return nil
}

func (p *project) place(f foreign.File, at string) foreign.Place {
	if p.n > 0 {
		at = strings.TrimSuffix(fmt.Sprintf("project %d, %s", p.n, at), ", ")
	}
	return foreign.Place{File: f.Name, At: at}
}

// instructions makes a note of the instructions that the user gave Claude for a project.
func (r *reader) instructions(p *project, f foreign.File, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return r.to.Note(foreign.Note{
		Place: p.place(f, "prompt_template"), Name: p.note("instructions", p.UUID), Content: text,
		UpdatedAt: cmp.Or(p.UpdatedAt.at, p.CreatedAt.at, f.ModifiedAt()),
	})
}

func (p *project) note(file, id string) string {
	return name + "/" + p.folder + "/" + unused(p.used, file, id)
}

func (r *reader) docNote(p *project, f foreign.File, n int64, raw []byte) error {
	at := p.place(f, fmt.Sprintf("document %d", n))
	var d doc
	if !r.decode(at, raw, &d) {
		return nil
	}
	file := cmp.Or(element(d.Name), element(d.UUID))
	switch {
	case file == "":
		r.to.Skip(at, "document has neither filename nor uuid")
		return nil
	case strings.TrimSpace(d.Content) == "":
		r.to.Skip(at, "document %.60q has no text", d.Name)
		return nil
	case d.CreatedAt.err != nil:
		r.to.Skip(at, "%v", d.CreatedAt.err)
		return nil
	}
	return r.to.Note(foreign.Note{
		Place: at, Name: p.note(file, d.UUID), Content: d.Content,
		UpdatedAt: cmp.Or(d.CreatedAt.at, p.UpdatedAt.at, p.CreatedAt.at, f.ModifiedAt()),
	})
}
