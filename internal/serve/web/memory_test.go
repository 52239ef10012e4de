package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestAMemoryIsEditedAndItsHistoryCompared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("We chose Redis\nfor the queue")
	b := r.visitor("")
	p := b.get("memories/" + string(m.ID) + "/edit")
	must.Equal(t, "revision in the form", p.value("revision"), "1")
	saved := b.post("memories/"+string(m.ID)+"/edit", "revision", "1", "title", "Queue", "content", "We chose Valkey\r\nfor the queue", "kind", string(m.Kind), "tags", "queue\r\ncache", "summary", "", "meta", "owner=ops")
	must.Equal(t, "status", saved.status, http.StatusSeeOther)
	got := must.Get(r.store("acme", "ada").Memories.Get(t.Context(), m.ID))(t)
	must.Equal(t, "text", got.Content, "We chose Valkey\nfor the queue")
	must.Equal(t, "title", got.Title, "Queue")
	must.Equal(t, "tags", strings.Join(got.Tags, " "), "cache queue")
	must.Equal(t, "metadata", got.Metadata["owner"], "ops")
	b.get("memories/"+string(m.ID)).shows(t, "Queue", "From revision 1 to 2", "− We chose Redis", "+ We chose Valkey", "Write revision 1 again")
	must.Equal(t, "status of undo", b.post("memories/"+string(m.ID)+"/undo", "revision", "1", "live", "2").status, http.StatusSeeOther)
	got = must.Get(r.store("acme", "ada").Memories.Get(t.Context(), m.ID))(t)
	must.Equal(t, "text after undo", got.Content, "We chose Redis\nfor the queue")
	must.Equal(t, "revision after undo", got.Revision, 3)
}

// Two tabs edit one memory: the second is shown both texts, and loses none.
func TestTheSecondOfTwoTabsSeesTheConflict(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("first text")
	edit := "memories/" + string(m.ID) + "/edit"
	one, two := r.visitor(""), r.visitor("")
	one.get(edit)
	two.get(edit)
	fields := func(text, revision string) []string {
		return []string{"revision", revision, "content", text, "kind", string(m.Kind)}
	}
	must.Equal(t, "the first", one.post(edit, fields("text of tab one", "1")...).status, http.StatusSeeOther)
	p := two.post(edit, fields("text of tab two", "1")...)
	must.Equal(t, "the second", p.status, http.StatusConflict)
	p.shows(t, "Somebody else changed this memory", "− text of tab one", "+ text of tab two")
	must.Equal(t, "revision to go on from", p.value("revision"), "2")
	if !strings.Contains(p.body, "text of tab two</textarea>") {
		t.Error("the text of the second tab is not in the form")
	}
	stored := must.Get(r.store("acme", "ada").Memories.Get(t.Context(), m.ID))(t)
	must.Equal(t, "stored", stored.Content, "text of tab one")
	must.Equal(t, "saved on top", two.post(edit, fields("both texts", "2")...).status, http.StatusSeeOther)
}

// Another writer made the text too long for a form meanwhile: the visitor's own text stays in the form, and is
// saved.
func TestAConflictWithALongTextKeepsTheShortOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("first text")
	edit := "memories/" + string(m.ID) + "/edit"
	b := r.visitor("")
	b.get(edit)
	long := strings.Repeat("long text. ", 20_000)
	must.Get(r.store("acme", "ada").Editor.Edit(t.Context(), amber.EditRequest{ID: m.ID, Content: &long}))(t)
	p := b.post(edit, "revision", "1", "content", "mine", "kind", string(m.Kind))
	must.Equal(t, "status", p.status, http.StatusConflict)
	if !strings.Contains(p.body, "mine</textarea>") {
		t.Error("the text of the visitor is not in the form")
	}
	must.Equal(t, "saved", b.post(edit, "revision", "2", "content", "mine", "kind", string(m.Kind)).status, http.StatusSeeOther)
	must.Equal(t, "stored", must.Get(r.store("acme", "ada").Memories.Get(t.Context(), m.ID))(t).Content, "mine")
}

func TestAnEditWithoutARevisionIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("first text")
	b := r.visitor("")
	b.get("memories/" + string(m.ID))
	must.Equal(t, "status", b.post("memories/"+string(m.ID)+"/edit", "content", "other", "kind", string(m.Kind)).status, http.StatusBadRequest)
}

func TestForgettingTakesAWordAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("the door code is 4711")
	b := r.visitor("")
	forget := "memories/" + string(m.ID) + "/forget"
	b.get(forget).shows(t, "the door code is 4711", "Type forget")
	b.post(forget, "word", "yes").shows(t, "Nothing was forgotten")
	must.Do(t, must.Err(r.store("acme", "ada").Memories.Get(t.Context(), m.ID)))
	must.Equal(t, "status", b.post(forget, "word", "forget").status, http.StatusSeeOther)
	must.Kind(t, "get", must.Err(r.store("acme", "ada").Memories.Get(t.Context(), m.ID)), amber.KindNotFound)
	b.get("memories/"+string(m.ID)).shows(t, "Forgotten", "the door code is 4711", "Remember it again")
	again := b.post("memories/" + string(m.ID) + "/again")
	must.Equal(t, "status", again.status, http.StatusSeeOther)
	b.get(again.header.Get("Location")).shows(t, "the door code is 4711", "own")
}

func TestAForgottenMemoryIsBroughtBackFromASnapshot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("the door code is 4711")
	s := r.freeze("kept")
	store := r.store("acme", "ada")
	must.Do(t, store.LongTerm.Delete(t.Context(), m.ID))
	b := r.visitor("")
	b.get("memories/"+string(m.ID)).mustShow(t, "Forgotten", "In a snapshot", "kept", "Compare, and bring back")
	b.follow(b.get("memories/"+string(m.ID)+"/as-of?snapshot="+string(s.ID))).mustShow(t, "The memory is not live", "the door code is 4711", "Restore this one")
	at := "snapshots/" + string(s.ID) + "/memories/" + string(m.ID)
	p := b.get(at + "?restore=1")
	p.mustShow(t, "brought back", "Bring it back as a new revision")
	b.follow(b.post(at+"/restore", "live", p.value("live"))).mustShow(t, "The live memory is as it was in this snapshot")
	must.Equal(t, "the text", must.Get(store.Memories.Get(t.Context(), m.ID))(t).Content, m.Content)
}

func TestSeveralAreForgottenAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two, three := r.remember("one"), r.remember("two"), r.remember("three")
	b := r.visitor("")
	b.get("memories").shows(t, "one", "two", "three", "Forget the marked ones")
	b.post("memories/forget", "id", string(one.ID), "id", string(two.ID)).shows(t, "Forget 2 memories", "one", "two")
	must.Equal(t, "status", b.post("memories/forget", "id", string(one.ID), "id", string(two.ID), "word", "forget").status, http.StatusSeeOther)
	left := must.Get(r.store("acme", "ada").Memories.List(t.Context(), amber.ListQuery{All: true}))(t)
	must.Equal(t, "left", len(left.Items), 1)
	must.Equal(t, "which", left.Items[0].ID, three.ID)
}

func TestErasingTakesTheWholeId(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("a secret that has to go")
	b := r.visitor("")
	erase := "memories/" + string(m.ID) + "/erase"
	b.get(erase).shows(t, "This cannot be undone", string(m.ID))
	b.post(erase, "word", "erase").shows(t, "Nothing was erased")
	b.post(erase, "word", string(m.ID)).shows(t, "is erased", "Removed")
	if p := b.get("memories/" + string(m.ID)); strings.Contains(p.body, "a secret that") {
		t.Error("the page still shows the text")
	}
}

func TestButtonsWithoutTheirScopeAreNotDrawn(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	m := r.remember("text")
	p := r.visitor(adaRead).get("memories/" + string(m.ID))
	must.Equal(t, "status", p.status, http.StatusOK)
	for _, word := range []string{"Edit", "Forget", "Erase"} {
		if strings.Contains(p.text(), word) {
			t.Errorf("a reader sees %q", word)
		}
	}
	b := r.visitor(adaRead)
	b.get("memories/" + string(m.ID))
	must.Equal(t, "an edit by a reader", b.post("memories/"+string(m.ID)+"/edit", "revision", "1", "content", "mine", "kind", string(m.Kind)).status, http.StatusForbidden)
}

func TestATextThatABrowserWouldChangeIsNotEditedInAForm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("dos\r\nlines")
	b := r.visitor("")
	b.get("memories/"+string(m.ID)+"/edit").shows(t, "characters that a browser would change")
	must.Equal(t, "status", b.post("memories/"+string(m.ID)+"/edit", "revision", "1", "title", "T", "kind", string(m.Kind)).status, http.StatusSeeOther)
	got := must.Get(r.store("acme", "ada").Memories.Get(t.Context(), m.ID))(t)
	must.Equal(t, "text", got.Content, "dos\r\nlines")
	must.Equal(t, "title", got.Title, "T")
}

func TestANewMemoryIsWrittenAndAProblemKeepsTheText(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	b.get("memories/new")
	p := b.post("memories/new", "content", "kept text", "kind", "project_fact", "meta", "no sign")
	must.Equal(t, "status", p.status, http.StatusBadRequest)
	if !strings.Contains(p.body, "kept text</textarea>") {
		t.Error("the text is lost")
	}
	written := b.post("memories/new", "content", "kept text", "kind", "project_fact", "tags", "a", "project", "shop")
	must.Equal(t, "status", written.status, http.StatusSeeOther)
	b.get(written.header.Get("Location")).shows(t, "kept text", "project_fact", "project shop")
}

// deafLog is an audit log that cannot write down that one memory was forgotten.
type deafLog struct {
	wire.AuditLog
	to *amber.MemoryID
}

func (l deafLog) Record(ctx context.Context, e wire.AuditEntry) error {
	if e.Subject == string(*l.to) {
		return errors.New("the disk is full")
	}
	return l.AuditLog.Record(ctx, e)
}

func TestForgettingThatEndsHalfWaySaysHowFarItCame(t *testing.T) {
	t.Parallel()
	bad := new(amber.MemoryID)
	r := newRigWith(t, t.TempDir(), true, func(o *httpapi.Options, _ *web.Options) { o.Desk.Audit = deafLog{o.Desk.Audit, bad} })
	one, two, three, four := r.remember("the first"), r.remember("the second"), r.remember("the third"), r.remember("the fourth")
	*bad = two.ID
	b := r.visitor("")
	b.get("memories")
	p := b.post("memories/forget", "id", string(one.ID), "id", string(two.ID), "id", string(three.ID), "id", string(four.ID), "word", "forget")
	must.Equal(t, "status", p.status, http.StatusInternalServerError)
	gone := 0
	for _, m := range []amber.Memory{one, two, three, four} {
		if _, err := r.store("acme", "ada").Memories.Get(t.Context(), m.ID); amber.KindOf(err) == amber.KindNotFound {
			gone++
		}
	}
	p.shows(t, fmt.Sprintf("%d of 4 memories", gone), "the third", "the fourth")
	p.lacks(t, "the first")
	b.post("memories/forget", "id", string(three.ID), "id", string(four.ID), "word", "forget").leads(t, adaHome+"/memories?deleted=1")
}

func TestRecallShowsHitsWithTheirReasons(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("We chose PostgreSQL for JSONB")
	b := r.visitor("")
	p := b.get("recall?q=which+database+did+we+choose")
	must.Equal(t, "status", p.status, http.StatusOK)
	for _, want := range []string{"1 hit", "We chose PostgreSQL for JSONB", "Why", "how much of the question its words answer", "amber recall 'which database did we choose' --explain"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the page does not show %q: %s", want, p.text())
		}
	}
	p = b.get("recall?q=which+database+did+we+choose&context=1")
	if !strings.Contains(p.text(), "What an agent would get") {
		t.Errorf("the page does not show the block: %s", p.text())
	}
}

func TestAScreenAsJSONIsTheAnswerOfTheAPI(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("We chose PostgreSQL for JSONB")
	p := r.visitor("").get("recall?q=which+database&as=json")
	must.Equal(t, "type", p.header.Get("Content-Type"), "application/json")
	if !strings.Contains(p.body, `"hits":[{"id":"`+string(m.ID)) {
		t.Errorf("the answer is %s", p.body)
	}
}
