package web

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// maxTree is how many notes are shown as a whole tree; of more, one folder is shown at a time.
const maxTree = pageSize

// noteScreens are the tree of notes and one note.
type noteScreens struct{ *visit }

func noteRoutes(p *Page) {
	p.get("/notes", on(noteScreens.noteTree))
	p.post("/notes", withStore(noteScreens.newNote))
	p.get("/notes/{name}", withStore(noteScreens.note))
	p.post("/notes/{name}", withStore(noteScreens.saveNote))
	p.post("/notes/{name}/delete", withStore(noteScreens.deleteNote))
}

// folder is a folder of notes.
type folder struct {
	Name, Path string // Path is "" for all notes
	URL        string
	Folders    []*folder
	Notes      []noteRow
	Count      int // of notes in it and below
}

type noteRow struct {
	amber.Note
	Base, URL string
}

// notesData is what the list of notes shows.
type notesData struct {
	Folder *folder
	Whole  bool // with the folders below
	Up     []crumb
	Count  int
	Next   string
	New    *noteForm
}

// crumb is a folder above.
type crumb struct{ Name, URL string }

func (v noteScreens) noteTree() error {
	if v.query("new") != "" && v.may("write") {
		name := v.query("folder")
		if name != "" {
			name += "/"
		}
		return v.renderNewNote(200, noteForm{Name: name})
	}
	ctx := v.r.Context()
	store, err := v.remote.Store(ctx)
	if err != nil {
		return err
	}
	notes, err := store.Notes.ListNotes(ctx)
	if err != nil {
		return err
	}
	at := strings.Trim(v.query("folder"), "/")
	d := notesData{Count: len(notes), Whole: len(notes) <= maxTree, Up: v.crumbs(at)}
	d.Folder = v.treeOf(notes, at, d.Whole)
	d.page(v.visit)
	title := "Notes"
	if at != "" {
		title = "Notes in " + clip.Marked(visible(at), 200)
	}
	return v.render("notes", screen{Title: title, Nav: "notes", Command: v.command("note", "list")}, d)
}

func (v noteScreens) crumbs(at string) (up []crumb) {
	if at == "" {
		return nil
	}
	up = []crumb{{"all notes", v.path("notes")}}
	for i, c := range at {
		if c == '/' {
			up = append(up, crumb{path.Base(at[:i]), addQuery(v.path("notes"), "folder", at[:i])})
		}
	}
	return up
}

// treeOf puts the notes at and below a folder into folders. Without whole, folders below say
// only how many notes they hold.
func (v noteScreens) treeOf(notes []amber.Note, at string, whole bool) *folder {
	root := &folder{Name: path.Base(at), Path: at}
	for _, n := range notes {
		rest := n.Name
		if at != "" {
			var below bool
			if rest, below = strings.CutPrefix(n.Name, at+"/"); !below {
				continue
			}
		}
		dir, below := root, rest
		dir.Count++
		for strings.Contains(below, "/") {
			var name string
			name, below, _ = strings.Cut(below, "/")
			dir = v.sub(dir, name)
			dir.Count++
			if !whole {
				below = ""
			}
		}
		if below != "" {
			dir.Notes = append(dir.Notes, noteRow{n, below, v.path("notes", n.Name)})
		}
	}
	return root
}

// sub is the folder of a name in another one. Notes come by name, so it is the last one.
func (v noteScreens) sub(in *folder, name string) *folder {
	full := path.Join(in.Path, name)
	if i := slices.IndexFunc(in.Folders, func(f *folder) bool { return f.Name == name }); i >= 0 {
		return in.Folders[i]
	}
	f := &folder{Name: name, Path: full, URL: addQuery(v.path("notes"), "folder", full)}
	in.Folders = append(in.Folders, f)
	return f
}

// page keeps as many entries of a large folder as a page holds.
func (d *notesData) page(v *visit) {
	if d.Whole {
		return
	}
	after, f := v.query("after"), d.Folder
	slices.SortFunc(f.Folders, func(a, b *folder) int { return cmp.Compare(a.Name, b.Name) })
	f.Folders = slices.DeleteFunc(f.Folders, func(g *folder) bool { return after != "" && "/"+g.Name <= after })
	f.Notes = slices.DeleteFunc(f.Notes, func(n noteRow) bool { return after != "" && "0"+n.Base <= after }) // "0" comes behind "/"
	if len(f.Folders) > maxTree {
		f.Folders, f.Notes = f.Folders[:maxTree], nil
		d.Next = "/" + f.Folders[maxTree-1].Name
	}
	if room := maxTree - len(f.Folders); d.Next == "" && len(f.Notes) > room {
		f.Notes = f.Notes[:room]
		d.Next = "/\U0010ffff"
		if room > 0 {
			d.Next = "0" + f.Notes[room-1].Base
		}
	}
}
