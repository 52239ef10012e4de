package client_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// patience is how long the client of these tests waits for an answer that is not of a long operation.
const patience = time.Minute

// deadlines is a server that answers nothing and remembers how long each operation may take.
type deadlines struct {
	routes *http.ServeMux // of the table of operations
	long   map[string]bool
	waits  map[string]time.Duration
}

func newDeadlines(t *testing.T) *deadlines {
	t.Helper()
	api := must.Get(httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: one{}}, Authenticator: everybody{}, Clock: time.Now, Random: rand.Reader, Answers: &kept{},
	}))(t)
	w := httptest.NewRecorder()
	api.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			ID   string `json:"operationId"`
			Long bool   `json:"x-amber-long"`
		}
	}
	must.Do(t, json.Unmarshal(w.Body.Bytes(), &doc))
	d := &deadlines{http.NewServeMux(), map[string]bool{}, map[string]time.Duration{}}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			d.long[o.ID] = o.Long
			d.routes.HandleFunc(strings.ToUpper(method)+" "+path, func(_ http.ResponseWriter, r *http.Request) {
				if until, ok := r.Context().Deadline(); ok {
					d.waits[o.ID] = time.Until(until)
				}
			})
		}
	}
	return d
}

// RoundTrip implements [http.RoundTripper].
func (d *deadlines) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.routes.ServeHTTP(w, r)
	return w.Result(), nil
}

// The table of operations says how long an answer may take, and no word of a path does.
func TestPatienceIsThatOfTheOperation(t *testing.T) {
	t.Parallel()
	ctx, d := t.Context(), newDeadlines(t)
	c := must.Get(client.New(client.Options{URL: "http://127.0.0.1", Attempts: 1, Patience: patience, HTTP: &http.Client{Transport: d}}))(t)
	a := must.Get(c.Agent("snapshots", "check"))(t)
	s, all := a.Snapshots(), a.Everything()
	ref := wire.SnapshotRef{ID: amber.SnapshotID(someID)}
	past := must.Get(s.At(ctx, ref))(t)
	// None of these is answered: the server sees what may be waited for.
	_, _ = s.Snapshot(ctx, wire.SnapshotRequest{})
	_, _ = s.ListSnapshots(ctx, wire.SnapshotQuery{})
	_, _ = s.ShowSnapshot(ctx, ref)
	_, _ = s.DiffSnapshots(ctx, wire.DiffRequest{A: ref.ID, B: ref.ID})
	_, _ = s.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref})
	_ = s.DeleteSnapshot(ctx, ref)
	_ = s.PinSnapshot(ctx, ref, true)
	_, _ = s.PruneSnapshots(ctx, wire.PruneRequest{KeepLast: 1})
	_, _ = s.CollectGarbage(ctx, wire.GCRequest{})
	_, _ = s.CheckRepository(ctx, wire.CheckRequest{})
	_, _ = s.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref})
	_, _ = s.RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: ref, Memory: someID})
	_, _ = s.BeginConsolidation(ctx, wire.ConsolidationBegin{})
	_, _ = past.Recall(ctx, amber.Query{Text: "x"})
	_, _ = past.Get(ctx, someID)
	_, _ = past.List(ctx, amber.ListQuery{All: true})
	_, _ = a.Doctor(ctx, true)
	_, _ = a.UndoImport(ctx, "doctor")
	_, _ = a.Export(ctx, nil, client.ExportOptions{})
	_, _ = c.VerifyAudit(ctx)
	_, _ = all.Eraser.Erase(ctx, someID)
	_, _ = all.Memories.Get(ctx, someID)
	_, _ = all.LongTerm.Write(ctx, amber.WriteRequest{Content: "x"})
	_, _ = all.Notes.ReadNote(ctx, "verify")
	_, _ = all.Sessions.Session(ctx, "erase")
	_, _ = all.States.LoadState(ctx, "snapshots")
	for id, waited := range d.waits {
		must.Equal(t, id+" may take long", waited > patience, d.long[id])
	}
	for id, long := range d.long {
		// An upload may take as long as its file comes, so its context has no deadline.
		if _, asked := d.waits[id]; long && !asked && id != "import.upload" {
			t.Errorf("%s may take long, and the test does not ask for it", id)
		}
	}
	must.Equal(t, "operations that were asked for", len(d.waits), 26)
}
