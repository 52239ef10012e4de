package agent_test

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Finding an agent that does not exist reports that it is absent and creates neither
// the agent nor the home.
func TestFindMakesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	o := agent.Options{Home: dir, Agent: "scout", Clock: time.Now, Random: rand.Reader}
	a := must.Get(agent.Find(t.Context(), o))(t)
	found, err := a.Store().LongTerm.Recall(t.Context(), amber.Query{Text: "database"})
	must.Hold(t, err == nil && len(found.Hits) == 0, "recall: %v, %v", found, err)
	must.Kind(t, "read document", must.Err(a.Store().Documents.ReadDocument(t.Context(), "cursor")), amber.KindNotFound)
	must.NoError(t, a.Close())
	must.Is(t, "home that Find looked for", must.Err(os.Lstat(dir)), fs.ErrNotExist)
	made := must.Get(agent.Open(t.Context(), o))(t)
	must.Do(t, must.Err(made.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: "one database", Scope: amber.ScopeGlobal})))
	must.Do(t, made.Close())
	a = must.Get(agent.Find(t.Context(), o))(t)
	defer a.Close()
	must.Equal(t, "hits", len(must.Get(a.Store().LongTerm.Recall(t.Context(), amber.Query{Text: "database"}))(t).Hits), 1)
}

func TestDeleteTakesALastSnapshot(t *testing.T) {
	t.Parallel()
	o := agent.Options{Home: t.TempDir(), Agent: "scout", Clock: time.Now, Random: rand.Reader}
	a := must.Get(agent.Open(t.Context(), o))(t)
	must.Do(t, must.Err(a.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: "one database", Scope: amber.ScopeGlobal})))
	must.Do(t, a.Close())
	a = must.Get(agent.At(o))(t)
	defer a.Close()
	done, err := a.Delete(t.Context(), false)
	if err != nil || done.Snapshot == nil || len(done.Left) > 0 {
		t.Fatalf("delete: %+v, %v", done, err)
	}
	if exists, err := a.Folder().Exists(); exists || err != nil {
		t.Errorf("deleted agent exists: %v, %v", exists, err)
	}
	e := must.Get(a.Snapshots(t.Context()))(t)
	report, err := e.VerifySnapshot(t.Context(), wire.VerifyRequest{SnapshotRef: wire.SnapshotRef{Tenant: amber.DefaultTenant, Agent: "scout", ID: done.Snapshot.ID}, ReadData: true})
	must.Hold(t, err == nil && report.OK(), "verify: %+v, %v", report, err)
	must.Kind(t, "delete again", must.Err(a.Delete(t.Context(), false)), amber.KindNotFound)
}
