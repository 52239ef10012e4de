package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// Agent is an agent that is served elsewhere. Safe for concurrent use.
type Agent struct {
	c      *Client
	tenant amber.TenantID
	agent  amber.AgentID
}

// Agent returns an agent of the server. It touches no network. The error is of
// kind invalid.
func (c *Client) Agent(tenant amber.TenantID, agent amber.AgentID) (*Agent, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return nil, err
	}
	return &Agent{c: c, tenant: tenant, agent: agent}, nil
}

// Store returns the contracts of the agent, those that the server's backend
// can do. Errors: unreachable, refused, not_found.
func (a *Agent) Store(ctx context.Context) (amber.Store, error) {
	can, err := op.AgentCapabilities.Call(ctx, a, op.None{})
	if err != nil {
		return amber.Store{}, err
	}
	return amber.NewStore(a.parts(can)), nil
}

// Parts returns every contract of the agent without asking what the server's backend can do:
// what it cannot do the server says with each call. It touches no network.
func (a *Agent) Parts() amber.Parts { return a.parts(every()) }

// list returns the items of a listing without pages.
func list[T any](p amber.Page[T], err error) ([]T, error) { return p.Items, err }

// done is the end of an operation without an answer.
func done(_ op.None, err error) error { return err }

// paging is a page as inputs of operations ask for it.
func paging(p amber.Paging) op.Paging { return op.Paging(p) }

// some is a number in an input where none differs from 0; 0 means none.
func some(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// parts are the contracts that the server's backend can do; the others stay
// nil. Where memory is switched off the server is still asked: it finds
// nothing, and says why it refuses.
func (a *Agent) parts(can amber.Capabilities) amber.Parts {
	if switchedOff := (amber.Capabilities{Control: can.Control, Documents: can.Documents}); can == switchedOff {
		control, documents := can.Control, can.Documents
		can = every()
		can.Control, can.Documents = control, documents
	}
	l, b, s, st, t, n, c, q := longTerm{a}, beside{a}, sessions{a}, states{a}, turns{a}, notes{a}, control{a}, queue{a}
	p := amber.Parts{
		LongTerm: l, Semantic: can.Semantic, Memories: l, Batch: l, Editor: l, Eraser: l, Relations: b, Concepts: b, Stats: stats{a},
		Sessions: s, Names: s, Active: s, States: st, Loops: st, Turns: t, Compactions: t, Activities: t, Ingest: ingester{a},
		Notes: n, NoteLog: n, Documents: documents{a}, Tasks: c, Events: c, Approvals: c, Results: c, Queue: q, QueueKeeper: q,
		Changes: changeLog{a, op.ChangeList, op.ChangeHead}, ControlChanges: changeLog{a, op.ControlChangeList, op.ControlChangeHead},
	}
	keep(can.Memories, &p.Memories)
	keep(can.Batch, &p.Batch)
	keep(can.Edit, &p.Editor)
	keep(can.Erase, &p.Eraser)
	keep(can.Relations, &p.Relations)
	keep(can.Concepts, &p.Concepts)
	keep(can.Stats, &p.Stats)
	keep(can.Sessions, &p.Sessions)
	keep(can.Sessions, &p.Names)
	keep(can.Sessions, &p.Active)
	keep(can.States, &p.States)
	keep(can.Loops, &p.Loops)
	keep(can.Turns, &p.Turns)
	keep(can.Compactions, &p.Compactions)
	keep(can.Ingest, &p.Ingest)
	keep(can.Ingest, &p.Activities)
	keep(can.Notes, &p.Notes)
	keep(can.Notes, &p.NoteLog)
	keep(can.Documents, &p.Documents)
	keep(can.Changes, &p.Changes)
	keep(can.Control, &p.Tasks)
	keep(can.Control, &p.Events)
	keep(can.Control, &p.Approvals)
	keep(can.Control, &p.Results)
	keep(can.Control, &p.Queue)
	keep(can.Control, &p.QueueKeeper)
	keep(can.Control, &p.ControlChanges)
	return p
}

// keep keeps a contract that the server's backend can do, and takes any other away.
func keep[T any](can bool, part *T) {
	if !can {
		*part = *new(T)
	}
}

// every is what a server can do at most.
func every() amber.Capabilities {
	return amber.Capabilities{
		Memories: true, Batch: true, Edit: true, Erase: true, Relations: true, Concepts: true, Compactions: true,
		Stats: true, Changes: true, Turns: true, Loops: true, Sessions: true, States: true, Notes: true, Ingest: true, Control: true, Documents: true,
	}
}
