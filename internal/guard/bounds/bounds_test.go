package bounds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/bounds"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

var (
	at      = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	asAlice = wire.Bound{User: "alice", Project: "bank"}
	asBob   = wire.Bound{User: "bob", Project: "shop"}
)

const secret = "canary-of-alice"

func whole(t *testing.T) amber.Store {
	t.Helper()
	now := at
	clock := func() time.Time { now = now.Add(time.Millisecond); return now }
	s := must.Get(inmem.New(inmem.Options{Clock: clock, Random: rand.NewChaCha8([32]byte{1}), Incarnation: "i"}))(t)
	return amber.NewStore(s.Parts())
}

// ids are those of records of one person.
type ids struct {
	memory, other, gone amber.MemoryID
	relation, turn      string
	session             amber.SessionID
	task, approval      string
	journal             string
}

// nowhere are ids that no record has.
var nowhere = ids{
	memory: "00000000-0000-7000-8000-00000000000a", other: "00000000-0000-7000-8000-00000000000b", gone: "00000000-0000-7000-8000-00000000000c",
	relation: "00000000-0000-7000-8000-00000000000d", turn: "00000000-0000-7000-8000-00000000000e",
	session: "no-session", task: "no-task", approval: "no-approval", journal: strings.Repeat("0", 32),
}

// furnish stores a record of every kind.
func furnish(t *testing.T, s amber.Store, name, text string) (x ids) {
	t.Helper()
	ctx := t.Context()
	x.session, x.task, x.approval, x.journal, x.turn = amber.SessionID("s-"+name), "t-"+name, "a-"+name, strings.Repeat(name[:1], 32), "turn-"+name
	must.Get(s.Sessions.StartSession(ctx, amber.SessionStart{ID: x.session, Name: text}))(t)
	must.Get(s.Turns.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(x.turn), SessionID: x.session, Role: amber.RoleUser, Content: text}))(t)
	must.Get(s.Compactions.AddCompaction(ctx, amber.Compaction{SessionID: x.session, Summary: text}))(t)
	must.Get(s.States.SaveState(ctx, x.session, json.RawMessage(`{"x":"`+text+`"}`), 0))(t)
	must.Get(s.Loops.SaveLoop(ctx, amber.LoopSave{SessionID: x.session, RunID: "run", State: json.RawMessage(`{"x":"` + text + `"}`)}))(t)
	write := func(content string, scope amber.Scope) amber.MemoryID {
		return must.Get(s.LongTerm.Write(ctx, amber.WriteRequest{
			Content: content + " " + text, Topic: "topic-" + content, Scope: scope, Identities: amber.Identities{SessionID: x.session}, IdempotencyKey: "key-" + content,
		}))(t).ID
	}
	x.memory, x.other, x.gone = write("one", amber.ScopeUser), write("two", amber.ScopeProject), write("gone", amber.ScopeUser)
	write("three", amber.ScopeSession)
	must.Do(t, s.LongTerm.Delete(ctx, x.gone))
	must.Do(t, s.Concepts.SetConcepts(ctx, x.memory, []string{"concept-" + name}))
	x.relation = must.Get(s.Relations.Relate(ctx, amber.Relation{From: x.memory, To: x.other, Type: "related", Strength: 1}))(t).ID
	must.Get(s.Tasks.SaveTask(ctx, amber.Task{ID: x.task, SessionID: x.session, Goal: text}, 0))(t)
	must.Get(s.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: x.task, From: amber.TaskQueued, To: amber.TaskPlanning, Reason: text}))(t)
	must.Get(s.Approvals.RequestApproval(ctx, amber.ApprovalRequest{ID: x.approval, TaskID: x.task, NodeID: "n", Summary: text, Payload: json.RawMessage(`{}`)}))(t)
	must.Get(s.Results.SaveResult(ctx, amber.Result{TaskID: x.task, NodeID: "n", Producer: "p", Status: amber.ResultOK, Payload: text}))(t)
	must.Get(s.Ingest.Ingest(ctx, amber.Ingestion{Journal: x.journal, Host: "claude", Session: x.session, Through: 1, Steps: []amber.IngestStep{{
		Start:    amber.SessionStart{ID: x.session},
		Activity: []amber.Activity{{SessionID: x.session, Kind: amber.ActivityCommand, Name: "make", Detail: text}},
	}}}))(t)
	return x
}

// bench is an agent with records of alice, of bob, and of everybody.
type bench struct {
	all, alice, bob amber.Store
	hers, his       ids
	global          amber.MemoryID
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{all: whole(t)}
	b.alice, b.bob = bounds.New(b.all, asAlice).Store(), bounds.New(b.all, asBob).Store()
	b.hers, b.his = furnish(t, b.alice, "alice", secret), furnish(t, b.bob, "bob", "bobs own")
	b.global = must.Get(b.all.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "Everybody writes Go."}))(t).ID
	return b
}

// everything is what an agent holds, as JSON.
func everything(t *testing.T, s amber.Store, x ids) string {
	t.Helper()
	ctx := t.Context()
	var parts []any
	add := func(v any, err error) {
		t.Helper()
		must.Do(t, err)
		parts = append(parts, v)
	}
	page := must.Get(s.Memories.List(ctx, amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize}))(t)
	for _, m := range page.Items {
		if m.UserID == asAlice.User {
			add(s.Memories.History(ctx, m.ID, amber.Paging{}))
		}
	}
	sess := must.Get(s.Sessions.Session(ctx, x.session))(t)
	parts = append(parts, sess)
	add(amber.LastTurns(ctx, s.Turns, x.session, 100))
	add(s.Compactions.Compactions(ctx, x.session, amber.Paging{}))
	add(s.States.LoadState(ctx, x.session))
	add(s.Loops.LoadLoop(ctx, x.session))
	add(s.Activities.ListActivity(ctx, x.session, ""))
	add(s.Tasks.Task(ctx, x.task))
	add(s.Events.ListEvents(ctx, x.task, amber.Paging{}))
	add(s.Approvals.Approval(ctx, x.approval))
	add(s.Results.ListResults(ctx, x.task, amber.Paging{}))
	add(s.Relations.Related(ctx, x.memory))
	add(s.Concepts.Concepts(ctx, x.memory))
	add(s.Ingest.JournalCursor(ctx, x.journal))
	add(s.Active.ActiveSession(ctx, sess.Binding))
	return string(must.Get(json.Marshal(parts))(t))
}

// told is what a caller gets to know by a call, with the ids that it names taken out.
func told(t *testing.T, x ids, v any, err error) string {
	t.Helper()
	text := "ok"
	if err != nil {
		text = string(amber.KindOf(err)) + " " + err.Error() + " " + amber.HintOf(err)
		v = nil
	}
	text += " " + string(must.Get(json.Marshal(v))(t))
	for _, id := range []string{string(x.memory), string(x.other), string(x.gone), x.relation, x.turn, string(x.session), x.task, x.approval, x.journal} {
		text = strings.ReplaceAll(text, id, "ID")
	}
	return text
}

// probe asks something by an id.
type probe struct {
	name string
	ask  func(ctx context.Context, s amber.Store, x ids) (any, error)
}

func none(err error) (any, error) { return nil, err }

func one[T any](v T, err error) (any, error) { return v, err }

// probes ask by id, one for each method that takes one.
var probes = []probe{
	{"get", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Memories.Get(ctx, x.memory))
	}},
	{"get of a deleted one", func(ctx context.Context, s amber.Store, x ids) (any, error) { return one(s.Memories.Get(ctx, x.gone)) }},
	{"history", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Memories.History(ctx, x.memory, amber.Paging{}))
	}},
	{"history of a deleted one", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Memories.History(ctx, x.gone, amber.Paging{}))
	}},
	{"timeline", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Memories.Timeline(ctx, x.memory, 5, 5))
	}},
	{"edit", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Editor.Edit(ctx, amber.EditRequest{ID: x.memory, Content: new("owned")}))
	}},
	{"edit of a revision", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Editor.Edit(ctx, amber.EditRequest{ID: x.memory, Content: new("owned"), IfRevision: 1}))
	}},
	{"edit of another revision", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Editor.Edit(ctx, amber.EditRequest{ID: x.memory, Content: new("owned"), IfRevision: 7}))
	}},
	{"delete", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return none(s.LongTerm.Delete(ctx, x.memory))
	}},
	{"delete of a deleted one", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return none(s.LongTerm.Delete(ctx, x.gone))
	}},
	{"erase", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Eraser.Erase(ctx, x.memory))
	}},
	{"erase of a deleted one", func(ctx context.Context, s amber.Store, x ids) (any, error) { return one(s.Eraser.Erase(ctx, x.gone)) }},
	{"relate from", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Relations.Relate(ctx, amber.Relation{From: x.memory, To: global(ctx, s), Type: "supersedes", Strength: 1}))
	}},
	{"relate to", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Relations.Relate(ctx, amber.Relation{From: global(ctx, s), To: x.memory, Type: "supersedes", Strength: 1}))
	}},
	{"relation", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Relations.Relation(ctx, x.relation))
	}},
	{"unrelate", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return none(s.Relations.Unrelate(ctx, x.relation))
	}},
	{"related", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Relations.Related(ctx, x.memory))
	}},
	{"neighbours", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Relations.Neighbours(ctx, amber.NeighbourQuery{ID: x.memory, All: true}))
	}},
	{"concepts", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Concepts.Concepts(ctx, x.memory))
	}},
	{"set concepts", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return none(s.Concepts.SetConcepts(ctx, x.memory, []string{"owned"}))
	}},
	{"session", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Sessions.Session(ctx, x.session))
	}},
	{"delete session", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return none(s.Sessions.DeleteSession(ctx, x.session))
	}},
	{"end session", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Names.EndSession(ctx, amber.SessionEnd{ID: x.session}))
	}},
	{"rename session", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Names.RenameSession(ctx, x.session, "owned"))
	}},
	{"select session", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Active.SelectSession(ctx, x.session))
	}},
	{"load state", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.States.LoadState(ctx, x.session))
	}},
	{"delete state", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return none(s.States.DeleteState(ctx, x.session))
	}},
	{"load turns", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(amber.LastTurns(ctx, s.Turns, x.session, 9))
	}},
	{"list turns", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: x.session}))
	}},
	{"turn", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Turns.Turn(ctx, amber.TurnID(x.turn)))
	}},
	{"delete turns", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Turns.DeleteTurns(ctx, x.session))
	}},
	{"compactions", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Compactions.Compactions(ctx, x.session, amber.Paging{}))
	}},
	{"load loop", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Loops.LoadLoop(ctx, x.session))
	}},
	{"clear loop", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return none(s.Loops.ClearLoop(ctx, x.session, "run"))
	}},
	{"list activity", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Activities.ListActivity(ctx, x.session, ""))
	}},
	{"cursor", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Ingest.JournalCursor(ctx, x.journal))
	}},
	{"task", func(ctx context.Context, s amber.Store, x ids) (any, error) { return one(s.Tasks.Task(ctx, x.task)) }},
	{"save task of a version", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Tasks.SaveTask(ctx, amber.Task{ID: x.task, Goal: "owned"}, 1))
	}},
	{"events", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Events.ListEvents(ctx, x.task, amber.Paging{}))
	}},
	{"compact events", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Events.CompactEvents(ctx, x.task, 0))
	}},
	{"replay", func(ctx context.Context, s amber.Store, x ids) (any, error) { return one(s.Events.Replay(ctx, x.task)) }},
	{"approval", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Approvals.Approval(ctx, x.approval))
	}},
	{"approvals of a task", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Approvals.ListApprovals(ctx, x.task, amber.Paging{}))
	}},
	{"decide", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Approvals.DecideApproval(ctx, amber.ApprovalDecision{ID: x.approval, Outcome: amber.ApprovalApproved, Actor: "bob"}))
	}},
	{"result", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Results.Result(ctx, x.task, "n"))
	}},
	{"results", func(ctx context.Context, s amber.Store, x ids) (any, error) {
		return one(s.Results.ListResults(ctx, x.task, amber.Paging{}))
	}},
}

// global is the memory that everybody sees.
func global(ctx context.Context, s amber.Store) amber.MemoryID {
	p, _ := s.Memories.List(ctx, amber.ListQuery{Filter: amber.Filter{Scope: amber.ScopeGlobal}})
	if len(p.Items) == 0 {
		return ""
	}
	return p.Items[0].ID
}

// TestIdsOfOthersAreNotThere asks by each id of alice what bob may ask by it: the answer is that of an id that no record has, to the
// letter, and nothing of hers changes.
func TestIdsOfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := everything(t, b.all, b.hers)
	for _, p := range probes {
		ask := func(x ids) string {
			v, err := p.ask(t.Context(), b.bob, x)
			return told(t, x, v, err)
		}
		must.Equal(t, p.name, ask(b.hers), ask(nowhere))
	}
	must.Equal(t, "what alice has", everything(t, b.all, b.hers), before)
}

// TestOwnIdsAreThere is the other half: each of them reaches bob's own records.
func TestOwnIdsAreThere(t *testing.T) {
	t.Parallel()
	for _, p := range probes {
		b := newBench(t)
		v, err := p.ask(t.Context(), b.bob, b.his)
		got := told(t, b.his, v, err)
		v, err = p.ask(t.Context(), b.bob, nowhere)
		same := got == told(t, nowhere, v, err)
		if silent := map[string]bool{"get of a deleted one": true, "delete state": true, "clear loop": true, "edit of another revision": true}[p.name]; same && !silent {
			t.Errorf("%s: an own id is answered as one that is not there: %s", p.name, got)
		}
		if strings.Contains(got, secret) {
			t.Errorf("%s shows what is alice's: %s", p.name, got)
		}
	}
}

// TestListingsHaveNothingOfOthers reads everything that takes no id.
func TestListingsHaveNothingOfOthers(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	for name, list := range map[string]func(s amber.Store) (any, error){
		"list": func(s amber.Store) (any, error) {
			return one(s.Memories.List(ctx, amber.ListQuery{All: true, Deleted: true, Limit: 1000}))
		},
		"list by one": func(s amber.Store) (any, error) {
			return walked(func(c amber.Cursor) (amber.Page[amber.Memory], error) {
				return s.Memories.List(ctx, amber.ListQuery{All: true, Limit: 1, Cursor: c})
			})
		},
		"recall": func(s amber.Store) (any, error) {
			return one(s.LongTerm.Recall(ctx, amber.Query{Text: secret, Limit: 64}))
		},
		"recall of all": func(s amber.Store) (any, error) { return one(s.LongTerm.Recall(ctx, amber.Query{Limit: 64})) },
		"sessions":      func(s amber.Store) (any, error) { return one(s.Sessions.ListSessions(ctx, amber.SessionQuery{})) },
		"sessions by one": func(s amber.Store) (any, error) {
			return walked(func(c amber.Cursor) (amber.Page[amber.Session], error) {
				return s.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: 1, Cursor: c})
			})
		},
		"named": func(s amber.Store) (any, error) {
			return one(s.Activities.ActivityNamed(ctx, amber.ActivityCommand, "make"))
		},
		"journals":  func(s amber.Store) (any, error) { return one(s.Ingest.OpenJournals(ctx)) },
		"tasks":     func(s amber.Store) (any, error) { return one(s.Tasks.ListTasks(ctx, amber.TaskQuery{})) },
		"approvals": func(s amber.Store) (any, error) { return one(s.Approvals.ListApprovals(ctx, "", amber.Paging{})) },
		"active":    func(s amber.Store) (any, error) { return one(s.Active.ActiveSession(ctx, amber.DefaultBinding)) },
		"changes":   func(s amber.Store) (any, error) { return one(s.Changes.Changes(ctx, "", 1000)) },
		"changes before": func(s amber.Store) (any, error) {
			return one(s.Changes.ChangesBefore(ctx, amber.ChangeQuery{Limit: 1000}))
		},
		"control changes": func(s amber.Store) (any, error) { return one(s.ControlChanges.Changes(ctx, "", 1000)) },
		"around the global": func(s amber.Store) (any, error) {
			return one(s.Relations.Neighbours(ctx, amber.NeighbourQuery{ID: b.global, All: true}))
		},
	} {
		got := string(must.Get(json.Marshal(must.Get(list(b.bob))(t)))(t))
		for _, hers := range []string{secret, "alice", "bank", string(b.hers.memory), string(b.hers.other), string(b.hers.gone), b.hers.turn, b.hers.journal} {
			if strings.Contains(got, hers) {
				t.Errorf("%s shows %q: %s", name, hers, got)
			}
		}
		if whole := string(must.Get(json.Marshal(must.Get(list(b.alice))(t)))(t)); name != "around the global" && len(whole) < 80 {
			t.Errorf("%s shows alice nothing of her own: %s", name, whole)
		}
	}
	stats := must.Get(b.bob.Stats.Stats(ctx))(t)
	must.Equal(t, "memories, deleted, sessions", []int64{stats.Memories, stats.Deleted, stats.Sessions}, []int64{4, 1, 1})
	must.Kind(t, "answer", must.Err(b.bob.Concepts.CountConcepts(ctx)), amber.KindRefused)
}

func walked[T any](read func(amber.Cursor) (amber.Page[T], error)) (any, error) {
	var all []T
	for c := amber.Cursor(""); ; {
		p, err := read(c)
		all = append(all, p.Items...)
		if err != nil || p.Next == "" {
			return all, err
		}
		c = p.Next
	}
}

// TestNamesOfOthersAreRefused: a request that names another identity is told so, whatever is stored.
func TestNamesOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	for _, ids := range []amber.Identities{{UserID: "alice"}, {ProjectID: "bank"}, {UserID: "bob", ProjectID: "bank"}, {UserID: "carol"}} {
		f := amber.Filter{Identities: ids}
		for name, err := range map[string]error{
			"write":      must.Err(b.bob.LongTerm.Write(ctx, amber.WriteRequest{Content: "x", Identities: ids})),
			"batch":      must.Err(b.bob.Batch.WriteBatch(ctx, []amber.WriteRequest{{Content: "mine"}, {Content: "x", Identities: ids}})),
			"recall":     must.Err(b.bob.LongTerm.Recall(ctx, amber.Query{Text: "x", Filter: f})),
			"list":       must.Err(b.bob.Memories.List(ctx, amber.ListQuery{Filter: f})),
			"neighbours": must.Err(b.bob.Relations.Neighbours(ctx, amber.NeighbourQuery{ID: b.his.memory, Identities: ids})),
		} {
			if amber.KindOf(err) != amber.KindRefused {
				t.Errorf("%s naming %+v: %v", name, ids, err)
			}
		}
	}
	for name, err := range map[string]error{
		"session":  must.Err(b.bob.Sessions.StartSession(ctx, amber.SessionStart{Project: "bank"})),
		"sessions": must.Err(b.bob.Sessions.ListSessions(ctx, amber.SessionQuery{Project: "bank"})),
		"turn":     must.Err(b.bob.Turns.AppendTurn(ctx, amber.Turn{SessionID: b.his.session, Role: amber.RoleUser, Content: "x", ProjectID: "bank"})),
	} {
		if amber.KindOf(err) != amber.KindRefused {
			t.Errorf("%s naming bank: %v", name, err)
		}
	}
}

// TestTakenIdsSayNoMore: what would store a record under an id of alice is a conflict, whether it would be the same or another one.
func TestTakenIdsSayNoMore(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	before := everything(t, b.all, b.hers)
	x := b.hers
	for name, err := range map[string]error{
		"start":                must.Err(b.bob.Sessions.StartSession(ctx, amber.SessionStart{ID: x.session})),
		"turn":                 must.Err(b.bob.Turns.AppendTurn(ctx, amber.Turn{SessionID: x.session, Role: amber.RoleUser, Content: "x"})),
		"own turn":             must.Err(b.bob.Turns.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(x.turn), SessionID: b.his.session, Role: amber.RoleUser, Content: "x"})),
		"compaction":           must.Err(b.bob.Compactions.AddCompaction(ctx, amber.Compaction{SessionID: x.session, Summary: "x"})),
		"state":                must.Err(b.bob.States.SaveState(ctx, x.session, json.RawMessage(`{}`), 1)),
		"loop":                 must.Err(b.bob.Loops.SaveLoop(ctx, amber.LoopSave{SessionID: x.session, RunID: "run", State: json.RawMessage(`{}`), IfRunID: "run", IfRevision: 1})),
		"task":                 must.Err(b.bob.Tasks.SaveTask(ctx, amber.Task{ID: x.task, Goal: "x"}, 0)),
		"task of a session":    must.Err(b.bob.Tasks.SaveTask(ctx, amber.Task{ID: "mine", SessionID: x.session, Goal: "x"}, 0)),
		"event":                must.Err(b.bob.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: x.task, From: amber.TaskQueued, To: amber.TaskPlanning})),
		"approval":             must.Err(b.bob.Approvals.RequestApproval(ctx, amber.ApprovalRequest{ID: x.approval, TaskID: b.his.task, NodeID: "n", Summary: secret, Payload: json.RawMessage(`{}`)})),
		"approval of hers":     must.Err(b.bob.Approvals.RequestApproval(ctx, amber.ApprovalRequest{TaskID: x.task, NodeID: "n", Summary: "x", Payload: json.RawMessage(`{}`)})),
		"result":               must.Err(b.bob.Results.SaveResult(ctx, amber.Result{TaskID: x.task, NodeID: "n", Producer: "p", Status: amber.ResultOK, Payload: "x"})),
		"memory of a session":  must.Err(b.bob.LongTerm.Write(ctx, amber.WriteRequest{Content: "x", Identities: amber.Identities{SessionID: x.session}})),
		"journal":              must.Err(b.bob.Ingest.Ingest(ctx, amber.Ingestion{Journal: x.journal, Host: "claude", Session: b.his.session, After: 1, Through: 2})),
		"session of a journal": must.Err(b.bob.Ingest.Ingest(ctx, amber.Ingestion{Journal: strings.Repeat("f", 32), Host: "claude", Session: x.session, Through: 1})),
		"step": must.Err(b.bob.Ingest.Ingest(ctx, amber.Ingestion{
			Journal: strings.Repeat("f", 32), Host: "claude", Session: x.session, Through: 1, Steps: []amber.IngestStep{{Start: amber.SessionStart{ID: x.session}, End: &amber.SessionEnd{ID: x.session}}},
		})),
	} {
		if amber.KindOf(err) != amber.KindConflict {
			t.Errorf("%s: %v, want a conflict", name, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Equal(t, "what alice has", everything(t, b.all, b.hers), before)
}

// TestComputedTopicsReachNothing: topics are public names, so everybody can compute the id of a topic of alice.
func TestComputedTopicsReachNothing(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	before := everything(t, b.all, b.hers)
	id := amber.TopicID("bank", amber.ScopeUser, "alice", "topic-one", 0)
	must.Equal(t, "the id of her topic", id, b.hers.memory)
	hers := amber.Identities{UserID: "alice", ProjectID: "bank"}
	for name, r := range map[string]amber.WriteRequest{
		"an id without a topic": {Content: "owned", Recorded: amber.Recorded{ID: id}},
		"an id that nobody has": {Content: "owned", Recorded: amber.Recorded{ID: amber.TopicID("bank", amber.ScopeUser, "alice", "later", 0)}},
		"her topic with an id":  {Content: "owned", Topic: "topic-one", Scope: amber.ScopeUser, Identities: hers, Recorded: amber.Recorded{ID: id}},
		"her topic":             {Content: "owned", Topic: "topic-one", Scope: amber.ScopeUser, Identities: hers},
		"her topic by one name": {Content: "owned", Topic: "topic-one", Scope: amber.ScopeUser, Identities: amber.Identities{ProjectID: "bank"}},
		"a deleted one with id": {Content: "owned", Recorded: amber.Recorded{ID: b.hers.gone, DeletedAt: amber.At(at)}},
		"a random one of hers":  {Content: "owned", Recorded: amber.Recorded{ID: b.hers.other}},
	} {
		if err := must.Err(b.bob.LongTerm.Write(ctx, r)); amber.KindOf(err) != amber.KindRefused {
			t.Errorf("%s: %v, want refused", name, err)
		}
	}
	mine := must.Get(b.bob.LongTerm.Write(ctx, amber.WriteRequest{Content: "mine", Topic: "topic-one"}))(t)
	must.Equal(t, "bob's own topic of that name", []any{mine.ID, mine.UserID, mine.ProjectID, mine.Scope}, []any{b.his.memory, "bob", "shop", amber.ScopeUser})
	must.Equal(t, "what alice has", everything(t, b.all, b.hers), before)
}

// TestKeysAreTheCallersOwn: a key that alice has used is a new one for bob, and his answer is his.
func TestKeysAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	for _, content := range []string{"one " + secret, "anything else"} {
		ack, err := b.bob.LongTerm.Write(ctx, amber.WriteRequest{Content: content, IdempotencyKey: "key-of-both"})
		if content == "one "+secret {
			must.Do(t, err)
		} else if amber.KindOf(err) != amber.KindConflict { // his own key
			t.Errorf("a used key: %v", err)
		}
		if ack.ID == b.hers.memory {
			t.Error("bob is answered with a memory of alice")
		}
	}
	must.Do(t, must.Err(b.alice.LongTerm.Write(ctx, amber.WriteRequest{Content: "hers", IdempotencyKey: "key-of-both"})))
	must.Do(t, must.Err(b.all.LongTerm.Write(ctx, amber.WriteRequest{Content: "the owner's", IdempotencyKey: "key-of-both"})))
}

// TestActiveSessionsAreTheCallersOwn: bob starts a session in the terminal where alice and the owner have theirs.
func TestActiveSessionsAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	owners := must.Get(b.all.Sessions.StartSession(ctx, amber.SessionStart{ID: "owners", Project: "shop"}))(t)
	s := must.Get(b.bob.Sessions.StartSession(ctx, amber.SessionStart{}))(t)
	must.Equal(t, "binding as bob sees it", []string{s.Binding, s.Project}, []string{"cli", "shop"})
	must.Equal(t, "bob's", must.Get(b.bob.Active.ActiveSession(ctx, "cli"))(t).ID, s.ID)
	must.Equal(t, "alice's", must.Get(b.alice.Active.ActiveSession(ctx, "cli"))(t).ID, b.hers.session)
	must.Equal(t, "the owner's", must.Get(b.all.Active.ActiveSession(ctx, "cli"))(t).ID, owners.ID)
	// A session of the project that a hook of the owner recorded is the project's.
	must.Equal(t, "of the project", must.Get(b.bob.Sessions.Session(ctx, "owners"))(t).Project, "shop")
	must.Kind(t, "answer", must.Err(b.bob.Active.SelectSession(ctx, "owners")), amber.KindRefused)
	must.Kind(t, "answer", must.Err(bounds.New(b.all, wire.Bound{User: "bob"}).Store().Sessions.Session(ctx, "owners")), amber.KindNotFound)
}

// TestLeftoversOfSessionsAreNotTaken: turns, states and memories of a session that the catalogue does not have belong to others.
func TestLeftoversOfSessionsAreNotTaken(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(ctx context.Context, s amber.Store) error{
		"turn": func(ctx context.Context, s amber.Store) error {
			return must.Err(s.Turns.AppendTurn(ctx, amber.Turn{SessionID: "left", Role: amber.RoleUser, Content: secret}))
		},
		"state": func(ctx context.Context, s amber.Store) error {
			return must.Err(s.States.SaveState(ctx, "left", json.RawMessage(`{}`), 0))
		},
		"task": func(ctx context.Context, s amber.Store) error {
			return must.Err(s.Tasks.SaveTask(ctx, amber.Task{ID: "t", SessionID: "left", Goal: "x"}, 0))
		},
		"memory": func(ctx context.Context, s amber.Store) error {
			return must.Err(s.LongTerm.Write(ctx, amber.WriteRequest{Content: secret, Scope: amber.ScopeSession, Identities: amber.Identities{SessionID: "left"}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, ctx := newBench(t), t.Context()
			must.Do(t, leave(ctx, b.all))
			must.Kind(t, "answer", must.Err(b.bob.Sessions.StartSession(ctx, amber.SessionStart{ID: "left"})), amber.KindConflict)
			must.Kind(t, "answer", must.Err(b.bob.Turns.AppendTurn(ctx, amber.Turn{SessionID: "left", Role: amber.RoleUser, Content: "x"})), amber.KindConflict)
			must.Equal(t, "turns", len(must.Get(amber.LastTurns(ctx, b.bob.Turns, "left", 9))(t)), 0)
		})
	}
}

// TestEveryContractIsBound: a new part of a store is bound, or this test says why not, and each of its methods has a rule.
func TestEveryContractIsBound(t *testing.T) {
	t.Parallel()
	open := map[string]string{"Notes": "have no identities", "NoteLog": "has no identities"}
	all := whole(t)
	bob := bounds.New(all, asBob).Store()
	was, is := reflect.ValueOf(all.Parts), reflect.ValueOf(bob.Parts)
	for i := range was.NumField() {
		name := was.Type().Field(i).Name
		if was.Field(i).Kind() != reflect.Interface {
			continue
		}
		same := reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface())
		if _, said := open[name]; same != said {
			t.Errorf("%s is bound: %v", name, !same)
		}
	}
	must.Equal(t, "capabilities", bob.Capabilities(), all.Capabilities())
	for field, part := range is.Fields() {
		if _, said := open[field.Name]; said || field.Type.Kind() != reflect.Interface {
			continue
		}
		for method := range field.Type.Methods() {
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for i := 1; i < method.Type.NumIn(); i++ {
				args = append(args, reflect.Zero(method.Type.In(i)))
			}
			answer := part.MethodByName(method.Name).Call(args)
			must.Hides(t, method.Name, fmt.Sprint(answer[len(answer)-1]), "has no rule")
		}
	}
	must.Kind(t, "answer", bob.Queue.Publish(t.Context(), amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"}), amber.KindRefused)
	must.Kind(t, "answer", must.Err(bob.Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: "a", Document: json.RawMessage(`{}`)})), amber.KindRefused)
}

// TestWhatIsNotBoundStaysOpen: a caller of a project alone names any user.
func TestWhatIsNotBoundStaysOpen(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	shop := bounds.New(b.all, wire.Bound{Project: "shop"}).Store()
	must.Equal(t, "bob's memory of himself", must.Get(shop.Memories.Get(ctx, b.his.memory))(t).ID, b.his.memory)
	must.Equal(t, "the memory of the project", must.Get(shop.Memories.Get(ctx, b.his.other))(t).ID, b.his.other)
	must.Kind(t, "answer", must.Err(shop.Memories.Get(ctx, b.hers.other)), amber.KindNotFound)
	must.Kind(t, "answer", must.Err(shop.Sessions.Session(ctx, b.hers.session)), amber.KindNotFound)
	ack := must.Get(shop.LongTerm.Write(ctx, amber.WriteRequest{Content: "x"}))(t)
	must.Equal(t, "scope", []any{ack.Scope, ack.ProjectID}, []any{amber.ScopeProject, "shop"})
	ack = must.Get(shop.LongTerm.Write(ctx, amber.WriteRequest{Content: "for all", Scope: amber.ScopeGlobal}))(t)
	must.Equal(t, "scope", []any{ack.Scope, ack.ProjectID}, []any{amber.ScopeGlobal, "shop"})
}
