package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestExportedIsRememberedAndNotExported(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "a"})
	at := must.Get(s.Head(ctx))(t)
	for _, step := range []struct {
		note amber.ExportNote
		want amber.SyncPlace
	}{
		{amber.ExportNote{Place: "p", Position: "x/1"}, amber.SyncPlace{Position: "x/1"}},
		{amber.ExportNote{Place: "p", Position: at, Chunk: "c"}, amber.SyncPlace{Position: at, Chunk: "c"}},
		{amber.ExportNote{Place: "p", Position: "x/2"}, amber.SyncPlace{Position: "x/2", Chunk: "c"}},
		{amber.ExportNote{Place: "p", Project: "q", Position: "x/3", Chunk: "d"}, amber.SyncPlace{Position: "x/3", Chunk: "d"}},
	} {
		must.Do(t, s.Exported(ctx, step.note))
		must.Equal(t, fmt.Sprintf("%+v", step.note), must.Get(s.SyncPlace(ctx, "p", step.note.Project))(t), step.want)
	}
	must.Equal(t, "head of the change log", must.Get(s.Head(ctx))(t), at)
	must.Equal(t, "chunks applied", len(must.Get(s.AppliedChunks(ctx, "p", []string{"c", "d"}))(t)), 2)
	must.Equal(t, "an unknown place", must.Get(s.SyncPlace(ctx, "elsewhere", ""))(t), amber.SyncPlace{})
	must.Kind(t, "no place", s.Exported(ctx, amber.ExportNote{}), amber.KindInvalid)
}

func TestAnExportOfNothingWritesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	note := amber.ExportNote{Place: "p", Position: "x/1"}
	must.Do(t, s.Exported(ctx, note))
	version := func() int64 { // another connection's commits, as of the last read
		count(t, s.memory, `SELECT count(*) FROM sync_places`)
		return count(t, s.memory, `PRAGMA data_version`)
	}
	before := version()
	must.Do(t, s.Exported(ctx, note))
	must.Equal(t, "version", version(), before)
	note.Position = "x/2"
	must.Do(t, s.Exported(ctx, note))
	if got := version(); got == before {
		t.Error("a write does not show") // or this test proves nothing
	}
}

func TestManyAppliedChunks(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	var ask []string
	want := map[string]bool{}
	for i := range 2*sqlcore.ChunkBatch + 7 {
		ask = append(ask, fmt.Sprint("chunk ", i))
		if i%100 == 0 {
			must.Do(t, s.Exported(t.Context(), amber.ExportNote{Place: "p", Chunk: ask[i]}))
			want[ask[i]] = true
		}
	}
	must.Equal(t, "applied", must.Get(s.AppliedChunks(t.Context(), "p", ask))(t), want)
}

func TestReportOfAPlace(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	begin := amber.At(clock.Now())
	ahead := begin.UnixMilli() + 7000
	for i, c := range []amber.Incoming{
		{Device: "d1", CreatedBy: "old name", At: amber.UnixMilli(10), Records: []amber.SyncRecord{farMemory(memoryID(1), far(1, ahead), "a")}},
		{Device: "d1", CreatedBy: "new name", At: amber.UnixMilli(20)},
		{Device: "d1", CreatedBy: "older name", At: amber.UnixMilli(5)},
		{Device: "d2", CreatedBy: "bob", At: amber.UnixMilli(7)},
		{Device: "d3", Place: "elsewhere"},
	} {
		clock.Advance(time.Second)
		c.Chunk, c.Trust = fmt.Sprint(i), amber.TrustImported
		if c.Place == "" {
			c.Place = "p"
		}
		must.Get(s.Apply(ctx, c))(t)
	}
	quarantined := []amber.QuarantinedChunk{{ID: "x", Reason: "bad hash", Kind: amber.KindDamaged}, {ID: "y", Reason: "newer", Kind: amber.KindTooNew}}
	must.Do(t, s.SetQuarantine(ctx, "p", []amber.QuarantinedChunk{{ID: "z", Reason: "gone by now", Kind: amber.KindDamaged}}))
	must.Do(t, s.SetQuarantine(ctx, "p", quarantined))
	must.Do(t, s.SetQuarantine(ctx, "elsewhere", []amber.QuarantinedChunk{{ID: "w"}}))
	want := amber.SyncReport{
		Chunks: 4,
		Devices: []amber.SyncDevice{
			{Device: "d1", CreatedBy: "new name", Chunks: 3, LastAt: amber.UnixMilli(20), LastSync: begin.Add(2 * time.Second), DriftMS: 6000},
			{Device: "d2", CreatedBy: "bob", Chunks: 1, LastAt: amber.UnixMilli(7), LastSync: begin.Add(4 * time.Second)},
		},
		Quarantined: quarantined,
		Conflicts:   []amber.SyncConflict{},
	}
	must.Equal(t, "report", must.Get(s.SyncReport(ctx, "p"))(t), want, cmp.AllowUnexported(amber.Time{}))
	must.Do(t, s.SetQuarantine(ctx, "p", nil))
	if got := must.Get(s.SyncReport(ctx, "p"))(t).Quarantined; got == nil || len(got) != 0 {
		t.Errorf("quarantined %#v", got)
	}
}

func TestReportSpellsOutSomeConflictsAndCountsAll(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	var records []amber.SyncRecord
	for i := range amber.MaxConflicts + 5 {
		near := far(1, 20)
		near.Device = "near"
		records = append(records, farMemory(memoryID(i), far(1, 10), "a"), farMemory(memoryID(i), near, "b"))
	}
	must.Equal(t, "conflicts", apply(t, s, "one", records...).Conflicts, amber.MaxConflicts+5)
	got := must.Get(s.SyncReport(t.Context(), "p"))(t)
	if len(got.Conflicts) != amber.MaxConflicts || got.ConflictCount != amber.MaxConflicts+5 {
		t.Errorf("%d of %d conflicts", len(got.Conflicts), got.ConflictCount)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "a"})
	ref := amber.SyncRef{Scope: amber.ChangeMemory, ID: string(id)}
	print := strings.Repeat("ab", 32)
	written := amber.SyncLink{Tool: "engram", Ordinal: 1, Ref: ref, Version: far(1, 10), LocalID: 7, Fingerprint: print, Extra: `{"a":1}`}
	read := amber.SyncLink{Tool: "engram", Chunk: "older", Ref: ref, Version: far(2, 10), LocalID: 4}
	prompt := amber.SyncLink{Tool: "engram", Ref: amber.SyncRef{Scope: amber.ChangeTurn, ID: "t"}, LocalID: 90}
	other := amber.SyncLink{Tool: "other", Ordinal: 1, Ref: ref, LocalID: 99, Fingerprint: print}
	must.Do(t, s.Exported(ctx, amber.ExportNote{Place: "p", Chunk: "written", Links: []amber.SyncLink{written, other}}))
	in := chunkOf("read")
	in.Links = []amber.SyncLink{read, prompt}
	must.Get(s.Apply(ctx, in))(t)
	written.Chunk, prompt.Chunk = "written", "read"
	for name, c := range map[string]struct {
		q    amber.LinkQuery
		want []amber.SyncLink
	}{
		"chunk":             {amber.LinkQuery{Tool: "engram", Chunk: "written"}, []amber.SyncLink{written}},
		"record":            {amber.LinkQuery{Tool: "engram", Ref: ref}, []amber.SyncLink{read, written}},
		"fingerprint":       {amber.LinkQuery{Tool: "engram", Fingerprint: print}, []amber.SyncLink{written}},
		"incoming chunk":    {amber.LinkQuery{Tool: "engram", Chunk: "read"}, []amber.SyncLink{prompt}},
		"none":              {amber.LinkQuery{Tool: "engram", Chunk: "x"}, []amber.SyncLink{}},
		"of another's tool": {amber.LinkQuery{Tool: "third", Ref: ref}, []amber.SyncLink{}},
	} {
		must.Equal(t, name, must.Get(s.Links(ctx, c.q))(t), c.want)
	}
	for name, q := range map[string]amber.LinkQuery{
		"no tool": {Chunk: "x"}, "nothing": {Tool: "engram"}, "two": {Tool: "engram", Chunk: "x", Fingerprint: print},
	} {
		must.Fail(s.Links(ctx, q))(t, name, amber.KindInvalid)
	}
	for scope, want := range map[amber.ChangeScope]int64{amber.ChangeMemory: 7, amber.ChangeTurn: 90, amber.ChangeSession: 0} {
		must.Equal(t, fmt.Sprintf("last id of %s", scope), must.Get(s.LastLocalID(ctx, "engram", scope))(t), want)
	}
	// A link to what was erased holds a digest of its text.
	must.Get(s.Erase(ctx, id))(t)
	in.Chunk, in.Records = "late", []amber.SyncRecord{farMemory(id, far(9, 10), "a")}
	in.Links = []amber.SyncLink{{Tool: "engram", Ref: ref, Fingerprint: print}}
	must.Get(s.Apply(ctx, in))(t)
	wantNone(t, "links of an erased memory", must.Get(s.Links(ctx, amber.LinkQuery{Tool: "engram", Ref: ref}))(t))
}

func TestRecordsAsTheyAreNow(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	live := save(t, s, amber.WriteRequest{Content: "live"})
	save(t, s, amber.WriteRequest{Content: "live"}) // counted
	deleted := save(t, s, amber.WriteRequest{Content: "deleted"})
	erased := save(t, s, amber.WriteRequest{Content: "erased"})
	must.Do(t, s.Delete(ctx, deleted))
	must.Get(s.Erase(ctx, erased))(t)
	for _, id := range []amber.SessionID{"kept", "gone"} {
		must.Get(s.StartSession(ctx, amber.SessionStart{ID: id}))(t)
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID("in " + id), SessionID: id, Role: amber.RoleUser, Content: "hello"}))(t)
	}
	must.Do(t, s.DeleteSession(ctx, "gone"))
	other := save(t, s, amber.WriteRequest{Content: "other"})
	related := must.Get(s.Relate(ctx, amber.Relation{From: live, To: other, Type: "related"}))(t)
	undone := must.Get(s.Relate(ctx, amber.Relation{From: live, To: other, Type: "supersedes"}))(t)
	must.Do(t, s.Unrelate(ctx, undone.ID))
	var refs []amber.SyncRef
	for _, id := range []amber.MemoryID{live, deleted, erased, memoryID(0)} {
		refs = append(refs, amber.SyncRef{Scope: amber.ChangeMemory, ID: string(id)})
	}
	for _, id := range []string{"kept", "gone", "never"} {
		refs = append(refs, amber.SyncRef{Scope: amber.ChangeSession, ID: id}, amber.SyncRef{Scope: amber.ChangeTurn, ID: "in " + id})
	}
	for _, id := range []string{related.ID, undone.ID, "never"} {
		refs = append(refs, amber.SyncRef{Scope: amber.SyncRelation, ID: id})
	}
	var got []string
	for i, r := range must.Get(s.SyncRecords(ctx, refs))(t) {
		name := "nothing"
		if r != (amber.SyncRecord{}) {
			name = names([]amber.SyncRecord{r})[0]
			must.Equal(t, "answer", r.Ref(), refs[i])
			must.Hold(t, r.Memory == nil || r.Memory.DuplicateCount == 0, "duplicates are counted per store")
			must.Do(t, r.Check())
		}
		got = append(got, name)
	}
	want := []string{
		"memory live", "memory (deleted)", "erased", "nothing",
		"session kept", "prompt in kept", "gone session gone", "gone turn in gone", "nothing", "nothing",
		"relation related", "relation supersedes(deleted)", "nothing",
	}
	must.Equal(t, "records", got, want)
	must.Fail(s.SyncRecords(ctx, []amber.SyncRef{{Scope: amber.ChangeLoop, ID: "x"}}))(t, "a scope without records", amber.KindInvalid)
}

// Sessions of stores that are older than their origins were made here.
func TestSessionsWithoutAnOrigin(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Get(s.StartSession(t.Context(), amber.SessionStart{ID: "s"}))(t)
	meddle(t, s.memory, `UPDATE sessions SET device = '', counter = 1, clock = 0`)
	records := outgoing(t, s, amber.OutgoingRequest{Place: "p"})
	if len(records) != 1 || records[0].Session == nil {
		t.Fatalf("%v", names(records))
	}
	want := amber.Origin{Device: must.Get(s.agent.Current())(t).Device, Counter: 1}
	must.Equal(t, "origin", records[0].Session.Origin, want)
	must.Do(t, records[0].Check())
}

func TestSyncPlans(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	ofRelations := "SEARCH relations USING INDEX sqlite_autoindex_relations_2 (from_id=?)"
	checkPlans(t, s.memory, []planCase{
		{"entries", statement("selectEntries"), []string{"SEARCH changes USING INTEGER PRIMARY KEY (rowid>?)"}},
		{"stamp", statement("selectStamp"), []string{"SEARCH changes USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"next place", statement("selectNextFrom"), []string{"SEARCH sync_imports USING PRIMARY KEY (place>?)"}},
		{"imports", statement("selectImports"), []string{
			"SEARCH sync_imports USING PRIMARY KEY (place=? AND first_seq>? AND first_seq<?)",
			"SCALAR SUBQUERY", "SEARCH sync_imports USING PRIMARY KEY (place=? AND first_seq<?)",
		}},
		{"last import", statement("selectLastImport"), []string{"SEARCH sync_imports USING PRIMARY KEY (place=?)"}},
		{"versions", statement("selectVersions"), []string{"SEARCH versions USING PRIMARY KEY (memory_id=?)"}},
		{"head", statement("isHead"), []string{"SEARCH versions USING PRIMARY KEY (memory_id=? AND version=?)"}},
		{"relations that begin", statement("selectRelationsFrom"), []string{ofRelations}},
		{"reach", statement("selectReach"), []string{"SEARCH memories USING INDEX sqlite_autoindex_memories_1 (id=?)"}},
		{"erased", sqlrows.SelectErased, []string{"SEARCH main.erased USING PRIMARY KEY (id=?)"}},
		{"departed of a session", statement("departedOf"), []string{"SEARCH departed USING INDEX departed_session (session_id=?)"}},
		{"departed", sqlrows.SelectDeparture, []string{"SEARCH main.departed USING PRIMARY KEY (scope=? AND id=?)"}},
		{"session", sqlrows.SelectOwnSession, []string{"SEARCH main.sessions USING INDEX sqlite_autoindex_sessions_1 (id=?)"}},
		{"place", statement("selectPlace"), []string{"SEARCH sync_places USING PRIMARY KEY (place=? AND project=?)"}},
		{"is applied", statement("isApplied"), []string{"SEARCH sync_chunks USING PRIMARY KEY (chunk=? AND place=?)"}},
		{"held", statement("isHeld"), []string{"SCAN CONSTANT ROW", "SCALAR SUBQUERY", "SEARCH sync_held USING PRIMARY KEY (scope=? AND record=? AND version=? AND place=?)"}},
		{"held versions", sqlrows.HeldVersions, []string{"SEARCH sync_held USING PRIMARY KEY (scope=? AND record=?)"}},
		{"removed by any", sqlrows.IsRemovedByAny, []string{"SCAN CONSTANT ROW", "SCALAR SUBQUERY", "SEARCH sync_removed USING PRIMARY KEY (scope=? AND record=?)"}},
		{"removed", statement("selectRemoved"), []string{"SEARCH sync_removed USING PRIMARY KEY (scope=? AND record=? AND place=?)"}},
		{"applied", statement("selectApplied"), []string{"SEARCH sync_chunks USING PRIMARY KEY (chunk=?)", "LIST SUBQUERY", "SCAN json_each VIRTUAL TABLE INDEX 1:"}},
		{"chunks of a place", statement("selectSources"), []string{"SEARCH sync_chunks USING INDEX sync_chunks_place (place=?)"}},
		{"disputed", statement("selectDisputed"), []string{"SCAN versions USING COVERING INDEX versions_heads"}},
		{"quarantine", statement("selectQuarantine"), []string{"SEARCH sync_quarantine USING PRIMARY KEY (place=?)"}},
		{"make room", statement("makeRoom"), []string{"SEARCH memories USING INDEX sqlite_autoindex_memories_1 (id=?)"}},
		{"trust", statement("raiseTrust"), []string{"SEARCH memories USING INDEX sqlite_autoindex_memories_1 (id=?)"}},
		{"ends", statement("selectEnds"), []string{"SEARCH memories USING COVERING INDEX sqlite_autoindex_memories_1 (id=?)"}},
		{"waiting", statement("selectWaiting"), []string{"SEARCH sync_waiting USING PRIMARY KEY (from_id=? AND to_id=? AND type=?)"}},
		{"waiting for", statement("waitingFor"), []string{
			"MULTI-INDEX OR", "INDEX 1", "SEARCH sync_waiting USING PRIMARY KEY (from_id=?)",
			"INDEX 2", "SEARCH sync_waiting USING INDEX sync_waiting_to (to_id=?)",
		}},
		{"links of a chunk", statement("linksOfChunk"), []string{"SEARCH sync_links USING PRIMARY KEY (tool=? AND chunk=?)"}},
		{"links of a record", statement("linksOfRecord"), []string{"SEARCH sync_links USING INDEX sync_links_record (record=? AND scope=? AND tool=?)"}},
		{"links of a fingerprint", statement("linksOfFingerprint"), []string{"SEARCH sync_links USING INDEX sync_links_fingerprint (tool=? AND fingerprint=?)"}},
		{"last local id", statement("selectLastLocalID"), []string{"SEARCH sync_links USING COVERING INDEX sync_links_local (tool=? AND scope=?)"}},
	})
}
