package gitsync_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// projects are those that memories, sessions and prompts belong to.
var projects = []string{shop, shop, shop, "acme/bakery"}

// do makes one step.
func (w *world) do(o op) {
	p := w.parties[o.who]
	r := rand.New(rand.NewPCG(o.number, 0))
	p.last = p.newest
	w.done[o.deed]++
	switch o.deed {
	case "save", "duplicate", "personal", "topic":
		p.write(o.deed, r)
	case "edit":
		p.edit(r)
	case "delete":
		p.onMemory(r, p.live(), func(m amber.Memory) error { return p.store.Delete(p.t.Context(), m.ID) })
	case "revive":
		p.revive(r)
	case "erase":
		p.erase(r)
	case "relate", "unrelate":
		p.relate(o.deed, r)
	case "start session", "end session", "delete session", "delete turns":
		p.session(o.deed, r)
	case "prompt", "answer":
		p.say(o.deed, r)
	case "export":
		p.exports("")
	case "export project":
		p.exports(pick(r, projects))
	case "import":
		p.imports()
	case "merge":
		p.merge()
	case "pull":
		p.pull()
	case "sync":
		p.exports("")
		p.merge()
		p.imports()
	case "compact":
		p.compact()
	case "snapshot":
		p.snapshot()
	case "restore", "restore locally":
		p.restore(r, o.deed == "restore locally")
	case "set clock":
		p.setClock(r)
	case "lose home":
		p.loseHome()
	case "lose state":
		p.loseState(r)
	case "attack":
		w.attack(p, r)
	default:
		panic(o.deed)
	}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// write saves a memory, one of a topic that others may write about too, the same text again, or a personal memory that
// stays with this clone.
func (p *party) write(deed string, r *rand.Rand) {
	req := amber.WriteRequest{Scope: amber.ScopeProject, Title: pick(r, []string{"", "a title"}), Content: p.text(p)}
	req.ProjectID = pick(r, projects)
	switch live := p.live(); {
	case deed == "topic":
		req.Topic = fmt.Sprint("topic-", r.IntN(4))
	case deed == "personal":
		req.Scope, req.UserID = amber.ScopeUser, "ada"
	case deed == "duplicate" && len(live) > 0:
		m := pick(r, live)
		req = amber.WriteRequest{Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Title: m.Title, Content: m.Content, Topic: m.Topic}
	case r.IntN(4) == 0:
		req.Scope, req.ProjectID = amber.ScopeGlobal, ""
	case r.IntN(6) == 0:
		req.SessionID = p.anySession(r)
	}
	ack, err := p.store.Write(p.t.Context(), req)
	p.check(err)
	p.readMemory(ack.ID, true)
}

// onMemory does something to one of some memories.
func (p *party) onMemory(r *rand.Rand, from []amber.Memory, fn func(m amber.Memory) error) {
	if len(from) == 0 {
		return
	}
	m := pick(r, from)
	if err := fn(m); amber.KindOf(err) != amber.KindConflict { // one that says the same
		p.check(err)
	}
	p.readMemory(m.ID, true)
}

func (p *party) edit(r *rand.Rand) {
	p.onMemory(r, p.live(), func(m amber.Memory) error {
		req := amber.EditRequest{ID: m.ID}
		text := p.text(p)
		switch r.IntN(6) {
		case 0:
			req.Title = &text
		case 1:
			kind := pick(r, amber.MemoryKinds())
			req.Kind = &kind
		case 2:
			req.Tags = &[]string{text}
		default:
			req.Content = &text
		}
		return must.Err(p.store.Edit(p.t.Context(), req))
	})
}

// revive brings a memory back that was deleted, as an earlier revision of it
// was.
func (p *party) revive(r *rand.Rand) {
	dead := slices.DeleteFunc(p.memories(), func(m amber.Memory) bool { return m.DeletedAt.IsZero() })
	p.onMemory(r, dead, func(m amber.Memory) error {
		all, err := amber.All(p.t.Context(), p.store.History, m.ID)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(v amber.Memory) bool { return !v.DeletedAt.IsZero() || v.Content == "" })
		if len(all) == 0 {
			return nil // it came without text
		}
		return must.Err(p.store.RestoreMemory(p.t.Context(), pick(r, all)))
	})
}

func (p *party) erase(r *rand.Rand) {
	all := p.memories()
	if len(all) == 0 {
		return
	}
	m := pick(r, all)
	p.check(must.Err(p.store.Erase(p.t.Context(), m.ID)))
	if m.Scope != amber.ScopeUser {
		p.made.erased[m.ID] = true
	}
	p.known.addErased(m.ID)
	maps.DeleteFunc(p.mine, func(v *version, _ bool) bool { return v.key == "memory "+string(m.ID) })
}

func (p *party) relate(deed string, r *rand.Rand) {
	ctx, live := p.t.Context(), p.live()
	if len(live) < 2 {
		return
	}
	a, b := pick(r, live), pick(r, live)
	if a.ID == b.ID {
		return
	}
	before := p.rows()
	if deed == "relate" {
		_, err := p.store.Relate(ctx, amber.Relation{From: a.ID, To: b.ID, Type: pick(r, []string{"related", "supersedes"}), Strength: float64(r.IntN(5)) / 4})
		p.check(err)
	} else {
		found, err := p.store.Related(ctx, a.ID)
		p.check(err)
		if len(found) == 0 {
			return
		}
		p.check(p.store.Unrelate(ctx, pick(r, found).ID))
	}
	p.readRows(before)
}

// anySession returns the name of a session; few, so that clones meet in them.
func (p *party) anySession(r *rand.Rand) amber.SessionID {
	return amber.SessionID(fmt.Sprint("session-", r.IntN(sessionNames)))
}

const sessionNames = 5

func (p *party) session(deed string, r *rand.Rand) {
	ctx, id := p.t.Context(), p.anySession(r)
	before := p.rows()
	var err error
	switch deed {
	case "start session":
		_, err = p.store.StartSession(ctx, amber.SessionStart{ID: id, Project: pick(r, projects), Name: p.text(p), Binding: "cli"})
	case "end session":
		_, err = p.store.EndSession(ctx, amber.SessionEnd{ID: id, Summary: p.text(p)})
	case "delete session":
		p.goes(func() { err = p.store.DeleteSession(ctx, id) })
	case "delete turns":
		p.goes(func() { _, err = p.store.DeleteTurns(ctx, id) })
	}
	if amber.KindOf(err) != amber.KindNotFound {
		p.check(err)
	}
	p.readRows(before)
}

// goes notes which prompts something deletes.
func (p *party) goes(fn func()) {
	before := p.prompts()
	fn()
	after := p.prompts()
	for turn := range before {
		if _, there := after[turn]; !there {
			p.made.gone[turn] = true
		}
	}
}

// say appends a prompt, or an answer, which stays where it was given.
func (p *party) say(deed string, r *rand.Rand) {
	turn := amber.Turn{SessionID: p.anySession(r), Role: amber.RoleUser, Content: "said " + p.text(p), ProjectID: pick(r, projects)}
	if deed == "answer" {
		turn.Role = amber.RoleAssistant
	}
	turn, err := p.store.AppendTurn(p.t.Context(), turn)
	p.check(err)
	if deed == "answer" {
		p.known.answers[turn.ID] = p.n
		return
	}
	p.known.prompts[turn.ID] = &prompt{fields: promptFields(turn), project: turn.ProjectID}
	p.made.prompts[turn.ID] = true
}

func (p *party) snapshot() {
	meta, err := p.engine.Snapshot(p.t.Context(), wire.SnapshotRequest{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent})
	p.check(err)
	p.snapshots = append(p.snapshots, meta.ID)
}

// restore brings an earlier moment of this clone back. Everything that the clone has made since and never exported is
// gone; the versions that the restore makes are new.
func (p *party) restore(r *rand.Rand, locally bool) {
	if len(p.snapshots) == 0 {
		return
	}
	before, rows := p.reading(), p.rows()
	_, err := p.engine.Restore(p.t.Context(), wire.RestoreRequest{
		SnapshotRef: wire.SnapshotRef{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent, ID: pick(r, p.snapshots)},
		LocalOnly:   locally, NoSafetySnapshot: true, DiscardOld: true,
	})
	p.check(err)
	p.readAll(before, rows, locally)
}
