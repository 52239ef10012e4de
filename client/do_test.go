package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// An operation for which the client has no method is called where it is declared.
func TestAnOperationWithoutAMethodIsCalled(t *testing.T) {
	t.Parallel()
	a := serveStore(t, newStore(t)).agent
	for _, id := range []amber.TurnID{"first", "second"} {
		must.Get(op.TurnAppend.Call(t.Context(), a, op.TurnIn{SessionID: op.SessionID{ID: "s"}, Body: turn(id)}))(t)
	}
	one := 1
	page := must.Get(op.TurnList.Call(t.Context(), a, op.LastTurnsIn{SessionID: op.SessionID{ID: "s"}, Limit: &one}))(t)
	must.Equal(t, "turns", len(page.Items), 1)
	must.Equal(t, "the last turn", page.Items[0].ID, "second")
	none := 0
	page = must.Get(op.TurnList.Call(t.Context(), a, op.LastTurnsIn{SessionID: op.SessionID{ID: "s"}, Limit: &none}))(t)
	must.Equal(t, "turns where none is asked for", len(page.Items), 0)
	_, err := op.EventStream.Call(t.Context(), a, op.EventsIn{})
	must.Kind(t, "a stream", err, amber.KindUnsupported)
}

// A body gets the ids of the path where it leaves them out, and may not name others. The agent of a client is no part of what concerns the
// home: a token without a tenant is for all.
func TestABodyNeedNotRepeatThePath(t *testing.T) {
	t.Parallel()
	var path, body string
	says := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		path, body = r.URL.Path, string(must.Get(io.ReadAll(r.Body))(t))
	})
	c := must.Get(client.New(client.Options{URL: "http://127.0.0.1", Attempts: 1, HTTP: &http.Client{Transport: direct{says}}}))(t)
	a := must.Get(c.Agent("acme", "ada"))(t)
	of := op.SnapshotID{ID: amber.SnapshotID(someID)}
	for name, call := range map[string]struct {
		do         func() error
		path, body string
	}{
		"restore": {
			func() error {
				return must.Err(op.SnapshotRestore.Call(t.Context(), a, op.SnapshotRestoreIn{SnapshotID: of, Body: wire.RestoreRequest{DryRun: true}}))
			}, "/v1/tenants/acme/agents/ada/snapshots/" + string(someID) + "/restore", `"tenant":"acme","agent":"ada","id":"` + string(someID) + `"`,
		},
		"turn": {
			func() error {
				return must.Err(op.TurnAppend.Call(t.Context(), a, op.TurnIn{SessionID: op.SessionID{ID: "s"}, Body: amber.Turn{Role: amber.RoleUser, Content: "x"}}))
			}, "/v1/tenants/acme/agents/ada/sessions/s/turns", `"session_id":"s"`,
		},
		"end": {
			func() error {
				return must.Err(op.SessionEnd.Call(t.Context(), a, op.SessionEndIn{SessionID: op.SessionID{ID: "s"}}))
			}, "/v1/tenants/acme/agents/ada/sessions/s/end", `"id":"s"`,
		},
		"decision": {
			func() error {
				in := op.ApprovalDecideIn{ApprovalID: op.ApprovalID{ID: "p"}, Body: amber.ApprovalDecision{Outcome: amber.ApprovalApproved, Actor: "ada", Digest: "x"}}
				return must.Err(op.ApprovalDecide.Call(t.Context(), a, in))
			}, "/v1/tenants/acme/agents/ada/approvals/p/decision", `"id":"p"`,
		},
		"token": {
			func() error {
				in := op.TokenCreateIn{Body: wire.TokenRequest{Name: "n", Scopes: wire.TokenScopes()}}
				return must.Err(op.TokenCreate.Call(t.Context(), a, in))
			}, "/v1/tokens", `"name":"n"`,
		},
	} {
		path, body = "", ""
		_ = call.do() // the answer is none of Amber
		must.Equal(t, name+": path", path, call.path)
		must.Hold(t, strings.Contains(body, call.body), "%s: the body %s lacks %s", name, body, call.body)
		must.Hold(t, name != "token" || !strings.Contains(body, "acme"), "%s: the body %s names a tenant", name, body)
	}
	other := op.SessionEndIn{SessionID: op.SessionID{ID: "s"}, Body: amber.SessionEnd{ID: "another"}}
	must.Kind(t, "another session", must.Err(op.SessionEnd.Call(t.Context(), a, other)), amber.KindInvalid)
}

// A block of memory names its items only where it has some.
func TestABlockWithoutItemsIsWhole(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(says(200, "application/json", `{"text":"","memories":[]}`))
	defer srv.Close()
	a := must.Get(must.Get(client.New(client.Options{URL: srv.URL, HTTP: unkept()}))(t).Agent("acme", "ada"))(t)
	must.Get(a.Context(t.Context(), wire.ContextRequest{}))(t)
}

// An answer that lacks what the table is sure of, or is about another record, is damaged.
func TestAnAnswerThatIsNotSureIsDamaged(t *testing.T) {
	t.Parallel()
	asks := map[string]func(context.Context, op.Where) error{
		"write": func(ctx context.Context, w op.Where) error {
			return must.Err(op.MemoryWrite.Call(ctx, w, op.WriteIn{Body: amber.WriteRequest{Content: "x"}}))
		},
		"get": func(ctx context.Context, w op.Where) error {
			return must.Err(op.MemoryGet.Call(ctx, w, op.MemoryID{ID: string(someID)}))
		},
		"result": func(ctx context.Context, w op.Where) error {
			return must.Err(op.ResultGet.Call(ctx, w, op.ResultID{Task: "t", Node: "n"}))
		},
		"list": func(ctx context.Context, w op.Where) error {
			return must.Err(op.MemoryList.Call(ctx, w, op.MemoriesIn{}))
		},
		"import": func(ctx context.Context, w op.Where) error {
			return must.Err(op.ImportUpload.Call(ctx, w, op.ImportIn{Body: op.Upload{Reader: strings.NewReader("x")}}))
		},
	}
	for name, ask := range asks {
		for _, answer := range []string{`{}`, `{"id":"","items":null,"format":""}`, `{"id":"other","task_id":"t","node_id":"other","format":""}`} {
			if name == "write" && strings.Contains(answer, "other") {
				continue // the server chooses the id
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				says(200, "application/json", answer)(w, r)
			}))
			c := must.Get(client.New(client.Options{URL: srv.URL, Attempts: 1, HTTP: unkept()}))(t)
			must.Kind(t, name+" "+answer, ask(t.Context(), must.Get(c.Agent("acme", "ada"))(t)), amber.KindDamaged)
			srv.Close()
		}
	}
}
