package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

var update = flag.Bool("update", false, "write golden files anew")

// errLost is the end of a request whose answer is lost.
var errLost = errors.New("the answer is lost")

// spoken writes down the requests of one call and loses every answer.
type spoken struct {
	first string
	sent  int
}

// RoundTrip implements [http.RoundTripper].
func (s *spoken) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent++
	if s.sent > 1 {
		return nil, errLost
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL.RequestURI())
	for _, name := range []string{"Accept", "Content-Type", "Idempotency-Key", "If-Match", "Expect"} {
		if v := r.Header.Get(name); v != "" {
			fmt.Fprintf(&b, "  %s: %s\n", name, v)
		}
	}
	if until, ok := r.Context().Deadline(); ok && time.Until(until) > patience {
		b.WriteString("  may take long\n")
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(string(body), "\n"))
	}
	s.first = b.String()
	return nil, errLost
}

// deed is one call of a method of the client.
type deed struct {
	name string
	do   func(ctx context.Context, p *place) error
}

// place is everything that the client offers for one agent.
type place struct {
	amber.Store
	client *client.Client
	agent  *client.Agent
	snaps  *client.Snapshots
	past   *client.Past
}

// TestRequestsStayAsTheyAre: a request of every method is equal to the byte, and so is how often it is sent when its answer is lost.
func TestRequestsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, d := range deeds() {
		s := &spoken{}
		c := must.Get(client.New(client.Options{
			URL: "http://127.0.0.1/amber", Attempts: 2, Wait: noWait, Patience: patience, HTTP: &http.Client{Transport: s}, Random: bytes.NewReader(make([]byte, 16)),
		}))(t)
		a := must.Get(c.Agent("acme", "ada"))(t)
		p := &place{Store: a.Everything(), client: c, agent: a, snaps: a.Snapshots()}
		p.past = must.Get(p.snaps.At(t.Context(), wire.SnapshotRef{ID: amber.SnapshotID(someID)}))(t)
		err := d.do(t.Context(), p)
		fmt.Fprintf(&all, "%s: %s", d.name, s.first)
		if s.sent == 0 {
			fmt.Fprintf(&all, "nothing is sent, %q\n", amber.KindOf(err))
		} else if s.sent > 1 {
			all.WriteString("  again when the answer is lost\n")
		}
	}
	golden.Check(t, *update, "requests", all.String())
}

func deeds() []deed {
	var list []deed
	for _, some := range [][]deed{memoryDeeds(), sessionDeeds(), noteDeeds(), controlDeeds(), queueDeeds(), snapshotDeeds(), homeDeeds(), invalidDeeds()} {
		list = append(list, some...)
	}
	return list
}

var (
	day   = amber.At(time.Date(2026, time.March, 12, 9, 30, 0, 5e6, time.UTC))
	later = amber.At(time.Date(2026, time.March, 13, 9, 30, 0, 0, time.UTC))
	who   = amber.Identities{SessionID: "s/1", UserID: "u 1", ProjectID: "p&1", WorkspaceID: "w"}
	by    = amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "h", Agent: "a", Session: "s", Token: "t"}}
)

func memoryDeeds() []deed {
	text, tags, meta, none := "<text>", []string{}, map[string]string(nil), []string(nil)
	filter := amber.Filter{Scope: amber.ScopeUser, Identities: who, Kinds: []amber.MemoryKind{amber.UserFact, amber.ProjectFact}, Tags: []string{"x", "y"}, Since: day, Until: later}
	return []deed{
		{"recall", func(ctx context.Context, p *place) error {
			return must.Err(p.LongTerm.Recall(ctx, amber.Query{Text: "a <b>", Filter: filter}))
		}},
		{"recall nothing", func(ctx context.Context, p *place) error { return must.Err(p.LongTerm.Recall(ctx, amber.Query{})) }},
		{"write", func(ctx context.Context, p *place) error {
			return must.Err(p.LongTerm.Write(ctx, amber.WriteRequest{Content: "x", Kind: amber.UserFact, Tags: []string{"t"}}))
		}},
		{"write by key", func(ctx context.Context, p *place) error {
			return must.Err(p.LongTerm.Write(ctx, amber.WriteRequest{Content: "x", IdempotencyKey: "k"}))
		}},
		{"forget", func(ctx context.Context, p *place) error { return p.LongTerm.Delete(ctx, someID) }},
		{"health", func(ctx context.Context, p *place) error { return must.Err(p.LongTerm.Health(ctx)) }},
		{"get", func(ctx context.Context, p *place) error { return must.Err(p.Memories.Get(ctx, someID)) }},
		{"list", func(ctx context.Context, p *place) error {
			return must.Err(p.Memories.List(ctx, amber.ListQuery{Filter: filter, All: true, Deleted: true, Trust: amber.TrustOwn, Waiting: amber.ReviewAgents, Limit: 7, Cursor: "c"}))
		}},
		{"list from the beginning", func(ctx context.Context, p *place) error { return must.Err(p.Memories.List(ctx, amber.ListQuery{})) }},
		{"history", func(ctx context.Context, p *place) error {
			return must.Err(p.Memories.History(ctx, someID, amber.Paging{Limit: 3, Cursor: "c"}))
		}},
		{"timeline", func(ctx context.Context, p *place) error { return must.Err(p.Memories.Timeline(ctx, someID, 0, 4)) }},
		{"write batch", func(ctx context.Context, p *place) error {
			return must.Err(p.Batch.WriteBatch(ctx, []amber.WriteRequest{{Content: "x"}, {Content: "y", IdempotencyKey: "k"}}))
		}},
		{"edit", func(ctx context.Context, p *place) error {
			return must.Err(p.Editor.Edit(ctx, amber.EditRequest{ID: someID, Content: &text, Tags: &tags, Metadata: &meta, IfRevision: 3}))
		}},
		{"edit without tags", func(ctx context.Context, p *place) error {
			return must.Err(p.Editor.Edit(ctx, amber.EditRequest{ID: someID, Tags: &none}))
		}},
		{"erase", func(ctx context.Context, p *place) error { return must.Err(p.Eraser.Erase(ctx, someID)) }},
		{"context", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.Context(ctx, wire.ContextRequest{Known: []wire.ContextItem{{}}}))
		}},
		{"relate", func(ctx context.Context, p *place) error {
			return must.Err(p.Relations.Relate(ctx, amber.Relation{From: someID, To: otherID, Type: "related"}))
		}},
		{"relation", func(ctx context.Context, p *place) error { return must.Err(p.Relations.Relation(ctx, "r")) }},
		{"unrelate", func(ctx context.Context, p *place) error { return p.Relations.Unrelate(ctx, "r") }},
		{"related", func(ctx context.Context, p *place) error { return must.Err(p.Relations.Related(ctx, someID)) }},
		{"neighbours", func(ctx context.Context, p *place) error {
			return must.Err(p.Relations.Neighbours(ctx, amber.NeighbourQuery{ID: someID, Depth: 1, Limit: 9, Types: []string{"a", "b"}, Identities: who, All: true}))
		}},
		{"all neighbours", func(ctx context.Context, p *place) error {
			return must.Err(p.Relations.Neighbours(ctx, amber.NeighbourQuery{ID: someID, Limit: 999}))
		}},
		{"neighbours by default", func(ctx context.Context, p *place) error {
			return must.Err(p.Relations.Neighbours(ctx, amber.NeighbourQuery{ID: someID}))
		}},
		{"set concepts", func(ctx context.Context, p *place) error {
			return p.Concepts.SetConcepts(ctx, someID, []string{"B", "a"})
		}},
		{"set no concepts", func(ctx context.Context, p *place) error { return p.Concepts.SetConcepts(ctx, someID, nil) }},
		{"concepts", func(ctx context.Context, p *place) error { return must.Err(p.Concepts.Concepts(ctx, someID)) }},
		{"count concepts", func(ctx context.Context, p *place) error { return must.Err(p.Concepts.CountConcepts(ctx)) }},
		{"stats", func(ctx context.Context, p *place) error { return must.Err(p.Stats.Stats(ctx)) }},
	}
}

func sessionDeeds() []deed {
	loop := amber.LoopSave{SessionID: "s", RunID: "r", State: json.RawMessage(`{"a": 1}`), IfRunID: "q", IfRevision: 2}
	return []deed{
		{"start", func(ctx context.Context, p *place) error {
			return must.Err(p.Sessions.StartSession(ctx, amber.SessionStart{}))
		}},
		{"start by id", func(ctx context.Context, p *place) error {
			return must.Err(p.Sessions.StartSession(ctx, amber.SessionStart{ID: "s", Name: "n", Binding: "b", Project: "p"}))
		}},
		{"session", func(ctx context.Context, p *place) error { return must.Err(p.Sessions.Session(ctx, "a/b")) }},
		{"sessions", func(ctx context.Context, p *place) error {
			return must.Err(p.Sessions.ListSessions(ctx, amber.SessionQuery{Binding: "b", Project: "p", Trusted: true, Limit: 2, Cursor: "c"}))
		}},
		{"delete session", func(ctx context.Context, p *place) error { return p.Sessions.DeleteSession(ctx, "..") }},
		{"end session", func(ctx context.Context, p *place) error {
			return must.Err(p.Names.EndSession(ctx, amber.SessionEnd{ID: "s", Summary: "x"}))
		}},
		{"rename session", func(ctx context.Context, p *place) error { return must.Err(p.Names.RenameSession(ctx, "s", " n ")) }},
		{"active session", func(ctx context.Context, p *place) error { return must.Err(p.Active.ActiveSession(ctx, "")) }},
		{"active session of a binding", func(ctx context.Context, p *place) error { return must.Err(p.Active.ActiveSession(ctx, "b")) }},
		{"select session", func(ctx context.Context, p *place) error { return must.Err(p.Active.SelectSession(ctx, "s")) }},
		{"save state", func(ctx context.Context, p *place) error {
			return must.Err(p.States.SaveState(ctx, "s", json.RawMessage(`{"a": 1}`), 3))
		}},
		{"save a first state", func(ctx context.Context, p *place) error {
			return must.Err(p.States.SaveState(ctx, "s", json.RawMessage(`1`), 0))
		}},
		{"load state", func(ctx context.Context, p *place) error { return must.Err(p.States.LoadState(ctx, "s")) }},
		{"delete state", func(ctx context.Context, p *place) error { return p.States.DeleteState(ctx, "s") }},
		{"save loop", func(ctx context.Context, p *place) error { return must.Err(p.Loops.SaveLoop(ctx, loop)) }},
		{"load loop", func(ctx context.Context, p *place) error { return must.Err(p.Loops.LoadLoop(ctx, "s")) }},
		{"clear loop", func(ctx context.Context, p *place) error { return p.Loops.ClearLoop(ctx, "s", "r") }},
		{"clear any loop", func(ctx context.Context, p *place) error { return p.Loops.ClearLoop(ctx, "s", "") }},
		{"append turn", func(ctx context.Context, p *place) error { return must.Err(p.Turns.AppendTurn(ctx, turn(""))) }},
		{"append turn by id", func(ctx context.Context, p *place) error { return must.Err(p.Turns.AppendTurn(ctx, turn("t"))) }},
		{"list turns", func(ctx context.Context, p *place) error {
			return must.Err(p.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: "s", Excerpt: 5, Limit: 6, Cursor: "c"}))
		}},
		{"list turns, oldest first", func(ctx context.Context, p *place) error {
			return must.Err(p.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: "s", Oldest: true}))
		}},
		{"turn", func(ctx context.Context, p *place) error { return must.Err(p.Turns.Turn(ctx, "t")) }},
		{"delete turns", func(ctx context.Context, p *place) error { return must.Err(p.Turns.DeleteTurns(ctx, "s")) }},
		{"add compaction", func(ctx context.Context, p *place) error {
			return must.Err(p.Compactions.AddCompaction(ctx, summary("")))
		}},
		{"add compaction by id", func(ctx context.Context, p *place) error {
			return must.Err(p.Compactions.AddCompaction(ctx, summary("c")))
		}},
		{"compactions", func(ctx context.Context, p *place) error {
			return must.Err(p.Compactions.Compactions(ctx, "s", amber.Paging{Limit: 1}))
		}},
		{"activity named", func(ctx context.Context, p *place) error {
			return must.Err(p.Activities.ActivityNamed(ctx, "context", "n"))
		}},
		{"activity", func(ctx context.Context, p *place) error {
			return must.Err(p.Activities.ListActivity(ctx, "s", "context"))
		}},
		{"all activity", func(ctx context.Context, p *place) error { return must.Err(p.Activities.ListActivity(ctx, "s", "")) }},
	}
}

func noteDeeds() []deed {
	in := amber.Ingestion{Journal: strings.Repeat("0", 32), Host: "h", Session: "s", Through: 1}
	return []deed{
		{"write note", func(ctx context.Context, p *place) error {
			return must.Err(p.Notes.WriteNote(ctx, amber.NoteWrite{Name: "a/n", Content: "<x>", NoteBy: by}))
		}},
		{"replace note", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.ReplaceNote(ctx, amber.Note{Name: "n", Commit: "abc"}, "x"))
		}},
		{"remove note", func(ctx context.Context, p *place) error {
			return p.agent.RemoveNote(ctx, amber.Note{Name: "n", Content: "x"})
		}},
		{"note", func(ctx context.Context, p *place) error { return must.Err(p.Notes.ReadNote(ctx, "n")) }},
		{"notes", func(ctx context.Context, p *place) error { return must.Err(p.Notes.ListNotes(ctx)) }},
		{"delete note", func(ctx context.Context, p *place) error { return p.Notes.DeleteNote(ctx, "n", by) }},
		{"delete own note", func(ctx context.Context, p *place) error { return p.Notes.DeleteNote(ctx, "n", amber.NoteBy{}) }},
		{"note at", func(ctx context.Context, p *place) error { return must.Err(p.NoteLog.NoteAt(ctx, "n", "abc")) }},
		{"log of note", func(ctx context.Context, p *place) error { return must.Err(p.NoteLog.LogNote(ctx, "n", 0)) }},
		{"long log of note", func(ctx context.Context, p *place) error { return must.Err(p.NoteLog.LogNote(ctx, "n", 50)) }},
		{"put document", func(ctx context.Context, p *place) error {
			return must.Err(p.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "d", Document: json.RawMessage(`{"a":1}`)}))
		}},
		{"put new document", func(ctx context.Context, p *place) error {
			return must.Err(p.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "d", Document: json.RawMessage(`{"a":1}`), IfAbsent: true}))
		}},
		{"put next document", func(ctx context.Context, p *place) error {
			return must.Err(p.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "d", Document: json.RawMessage(`{"a":1}`), IfRevision: amber.ContentDigest("1")}))
		}},
		{"document", func(ctx context.Context, p *place) error { return must.Err(p.Documents.ReadDocument(ctx, "d")) }},
		{"documents", func(ctx context.Context, p *place) error { return must.Err(p.Documents.ListDocuments(ctx)) }},
		{"delete document", func(ctx context.Context, p *place) error {
			return p.Documents.DeleteDocument(ctx, "d", amber.ContentDigest("1"))
		}},
		{"delete any document", func(ctx context.Context, p *place) error { return p.Documents.DeleteDocument(ctx, "d", "") }},
		{"ingest", func(ctx context.Context, p *place) error { return must.Err(p.Ingest.Ingest(ctx, in)) }},
		{"cursor", func(ctx context.Context, p *place) error { return must.Err(p.Ingest.JournalCursor(ctx, "j")) }},
		{"cursor of none", func(ctx context.Context, p *place) error { return must.Err(p.Ingest.JournalCursor(ctx, "")) }},
		{"open journals", func(ctx context.Context, p *place) error { return must.Err(p.Ingest.OpenJournals(ctx)) }},
		{"journal", func(ctx context.Context, p *place) error { return must.Err(p.agent.Journal(ctx)) }},
		{"held", func(ctx context.Context, p *place) error { return must.Err(p.agent.HeldEntries(ctx, "")) }},
		{"held of a session", func(ctx context.Context, p *place) error { return must.Err(p.agent.HeldEntries(ctx, "s")) }},
		{"show held", func(ctx context.Context, p *place) error { return must.Err(p.agent.ShowHeld(ctx, "s", "n")) }},
		{"retry held", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.RetryHeld(ctx, wire.HeldRetry{Session: "s", Name: "n"}))
		}},
		{"changes", func(ctx context.Context, p *place) error { return must.Err(p.Changes.Changes(ctx, "5", 10)) }},
		{"no changes", func(ctx context.Context, p *place) error { return must.Err(p.Changes.Changes(ctx, "", 0)) }},
		{"many control changes", func(ctx context.Context, p *place) error { return must.Err(p.ControlChanges.Changes(ctx, "", 5000)) }},
		{"changes before", func(ctx context.Context, p *place) error {
			return must.Err(p.Changes.ChangesBefore(ctx, amber.ChangeQuery{Before: "5", Scopes: []amber.ChangeScope{"memory", "turn"}, Limit: 3}))
		}},
		{"head", func(ctx context.Context, p *place) error { return must.Err(p.Changes.Head(ctx)) }},
		{"control head", func(ctx context.Context, p *place) error { return must.Err(p.ControlChanges.Head(ctx)) }},
	}
}

func controlDeeds() []deed {
	task := amber.Task{ID: "t", RequestID: "r", SessionID: "s", Goal: "g", State: amber.TaskQueued, Extra: json.RawMessage(`{"a": 1}`)}
	plain := task
	plain.Extra = nil
	ask := amber.ApprovalRequest{TaskID: "t", NodeID: "n", Summary: "s", Payload: json.RawMessage(`{}`)}
	byID := ask
	byID.ID = "a"
	return []deed{
		{"save task", func(ctx context.Context, p *place) error { return must.Err(p.Tasks.SaveTask(ctx, task, 3)) }},
		{"save new task", func(ctx context.Context, p *place) error { return must.Err(p.Tasks.SaveTask(ctx, plain, 0)) }},
		{"task", func(ctx context.Context, p *place) error { return must.Err(p.Tasks.Task(ctx, "t")) }},
		{"tasks", func(ctx context.Context, p *place) error {
			return must.Err(p.Tasks.ListTasks(ctx, amber.TaskQuery{State: amber.TaskQueued, SessionID: "s", Limit: 2, Cursor: "c"}))
		}},
		{"append event", func(ctx context.Context, p *place) error {
			return must.Err(p.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskQueued, To: amber.TaskPlanning, Kind: amber.EventNodeCompleted, NodeID: "n", Result: "ok", Reason: "r"}))
		}},
		{"events", func(ctx context.Context, p *place) error {
			return must.Err(p.Events.ListEvents(ctx, "t", amber.Paging{Limit: 1}))
		}},
		{"compact events", func(ctx context.Context, p *place) error { return must.Err(p.Events.CompactEvents(ctx, "t", 0)) }},
		{"replay", func(ctx context.Context, p *place) error { return must.Err(p.Events.Replay(ctx, "t")) }},
		{"request approval", func(ctx context.Context, p *place) error { return must.Err(p.Approvals.RequestApproval(ctx, ask)) }},
		{"request approval by id", func(ctx context.Context, p *place) error { return must.Err(p.Approvals.RequestApproval(ctx, byID)) }},
		{"decide approval", func(ctx context.Context, p *place) error {
			return must.Err(p.Approvals.DecideApproval(ctx, amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: "me"}))
		}},
		{"approval", func(ctx context.Context, p *place) error { return must.Err(p.Approvals.Approval(ctx, "a")) }},
		{"approvals", func(ctx context.Context, p *place) error {
			return must.Err(p.Approvals.ListApprovals(ctx, "t", amber.Paging{}))
		}},
		{"pending approvals", func(ctx context.Context, p *place) error {
			return must.Err(p.Approvals.ListApprovals(ctx, "", amber.Paging{Limit: 3, Cursor: "c"}))
		}},
		{"save result", func(ctx context.Context, p *place) error {
			return must.Err(p.Results.SaveResult(ctx, amber.Result{TaskID: "t", NodeID: "n", Producer: "p", Status: amber.ResultOK}))
		}},
		{"result", func(ctx context.Context, p *place) error { return must.Err(p.Results.Result(ctx, "t", "n")) }},
		{"results", func(ctx context.Context, p *place) error {
			return must.Err(p.Results.ListResults(ctx, "t", amber.Paging{}))
		}},
	}
}

func queueDeeds() []deed {
	lease := amber.Lease{EntryID: "e", ConsumerID: "c", Token: "t", Fence: 3, ExpiresAt: day}
	return []deed{
		{"publish", func(ctx context.Context, p *place) error {
			return p.Queue.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: "<x>", NotBefore: day})
		}},
		{"claim", func(ctx context.Context, p *place) error { return must.Err(p.Queue.Claim(ctx, "c")) }},
		{"ack", func(ctx context.Context, p *place) error { return p.Queue.Ack(ctx, lease) }},
		{"nack", func(ctx context.Context, p *place) error {
			return p.Queue.Nack(ctx, amber.Nack{Lease: lease, Reason: "r", NotBefore: later})
		}},
		{"renew", func(ctx context.Context, p *place) error { return must.Err(p.QueueKeeper.Renew(ctx, lease)) }},
		{"backpressure", func(ctx context.Context, p *place) error { return must.Err(p.QueueKeeper.Backpressure(ctx)) }},
		{"dead entries", func(ctx context.Context, p *place) error {
			return must.Err(p.QueueKeeper.DeadEntries(ctx, amber.Paging{Limit: 4, Cursor: "c"}))
		}},
	}
}

func snapshotDeeds() []deed {
	ref := wire.SnapshotRef{ID: amber.SnapshotID(someID)}
	return []deed{
		{"snapshot", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.Snapshot(ctx, wire.SnapshotRequest{Label: "l", Pin: true}))
		}},
		{"snapshots", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.ListSnapshots(ctx, wire.SnapshotQuery{Limit: 2, Cursor: "c"}))
		}},
		{"show", func(ctx context.Context, p *place) error { return must.Err(p.snaps.ShowSnapshot(ctx, ref)) }},
		{"diff", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.DiffSnapshots(ctx, wire.DiffRequest{A: ref.ID, B: ref.ID}))
		}},
		{"verify", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref, ReadData: true}))
		}},
		{"delete", func(ctx context.Context, p *place) error { return p.snaps.DeleteSnapshot(ctx, ref) }},
		{"pin", func(ctx context.Context, p *place) error { return p.snaps.PinSnapshot(ctx, ref, true) }},
		{"unpin", func(ctx context.Context, p *place) error { return p.snaps.PinSnapshot(ctx, ref, false) }},
		{"prune", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.PruneSnapshots(ctx, wire.PruneRequest{KeepLast: 1}))
		}},
		{"gc", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.CollectGarbage(ctx, wire.GCRequest{}))
		}},
		{"check", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.CheckRepository(ctx, wire.CheckRequest{ReadData: true}))
		}},
		{"restore", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref, To: "bob"}))
		}},
		{"look at restore", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref, DryRun: true}))
		}},
		{"restore memory", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: ref, Memory: someID}))
		}},
		{"look at restored memory", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: ref, Memory: someID, DryRun: true}))
		}},
		{"begin consolidation", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.BeginConsolidation(ctx, wire.ConsolidationBegin{Run: "r"}))
		}},
		{"end consolidation", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.EndConsolidation(ctx, wire.ConsolidationEnd{ID: string(someID), Outcome: "done"}))
		}},
		{"open consolidation", func(ctx context.Context, p *place) error { return must.Err(p.snaps.OpenConsolidation(ctx, "", "")) }},
		{"past recall", func(ctx context.Context, p *place) error { return must.Err(p.past.Recall(ctx, amber.Query{Text: "x"})) }},
		{"past memory", func(ctx context.Context, p *place) error { return must.Err(p.past.Get(ctx, someID)) }},
		{"past list", func(ctx context.Context, p *place) error {
			return must.Err(p.past.List(ctx, amber.ListQuery{All: true, Filter: amber.Filter{Identities: who}, Limit: 2}))
		}},
	}
}

func homeDeeds() []deed {
	o := client.ImportOptions{
		From: "f", Name: "n", Size: 1, Modified: day, Project: "p", User: "u", AsOwn: true, DryRun: true, Since: later, Only: "memories", Observations: true, Sensitive: true,
	}
	return []deed{
		{"capabilities", func(ctx context.Context, p *place) error { return must.Err(p.agent.Store(ctx)) }},
		{"doctor", func(ctx context.Context, p *place) error { return must.Err(p.agent.Doctor(ctx, false)) }},
		{"deep doctor", func(ctx context.Context, p *place) error { return must.Err(p.agent.Doctor(ctx, true)) }},
		{"folders", func(ctx context.Context, p *place) error { return must.Err(p.agent.WaitingFolders(ctx)) }},
		{"trust folder", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.TrustFolder(ctx, wire.FolderTrust{Place: "/x", Asks: "p"}))
		}},
		{"generation", func(ctx context.Context, p *place) error { return must.Err(p.agent.Generation(ctx)) }},
		{"sync", func(ctx context.Context, p *place) error { return must.Err(p.agent.SyncReport(ctx, "here")) }},
		{"sync of all", func(ctx context.Context, p *place) error { return must.Err(p.agent.SyncReport(ctx, "")) }},
		{"import", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.Import(ctx, strings.NewReader("x"), o))
		}},
		{"import by default", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.Import(ctx, strings.NewReader("x"), client.ImportOptions{}))
		}},
		{"imports", func(ctx context.Context, p *place) error { return must.Err(p.agent.Imports(ctx)) }},
		{"undo import", func(ctx context.Context, p *place) error { return must.Err(p.agent.UndoImport(ctx, "i")) }},
		{"export", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.Export(ctx, io.Discard, client.ExportOptions{To: "amber", Project: "p", Users: []string{"a", "b"}, AllUsers: true, Private: true}))
		}},
		{"export by default", func(ctx context.Context, p *place) error {
			return must.Err(p.agent.Export(ctx, io.Discard, client.ExportOptions{To: "amber"}))
		}},
		{"server", func(ctx context.Context, p *place) error { return must.Err(p.client.Health(ctx)) }},
		{"audit", func(ctx context.Context, p *place) error {
			return must.Err(p.client.ListAudit(ctx, wire.AuditQuery{Tenant: "acme", Agent: "ada", Actor: "local", Action: "memory.write", Since: day, Limit: 2, Cursor: "c"}))
		}},
		{"whole audit", func(ctx context.Context, p *place) error { return must.Err(p.client.ListAudit(ctx, wire.AuditQuery{})) }},
		{"verify audit", func(ctx context.Context, p *place) error { return must.Err(p.client.VerifyAudit(ctx)) }},
		{"tokens", func(ctx context.Context, p *place) error { return must.Err(p.client.ListTokens(ctx, "acme", "ada")) }},
		{"agents", func(ctx context.Context, p *place) error { return must.Err(p.client.ListAgents(ctx, "")) }},
		{"agents of a tenant", func(ctx context.Context, p *place) error { return must.Err(p.client.ListAgents(ctx, "acme")) }},
		{"create token", func(ctx context.Context, p *place) error {
			return must.Err(p.client.CreateToken(ctx, wire.TokenRequest{Name: "n", Tenant: "acme", Scopes: []wire.TokenScope{wire.TokenRead}}))
		}},
		{"revoke token", func(ctx context.Context, p *place) error { return must.Err(p.client.RevokeToken(ctx, "abcdefgh")) }},
	}
}

// invalidDeeds are calls that are wrong in a way that the client sees, or that no path leads to.
func invalidDeeds() []deed {
	const torn = "\xff"
	wrong := torn
	other := wire.SnapshotRef{Tenant: "umbrella", ID: amber.SnapshotID(someID)}
	return []deed{
		{"no session", func(ctx context.Context, p *place) error { return must.Err(p.Sessions.Session(ctx, "")) }},
		{"no text in a memory", func(ctx context.Context, p *place) error {
			return must.Err(p.LongTerm.Write(ctx, amber.WriteRequest{Content: torn}))
		}},
		{"no text in a batch", func(ctx context.Context, p *place) error {
			return must.Err(p.Batch.WriteBatch(ctx, []amber.WriteRequest{{Content: torn}}))
		}},
		{"no text in a question", func(ctx context.Context, p *place) error {
			return must.Err(p.LongTerm.Recall(ctx, amber.Query{Text: torn}))
		}},
		{"no text in an edit", func(ctx context.Context, p *place) error {
			return must.Err(p.Editor.Edit(ctx, amber.EditRequest{ID: someID, Title: &wrong}))
		}},
		{"no text in a turn", func(ctx context.Context, p *place) error {
			return must.Err(p.Turns.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: torn}))
		}},
		{"no text in a note", func(ctx context.Context, p *place) error {
			return must.Err(p.Notes.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: torn}))
		}},
		{"no name of a note", func(ctx context.Context, p *place) error { return must.Err(p.Notes.ReadNote(ctx, "../n")) }},
		{"no state", func(ctx context.Context, p *place) error { return must.Err(p.States.SaveState(ctx, "s", nil, 0)) }},
		{"no document", func(ctx context.Context, p *place) error { return must.Err(p.Documents.ReadDocument(ctx, torn)) }},
		{"no task", func(ctx context.Context, p *place) error { return must.Err(p.Tasks.Task(ctx, torn)) }},
		{"no events", func(ctx context.Context, p *place) error {
			return must.Err(p.Events.ListEvents(ctx, torn, amber.Paging{}))
		}},
		{"no approval", func(ctx context.Context, p *place) error { return must.Err(p.Approvals.Approval(ctx, "")) }},
		{"no result", func(ctx context.Context, p *place) error { return must.Err(p.Results.Result(ctx, "t", torn)) }},
		{"no consumer", func(ctx context.Context, p *place) error { return must.Err(p.Queue.Claim(ctx, "")) }},
		{"no entry", func(ctx context.Context, p *place) error { return p.Queue.Publish(ctx, amber.Envelope{}) }},
		{"snapshot of another", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.Snapshot(ctx, wire.SnapshotRequest{Agent: "bob"}))
		}},
		{"show another's", func(ctx context.Context, p *place) error { return must.Err(p.snaps.ShowSnapshot(ctx, other)) }},
		{"no snapshot", func(ctx context.Context, p *place) error {
			return p.snaps.DeleteSnapshot(ctx, wire.SnapshotRef{ID: "x"})
		}},
		{"gc of another", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.CollectGarbage(ctx, wire.GCRequest{Tenant: "umbrella"}))
		}},
		{"no restored memory", func(ctx context.Context, p *place) error {
			return must.Err(p.snaps.RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: wire.SnapshotRef{ID: amber.SnapshotID(someID)}, Memory: "x"}))
		}},
		{"no past memory", func(ctx context.Context, p *place) error { return must.Err(p.past.Get(ctx, "x")) }},
		{"no token", func(ctx context.Context, p *place) error {
			return must.Err(p.client.CreateToken(ctx, wire.TokenRequest{}))
		}},
		{"no id of a token", func(ctx context.Context, p *place) error { return must.Err(p.client.RevokeToken(ctx, "")) }},
	}
}
