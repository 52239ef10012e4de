package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSessionsAreListedWithTheirState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	p := b.get("sessions")
	sound(t, p)
	shows(t, p, "None has been kept yet", "amber setup")
	store := r.store("acme", "ada")
	must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: "s1", Name: "first steps", Project: "shop"}))(t)
	r.say("s1", amber.RoleUser, "which database?")
	must.Get(store.Names.EndSession(t.Context(), amber.SessionEnd{ID: "s1", Reason: "ended"}))(t)
	must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: "s2", Name: "another"}))(t)
	p = b.get("sessions")
	sound(t, p)
	shows(t, p, "first steps", "■ ended", "user: which database?", "shop", "another", "● open", "no turns", "amber session list")
	must.Equal(t, "of the project", b.get("sessions?project=shop").rows(), []string{"first steps"})
	for i := range 60 {
		must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{Name: fmt.Sprint("many ", i)}))(t)
	}
	p = b.get("sessions")
	must.Equal(t, "rows", len(p.rows()), 50)
	must.Equal(t, "rows behind", len(b.get(p.href("Older")).rows()), 12)
}

func TestASessionShowsEverythingOfIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	must.Equal(t, "unknown session", b.get("sessions/none").status, http.StatusNotFound)
	store := r.store("acme", "ada")
	must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: "s1", Name: "first steps", Project: "shop", Directory: "/src/shop"}))(t)
	r.say("s1", amber.RoleUser, "which database?")
	r.say("s1", amber.RoleTool, "psql output")
	must.Get(store.Compactions.AddCompaction(t.Context(), amber.Compaction{SessionID: "s1", Summary: "they spoke of tea", Turns: 7}))(t)
	must.Get(store.Loops.SaveLoop(t.Context(), amber.LoopSave{SessionID: "s1", RunID: "run-1", State: json.RawMessage(`{"step":3}`)}))(t)
	must.Get(store.States.SaveState(t.Context(), "s1", json.RawMessage(`{"open":["replicas"]}`), 0))(t)
	must.Get(store.Ingest.Ingest(t.Context(), amber.Ingestion{
		Journal: strings.Repeat("1", 32), Host: "claude", Session: "s1", Through: 1,
		Steps: []amber.IngestStep{{Start: amber.SessionStart{ID: "s1"}, Activity: []amber.Activity{{SessionID: "s1", Kind: amber.ActivityTool, Name: "Bash", Count: 2, Failed: 1}}}},
	}))(t)
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Title: "Database", Content: "PostgreSQL", Identities: amber.Identities{SessionID: "s1", ProjectID: "shop"}}))(t)
	r.remember("of no session")
	must.Get(store.Names.EndSession(t.Context(), amber.SessionEnd{ID: "s1", Reason: "ended", Summary: "It was about databases."}))(t)
	p := b.get("sessions/s1")
	sound(t, p)
	shows(t, p, "Session: first steps", "■ ended", "/src/shop", "It was about databases.", "Database", "7 turns", "they spoke of tea", "Run run-1", `"step": 3`, "replicas", "Bash", "which database?", "11 B of tool output", "psql output", "amber session show s1")
	hides(t, p, "of no session")
	folded := false
	for n := range p.all("details") {
		folded = folded || strings.Contains(textOf(n), "psql output")
	}
	must.Equal(t, "tool output is folded", folded, true)
	r.say("loose", amber.RoleUser, "never started")
	p = b.get("sessions/loose")
	sound(t, p)
	shows(t, p, "Not in the catalogue", "never started")
}

func TestTurnsArePagedFromBothEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var want []string
	for i := range 120 {
		want = append(want, string(r.say("s1", amber.RoleUser, fmt.Sprint("turn ", i)).ID))
	}
	b := r.visitor("")
	for _, order := range []string{"", "oldest"} {
		var got []string
		next := adaHome + "/sessions/s1?order=" + order
		for next != "" {
			p := b.get(next)
			sound(t, p)
			for n := range p.all("a") {
				if _, id, found := strings.Cut(attribute(n, "href"), "/turns/"); found {
					got = append(got, id)
				}
			}
			next, _, _ = strings.Cut(p.href(map[string]string{"": "Older", "oldest": "Newer"}[order]), "#")
		}
		if order == "" {
			slices.Reverse(got)
		}
		must.Equal(t, "turns "+order, got, want)
	}
}

func TestLongTurnsAreShortAndReadInParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	whole := strings.Repeat("words and <tags> & \"quotes\" ", amber.MaxContentBytes/28)
	var last amber.Turn
	for range 3 {
		last = r.say("s1", amber.RoleAssistant, whole)
	}
	for range 50 {
		r.say("s1", amber.RoleTool, strings.Repeat("\x1b", 5000))
	}
	b := r.visitor("")
	sound(t, b.get("sessions/s1"))
	sound(t, b.get("sessions/s1?order=oldest"))
	var read strings.Builder
	for next := adaHome + "/sessions/s1/turns/" + string(last.ID); next != ""; {
		p := b.get(next)
		sound(t, p)
		for n := range p.all("pre") {
			read.WriteString(n.FirstChild.Data)
		}
		next = p.href("Next part")
	}
	if read.String() != whole {
		t.Errorf("the parts have %d bytes together, want %d", read.Len(), len(whole))
	}
	must.Equal(t, "a turn of another session", b.get("sessions/s2/turns/"+string(last.ID)).status, http.StatusNotFound)
	must.Equal(t, "a turn that is not there", b.get("sessions/s1/turns/none").status, http.StatusNotFound)
	sound(t, b.get("sessions/s1/turns/"+string(last.ID)+"?at=-5"))
	sound(t, b.get("sessions/s1/turns/"+string(last.ID)+"?at=99999999"))
}

func TestASessionOfHostileTextIsHarmless(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := r.store("acme", "ada")
	id := `a/b "><b>%2F`
	must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: amber.SessionID(id), Name: harmfulName[:48], Project: harmfulName, Directory: harmfulName, Binding: harmfulName}))(t)
	for range 60 {
		r.say(amber.SessionID(id), amber.RoleUser, harmful+strings.Repeat("\u202e", 900))
	}
	for range 15 {
		must.Get(store.Compactions.AddCompaction(t.Context(), amber.Compaction{SessionID: amber.SessionID(id), Summary: harmful + strings.Repeat("\u202e", 9000)}))(t)
	}
	doc := must.Get(json.Marshal(map[string]string{"a": harmful + strings.Repeat("\u202e<", 50_000)}))(t)
	must.Get(store.States.SaveState(t.Context(), amber.SessionID(id), doc, 0))(t)
	must.Get(store.Loops.SaveLoop(t.Context(), amber.LoopSave{SessionID: amber.SessionID(id), RunID: harmfulName, State: doc}))(t)
	must.Get(store.Names.EndSession(t.Context(), amber.SessionEnd{ID: amber.SessionID(id), Reason: amber.EndReason(harmfulName[:20]), Summary: harmfulName + strings.Repeat("<", 10_000)}))(t)
	b := r.visitor("")
	sound(t, b.get("sessions"))
	p := b.get("sessions/" + url.PathEscape(id))
	sound(t, p)
	shows(t, p, "<script>alert(1)</script>", "15 B"[:0]+"left out")
}
