package events_test

import (
	"encoding/json"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

// marker is in every text that the tests store.
const marker = "xyzzyplugh"

// doc is a document with the marker in its key and its value.
var doc = json.RawMessage(`{"` + marker + `": "` + marker + `"}`)

// agent is a store whose changes are published.
type agent struct {
	t *testing.T
	amber.Store
}

// deed is one change of an agent's memory and what is published of it.
type deed struct {
	name string
	do   func(a agent) []told
}

// deeds are changes of every scope and operation, in an order that makes each
// possible.
func deeds() []deed {
	var id amber.MemoryID
	memory := func(op amber.Op) []told { return []told{{op, amber.ChangeMemory, string(id)}} }
	one := func(op amber.Op, scope amber.ChangeScope, key string) []told { return []told{{op, scope, key}} }
	return []deed{
		{"remember", func(a agent) []told {
			ack := must.Get(a.LongTerm.Write(a.t.Context(), amber.WriteRequest{
				Kind: amber.UserFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: marker + "/shop", UserID: marker},
				Title: marker, Content: marker, Summary: marker, Topic: marker, Tags: []string{marker}, Metadata: map[string]string{marker: marker},
				SourceRefs: []amber.SourceRef{{Kind: marker, Value: marker}}, IdempotencyKey: marker,
			}))(a.t)
			id = ack.ID
			return memory(amber.OpInsert)
		}},
		{"remember the same again", func(a agent) []told {
			must.Get(a.LongTerm.Write(a.t.Context(), amber.WriteRequest{
				Kind: amber.UserFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: marker + "/shop", UserID: marker},
				Title: marker, Content: marker, Summary: marker, Topic: marker, Tags: []string{marker}, Metadata: map[string]string{marker: marker},
				SourceRefs: []amber.SourceRef{{Kind: marker, Value: marker}}, IdempotencyKey: marker,
			}))(a.t)
			return nil
		}},
		{"edit", func(a agent) []told {
			text := marker + " " + marker
			must.Get(a.Editor.Edit(a.t.Context(), amber.EditRequest{ID: id, Content: &text, Title: &text}))(a.t)
			return memory(amber.OpUpdate)
		}},
		{"concepts", func(a agent) []told {
			must.Do(a.t, a.Concepts.SetConcepts(a.t.Context(), id, []string{marker}))
			return memory(amber.OpUpdate)
		}},
		{"delete", func(a agent) []told {
			must.Do(a.t, a.LongTerm.Delete(a.t.Context(), id))
			return memory(amber.OpDelete)
		}},
		{"delete again", func(a agent) []told {
			must.Do(a.t, a.LongTerm.Delete(a.t.Context(), id))
			return nil
		}},
		{"session", func(a agent) []told {
			must.Get(a.Sessions.StartSession(a.t.Context(), amber.SessionStart{ID: "s", Name: marker, Binding: marker, Project: marker, Directory: "/" + marker}))(a.t)
			return one(amber.OpInsert, amber.ChangeSession, "s")
		}},
		{"turn", func(a agent) []told {
			must.Get(a.Turns.AppendTurn(a.t.Context(), amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: marker, ProjectID: marker}))(a.t)
			return one(amber.OpInsert, amber.ChangeTurn, "t")
		}},
		{"the same turn", func(a agent) []told {
			must.Get(a.Turns.AppendTurn(a.t.Context(), amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: marker, ProjectID: marker}))(a.t)
			return nil
		}},
		{"compaction", func(a agent) []told {
			must.Get(a.Compactions.AddCompaction(a.t.Context(), amber.Compaction{ID: "c", SessionID: "s", Summary: marker, Turns: 1}))(a.t)
			return one(amber.OpInsert, amber.ChangeCompaction, "c")
		}},
		{"state", func(a agent) []told {
			must.Get(a.States.SaveState(a.t.Context(), "s", doc, 0))(a.t)
			return one(amber.OpInsert, amber.ChangeState, "s")
		}},
		{"next state", func(a agent) []told {
			must.Get(a.States.SaveState(a.t.Context(), "s", doc, 1))(a.t)
			return one(amber.OpUpdate, amber.ChangeState, "s")
		}},
		{"no state", func(a agent) []told {
			must.Do(a.t, a.States.DeleteState(a.t.Context(), "s"))
			return one(amber.OpDelete, amber.ChangeState, "s")
		}},
		{"loop", func(a agent) []told {
			must.Get(a.Loops.SaveLoop(a.t.Context(), amber.LoopSave{SessionID: "s", RunID: "r", State: doc}))(a.t)
			return one(amber.OpInsert, amber.ChangeLoop, "s")
		}},
		{"next loop", func(a agent) []told {
			must.Get(a.Loops.SaveLoop(a.t.Context(), amber.LoopSave{SessionID: "s", RunID: "r", State: doc, IfRevision: 1}))(a.t)
			return one(amber.OpUpdate, amber.ChangeLoop, "s")
		}},
		{"no loop", func(a agent) []told {
			must.Do(a.t, a.Loops.ClearLoop(a.t.Context(), "s", "r"))
			return one(amber.OpDelete, amber.ChangeLoop, "s")
		}},
		{"no turns", func(a agent) []told {
			must.Get(a.Turns.DeleteTurns(a.t.Context(), "s"))(a.t)
			return one(amber.OpDelete, amber.ChangeTurn, "s")
		}},
		{"end", func(a agent) []told {
			must.Get(a.Names.EndSession(a.t.Context(), amber.SessionEnd{ID: "s", Reason: marker, Summary: marker}))(a.t)
			return one(amber.OpUpdate, amber.ChangeSession, "s")
		}},
		{"no session", func(a agent) []told {
			must.Do(a.t, a.Sessions.DeleteSession(a.t.Context(), "s"))
			return []told{{amber.OpDelete, amber.ChangeSession, "s"}, {amber.OpDelete, amber.ChangeCompaction, "s"}}
		}},
		{"task", func(a agent) []told {
			must.Get(a.Tasks.SaveTask(a.t.Context(), amber.Task{ID: "t", RequestID: marker, SessionID: marker, Goal: marker, LastResult: marker, Extra: doc}, 0))(a.t)
			return one(amber.OpInsert, amber.ChangeControl, "task/t")
		}},
		{"next task", func(a agent) []told {
			must.Get(a.Tasks.SaveTask(a.t.Context(), amber.Task{ID: "t", RequestID: marker, SessionID: marker, Goal: marker, Extra: doc}, 1))(a.t)
			return one(amber.OpUpdate, amber.ChangeControl, "task/t")
		}},
		{"approval", func(a agent) []told {
			must.Get(a.Approvals.RequestApproval(a.t.Context(), amber.ApprovalRequest{ID: "a", TaskID: "t", NodeID: marker, Summary: marker, Payload: doc}))(a.t)
			return one(amber.OpInsert, amber.ChangeControl, "approval/a")
		}},
		{"result", func(a agent) []told {
			must.Get(a.Results.SaveResult(a.t.Context(), amber.Result{
				TaskID: "t", NodeID: "n", Producer: marker, Status: amber.ResultOK, Payload: marker, Evidence: []amber.Evidence{{Kind: marker, Value: marker}},
			}))(a.t)
			return one(amber.OpInsert, amber.ChangeControl, "result/t/n")
		}},
		{"queue", func(a agent) []told {
			must.Do(a.t, a.Queue.Publish(a.t.Context(), amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n2", Payload: marker}))
			return one(amber.OpInsert, amber.ChangeControl, "queue/e")
		}},
		{"ack", func(a agent) []told {
			c := must.Get(a.Queue.Claim(a.t.Context(), marker))(a.t)
			must.Do(a.t, a.Queue.Ack(a.t.Context(), c.Lease))
			return []told{{amber.OpUpdate, amber.ChangeControl, "queue/e"}, {amber.OpUpdate, amber.ChangeControl, "queue/e"}}
		}},
		{"note", func(a agent) []told {
			n := must.Get(a.Notes.WriteNote(a.t.Context(), amber.NoteWrite{Name: "plans/today.md", Content: marker}))(a.t)
			return []told{{amber.OpInsert, amber.ChangeNote, "plans/today"}, {amber.OpInsert, amber.ChangeGit, n.Commit}}
		}},
		{"the same note", func(a agent) []told {
			must.Get(a.Notes.WriteNote(a.t.Context(), amber.NoteWrite{Name: "plans/today", Content: marker}))(a.t)
			return nil
		}},
		{"next note", func(a agent) []told {
			n := must.Get(a.Notes.WriteNote(a.t.Context(), amber.NoteWrite{Name: "plans/today", Content: marker + marker}))(a.t)
			return []told{{amber.OpUpdate, amber.ChangeNote, "plans/today"}, {amber.OpInsert, amber.ChangeGit, n.Commit}}
		}},
		{"no note", func(a agent) []told {
			must.Do(a.t, a.Notes.DeleteNote(a.t.Context(), "plans/today.md", amber.NoteBy{}))
			log := must.Get(a.NoteLog.LogNote(a.t.Context(), "plans/today", 1))(a.t)
			return []told{{amber.OpDelete, amber.ChangeNote, "plans/today"}, {amber.OpInsert, amber.ChangeGit, log[0].Commit}}
		}},
		{"no note again", func(a agent) []told {
			must.Kind(a.t, "", a.Notes.DeleteNote(a.t.Context(), "plans/today", amber.NoteBy{}), amber.KindNotFound)
			return nil
		}},
		{"runtime state", func(a agent) []told {
			must.Get(a.Documents.PutDocument(a.t.Context(), amber.DocumentWrite{Name: "extract_cursor", Document: doc}))(a.t)
			return one(amber.OpInsert, amber.ChangeState, "extract_cursor")
		}},
		{"the same runtime state", func(a agent) []told {
			must.Get(a.Documents.PutDocument(a.t.Context(), amber.DocumentWrite{Name: "extract_cursor", Document: doc}))(a.t)
			return nil
		}},
		{"next runtime state", func(a agent) []told {
			must.Get(a.Documents.PutDocument(a.t.Context(), amber.DocumentWrite{Name: "extract_cursor", Document: []byte("{}")}))(a.t)
			return one(amber.OpUpdate, amber.ChangeState, "extract_cursor")
		}},
		{"runtime state over another revision", func(a agent) []told {
			_, err := a.Documents.PutDocument(a.t.Context(), amber.DocumentWrite{Name: "extract_cursor", Document: doc, IfAbsent: true})
			must.Kind(a.t, "", err, amber.KindConflict)
			return nil
		}},
		{"no runtime state", func(a agent) []told {
			must.Do(a.t, a.Documents.DeleteDocument(a.t.Context(), "extract_cursor", ""))
			return one(amber.OpDelete, amber.ChangeState, "extract_cursor")
		}},
	}
}

// Every change of every scope is published once, and none of its text.
func TestEveryChangeIsPublishedOnceAndWithoutText(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &recorder{}
			store.Documents = must.Get(events.NewDocuments(store.Documents, sink(p)))(t)
			store.Notes = must.Get(events.NewNotes(store.Notes, store.NoteLog, sink(p)))(t)
			a := agent{t, store}
			logs := []*events.Mutations{
				worker(store.Changes, p, &events.MemoryCursor{}), worker(store.ControlChanges, p, &events.MemoryCursor{}),
			}
			for _, m := range logs {
				step(t, m)
			}
			var all []events.Event
			for _, d := range deeds() {
				want := d.do(a)
				for _, m := range logs {
					step(t, m)
				}
				got := p.take()
				must.Equal(t, d.name, tell(t, got), want)
				all = append(all, got...)
			}
			for _, m := range logs {
				must.Equal(t, "events published again", step(t, m), 0)
			}
			checkAll(t, all)
		})
	}
}

// checkAll looks at all events of a test together.
func checkAll(t *testing.T, all []events.Event) {
	t.Helper()
	ids := map[string]bool{}
	scopes := map[amber.ChangeScope]bool{}
	for _, e := range all {
		must.Equal(t, e.ID+" is there twice", ids[e.ID], false)
		ids[e.ID] = true
		scopes[e.Payload.(events.Mutation).Scope] = true
		must.Hides(t, "an event", toJSON(t, e), marker)
	}
	for _, s := range []amber.ChangeScope{
		amber.ChangeMemory, amber.ChangeTurn, amber.ChangeSession, amber.ChangeLoop, amber.ChangeNote,
		amber.ChangeGit, amber.ChangeState, amber.ChangeCompaction, amber.ChangeControl,
	} {
		must.Equal(t, "an event of scope "+string(s)+" was seen", scopes[s], true)
	}
}
