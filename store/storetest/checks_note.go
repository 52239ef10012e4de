package storetest

import (
	"strings"

	"github.com/amber-memory/amber"
)

func noteChecks() []check {
	needs := []part{notes}
	return []check{
		{name: "note/write-and-read", needs: needs, run: noteKept},
		{name: "note/list-by-name", needs: needs, run: notesListed},
		{name: "note/log-newest-first", needs: needs, run: noteLogged},
		{name: "note/delete-keeps-the-log", needs: needs, run: noteDeleted},
		{name: "note/says-who-wrote-it", needs: needs, run: noteAuthors},
		{name: "note/one-name-in-every-spelling", needs: needs, run: noteSpellings},
		{name: "note/hostile-names-are-refused", needs: needs, run: noteHostileNames},
		{name: "note/refuses-invalid-content", needs: needs, run: noteBadContent},
	}
}

// note writes a note.
func (w *world) note(name, content string) amber.Note {
	return must(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: name, Content: content}))
}

func noteKept(w *world) {
	for _, name := range []string{"plan", "deep/er/plan", "with space, and+more@x", "Überblick", "a.b_c-d", "UPPER"} {
		content := "# " + name + "\r\n\n\ttext without end of line"
		n := w.note(name, content)
		equal([]any{n.Name, n.Bytes, n.UpdatedAt}, []any{name, len(content), w.now()}, "written note")
		got := must(w.Notes.ReadNote(w.ctx, name))
		hold(got.Content == content, "note %s came back as %q", name, got.Content)
		equal(got, n, "note read back")
	}
	equal(w.note("plan.md", "by file name").Name, "plan", "name without its ending")
	equal(must(w.Notes.ReadNote(w.ctx, "plan")).Content, "by file name", "note written over")
	refused(only(w.Notes.ReadNote(w.ctx, "unknown")), amber.KindNotFound, "read an unknown note")
}

func notesListed(w *world) {
	equal(len(must(w.Notes.ListNotes(w.ctx))), 0, "notes of a fresh store")
	for _, name := range []string{"b", "a/z", "a", "c"} {
		w.note(name, "text of "+name)
	}
	var got []string
	for _, n := range must(w.Notes.ListNotes(w.ctx)) {
		equal(n.Content, "", "content in the list")
		got = append(got, n.Name)
	}
	equal(got, []string{"a", "a/z", "b", "c"}, "notes by name")
}

func noteLogged(w *world) {
	w.note("n", "one")
	w.tick()
	w.note("other", "x")
	second := w.note("n", "two")
	w.tick()
	equal(w.note("n", "two"), second, "note written again")
	log := must(w.NoteLog.LogNote(w.ctx, "n", 10))
	equal(len(log), 2, "changes of a note written twice and once again the same")
	equal([]any{log[0].Op, log[0].At, log[1].Op, log[1].At}, []any{"write", second.UpdatedAt, "write", amber.At(start())}, "changes, newest first")
	hold(len(log[0].Commit) == 40 && log[0].Commit != log[1].Commit, "commits %q and %q are not two commits", log[0].Commit, log[1].Commit)
	equal(len(must(w.NoteLog.LogNote(w.ctx, "n", 1))), 1, "changes up to a limit")
	refused(only(w.NoteLog.LogNote(w.ctx, "unknown", 1)), amber.KindNotFound, "log of an unknown note")
	equal(must(w.NoteLog.NoteAt(w.ctx, "n", log[1].Commit)).Content, "one", "text before the last change")
	equal(must(w.NoteLog.NoteAt(w.ctx, "n", log[0].Commit)).Content, "two", "text after the last change")
	noCommit(w, "other", log[0].Commit, "a note at a commit of another note")
	noCommit(w, "n", strings.Repeat("ab", 20), "a note at an unknown commit")
}

// noCommit checks that a note has no text at a commit, and that the error names both.
func noCommit(w *world, name, commit, what string) {
	err := only(w.NoteLog.NoteAt(w.ctx, name, commit))
	refused(err, amber.KindNotFound, "%s", what)
	hold(strings.Contains(err.Error(), commit) && strings.Contains(err.Error(), name), "%s: the error is %q, want one that names note %s and commit %s", what, err, name, commit)
}

func noteDeleted(w *world) {
	w.note("n", "one")
	must0(w.Notes.DeleteNote(w.ctx, "n", amber.NoteBy{}))
	refused(only(w.Notes.ReadNote(w.ctx, "n")), amber.KindNotFound, "read a deleted note")
	refused(w.Notes.DeleteNote(w.ctx, "n", amber.NoteBy{}), amber.KindNotFound, "delete a deleted note")
	refused(w.Notes.DeleteNote(w.ctx, "unknown", amber.NoteBy{}), amber.KindNotFound, "delete an unknown note")
	equal(len(must(w.Notes.ListNotes(w.ctx))), 0, "notes")
	log := must(w.NoteLog.LogNote(w.ctx, "n", 10))
	equal(len(log), 2, "changes of a deleted note")
	equal(log[0].Op, "delete", "newest change")
	noCommit(w, "n", log[0].Commit, "a note at the commit that deleted it")
	equal(must(w.NoteLog.NoteAt(w.ctx, "n", log[1].Commit)).Content, "one", "a deleted note at the commit that wrote it")
	w.note("n", "back")
	equal(must(w.Notes.ReadNote(w.ctx, "n")).Content, "back", "note written again")
}

// noteAuthors changes notes as an agent and as the owner: each change says whose it is, and the note is that of the last one.
func noteAuthors(w *world) {
	agent := amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "claude-code", Agent: "Ada \"<A>\" Ü", Session: "s1", Token: "laptop"}}
	w.note("n", "of the owner")
	w.tick()
	theirs := must(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: "n", Content: "of the agent", NoteBy: agent}))
	equal(theirs.NoteBy, agent, "author of what an agent writes")
	equal(must(w.Notes.ReadNote(w.ctx, "n")), theirs, "note of an agent read back")
	equal(w.note("n", "of the agent"), theirs, "note of an agent that the owner writes with the same text")
	for _, n := range must(w.Notes.ListNotes(w.ctx)) {
		equal(n.NoteBy, amber.NoteBy{}, "author in a list")
	}
	w.tick()
	own := must(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: "n", Content: "of the owner again", NoteBy: amber.NoteBy{Trust: amber.TrustOwn, Author: amber.Author{Host: "cli"}}}))
	equal(own.NoteBy, amber.NoteBy{}, "author of what the owner writes")
	equal(must(w.Notes.ReadNote(w.ctx, "n")), own, "note of the owner read back")
	imported := amber.NoteBy{Trust: amber.TrustImported}
	w.tick()
	equal(must(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: "n", Content: "from elsewhere", NoteBy: imported})).NoteBy, imported, "author of what an import writes")
	w.tick()
	must0(w.Notes.DeleteNote(w.ctx, "n", agent))
	log := must(w.NoteLog.LogNote(w.ctx, "n", 9))
	var by []amber.NoteBy
	for _, c := range log {
		by = append(by, c.NoteBy)
	}
	equal(by, []amber.NoteBy{agent, imported, {}, agent, {}}, "who made the changes, newest first")
	equal(must(w.NoteLog.NoteAt(w.ctx, "n", log[3].Commit)), theirs, "note of the agent at its commit")
	equal(must(w.NoteLog.NoteAt(w.ctx, "n", log[2].Commit)), own, "note of the owner at its commit")
}

func noteHostileNames(w *world) {
	for _, name := range []string{
		"", ".", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/", "/a", ".git/config", ".hidden", "a/.git/hooks/x", ".GIT/x", "git~1/x",
		"a\x00b", "a\nb", "a\\b", "a:b", "a|b", "a*b", "a?b", "<a>", `a"b`, "con", "CON.txt", "nul", "com1", "a/aux", "-flag", "a.", "a ", " a",
		"\xff", "a\u202eb", strings.Repeat("x", 300), "~/x", "$HOME",
	} {
		refused(only(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: name, Content: "text"})), amber.KindInvalid, "write note %q", clipped(name))
		refused(only(w.Notes.ReadNote(w.ctx, name)), amber.KindInvalid, "read note %q", clipped(name))
		refused(w.Notes.DeleteNote(w.ctx, name, amber.NoteBy{}), amber.KindInvalid, "delete note %q", clipped(name))
	}
	equal(len(must(w.Notes.ListNotes(w.ctx))), 0, "notes")
}

func noteBadContent(w *world) {
	for name, content := range map[string]string{
		"nothing": "", "a NUL": "a\x00", "no UTF-8": "\xff", "too much": strings.Repeat("x", amber.MaxContentBytes+1),
	} {
		refused(only(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: "n", Content: content})), amber.KindInvalid, "note with %s", name)
	}
	equal(len(must(w.Notes.ListNotes(w.ctx))), 0, "notes")
}

// noteSpellings: the same name with letters that are one character and two.
func noteSpellings(w *world) {
	const composed, apart = "r\u00e9sum\u00e9/caf\u00e9", "re\u0301sume\u0301/cafe\u0301"
	n := w.note(apart, "one")
	equal(n.Name, composed, "name of a note")
	equal(must(w.Notes.ReadNote(w.ctx, composed)).Content, "one", "read in the other spelling")
	equal(must(w.Notes.ReadNote(w.ctx, apart)).Content, "one", "read in its own spelling")
	w.tick()
	equal(w.note(composed, "two").Name, composed, "name of the same note")
	equal(must(w.Notes.ReadNote(w.ctx, apart)).Content, "two", "read after a write in the other spelling")
	equal(len(must(w.Notes.ListNotes(w.ctx))), 1, "number of notes")
	equal(len(must(w.NoteLog.LogNote(w.ctx, apart, 9))), 2, "number of changes")
	must0(w.Notes.DeleteNote(w.ctx, apart, amber.NoteBy{}))
	refused(only(w.Notes.ReadNote(w.ctx, composed)), amber.KindNotFound, "read a note deleted in the other spelling")
	equal(len(must(w.NoteLog.LogNote(w.ctx, apart, 9))), 3, "number of changes of a deleted note")
}
