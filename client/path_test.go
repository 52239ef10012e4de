package client_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/inmem"
)

// odd are ids that a path could take for something else.
var odd = []string{
	"a/b", "/", "//", "/a", "a/", ".", "..", "...", "../..", "a/../b", "%", "%2F", "%2f..", "%2e%2e", "%00", "100%", "a b", "+", "a+b",
	"?", "a?b=c", "#", "a#b", "&", "=", ";", ":", "@", "*", "!", "'", "\"", "\\", "|", "~", "^", "`", "<>", "{id}", "[x]", "$",
	"ü", "界", "🚢", "é", "turns", "state", "batch", "null", "0", "C:\\x", "http://a/b",
}

func TestOddIDsGoThere(t *testing.T) {
	t.Parallel()
	s := must.Get(serveStore(t, newStore(t)).agent.Store(t.Context()))(t)
	ctx := t.Context()
	for i, name := range odd {
		id := amber.SessionID(name)
		started, err := s.Sessions.StartSession(ctx, amber.SessionStart{ID: id, Binding: name})
		if err != nil || started.ID != id {
			t.Errorf("start %q: got %q, %v", name, started.ID, err)
			continue
		}
		must.Equal(t, "active session of "+name, must.Get(s.Active.ActiveSession(ctx, name))(t).ID, id)
		must.Equal(t, "session "+name, must.Get(s.Sessions.Session(ctx, id))(t).ID, id)
		said, err := s.Turns.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(name), SessionID: id, Role: amber.RoleUser, Content: name})
		must.Kind(t, "turn of "+name, err, "")
		got := must.Get(amber.LastTurns(ctx, s.Turns, id, 10))(t)
		must.Equal(t, "turns of "+name, got, []amber.Turn{said}, cmp.AllowUnexported(amber.Time{}))
		must.Equal(t, "state of "+name, must.Get(s.States.SaveState(ctx, id, []byte(`1`), 0))(t).SessionID, id)
		must.Equal(t, "sessions after "+name, len(must.Get(s.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: 1000}))(t).Items), i+1)
	}
	for i, name := range odd {
		must.Kind(t, "delete "+name, s.Sessions.DeleteSession(ctx, amber.SessionID(name)), "")
		p := must.Get(s.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: 1000}))(t)
		must.Equal(t, "sessions after deleting "+name, len(p.Items), len(odd)-i-1)
	}
}

// Without this no id would be the id of everything.
func TestNoIDGoesNowhere(t *testing.T) {
	t.Parallel()
	s := must.Get(serveStore(t, newStore(t)).agent.Store(t.Context()))(t)
	ctx := t.Context()
	_, loadErr := amber.LastTurns(ctx, s.Turns, "", 1)
	_, readErr := s.Sessions.Session(ctx, "")
	for name, err := range map[string]error{
		"load turns": loadErr, "read session": readErr, "delete session": s.Sessions.DeleteSession(ctx, ""),
		"delete state": s.States.DeleteState(ctx, ""), "forget": s.LongTerm.Delete(ctx, ""), "unrelate": s.Relations.Unrelate(ctx, ""),
	} {
		must.Kind(t, name, err, amber.KindInvalid)
	}
}

// direct hands requests to a handler as the bytes they would be on a wire.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	var wire bytes.Buffer
	if err := r.Write(&wire); err != nil {
		return nil, err
	}
	got, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, got.WithContext(r.Context()))
	return w.Result(), nil
}

// FuzzPath sends any id through the client's path and the server's router: it
// comes out as it went in, or it is refused.
func FuzzPath(f *testing.F) {
	for _, s := range odd {
		f.Add(s)
	}
	f.Add("")
	f.Add(" ")
	f.Add("a\x00b")
	f.Add("a\nb")
	f.Add("\xff/\xc0\xaf")
	f.Fuzz(func(t *testing.T, id string) {
		store := must.Get(inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader}))(t)
		agent := &op.Agent{Tenant: amber.DefaultTenant, ID: amber.DefaultAgent, Store: store.Store(), Random: rand.Reader}
		api, err := httpapi.New(httpapi.Options{Desk: &server.Desk{Agents: one{agent}}, Authenticator: everybody{}, Clock: time.Now, Random: rand.Reader, Answers: &kept{}})
		must.Do(t, err)
		s := contracts(t, client.Options{URL: "http://127.0.0.1", HTTP: &http.Client{Transport: direct{api.Handler()}}})
		ctx, session := t.Context(), amber.SessionID(id)
		saved, err := s.States.SaveState(ctx, session, []byte(`{"a": 1}`), 0)
		if amber.CheckID("id", id) != nil {
			must.Kind(t, "saving under "+id, err, amber.KindInvalid)
			if _, err := s.States.LoadState(ctx, session); amber.KindOf(err) != amber.KindInvalid && amber.KindOf(err) != amber.KindNotFound {
				t.Errorf("loading %q: got %v, want invalid or not_found", id, err)
			}
			return
		}
		if err != nil || saved.SessionID != session {
			t.Fatalf("saving under %q: got %v, %v", id, saved, err)
		}
		must.Kind(t, "the store under "+id, must.Err(store.Store().States.LoadState(ctx, session)), "")
		must.Equal(t, "document of "+id, string(must.Get(s.States.LoadState(ctx, session))(t).Document), `{"a": 1}`)
		must.Kind(t, "deleting "+id, s.States.DeleteState(ctx, session), "")
		must.Fail(store.Store().States.LoadState(ctx, session))(t, "after deleting "+id, amber.KindNotFound)
	})
}
