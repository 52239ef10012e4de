package web_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
)

// bring lets a sync bring versions of memories that another device wrote an hour ago.
func (r *rig) bring(device string, contents map[amber.MemoryID]string) {
	r.t.Helper()
	store, then := r.store("acme", "ada"), time.Now().Add(-time.Hour)
	in := amber.Incoming{Place: "/work/tree/.amber", Chunk: "chunk of " + device, Device: device, At: amber.At(time.Now()), Trust: amber.TrustImported}
	for id, content := range contents {
		history := must.Get(store.Memories.History(r.t.Context(), id))(r.t)
		m := amber.Memory{ID: id, Content: content, Kind: amber.WorkspaceFact, Scope: history[0].Scope, Trust: amber.TrustOwn, Revision: 1, Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}}
		m.Origin = amber.Origin{Device: device, Counter: uint64(len(in.Records) + 1), Clock: amber.StampAt(then)}
		m.CreatedAt, m.UpdatedAt, m.ContentDigest = amber.At(then), amber.At(then), amber.ContentDigest(content)
		in.Records = append(in.Records, amber.SyncRecord{Memory: &amber.SyncMemory{Memory: m}})
	}
	must.Get(store.Sync.Apply(r.t.Context(), in))(r.t)
}

func TestAConflictIsNotSettledOverAVersionThatWasNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.disagree("mine", "theirs")
	b := r.visitor("")
	at := "conflicts/" + string(id)
	p := b.get(at)
	seen, mine := p.value("seen"), p.choice("Keep A")
	r.bring("device-of-carol", map[amber.MemoryID]string{id: "what carol wrote"})
	p = b.post(at, "seen", seen, "keep", "joined", "title", "My title", "text", "what I typed")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "The memory was changed since this screen was drawn", "what I typed", "what carol wrote")
	b.post(at, "seen", seen, "keep", mine).shows(t, "The memory was changed since this screen was drawn")
	must.Equal(t, "conflicts", must.Get(r.store("acme", "ada").Sync.SyncReport(t.Context(), ""))(t).ConflictCount, 1)
	b.post(at, "seen", p.value("seen"), "keep", mine).leads(t, adaHome+"/conflicts?settled=1")
}
