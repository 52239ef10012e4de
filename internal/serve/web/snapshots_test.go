package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	keys "github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// freeze takes a snapshot of acme/ada.
func (r *rig) freeze(label string) wire.SnapshotMeta {
	r.t.Helper()
	return must.Get(r.agent("acme", "ada").Snapshot(r.t.Context(), wire.SnapshotRequest{Label: label}))(r.t)
}

// mustShow compares a page with what it must show.
func (p page) mustShow(t *testing.T, want ...string) {
	t.Helper()
	must.Equal(t, "status", p.status, http.StatusOK)
	for _, w := range want {
		if !strings.Contains(p.text(), w) {
			t.Errorf("the page does not show %q: %s", w, p.text())
		}
	}
	if strings.Contains(p.body, " style=") || len(p.body) > 100<<10 {
		t.Errorf("the page has styles of its own, or %d bytes", len(p.body))
	}
	ids := map[string]bool{}
	for n := range p.root.Descendants() {
		if id := attribute(n, "id"); id != "" && ids[id] {
			t.Errorf("two elements have the id %s", id)
		} else {
			ids[id] = true
		}
	}
}

// mustNotShow fails for a page that shows one of these.
func (p page) mustNotShow(t *testing.T, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(p.body, w) {
			t.Errorf("the page shows %q", w)
		}
	}
}

// follow opens the page that a form leads to.
func (b *browser) follow(p page) page {
	b.r.t.Helper()
	if p.status != http.StatusSeeOther {
		b.r.t.Fatalf("status %d, want a redirect: %s", p.status, p.text())
	}
	return b.get(p.header.Get("Location"))
}

// ended opens the page of a job until the job has ended.
func (b *browser) ended(at string) page {
	b.r.t.Helper()
	ctx, cancel := context.WithTimeout(b.r.t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		p := b.get(at)
		if !strings.Contains(p.body, "<progress") {
			return p
		}
	}
	b.r.t.Fatal("the work does not end")
	return page{}
}

const hostile = `<img src=x onerror=alert(1)> "quoted" hx-get="/x"`

func TestSnapshotsSayWhatTheyAreForWhereThereAreNone(t *testing.T) {
	t.Parallel()
	newRig(t).visitor("").get("snapshots").mustShow(t, "There is none yet", "amber snapshot create", "Take a snapshot")
}

func TestSnapshotsAreListedWithTheirState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("We chose PostgreSQL")
	one := r.freeze(hostile)
	r.freeze("auto:schedule")
	b := r.visitor("")
	p := b.get("snapshots")
	p.mustShow(t, "automatic", "manual", `<img src=x onerror=alert(1)>`, "signed", "Compare the two that are marked")
	p.mustNotShow(t, "<img src=x", `"quoted" hx-get="/x"`)
	points := 0
	for n := range p.all("title") {
		if n.Parent.Data == "g" {
			points++
		}
	}
	must.Equal(t, "points on the axis", points, 2)
	b.get("snapshots/"+string(one.ID)).mustShow(t, "memory", "control", "No check is recorded", "This server has not checked the snapshot", "Browse its memories")
}

// The page says of the last commit of the notes what it is about, who wrote it, and when.
func TestASnapshotTellsTheLastChangeOfItsNotes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("plan", "Deploy on Monday")
	one := r.freeze("with notes")
	r.visitor("").get("snapshots/"+string(one.ID)).mustShow(t, "Last change of notes", "write plan", "Amber <")
}

func TestASnapshotIsTakenPinnedAndDeletedOnThePage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	r.freeze("kept")
	b := r.visitor("")
	b.get("snapshots")
	taken := b.post("snapshots", "label", "my own", "pin", "1")
	at := taken.header.Get("Location")
	b.follow(taken).mustShow(t, "my own", "pinned", "Unpin")
	b.post(at+"/delete", "word", "my own").mustShow(t, "pinned")
	b.follow(b.post(at+"/pin", "pinned", "false")).mustShow(t, "Pin")
	b.post(at+"/delete", "word", "myown").mustShow(t, `want "my own": nothing was done`)
	p := b.follow(b.post(at+"/delete", "word", "my own"))
	p.mustShow(t, "kept")
	p.mustNotShow(t, "my own")
	p = b.post("snapshots", "label", "two\x01lines")
	p.mustShow(t, "label", "Take a snapshot")
	must.Equal(t, "the label in the form", p.value("label"), "two\x01lines")
}

func TestManySnapshotsArePages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	for i := range 52 {
		r.freeze(fmt.Sprintf("label %d %s", i, strings.Repeat("\u202e", 60)))
	}
	b := r.visitor("")
	p := b.get("snapshots")
	p.mustShow(t, "label 51 ", "label 2 ", "Older")
	p.mustNotShow(t, "label 1 ")
	for n := range p.all("a") {
		if attribute(n, "rel") == "next" {
			b.get(attribute(n, "href")).mustShow(t, "label 1 ", "label 0 ")
			return
		}
	}
	t.Error("the page has no link to the older ones")
}

func TestTwoSnapshotsAreComparedByMemory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m, gone := r.remember("We chose MySQL\nfor the shop"), r.remember("It is gone later")
	a := r.freeze("first")
	store := r.store("acme", "ada")
	text := "We chose PostgreSQL " + hostile + "\nfor the shop"
	must.Get(store.Editor.Edit(t.Context(), amber.EditRequest{ID: m.ID, IfRevision: m.Revision, Content: &text}))(t)
	must.Do(t, store.LongTerm.Delete(t.Context(), gone.ID))
	r.remember("It is new")
	must.Get(store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "# Plan\n"}))(t)
	z := r.freeze("second")
	b := r.visitor("")
	p := b.follow(b.get("snapshots/diff?" + url.Values{"s": {string(z.ID), string(a.ID)}}.Encode()))
	p.mustShow(t, "+ added", "± changed", "− removed", "It is new", "It is gone later", "We chose PostgreSQL", "plan.md", "Everything, counted")
	at := "snapshots/diff?" + url.Values{"a": {string(a.ID)}, "b": {string(z.ID)}, "memory": {string(m.ID)}}.Encode()
	p = b.get(at)
	p.mustShow(t, "We chose MySQL", "PostgreSQL", "for the shop", "−", "+")
	p.mustNotShow(t, "<img src=x")
	for n := range p.all("del") {
		must.Equal(t, "the word that went", n.FirstChild.Data, "MySQL")
	}
	b.get("snapshots/diff?"+url.Values{"a": {string(a.ID)}, "b": {string(z.ID)}, "memory": {string(gone.ID)}}.Encode()).mustShow(t, "It is not in "+string(z.ID[28:]))
	b.get("snapshots/diff?"+url.Values{"a": {string(a.ID)}, "b": {string(a.ID)}}.Encode()).mustShow(t, "The two hold the same")
	b.get("snapshots/diff?s="+string(a.ID)).mustShow(t, "Mark two snapshots", "1 is marked")
}

func TestOneMemoryOfASnapshotIsBroughtBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("We chose MySQL")
	s := r.freeze("first")
	store, text := r.store("acme", "ada"), "We chose PostgreSQL"
	must.Get(store.Editor.Edit(t.Context(), amber.EditRequest{ID: m.ID, IfRevision: m.Revision, Content: &text}))(t)
	b := r.visitor("")
	b.get("snapshots/"+string(s.ID)+"/memories").mustShow(t, "We chose MySQL", "Search in this snapshot")
	at := "snapshots/" + string(s.ID) + "/memories/" + string(m.ID)
	b.get(at).mustShow(t, "We chose MySQL", "PostgreSQL", "Restore this one")
	p := b.get(at + "?restore=1")
	p.mustShow(t, "These fields would be as in the snapshot", "content", "Bring it back as a new revision")
	must.Equal(t, "after the dry run", must.Get(store.Memories.Get(t.Context(), m.ID))(t).Content, text)
	b.follow(b.post(at+"/restore", "live", p.value("live"))).mustShow(t, "The live memory is as it was in this snapshot")
	must.Equal(t, "after the restore", must.Get(store.Memories.Get(t.Context(), m.ID))(t).Content, "We chose MySQL")
	must.Do(t, store.LongTerm.Delete(t.Context(), m.ID))
	b.get(at).mustShow(t, "The memory is not live", "Restore this one")
}

func TestAMemoryIsBroughtBackOnlyOverTheStateThatWasShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("one")
	s := r.freeze("first")
	store := r.store("acme", "ada")
	edit := func(text string) {
		must.Get(store.Editor.Edit(t.Context(), amber.EditRequest{ID: m.ID, Content: &text}))(t)
	}
	live := func() string { return must.Get(store.Memories.Get(t.Context(), m.ID))(t).Content }
	edit("two")
	b := r.visitor("")
	at := "snapshots/" + string(s.ID) + "/memories/" + string(m.ID)
	seen := b.get(at + "?restore=1")
	edit("three")
	again := b.post(at+"/restore", "live", seen.value("live"))
	again.mustShow(t, "Nothing was brought back", "three", "Bring it back as a new revision")
	must.Equal(t, "after a change by somebody else", live(), "three")
	b.post(at+"/restore").mustShow(t, "Nothing was brought back")
	must.Equal(t, "without a state", live(), "three")
	must.Do(t, store.LongTerm.Delete(t.Context(), m.ID))
	gone := b.post(at+"/restore", "live", again.value("live"))
	gone.mustShow(t, "Nothing was brought back", "The memory is not live")
	b.follow(b.post(at+"/restore", "live", gone.value("live"))).mustShow(t, "The live memory is as it was")
	must.Equal(t, "after the restore", live(), "one")
}

func TestASnapshotWithHugeAndOddTextsStaysAPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember(strings.Repeat("\u202e\u200b", 40<<10))
	s := r.freeze("odd")
	text := strings.Repeat("a \u202eb\n", 30<<10)
	must.Get(r.store("acme", "ada").Editor.Edit(t.Context(), amber.EditRequest{ID: m.ID, IfRevision: m.Revision, Content: &text}))(t)
	z := r.freeze("odder")
	b := r.visitor("")
	b.get("snapshots/diff?"+url.Values{"a": {string(s.ID)}, "b": {string(z.ID)}, "memory": {string(m.ID)}}.Encode()).mustShow(t, "The texts are longer than a page")
	b.get("snapshots/"+string(s.ID)+"/memories/"+string(m.ID)).mustShow(t, "The texts are longer than a page")
	b.get("snapshots/"+string(s.ID)+"/memories").mustShow(t, "revision 1")
}

func TestSnapshotScreensAreRefusedWithoutTheScope(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	m := r.remember("one")
	s := r.freeze("kept")
	b := r.visitor(adaRead)
	p := b.get("snapshots")
	p.mustShow(t, "kept")
	p.mustNotShow(t, "Take a snapshot")
	at := "snapshots/" + string(s.ID)
	p = b.get(at)
	p.mustShow(t, "kept")
	p.mustNotShow(t, "Restore …", "Delete this", ">Pin<", "Check it now")
	p = b.get(at + "/memories/" + string(m.ID))
	p.mustNotShow(t, "Restore this one")
	must.Equal(t, "the form of a restore", b.get(at+"/restore").status, http.StatusForbidden)
	must.Equal(t, "a plan for one memory", b.get(at+"/memories/"+string(m.ID)+"?restore=1").status, http.StatusForbidden)
	for _, path := range []string{"snapshots", at + "/pin", at + "/delete", at + "/verify", at + "/restore", at + "/restore/plan", at + "/memories/" + string(m.ID) + "/restore"} {
		p := b.post(path, "word", "kept", "only", "memory", "pinned", "true", "label", "x")
		must.Equal(t, path, p.status, http.StatusForbidden)
	}
	list := must.Get(must.Get(r.agent("acme", "ada").Snapshots(t.Context()))(t).ListSnapshots(t.Context(), wire.SnapshotQuery{Tenant: "acme", Agent: "ada"}))(t)
	must.Equal(t, "snapshots", len(list.Items), 1)
	for _, path := range []string{"/ui/acme/ada/snapshots", "/ui/acme/ada/" + at, "/ui/acme/ada/" + at + "/memories", "/ui/acme/ada/" + at + "/memories/" + string(m.ID)} {
		must.Equal(t, "another tenant at "+path, r.visitor(eve).get(path).status, http.StatusNotFound)
	}
}

// freezeSealed takes a snapshot that no key of the home can open afterwards.
func (r *rig) freezeSealed() wire.SnapshotMeta {
	r.t.Helper()
	o := r.options("acme", "ada")
	o.Config.Snapshot.Encryption.Recipients = []string{must.Get(age.GenerateX25519Identity())(r.t).Recipient().String()}
	a := must.Get(agent.Open(r.t.Context(), o))(r.t)
	meta := must.Get(a.Snapshot(r.t.Context(), wire.SnapshotRequest{Label: "sealed"}))(r.t)
	must.Do(r.t, a.Close())
	must.Do(r.t, os.Remove(r.home+"/keys/"+keys.AgeIdentityFile))
	return meta
}

func TestACheckThatCouldNotReadTheContentDoesNotSayThatItDid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	s := r.freezeSealed()
	b := r.visitor("")
	b.get("snapshots")
	for _, fields := range [][]string{{"read_data", "1"}, {}} {
		p := b.ended(b.post("snapshots/"+string(s.ID)+"/verify", fields...).header.Get("Location"))
		p.mustShow(t, "No damage was found in what was checked", "not every object was looked for", "no identity opens it")
		p.mustNotShow(t, "looked whether everything is there")
		p = b.get("snapshots")
		p.mustShow(t, "no damage found (5 things were not checked)")
		p.mustNotShow(t, "every byte was read", "the objects were looked for")
	}
}
