package web_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

func TestACheckIsAPageOfItsOwnThatSaysHowFarItWent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	s := r.freeze("kept")
	b := r.visitor("")
	at := "snapshots/" + string(s.ID)
	b.get(at)
	started := b.post(at + "/verify")
	must.Equal(t, "status", started.status, http.StatusSeeOther)
	p := b.ended(started.header.Get("Location"))
	p.mustShow(t, "No damage was found in what was checked", "The content was not read", "Not checked", "integrity of databases", "Signature", "valid")
	p.mustNotShow(t, "memory.db: integrity")
	b.get(at).mustShow(t, "the objects were looked for")
	started = b.post(at+"/verify", "read_data", "1")
	p = b.ended(started.header.Get("Location"))
	p.mustShow(t, "✓ memory.db: integrity", "pages read and compared")
	p.mustNotShow(t, "The content was not read")
	b.get(at).mustShow(t, "every byte was read", "integrity", "✓ passed")
	b.get("snapshots").mustShow(t, "no damage found (every byte was read)")
	must.Equal(t, "the last steps that were told", r.page.LastSteps(), []string{"look for objects", "check control.db"})
}

func TestACheckOfADamagedSnapshotSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	s := r.freeze("kept")
	packs := must.Get(filepath.Glob(r.home + "/tenants/acme/repo/packs/*/*"))(t)
	for _, path := range packs {
		must.Do(t, os.Remove(path))
	}
	if len(packs) == 0 {
		t.Fatal("no packs were found")
	}
	b := r.visitor("")
	b.get("snapshots")
	p := b.ended(b.post("snapshots/"+string(s.ID)+"/verify", "read_data", "1").header.Get("Location"))
	if !strings.Contains(p.text(), "The snapshot is damaged") && !strings.Contains(p.text(), "It did not work") {
		t.Errorf("the page does not tell of the damage: %s", p.text())
	}
	p.mustNotShow(t, "No damage was found", "memory.db: integrity</li>")
}

// hold keeps snapshots and restores of acme/ada waiting until it is let go.
func (r *rig) hold() (letGo func()) {
	r.t.Helper()
	h := must.Get(home.At(r.home, home.Options{Clock: time.Now, Random: rand.Reader}))(r.t)
	folder := must.Get(h.Agent("acme", "ada"))(r.t)
	held, free, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ctx := context.WithoutCancel(r.t.Context())
	go func() { over <- folder.Operate(ctx, func() error { close(held); <-free; return nil }) }()
	<-held
	return func() {
		close(free)
		must.NoError(r.t, <-over)
	}
}

func TestARestoreThatFailsSaysThatNothingWasChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	s := r.freeze("kept")
	letGo := r.hold()
	defer letGo()
	b := r.visitor("")
	b.get("snapshots")
	at := b.post("snapshots/"+string(s.ID)+"/restore", "only", "memory", "word", "kept").header.Get("Location")
	b.get(at).mustShow(t, "You may close this page")
	must.Do(t, r.page.Close(t.Context())) // as a server that ends
	b.get(at).mustShow(t, "It did not work", "Nothing was changed: the agent is as before the restore, on generation 1")
	b.post("snapshots/"+string(s.ID)+"/restore", "only", "memory", "word", "kept").mustShow(t, "the server ends and begins no more work")
}

// plan asks what a restore would change and returns the page with the answer.
func (b *browser) plan(s wire.SnapshotMeta, fields ...string) page {
	b.r.t.Helper()
	at := "snapshots/" + string(s.ID) + "/restore"
	b.get(at).mustShow(b.r.t.(*testing.T), "Nothing is changed before you have seen")
	started := b.post(at+"/plan", fields...)
	if started.status != http.StatusSeeOther {
		b.r.t.Fatalf("status %d: %s", started.status, started.text())
	}
	return b.ended(started.header.Get("Location"))
}

func TestARestoreIsPlannedConfirmedAndCanBeUndone(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.remember("We chose MySQL")
	s := r.freeze("the good one")
	later := r.remember("We chose PostgreSQL " + hostile)
	b := r.visitor(ada)
	at := "snapshots/" + string(s.ID) + "/restore"
	p := b.plan(s, "only", "memory", "only", "notes", "only", "state")
	p.mustShow(t, "Nothing was changed so far", "memories", "− removed", "We chose PostgreSQL", "Type the good one to restore", "needed", "--dry-run")
	p.mustNotShow(t, "<img src=x")
	must.Equal(t, "after the plan", must.Get(r.store("acme", "ada").Memories.Get(t.Context(), later.ID))(t).ID, later.ID)
	fields := []string{"plan", p.value("plan"), "only", "memory", "only", "notes", "only", "state", "word"}
	b.post(at, append(fields, "the bad one")...).mustShow(t, `want "the good one": nothing was done`, "Type the good one to restore")
	b.post(at, "word", "the good one").mustShow(t, "Choose at least one part")
	started := b.post(at, append(fields, "the good one")...)
	job := started.header.Get("Location")
	p = b.ended(job)
	p.mustShow(t, "The agent was restored. It is on generation 2 now", "safety snapshot", "Undo")
	b.get("recall").mustShow(t, "We chose MySQL")
	b.get("recall").mustNotShow(t, "We chose PostgreSQL")

	safety := wire.SnapshotMeta{}
	for n := range p.all("a") {
		if href := attribute(n, "href"); strings.HasSuffix(href, "/restore") {
			safety.ID = amber.SnapshotID(strings.Split(href, "/")[5])
		}
	}
	p = b.plan(safety, "only", "memory")
	p.mustShow(t, "+ added", "We chose PostgreSQL", "--only memory --dry-run")
	started = b.post("snapshots/"+string(safety.ID)+"/restore", "only", "memory", "word", "auto:pre-restore-"+string(s.ID))
	b.ended(started.header.Get("Location")).mustShow(t, "It is on generation 3 now")
	b.get("recall").mustShow(t, "We chose MySQL", "We chose PostgreSQL")
}

func TestASecondRestoreIsToldThatTheAgentIsBusy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	s := r.freeze("kept")
	letGo := r.hold()
	b := r.visitor("")
	at := "snapshots/" + string(s.ID) + "/restore"
	b.get(at)
	first := b.post(at, "only", "memory", "word", "kept")
	b.follow(first).mustShow(t, "You may close this page")
	second := b.post(at, "only", "memory", "word", "kept")
	second.mustShow(t, "another restore of this agent is running: wait until it has ended", "see how far it is")
	letGo()
	b.ended(first.header.Get("Location")).mustShow(t, "It is on generation 2 now")
	b.ended(b.post(at, "only", "memory", "word", "kept").header.Get("Location")).mustShow(t, "It is on generation 3 now")
}

func TestAJobIsSeenOnlyByThoseWhoMayReadTheAgent(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.remember("one")
	s := r.freeze("kept")
	r.keys.grants["writer"] = wire.Grant{Token: "t-w", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenWrite}}
	b := r.visitor(ada)
	b.get("snapshots")
	at := b.post("snapshots/"+string(s.ID)+"/verify", "read_data", "1").header.Get("Location")
	b.ended(at).mustShow(t, "No damage was found")
	r.visitor(adaRead).get(at).mustShow(t, "No damage was found")
	r.visitor(root).get(at).mustShow(t, "No damage was found")
	must.Equal(t, "without read", r.visitor("writer").get(at).status, http.StatusForbidden)
	for _, path := range []string{at, strings.Replace(at, "/acme/ada/", "/umbrella/eve/", 1), strings.Replace(at, "/acme/ada/", "/acme/bob/", 1)} {
		p := r.visitor(eve).get(path)
		p.mustNotShow(t, "No damage was found", "Checked")
	}
	p := r.visitor(root).get(strings.Replace(at, "/acme/ada/", "/acme/bob/", 1))
	p.mustNotShow(t, "No damage was found")
	must.Equal(t, "a job that nobody began", b.get("jobs/AAAAAAAAAAAAAAAAAAAAAAAA").status, http.StatusNotFound)

	b = r.visitor(root)
	b.get("snapshots")
	at = b.post("snapshots/" + string(s.ID) + "/verify").header.Get("Location")
	b.ended(at).mustShow(t, "No damage was found")
	p = r.visitor(adaRead).get(at)
	p.mustShow(t, "It has ended", "not shown here")
	p.mustNotShow(t, "No damage was found")
}

func TestALostRestoreIsToldFromTheRecordsOfTheAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("one")
	s, other := r.freeze("kept"), r.freeze("other")
	lost := func(s wire.SnapshotMeta, generation string) page {
		return r.visitor("").get("jobs/AAAAAAAAAAAAAAAAAAAAAAAA?at=2020-01-01T00:00:00Z&restore=" + string(s.ID) + "&generation=" + generation)
	}
	lost(s, "1").mustShow(t, "The server was stopped after this had begun", "Nothing was changed: the agent is as before the restore, on generation 1")
	report := must.Get(r.agent("acme", "ada").Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: s.ID}}))(t)
	lost(s, "1").mustShow(t, "in the place of generation 1 was completed: the agent is on generation 2", "Whether that restore was begun on this page, the agent's records do not say", string(report.SafetySnapshot), "Undo")
	lost(s, "1").mustNotShow(t, "The restore from snapshot", "✓ A restore")
	lost(s, "2").mustShow(t, "Nothing was changed: the agent is as before the restore, on generation 2")
	lost(other, "1").mustShow(t, "The agent is on generation 2, which a restore from snapshot", "the agent's records do not say")
	lost(s, "7").mustShow(t, "was on generation 7 before")
	lost(s, "x").mustShow(t, "is not known")
	must.Get(r.agent("acme", "ada").Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: other.ID}}))(t)
	lost(s, "1").mustShow(t, "The agent is on generation 3", "the agent's records do not say")
	p := r.visitor("").get("jobs/AAAAAAAAAAAAAAAAAAAAAAAA?verify=" + string(s.ID))
	p.mustShow(t, "is not kept", "begin it again")
}
