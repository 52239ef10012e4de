package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func (r *rig) write(name, content string) string {
	r.t.Helper()
	return must.Get(r.store("acme", "ada").Notes.WriteNote(r.t.Context(), amber.NoteWrite{Name: name, Content: content}))(r.t).Commit
}

func TestNotesAreATree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	p := b.get("notes")
	sound(t, p)
	shows(t, p, "There is none yet", "amber note write")
	r.write("plain", "text")
	r.write("people/Ada Lovelace", "Likes tea")
	r.write("people/far/Grace", "Likes ships")
	p = b.get("notes")
	sound(t, p)
	shows(t, p, "3 notes", "people/", "far/", "Ada Lovelace", "Grace", "plain", "New note", "amber note list")
	p = b.get("notes?folder=people")
	must.Equal(t, "in a folder", p.rows(), []string{"Grace", "Ada Lovelace"})
	must.Equal(t, "way up", p.href("all notes"), adaHome+"/notes")
	shows(t, b.get("notes?folder=nowhere"), "no notes in this folder")
	hides(t, newLockedRig(t).visitor(adaRead).get("notes"), "New note")
}

// The changes of a note say which of them agents made.
func TestChangesOfANoteSayWhoMadeThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("plan", "mine")
	hides(t, r.visitor("").get("notes/plan"), "by an agent")
	by := amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "codex", Session: "<s>"}}
	must.Get(r.store("acme", "ada").Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "theirs", NoteBy: by}))(t)
	p := r.visitor("").get("notes/plan")
	sound(t, p)
	shows(t, p, "by an agent in Codex, session <s>")
}

func TestManyNotesAreShownAFolderAtATime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	want := map[string]bool{}
	for i := range 56 {
		r.write(fmt.Sprintf("many/note %03d", i), "text")
		want[fmt.Sprintf("note %03d", i)] = true
	}
	b := r.visitor("")
	p := b.get("notes")
	sound(t, p)
	next := p.href("many/")
	for range 3 {
		if next == "" {
			break
		}
		p = b.get(next)
		sound(t, p)
		for _, n := range p.rows() {
			if !want[n] {
				t.Errorf("%q is there twice", n)
			}
			delete(want, n)
		}
		next = p.href("Older")
	}
	must.Equal(t, "notes that were not listed", len(want), 0)
}

func TestANoteHasItsTextItsChangesAndTheirDifference(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.write("decisions/database", "# Database\n\nWe chose **MySQL**.\n")
	second := r.write("decisions/database", "# Database\n\nWe chose **PostgreSQL**.\n")
	r.write("another", "text")
	b := r.visitor("")
	at := "notes/decisions%2Fdatabase"
	p := b.get(at)
	sound(t, p)
	shows(t, p, "We chose PostgreSQL .", "amber note show decisions/database", first[:12], second[:12])
	hides(t, p, "**")
	p = b.get(at + "?view=source")
	sound(t, p)
	shows(t, p, "We chose **PostgreSQL**.")
	p = b.get(at + "?commit=" + first)
	sound(t, p)
	shows(t, p, "We chose MySQL .", "As it is now")
	hides(t, p, "Edit", "Delete")
	p = b.get(b.get(at).href("difference"))
	sound(t, p)
	shows(t, p, "− We chose ** MySQL **.", "+ We chose ** PostgreSQL **.")
	must.Equal(t, "unknown commit", b.get(at+"?commit="+strings.Repeat("0", 40)).status, http.StatusNotFound)
	must.Equal(t, "unknown note", b.get("notes/none").status, http.StatusNotFound)
	must.Equal(t, "no name", b.get("notes/a%25b").status, http.StatusBadRequest)
	shows(t, b.get(at+"?from="+first+"&to="+first), "Both say the same")
}

func TestNotesOfEveryNameAreWrittenEditedAndDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	for _, name := range []string{"plain", "Ada Lovelace", "a/b/c d", "v1.2.3", "häuser/größe", "new", "a+b,c@d"} {
		at := "notes/" + url.PathEscape(name)
		sound(t, b.get("notes?new=1"))
		p := b.post("notes", "name", name, "content", "one\r\ntwo")
		must.Equal(t, name, []any{p.status, p.header.Get("Location")}, []any{http.StatusSeeOther, adaHome + "/" + at})
		p = b.get(at + "?edit=1")
		sound(t, p)
		must.Equal(t, "text of "+name, p.fieldText("content"), "one\ntwo")
		p = b.post(at, "base", p.value("base"), "content", "three")
		must.Equal(t, name, []any{p.status, p.header.Get("Location")}, []any{http.StatusSeeOther, adaHome + "/" + at})
		p = b.get(at + "?delete=1")
		sound(t, p)
		base := p.value("base")
		p = b.post(at+"/delete", "base", base, "word", "yes")
		must.Equal(t, "without the word", p.status, http.StatusBadRequest)
		shows(t, p, "still there")
		must.Equal(t, "deleted "+name, b.post(at+"/delete", "base", base, "word", "delete").status, http.StatusSeeOther)
		p = b.get(at)
		sound(t, p)
		shows(t, p, "This note was deleted", "delete")
	}
	for _, bad := range []string{"../x", "a%b", ".git/x", "", strings.Repeat("x", 300)} {
		p := b.post("notes", "name", bad, "content", "my text")
		must.Equal(t, bad, p.status, http.StatusBadRequest)
		must.Equal(t, "text", p.fieldText("content"), "my text")
	}
	p := b.post("notes", "name", "empty", "content", "")
	must.Equal(t, "without a text", p.status, http.StatusBadRequest)
}

func TestOfTwoEditorsOfANoteTheSecondLosesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("shared", "first\n")
	b := r.visitor("")
	base := b.get("notes/shared?edit=1").value("base")
	r.write("shared", "theirs\n")
	p := b.post("notes/shared", "base", base, "content", "mine\n")
	must.Equal(t, "status", p.status, http.StatusConflict)
	harmless(t, p)
	must.Equal(t, "my text", p.fieldText("content"), "mine")
	shows(t, p, "− theirs", "+ mine", "Somebody else has changed this note", "Store mine in place of theirs")
	must.Equal(t, "stored", must.Get(r.store("acme", "ada").Notes.ReadNote(t.Context(), "shared"))(t).Content, "theirs\n")
	must.Equal(t, "on purpose", b.post("notes/shared", "base", p.value("base"), "content", "mine\n").status, http.StatusSeeOther)
	must.Equal(t, "stored", must.Get(r.store("acme", "ada").Notes.ReadNote(t.Context(), "shared"))(t).Content, "mine\n")

	old := b.get("notes/shared?delete=1").value("base")
	r.write("shared", "newer\n")
	must.Equal(t, "deleting another text", b.post("notes/shared/delete", "base", old, "word", "delete").status, http.StatusConflict)

	base = b.get("notes/shared?edit=1").value("base")
	must.NoError(t, r.store("acme", "ada").Notes.DeleteNote(t.Context(), "shared", amber.NoteBy{}))
	p = b.post("notes/shared", "base", base, "content", "mine again\n")
	must.Equal(t, "status of an edit of a deleted note", p.status, http.StatusConflict)
	must.Equal(t, "my text", p.fieldText("content"), "mine again")
	must.Equal(t, "stored anew", b.post("notes/shared", "base", p.value("base"), "content", "mine again\n").status, http.StatusSeeOther)

	p = b.post("notes", "name", "shared", "content", "a new one")
	must.Equal(t, "a new note of a taken name", p.status, http.StatusConflict)
	must.Equal(t, "my text", p.fieldText("content"), "a new one")
}

func TestNotesAreChangedWithTheScopeAlone(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	commit := r.write("n", "text")
	b := r.visitor(adaRead)
	for _, path := range []string{"notes", "notes/n", "notes/n?edit=1", "notes/n?delete=1"} {
		p := b.get(path)
		sound(t, p)
		hides(t, p, "New note", "Edit", "Delete")
	}
	must.Equal(t, "write", b.post("notes/n", "base", commit, "content", "x").status, http.StatusForbidden)
	must.Equal(t, "delete", b.post("notes/n/delete", "base", commit, "word", "delete").status, http.StatusForbidden)
	must.Equal(t, "new", b.post("notes", "name", "m", "content", "x").status, http.StatusForbidden)
	must.Equal(t, "stored", must.Get(r.store("acme", "ada").Notes.ReadNote(t.Context(), "n"))(t).Content, "text")
}

func TestNotesOfHostileTextAreHarmless(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	for i, text := range []string{
		harmfulName + "\n\n# " + harmfulName + "\n\n![pixel](https://evil.example/x.png)", strings.Repeat("> ", 9000) + "x", strings.Repeat("[a](https://b.c) ", 9000),
		strings.Repeat("x", 1<<20-100), strings.Repeat("\u202e", 20_000), strings.Repeat(harmfulName+"\n", 2000), strings.Repeat("|a", 3000) + "\n" + strings.Repeat("|-", 3000) + "\n",
	} {
		name := fmt.Sprint("n", i)
		first := r.write(name, text)
		second := r.write(name, "before\n"+strings.ReplaceAll(text, "a", "e")+"\nbehind")
		for _, view := range []string{"", "?view=source", "?commit=" + first, "?from=" + first + "&to=" + second} {
			sound(t, b.get("notes/"+name+view))
		}
	}
	p := b.get("notes/n0")
	for n := range p.all("a") {
		if strings.Contains(attribute(n, "href"), "evil") && attribute(n, "rel") == "" {
			t.Error("a picture became a link without rel")
		}
	}
	hides(t, b.get("notes/n3"), "Edit")
	shows(t, b.get("notes/n3"), "too long to be edited here")
}
