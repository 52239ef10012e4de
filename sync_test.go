package amber_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// syncShapes are the shapes of sync, as --json prints them.
func syncShapes() map[string]any {
	origin := amber.Origin{Device: "d1", Counter: 3, Clock: amber.Stamp(instant.UnixMilli()) << 16}
	bad := []amber.QuarantinedChunk{{ID: "c1", Reason: "r", Kind: amber.KindDamaged}}
	conflicts := []amber.SyncConflict{{
		ID:     "01998c5e-8000-7abc-8def-0123456789ab",
		Kept:   amber.SyncVersion{Origin: origin, Title: "t", Content: "c", UpdatedAt: instant},
		Others: []amber.SyncVersion{{Origin: origin, UpdatedAt: instant, Deleted: true}},
	}}
	summary := wire.SyncSummary{
		Chunks: 2, Files: 1, Bytes: 3, Sessions: 4, Memories: 5, Prompts: 6, Relations: 7, Deleted: 8, First: instant, Last: instant,
		Authors: []wire.SyncAuthor{{Name: "ada", Chunks: 2, Rows: 9, First: instant, Last: instant}},
	}
	devices := []amber.SyncDevice{{Device: "d1", CreatedBy: "ada", Chunks: 2, LastAt: instant, LastSync: instant, DriftMS: 5}}
	return map[string]any{
		"sync_export": wire.SyncExport{
			ChunkID: "c1", ChunkIDs: []string{"c1"}, Sessions: 1, Observations: 2, Prompts: 3, Relations: 4, Deleted: 5, Signed: true,
			Redacted: map[string]int{"private": 1}, Withheld: []wire.SyncWithheld{{Ref: amber.SyncRef{Scope: amber.ChangeTurn, ID: "t1"}, Reason: "r"}}, Dir: "/d",
		},
		"sync_export_empty": wire.SyncExport{IsEmpty: true, Dir: "/d"},
		"sync_import": wire.SyncImport{
			Chunks: 1, Skipped: 2, Quarantined: bad, Sessions: 3, Observations: 4, Prompts: 5, Relations: 6, Conflicts: 7, Missing: []string{"c2"}, Dir: "/d",
		},
		"sync_status": wire.SyncStatus{
			Local: 1, Remote: 2, PendingImport: 3, PendingExport: 4, Conflicts: conflicts, ConflictCount: 1, Quarantined: bad, Damaged: 1,
			Missing: []string{"c2"}, Devices: devices, Summary: summary, Dir: "/d", Format: wire.SyncAmber,
		},
		"sync_verify": wire.SyncVerify{
			Checked: []string{"c"}, NotChecked: []string{"n"}, Damaged: bad, Missing: []string{"c2"}, Signed: 1, Unknown: 2, Unsigned: 3, Summary: summary,
		},
		"sync_compact": wire.SyncCompact{Before: 1, After: 2, Packed: 3, Rewritten: 4, Left: 5, Freed: 6},
		"sync_repair":  wire.SyncRepair{Repaired: []string{"r"}, Chunks: 1, Backup: "/b"},
	}
}

func TestSyncRecordsThatAreRefused(t *testing.T) {
	t.Parallel()
	good := func() amber.SyncMemory {
		return amber.SyncMemory{Memory: amber.Memory{
			ID: "01998c5e-8000-7abc-8def-0123456789ab", Kind: amber.ProjectFact, Scope: amber.ScopeProject,
			Identities: amber.Identities{ProjectID: "acme/shop"}, Content: "c", ContentDigest: amber.ContentDigest("c"), Tags: []string{"a", "b"},
			Trust: amber.TrustOwn, Origin: amber.Origin{Device: "d", Counter: 2, Clock: 9 << 16}, Revision: 1, CreatedAt: instant, UpdatedAt: instant,
		}}
	}
	if m := good(); (amber.SyncRecord{Memory: &m}).Check() != nil {
		t.Fatal("a memory that is right is refused")
	}
	for name, spoil := range map[string]func(*amber.SyncMemory){
		"an id that is not valid":        func(m *amber.SyncMemory) { m.ID = "../../x" },
		"no device":                      func(m *amber.SyncMemory) { m.Origin.Device = "" },
		"no counter":                     func(m *amber.SyncMemory) { m.Origin.Counter = 0 },
		"a counter that has no next":     func(m *amber.SyncMemory) { m.Origin.Counter = 1<<62 + 1 },
		"a clock out of range":           func(m *amber.SyncMemory) { m.Origin.Clock = 1 << 63 },
		"an unknown kind":                func(m *amber.SyncMemory) { m.Kind = "rumour" },
		"an unknown scope":               func(m *amber.SyncMemory) { m.Scope = "planet" },
		"a scope without its identity":   func(m *amber.SyncMemory) { m.ProjectID = "" },
		"an unknown trust":               func(m *amber.SyncMemory) { m.Trust = "blind" },
		"no content":                     func(m *amber.SyncMemory) { m.Content, m.ContentDigest = "", amber.ContentDigest("") },
		"another digest":                 func(m *amber.SyncMemory) { m.ContentDigest = amber.ContentDigest("d") },
		"tags that are not sorted":       func(m *amber.SyncMemory) { m.Tags = []string{"b", "a"} },
		"a topic under another id":       func(m *amber.SyncMemory) { m.Topic = "deploy" },
		"a title of two lines":           func(m *amber.SyncMemory) { m.Title = "a\nb" },
		"content that is no UTF-8":       func(m *amber.SyncMemory) { m.Content = "\xff" },
		"too much content":               func(m *amber.SyncMemory) { m.Content = strings.Repeat("x", amber.MaxContentBytes+1) },
		"a revision of nothing":          func(m *amber.SyncMemory) { m.Revision = 0 },
		"a time before 1970":             func(m *amber.SyncMemory) { m.CreatedAt = amber.UnixMilli(-1) },
		"a tombstone with text":          func(m *amber.SyncMemory) { m.DeletedAt = instant },
		"having seen what came later":    func(m *amber.SyncMemory) { m.Saw = []amber.Origin{{Device: "d", Counter: 3, Clock: 1}} },
		"having seen itself":             func(m *amber.SyncMemory) { m.Saw = []amber.Origin{m.Origin} },
		"having seen more than it could": func(m *amber.SyncMemory) { m.Saw = make([]amber.Origin, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			m := good()
			spoil(&m)
			must.Kind(t, "", (amber.SyncRecord{Memory: &m}).Check(), amber.KindInvalid)
		})
	}
	for name, r := range map[string]amber.SyncRecord{
		"nothing":             {},
		"two records":         {Erased: &amber.SyncErased{}, Gone: &amber.SyncGone{}},
		"an answer as prompt": {Prompt: &amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleAssistant, Content: "c"}},
		"a prompt without id": {Prompt: &amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "c"}},
		"a loop that is gone": {Gone: &amber.SyncGone{Scope: amber.ChangeLoop, ID: "x", Origin: good().Origin}},
		"nobody's erasure":    {Erased: &amber.SyncErased{ID: good().ID}},
	} {
		if err := r.Check(); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("%s: the answer is %v", name, err)
		}
	}
}
