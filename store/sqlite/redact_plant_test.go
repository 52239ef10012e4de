package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

// planter hides secrets and remembers them.
type planter struct {
	redactor *redact.Redactor
	corpus   []secrettest.Secret
	keys     []secrettest.Template // of those that can be part of a key
	next     uint64
	texts    int // that were made
	hidden   []string
}

func newPlanter() *planter {
	p := &planter{corpus: secrettest.Corpus(1), redactor: redact.New()}
	for i, s := range p.corpus {
		if s.Bare() && len(s.Value) < 70 && !strings.Contains(s.Value, "\n") && s.Rule != "private" {
			p.keys = append(p.keys, secrettest.Templates()[i])
		}
	}
	return p
}

// text returns a secret with what gives it away.
func (p *planter) text() string {
	t := secrettest.Templates()[p.texts%len(p.corpus)]
	p.texts++
	s := p.secret(t)
	return "neighbour before\n" + s.Text() + " neighbour after" // a line of .pgpass is one from its beginning
}

// secret makes a new secret. A few that chance makes look like words, and the
// rules leave those alone.
func (p *planter) secret(t secrettest.Template) secrettest.Secret {
	for {
		p.next++
		if s := t.Secret(p.next); len(p.redactor.Find(s.Text())) == 1 {
			p.hidden = append(p.hidden, s.Value)
			return s
		}
	}
}

// key returns a key that holds a secret.
func (p *planter) key(prefix string) string {
	p.next++
	return prefix + " " + p.secret(p.keys[p.next%uint64(len(p.keys))]).Value
}

func (p *planter) token() string {
	return p.secret(secrettest.Template{Rule: "github-token", Text: "ghp_{a36}"}).Value
}

func (p *planter) json() json.RawMessage {
	b, err := json.Marshal(map[string]any{"list": []string{p.text()}, p.token(): 1, "number": 12345678901234567})
	if err != nil {
		panic(err)
	}
	return b
}

// hide fills both databases of a store, through its own doors, with a secret
// in every text. So many memories and turns have one.
func (p *planter) hide(t *testing.T, s *Store, n int) (ids []amber.MemoryID) {
	t.Helper()
	ctx := t.Context()
	session := amber.SessionID(p.key("session"))
	must.Get(s.StartSession(ctx, amber.SessionStart{
		ID: session, Name: p.token(), Binding: p.key("binding"), Project: p.key("project"), Directory: "/home/" + p.token(), Parent: amber.SessionID(p.key("parent")),
	}))(t)
	for range n {
		title := p.key("title") // a tag is in lower case: nothing but the title gives it away
		id := save(t, s, amber.WriteRequest{
			Title: title, Content: p.text(), Summary: p.text(), Tags: []string{strings.ToLower(title), "plain"},
			Metadata:   map[string]string{"note": p.text(), p.key("k"): "v"},
			SourceRefs: []amber.SourceRef{{Kind: "url", Value: p.key("https://")}}, IdempotencyKey: p.key("idem"),
			Scope: amber.ScopeUser, Identities: amber.Identities{UserID: p.key("user"), SessionID: session},
		})
		content := p.text()
		must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: &content}))(t)
		ids = append(ids, id)
	}
	for range 3 {
		ids = append(ids, save(t, s, amber.WriteRequest{Topic: "about " + p.token(), Content: p.text(), Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: p.key("project")}}))
	}
	for i, id := range ids[:4] {
		other := ids[(i+1)%len(ids)]
		must.Do(t, s.PutEmbedding(ctx, amber.Embedding{MemoryID: id, Model: p.key("model"), Vector: []float32{1, 2}}))
		must.Do(t, s.SetConcepts(ctx, id, []string{p.key("concept"), p.key("concept")}))
		must.Get(s.Relate(ctx, amber.Relation{From: id, To: other, Type: p.key("relates")}))(t)
		must.Get(s.Relate(ctx, amber.Relation{From: id, To: other, Type: p.key("relates")}))(t)
	}
	must.Do(t, s.Delete(ctx, ids[1]))
	p.hideSession(t, s, session, n)
	p.hideControl(t, s)
	return ids
}

func (p *planter) hideSession(t *testing.T, s *Store, session amber.SessionID, n int) {
	t.Helper()
	ctx := t.Context()
	for range n {
		must.Get(s.AppendTurn(ctx, amber.Turn{SessionID: session, Role: amber.RoleUser, Content: p.text()}))(t)
	}
	must.Get(s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(p.key("turn")), SessionID: session, Role: amber.RoleUser, Content: p.text(), ProjectID: p.key("project")}))(t)
	state := must.Get(s.SaveState(ctx, session, p.json(), 0))(t)
	must.Get(s.SaveState(ctx, session, p.json(), state.Version))(t)
	must.Get(s.SaveLoop(ctx, amber.LoopSave{SessionID: session, RunID: p.key("run"), State: p.json()}))(t)
	must.Get(s.AddCompaction(ctx, amber.Compaction{ID: p.key("compaction"), SessionID: session, Summary: p.text(), Turns: 1}))(t)
	must.Get(s.EndSession(ctx, amber.SessionEnd{ID: session, Reason: amber.EndReason(p.key("reason")), Summary: p.text()}))(t)
	take(t, s, doing("curl "+p.token(), p.text()), doing("curl "+p.token(), p.text()))
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "open", Binding: p.key("binding")}))(t)
}

func (p *planter) hideControl(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	for range 2 {
		task := p.key("task")
		node := p.key("node") + "/1"
		must.Get(s.SaveTask(ctx, amber.Task{ID: task, RequestID: p.key("request"), SessionID: amber.SessionID(p.key("session")), Goal: p.text(), LastResult: p.text(), CompletedNodes: []string{node}, Extra: p.json()}, 0))(t)
		for range 3 {
			must.Get(s.AppendEvent(ctx, amber.TaskEvent{TaskID: task, From: amber.TaskQueued, To: amber.TaskQueued, Kind: amber.EventNodeCompleted, NodeID: node, Reason: p.text(), Result: p.text()}))(t)
		}
		must.Get(s.CompactEvents(ctx, task, 1))(t)
		must.Get(s.RequestApproval(ctx, amber.ApprovalRequest{ID: p.key("approval"), TaskID: task, NodeID: node, Summary: p.text(), Payload: p.json()}))(t)
		decided := must.Get(s.RequestApproval(ctx, amber.ApprovalRequest{TaskID: task, NodeID: node, Summary: "s", Payload: p.json()}))(t)
		must.Get(s.DecideApproval(ctx, amber.ApprovalDecision{ID: decided.ID, Outcome: amber.ApprovalApproved, Actor: p.key("actor"), Comment: p.text()}))(t)
		must.Get(s.SaveResult(ctx, amber.Result{TaskID: task, NodeID: node, Producer: p.key("producer"), Status: amber.ResultOK, Payload: p.text(), Evidence: []amber.Evidence{{Kind: "k", Value: p.text()}}}))(t)
		for range 2 {
			must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: p.key("entry"), TaskID: task, NodeID: node, Payload: p.text()}))
		}
		claim := must.Get(s.Claim(ctx, p.key("consumer")))(t)
		must.Do(t, s.Nack(ctx, amber.Nack{Lease: claim.Lease, Reason: p.text()}))
		claim = must.Get(s.Claim(ctx, "consumer"))(t)
		must.Do(t, s.Ack(ctx, claim.Lease))
	}
}

// left returns the secrets that are in the bytes, in any case.
func (p *planter) left(b []byte) (left []string) {
	b = bytes.ToLower(b)
	for _, secret := range p.hidden {
		if bytes.Contains(b, []byte(strings.ToLower(secret))) {
			left = append(left, secret)
		}
	}
	return left
}

// mustRead reads everything there is through the doors of the store: digests
// fit, and what belonged together still does.
func (p *planter) mustRead(t *testing.T, s *Store, ids []amber.MemoryID) {
	t.Helper()
	ctx := t.Context()
	n := 0
	for m := range everyMemory(t, s) {
		n++
		for _, revision := range must.Get(amber.All(ctx, s.History, m.ID))(t) {
			if revision.ContentDigest != amber.ContentDigest(revision.Content) || revision.ID != m.ID {
				t.Errorf("revision %d of %s does not fit", revision.Revision, m.ID)
			}
		}
		if m.Topic != "" && m.ID != amber.TopicID(m.ProjectID, m.Scope, m.Identity(), m.Topic, 0) {
			t.Errorf("the id of topic %q is not made of it", m.Topic)
		}
	}
	must.Hold(t, n >= len(ids)-1, "%d memories are left of %d", n, len(ids))
	sessions := must.Get(s.ListSessions(ctx, amber.SessionQuery{}))(t).Items
	states := 0
	for _, one := range sessions {
		loop, err := s.LoadLoop(ctx, one.ID)
		if amber.KindOf(err) == amber.KindNotFound {
			continue
		}
		must.Do(t, err)
		states++
		if !json.Valid(loop.State) || !json.Valid(must.Get(s.LoadState(ctx, one.ID))(t).Document) {
			t.Error("a state is not JSON any more")
		}
		if turns := must.Get(amber.LastTurns(ctx, s, one.ID, 1000))(t); len(turns) < len(ids)/2 {
			t.Errorf("%d turns belong to their session", len(turns))
		}
	}
	if len(sessions) != 3 || states != 1 {
		t.Errorf("there are %d sessions, %d of them with a loop", len(sessions), states)
	}
	tasks := must.Get(s.ListTasks(ctx, amber.TaskQuery{}))(t).Items
	must.Equal(t, "tasks", len(tasks), 2)
	for _, task := range tasks {
		must.Equal(t, "task of a replay", must.Get(s.Replay(ctx, task.ID))(t).TaskID, task.ID)
		must.Equal(t, "approvals of "+task.ID, len(must.Get(amber.All(ctx, s.ListApprovals, task.ID))(t)), 2)
		results := must.Get(amber.All(ctx, s.ListResults, task.ID))(t)
		if len(results) != 1 || results[0].NodeID != task.CompletedNodes[0] {
			t.Errorf("the result of %q is %+v, its nodes are %q", task.ID, results, task.CompletedNodes)
		}
	}
}

// everyMemory goes through the live memories of a store.
func everyMemory(t *testing.T, s *Store) func(yield func(amber.Memory) bool) {
	return func(yield func(amber.Memory) bool) {
		q := amber.ListQuery{All: true}
		for {
			page := must.Get(s.List(t.Context(), q))(t)
			for _, m := range page.Items {
				if !yield(m) {
					return
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return
			}
		}
	}
}

// words returns the words of the index of a memory.db.
func words(t *testing.T, path string) []string {
	t.Helper()
	conn := must.Get(sqlconn.OpenUntrusted(t.Context(), sqlconn.UntrustedURI(path, nil)))(t)
	defer conn.Close()
	var all []string
	must.Do(t, (&sqlrows.Tx{Ctx: t.Context(), Conn: conn.Conn}).EachTerm(func(term string) error {
		all = append(all, term)
		return nil
	}))
	return all
}

// examined expects an examination to find nothing, but for the checks that are
// named.
func examined(t *testing.T, path string, but ...string) {
	t.Helper()
	e := must.Get(image.Examine(t.Context(), path, true))(t)
	for _, c := range e.Checks {
		must.Hold(t, c.OK || slices.Contains(but, c.Name), "%s: %s: %s", e.Name, c.Name, c.Detail)
	}
	if want := map[string]int{"memory.db": 6, "control.db": 5}[e.Name]; len(e.Checks) != want {
		t.Errorf("%s: only %d checks were made", e.Name, len(e.Checks))
	}
}

// dump returns every row of a file as text, sorted within its table.
func dump(t *testing.T, path string) map[string][]string {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1"))(t)
	db.SetMaxOpenConns(1)
	defer db.Close()
	list := func(q string) (out []string) {
		rows := must.Get(db.Query(q))(t)
		defer rows.Close()
		for rows.Next() {
			var s string
			must.Do(t, rows.Scan(&s))
			out = append(out, s)
		}
		must.Do(t, rows.Err())
		return out
	}
	out := map[string][]string{}
	for _, table := range list(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema'`) {
		columns := list(`SELECT 'quote("' || name || '")' FROM pragma_table_info('` + table + `')`)
		out[table] = list("SELECT concat_ws(',', " + joined(columns) + ") FROM " + table + " ORDER BY 1")
	}
	return out
}
