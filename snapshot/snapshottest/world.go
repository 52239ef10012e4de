package snapshottest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

// The names that checks use.
const (
	tenant  amber.TenantID = "acme"
	foreign amber.TenantID = "other"
)

// unknown is the id of no snapshot.
const unknown amber.SnapshotID = "0195a0b0-0000-7000-8000-000000000000"

// world is a world as one check sees it. It lives as long as the check, which
// is why it may hold the context.
type world struct {
	ctx   context.Context
	place World
	open  Handle
	said  int // how many texts were made
}

// reopen opens the world anew.
func (w *world) reopen() {
	w.open = must(w.place.Open(w.ctx))
	hold(w.open.Snapshots != nil && w.open.Agent != nil, "the handle has no snapshotter, or no agents")
}

func (w *world) snapshots() amber.Snapshotter { return w.open.Snapshots }

func (w *world) now() amber.Time { return amber.At(w.place.Clock.Now()) }

// pass moves the clock.
func (w *world) pass(d time.Duration) { w.place.Clock.Advance(d) }

// tick moves the clock to another second, so that what comes is newer.
func (w *world) tick() { w.pass(time.Second) }

// text returns one that was never there.
func (w *world) text(about string) string {
	w.said++
	return fmt.Sprintf("%s, text %d", about, w.said)
}

// memory returns one that was never there.
func (w *world) memory() Memory {
	kinds := amber.MemoryKinds()
	m := Memory{Kind: kinds[w.said%len(kinds)], Content: w.text("a memory")}
	m.Title = fmt.Sprint("title ", w.said)
	if w.said%2 == 0 {
		m.Tags = []string{"even", fmt.Sprint("tag-", w.said)}
	}
	return m
}

// agent is an agent, and what it should be.
type agent struct {
	w      *world
	tenant amber.TenantID
	id     amber.AgentID
	model  Model
}

// agent returns an agent that is not made.
func (w *world) agent(t amber.TenantID, id amber.AgentID) *agent {
	return &agent{w, t, id, emptyModel()}
}

// made makes an agent with nothing in it.
func (w *world) made(t amber.TenantID, id amber.AgentID) *agent {
	a := w.agent(t, id)
	must0(a.handle().Make(w.ctx))
	return a
}

// lived makes an agent that has some of everything.
func (w *world) lived(t amber.TenantID, id amber.AgentID) *agent {
	a := w.made(t, id)
	for range 4 {
		a.remember()
	}
	for _, name := range []string{"plan", "people/ann", "people/bob"} {
		a.note(name)
	}
	a.state(amber.StateExtractCursor)
	return a
}

func (a *agent) handle() Agent { return a.w.open.Agent(a.tenant, a.id) }

func (a *agent) remember() amber.MemoryID {
	m := a.w.memory()
	id := must(a.handle().Remember(a.w.ctx, m))
	a.model.Memories[id] = m
	return id
}

func (a *agent) edit(id amber.MemoryID) {
	m := a.w.memory()
	must0(a.handle().Edit(a.w.ctx, id, m))
	a.model.Memories[id] = m
}

func (a *agent) forget(id amber.MemoryID) {
	must0(a.handle().Forget(a.w.ctx, id))
	delete(a.model.Memories, id)
}

func (a *agent) note(name string) {
	text := a.w.text("a note") + "\n"
	must0(a.handle().WriteNote(a.w.ctx, name, text))
	a.model.Notes[name] = text
}

func (a *agent) dropNote(name string) {
	must0(a.handle().DeleteNote(a.w.ctx, name))
	delete(a.model.Notes, name)
}

func (a *agent) state(key string) {
	doc := fmt.Sprintf(`{"said":%q}`, a.w.text("a state"))
	must0(a.handle().PutState(a.w.ctx, key, doc))
	a.model.State[key] = doc
}

func (a *agent) clearState(key string) {
	must0(a.handle().PutState(a.w.ctx, key, ""))
	delete(a.model.State, key)
}

// memories returns the ids of what the agent remembers, sorted.
func (a *agent) memories() []amber.MemoryID { return slices.Sorted(maps.Keys(a.model.Memories)) }

// live adds, changes and removes some of everything: three memories and two
// notes more, one of each and the state changed, two memories and a note less.
func (a *agent) live() {
	ids := a.memories()
	a.edit(ids[0])
	a.forget(ids[1])
	a.forget(ids[2])
	for range 3 {
		a.remember()
	}
	notes := slices.Sorted(maps.Keys(a.model.Notes))
	a.dropNote(notes[0])
	a.note(notes[1])
	a.note(fmt.Sprintf("daily/day-%d", a.w.said))
	a.note(fmt.Sprintf("daily/night-%d", a.w.said))
	a.state(amber.StateExtractCursor)
	a.state(amber.StateLastConsolidation)
}

// is ends the check unless the agent is what it should be.
func (a *agent) is(model Model, what string) {
	equal(must(a.handle().Model(a.w.ctx)), model, "agent %s %s", a.id, what)
}

// isAbsent ends the check unless there is no such agent.
func (a *agent) isAbsent(what string) {
	_, err := a.handle().Model(a.w.ctx)
	refused(err, amber.KindNotFound, "agent %s %s", a.id, what)
}

func (a *agent) ref(id amber.SnapshotID) amber.SnapshotRef {
	return amber.SnapshotRef{Tenant: a.tenant, Agent: a.id, ID: id}
}

// taken is a snapshot, and the agent it should hold.
type taken struct {
	amber.SnapshotMeta
	model Model
}

// snapshot takes a snapshot at a new time.
func (a *agent) snapshot(label string) taken {
	a.w.tick()
	m := must(a.w.snapshots().Snapshot(a.w.ctx, amber.SnapshotRequest{Tenant: a.tenant, Agent: a.id, Label: label}))
	return taken{m, a.model.clone()}
}

// restore restores a snapshot at a new time.
func (a *agent) restore(r amber.RestoreRequest) amber.RestoreReport {
	a.w.tick()
	return must(a.w.snapshots().Restore(a.w.ctx, r))
}

// returns restores all of a snapshot and ends the check unless the agent is
// what it was. It returns the safety snapshot.
func (a *agent) returns(to taken) taken {
	before := a.model
	r := a.restore(amber.RestoreRequest{SnapshotRef: a.ref(to.ID)})
	a.model = to.model.clone()
	a.is(a.model, "after the restore of snapshot "+to.Label)
	return taken{amber.SnapshotMeta{ID: r.SafetySnapshot, Label: amber.LabelBeforeRestore + string(to.ID)}, before}
}

// list returns all snapshots of the agent, newest first.
func (a *agent) list() []amber.SnapshotMeta { return a.pages(0) }

// maxPages bounds how long the suite follows a listing that does not end.
const maxPages = 1000

// pages returns all snapshots, so many at a time.
func (a *agent) pages(limit int) (all []amber.SnapshotMeta) {
	q := amber.SnapshotQuery{Tenant: a.tenant, Agent: a.id, Limit: limit}
	for range maxPages {
		page := must(a.w.snapshots().ListSnapshots(a.w.ctx, q))
		hold(page.Items != nil, "the items of a page are nil")
		hold(limit == 0 || len(page.Items) <= limit, "a page of %d has %d snapshots", limit, len(page.Items))
		all = append(all, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return all
		}
		hold(len(page.Items) > 0, "a page is empty and yet has a next page")
	}
	fail(fmt.Errorf("the listing does not end after %d pages", maxPages))
	return nil
}

// ids returns the ids of all snapshots, newest first.
func (a *agent) ids() []amber.SnapshotID { return idsOf(a.list()) }

func idsOf(list []amber.SnapshotMeta) []amber.SnapshotID {
	ids := []amber.SnapshotID{}
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

// lists ends the check unless exactly these snapshots are there, newest first.
func (a *agent) lists(want ...amber.SnapshotID) {
	got := a.ids()
	hold(slices.Equal(got, want), "snapshots of agent %s: got %v, want %v", a.id, got, want)
}
