package gemini

import (
	"context"
	"path"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxText bounds a document.
const maxText = 4 << 20

// readProjects reads which folder has which short id. Older folders are named after the digest of their path.
func (r *reader) readProjects() {
	for _, f := range r.tree.Files() {
		switch path.Base(f.Name) {
		case "projects.json":
			b, err := f.Bytes(maxText)
			if err != nil {
				continue
			}
			o, err := foreign.ParseObject(b)
			if err != nil {
				r.to.Skip(f.Place(""), "%v", err)
				continue
			}
			projects := o.Sub("projects")
			for dir := range projects {
				r.folder(projects.Text(dir), dir)
			}
		case ".project_root":
			if dir := strings.TrimSpace(string(f.Head(4 << 10))); dir != "" {
				r.folder(path.Base(path.Dir(whole(r.tree, f))), dir)
			}
		}
	}
}

func (r *reader) folder(id, dir string) {
	r.folders[amber.ContentDigest(dir)] = dir
	if id != "" {
		r.folders[id] = dir
	}
}

// readDocuments reads files of Markdown.
func (r *reader) readDocuments(ctx context.Context) error {
	for _, f := range r.tree.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if id, below, ok := private(r.tree, f); ok {
			err = f.GiveNote("gemini/"+r.projectName(id)+"/"+strings.TrimSuffix(below, ".md"), maxText, r.to)
		} else if path.Base(f.Name) == "GEMINI.md" && (r.isHome(f) || hasFacts(f)) {
			err = r.readOrders(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isHome reports whether a file lies directly in the program's home.
func (r *reader) isHome(f foreign.File) bool {
	dir := path.Dir(whole(r.tree, f))
	return path.Base(dir) == ".gemini" || !strings.Contains(f.Name, "/") && len(r.tree.Under("tmp")) > 0
}

func (r *reader) projectName(id string) string {
	if r.o.Project != "" {
		return r.o.Project
	}
	if dir := r.folders[id]; dir != "" {
		if p := r.o.ProjectFor(dir); p != "" {
			return p
		}
	}
	return id
}

// section is the heading below which the program added what the user asked it to remember.
var section = pattern.Of(`(?m)^## Gemini Added Memories[ \t\r]*$`)

// readOrders reads a GEMINI.md: each fact becomes a memory; the rest, which a person wrote, a note.
func (r *reader) readOrders(f foreign.File) error {
	b, err := f.Bytes(maxText)
	if err != nil {
		r.to.Skip(f.Place(""), "%v", err)
		return nil
	}
	inside, written := false, false
	for i, l := range strings.Split(string(b), "\n") {
		l = strings.TrimRight(l, " \t\r")
		if strings.HasPrefix(l, "## ") {
			inside = section().MatchString(l)
			written = written || !inside
			continue
		}
		if !inside {
			written = written || l != ""
			continue
		}
		if err := r.fact(f, i+1, l); err != nil {
			return err
		}
	}
	if !written {
		return nil
	}
	return f.GiveNote("instructions/gemini/GEMINI", maxText, r.to)
}

// fact gives out one line of the section.
func (r *reader) fact(f foreign.File, line int, text string) error {
	fact, ok := strings.CutPrefix(text, "- ")
	place := f.Line(int64(line))
	fact = strings.TrimSpace(fact)
	switch {
	case strings.TrimSpace(text) == "" || text == "-":
		return nil
	case !ok:
		r.to.Skip(place, "want a line that begins with \"- \", found %.40q", text)
		return nil
	case r.facts[fact]:
		r.to.Skip(place, "the same fact is there before")
		return nil
	case fact == "":
		return nil
	}
	r.facts[fact] = true
	return r.to.Memory(foreign.Memory{
		Place: place, Key: foreign.Key{fact}, Kind: amber.UserPreference, Scope: amber.ScopeUser,
		Identities: amber.Identities{UserID: r.o.User, ProjectID: r.o.Project}, Content: fact, UpdatedAt: f.ModifiedAt(),
	})
}
