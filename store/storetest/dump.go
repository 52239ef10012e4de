package storetest

import (
	"context"

	"github.com/amber-memory/amber"
)

// names lists what a dump cannot find by listing.
type names struct {
	sessions []amber.SessionID
	bindings []string
	tasks    []string
	journals []string
}

// dump reads everything a store holds through its contracts. Two stores that
// hold the same have equal dumps, apart from ids they minted, stamps and
// positions.
func dump(ctx context.Context, s amber.Store, has map[part]bool, n names) map[string]any {
	out := map[string]any{}
	d := dumper{ctx: ctx, Store: s, has: has, out: out}
	d.memories()
	d.sessions(n)
	d.journals(n)
	d.control(n)
	d.documents()
	return out
}

type dumper struct {
	ctx context.Context
	amber.Store
	has map[part]bool
	out map[string]any
}

// answer is what a call returned, as a value: its error's kind in place of
// nothing.
func answer[T any](v T, err error) any {
	if err != nil {
		return "error: " + string(amber.KindOf(err))
	}
	return v
}

// byKey groups values, each group in its order. Where the order of different
// keys is chance, that of one key is not.
func byKey[T any](all []T, key func(T) string) map[string][]T {
	out := map[string][]T{}
	for _, v := range all {
		out[key(v)] = append(out[key(v)], v)
	}
	return out
}

func changeKey(c amber.Change) string { return c.Key }

func (d *dumper) memories() {
	if !d.has[memories] {
		return
	}
	all := pages(func(c amber.Cursor) (amber.Page[amber.Memory], error) {
		return d.Memories.List(d.ctx, amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize, Cursor: c})
	})
	for _, m := range all {
		entry := map[string]any{"memory": m, "history": answer(amber.All(d.ctx, d.Memories.History, m.ID))}
		if d.has[relations] {
			related, err := d.Relations.Related(d.ctx, m.ID)
			entry["relations"] = answer(byKey(related, func(r amber.Relation) string { return r.ID }), err)
		}
		if d.has[concepts] {
			entry["concepts"] = answer(d.Concepts.Concepts(d.ctx, m.ID))
		}
		d.out["memory "+string(m.ID)] = entry
	}
	if d.has[stats] {
		got := must(d.Stats.Stats(d.ctx))
		got.Bytes = 0 // how much room a store takes is its own affair
		d.out["stats"] = got
	}
	if d.has[changes] {
		d.out["changes"] = byKey(entries(d.ctx, d.Changes, ""), changeKey)
	}
}

func (d *dumper) sessions(n names) {
	listed := map[amber.SessionID]bool{}
	if d.has[sessions] {
		for _, s := range pages(func(c amber.Cursor) (amber.Page[amber.Session], error) {
			return d.Sessions.ListSessions(d.ctx, amber.SessionQuery{Limit: amber.MaxPageSize, Cursor: c})
		}) {
			d.out["session "+string(s.ID)] = s
			listed[s.ID] = true
		}
		for _, b := range n.bindings {
			active, err := d.Active.ActiveSession(d.ctx, b)
			d.out["active "+b] = answer(active.ID, err)
		}
	}
	for _, id := range n.sessions {
		listed[id] = true
	}
	for id := range listed {
		if d.has[turns] {
			d.out["turns "+string(id)] = answer(amber.LastTurns(d.ctx, d.Turns, id, 1_000_000))
		}
		if d.has[states] {
			d.out["state "+string(id)] = answer(d.States.LoadState(d.ctx, id))
		}
		if d.has[loops] {
			d.out["loop "+string(id)] = answer(d.Loops.LoadLoop(d.ctx, id))
		}
		if d.has[compactions] {
			d.out["compactions "+string(id)] = answer(amber.All(d.ctx, d.Compactions.Compactions, id))
		}
		if d.has[ingest] {
			d.out["activity "+string(id)] = answer(d.Activities.ListActivity(d.ctx, id, ""))
		}
	}
}

func (d *dumper) journals(n names) {
	if !d.has[ingest] {
		return
	}
	for _, j := range n.journals {
		d.out["journal "+j] = answer(d.Ingest.JournalCursor(d.ctx, j))
	}
	d.out["open journals"] = answer(d.Ingest.OpenJournals(d.ctx))
}

func (d *dumper) documents() {
	if !d.has[documents] {
		return
	}
	d.out["documents"] = answer(d.Documents.ListDocuments(d.ctx))
	for _, doc := range must(d.Documents.ListDocuments(d.ctx)) {
		d.out["document "+doc.Name] = answer(d.Documents.ReadDocument(d.ctx, doc.Name))
	}
}

func (d *dumper) control(n names) {
	if !d.has[control] {
		return
	}
	listed := map[string]bool{}
	for _, t := range pages(func(c amber.Cursor) (amber.Page[amber.Task], error) {
		return d.Tasks.ListTasks(d.ctx, amber.TaskQuery{Limit: amber.MaxPageSize, Cursor: c})
	}) {
		d.out["task "+t.ID] = t
		listed[t.ID] = true
	}
	for _, id := range n.tasks {
		listed[id] = true
	}
	for id := range listed {
		d.out["events "+id] = answer(amber.All(d.ctx, d.Events.ListEvents, id))
		d.out["replay "+id] = answer(d.Events.Replay(d.ctx, id))
		d.out["approvals "+id] = answer(amber.All(d.ctx, d.Approvals.ListApprovals, id))
		d.out["results "+id] = answer(amber.All(d.ctx, d.Results.ListResults, id))
	}
	d.out["pending approvals"] = answer(amber.All(d.ctx, d.Approvals.ListApprovals, ""))
	d.out["queue"] = answer(d.QueueKeeper.Backpressure(d.ctx))
	d.out["dead"] = answer(everyDead(d.ctx, d.QueueKeeper, amber.MaxPageSize))
	if d.has[controlLog] {
		d.out["control changes"] = byKey(entries(d.ctx, d.ControlChanges, ""), changeKey)
	}
}
