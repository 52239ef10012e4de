package server_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

// anybody lets every caller read and write as an agent. No agent changes a note of the owner.
type anybody struct{}

func (anybody) Grant(context.Context, string) (wire.Grant, error) {
	return wire.Grant{Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite}}, nil
}

// bothDoors serves one agent over HTTP and to agent hosts.
func bothDoors(t *testing.T) (amber.Notes, http.Handler, *mcp.Server) {
	t.Helper()
	clock := newClock().Read
	store := must.Get(inmem.New(inmem.Options{Clock: clock, Random: rand.Reader, Incarnation: "i"}))(t)
	agent := &op.Agent{Tenant: "acme", ID: "ada", Store: amber.NewStore(store.Parts()), Policy: policy.Conservative{}, Random: rand.Reader}
	pool := server.NewPool(func(context.Context, amber.TenantID, amber.AgentID, bool) (*op.Agent, func() error, error) {
		return agent, func() error { return nil }, nil
	}, server.PoolOptions{Clock: clock})
	desk := &server.Desk{Agents: pool}
	api := must.Get(httpapi.New(httpapi.Options{Desk: desk, Authenticator: anybody{}, Clock: clock, Random: rand.Reader}))(t)
	t.Cleanup(api.Close)
	who := op.Caller{Grant: wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}}}
	tools := must.Get(mcpapi.NewServer(mcpapi.Options{Desk: desk, Clock: clock, Tools: "files"}, who, "acme", "ada"))(t)
	return agent.Store.Notes, api.Handler(), tools
}

// A tool edits a note while requests replace it with If-Match. Neither loses a change that the other has
// acknowledged.
func TestNoDoorLosesWhatAnotherAcknowledged(t *testing.T) {
	t.Parallel()
	const each = 30
	notes, h, tools := bothDoors(t)
	must.Do(t, must.Err(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "log", Content: "begin\n", NoteBy: amber.NoteBy{Trust: amber.TrustAgent}})))
	here, there := mcp.NewInMemoryTransports()
	ss := must.Get(tools.Connect(t.Context(), there, nil))(t)
	cs := must.Get(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil))(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range each {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory", Arguments: map[string]any{
				"command": "insert", "path": "/memories/log.md", "insert_line": 1, "insert_text": fmt.Sprintf("tool %d", i),
			}})
			if err != nil || res.IsError {
				t.Errorf("tool: %v, %+v", err, res)
			}
		}
	})
	wg.Go(func() {
		for i := range each {
			for !appendLine(t, h, fmt.Sprintf("request %d\n", i)) && !t.Failed() {
			}
		}
	})
	wg.Wait()
	must.NoError(t, cs.Close())
	must.NoError(t, ss.Wait())
	n := must.Get(notes.ReadNote(t.Context(), "log"))(t)
	for i := range each {
		for _, line := range []string{fmt.Sprintf("tool %d\n", i), fmt.Sprintf("request %d\n", i)} {
			must.Equal(t, line, strings.Count(n.Content, "\n"+line), 1)
		}
	}
}

// appendLine reads the note and writes it back with one more line. It returns false when another writer changed the
// note in between.
func appendLine(t *testing.T, h http.Handler, line string) bool {
	t.Helper()
	const path = "/v1/tenants/acme/agents/ada/notes/log"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	var n amber.Note
	if err := json.Unmarshal(w.Body.Bytes(), &n); err != nil {
		t.Errorf("%v: %s", err, w.Body)
		return false
	}
	body, err := json.Marshal(map[string]string{"content": n.Content + line})
	if err != nil {
		t.Error(err)
		return false
	}
	q := httptest.NewRequest(http.MethodPut, path, bytes.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("If-Match", w.Header().Get("ETag"))
	w = httptest.NewRecorder()
	h.ServeHTTP(w, q)
	if w.Code != http.StatusOK && w.Code != http.StatusConflict {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	return w.Code == http.StatusOK
}
