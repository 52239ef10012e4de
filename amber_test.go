package amber_test

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fakeRandom is a source of bytes that counts up.
type fakeRandom struct{ n byte }

func (r *fakeRandom) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = r.n
		r.n++
	}
	return len(b), nil
}

// instant is a fixed time.
var instant = amber.UnixMilli(1_767_323_045_678) // 2026-01-02T03:04:05.678Z

// shapes holds one full value of every type that is written as JSON. Their
// JSON is a contract: --json, HTTP bodies and events marshal these values.
func shapes() map[string]any {
	ids := amber.Identities{SessionID: "s1", UserID: "u1", ProjectID: "acme/shop", WorkspaceID: "w1"}
	memory := amber.Memory{
		ID: "0193c5a8-0000-7000-8000-000000000001", Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: ids,
		Title: "Database", Content: "We chose PostgreSQL.", Summary: "pg", Topic: "database", Tags: []string{"db"},
		Metadata: map[string]string{"k": "v"}, SourceRefs: []amber.SourceRef{{Kind: "file", Value: "a.go"}}, Trust: amber.TrustOwn,
		Origin: amber.Origin{Device: "d1", Counter: 2, Clock: amber.StampAt(instant.Time()) + 1}, Revision: 2,
		ContentDigest: amber.ContentDigest("We chose PostgreSQL."), DuplicateCount: 1,
		CreatedAt: instant, UpdatedAt: instant, DeletedAt: instant,
		Foreign: map[string]json.RawMessage{"sync_id": json.RawMessage(`"x"`)},
	}
	hit := amber.Hit{
		ID: memory.ID, Layer: amber.LayerMemory, Owner: "1", SessionID: "s1", ProjectID: "acme/shop", Role: amber.RoleUser, Score: 1, Title: memory.Title, Kind: memory.Kind, Scope: memory.Scope, Snippet: "We chose", Content: memory.Content,
		Trust: memory.Trust, CreatedAt: instant, UpdatedAt: instant, Provenance: amber.Provenance{Backend: "sqlite", Locator: "memory/1"},
		Why: &amber.Why{Terms: []amber.TermMatch{{Term: "chose", Fields: []string{"content"}}}, Words: 1.5, Meaning: 0.5, Neighbours: 0.25, Session: 0.5, Speaker: 0.25, Time: 1, Kind: 0.125, Trust: -0.25, Feedback: 0.125, Newer: true},
	}
	session := amber.Session{
		ID: "s1", Name: "work", Binding: "cli", Project: "acme/shop", Directory: "/src", StartedAt: instant, EndedAt: instant,
		EndReason: amber.EndEnded, Summary: "done", Parent: "s0", CreatedAt: instant, UpdatedAt: instant,
	}
	envelope := amber.Envelope{EntryID: "e1", TaskID: "t1", NodeID: "n1", Attempt: 1, Payload: "p", Priority: 5, NotBefore: instant}
	lease := amber.Lease{EntryID: "e1", ConsumerID: "c1", Token: "tok", Fence: 7, ExpiresAt: instant}
	event := amber.TaskEvent{
		TaskID: "t1", Seq: 1, At: instant, From: amber.TaskQueued, To: amber.TaskPlanning, Kind: amber.EventStateTransition, Reason: "r",
		ErrorClass: amber.ErrorTimeout, NodeID: "n1", NodeKind: "execution", Attempt: 1, ApprovalID: "a1", Result: "x",
	}
	task := amber.Task{
		ID: "t1", RequestID: "r1", SessionID: "s1", Goal: "g", State: amber.TaskQueued, Attempts: 1, CompletedNodes: []string{"n0"},
		NextNodeIndex: 1, PendingApprovalID: "a1", LastResult: "x", Extra: json.RawMessage(`{"h":1}`), Version: 3, CreatedAt: instant, UpdatedAt: instant,
	}
	process := amber.HostProcess{PID: 4711, Start: 99, Boot: "b1", Namespace: "pid:[1]"}
	hostEvent := journal.HostEvent{
		Schema: journal.HostEventSchema, EventID: "00112233445566778899aabbccddeeff", Native: true, Host: "claude-code", HostVersion: "2.1",
		NativeEvent: "PostToolUse", Kind: journal.HostToolAfter, SessionID: "s1", ParentSession: "s0", TurnID: "t1", ToolUseID: "u1",
		SubagentID: "g1", SubagentType: "explore", Directory: "/src", Project: "acme/shop", Roots: []string{"/src"}, Transcript: "/t.jsonl",
		ObservedAt: instant, NativeAt: instant, Model: "m", Reason: "resume", Prompt: "p", Answer: "a", Message: "m",
		Tool: &journal.HostTool{
			Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Output: "a.go", Command: "ls", Failed: true, DurationMS: 12,
		},
		Files: []journal.HostFile{{Path: "/src/a.go", Action: journal.FileModified}}, Tasks: []journal.HostTask{{ID: "1", Text: "do it", Status: "pending"}},
		Process: process, Raw: json.RawMessage(`{"k":1}`), Redactions: map[string]int{"github-token": 1}, Truncated: 10,
	}
	return map[string]any{
		"memory":         memory,
		"memory_minimal": amber.Memory{ID: memory.ID, Kind: amber.WorkspaceFact, Scope: amber.ScopeGlobal, Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}, Trust: amber.TrustOwn, CreatedAt: instant, UpdatedAt: instant},
		"token": wire.Token{
			ID: "k7q2m4xa", Name: "ci", Tenant: "acme", Agent: "builder", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite},
			CreatedAt: instant, ExpiresAt: instant, RevokedAt: instant, LastUsedAt: instant,
		},
		"token_new":      wire.NewToken{Token: wire.Token{ID: "k7q2m4xa", Name: "ops", Scopes: []wire.TokenScope{wire.TokenAdmin}, CreatedAt: instant}, Secret: "amber_k7q2m4xa_secret"},
		"audit_entry":    wire.AuditEntry{Seq: 2, At: instant, Tenant: "acme", Agent: "builder", Actor: "k7q2m4xa", Action: "memory.write", Subject: string(memory.ID), Outcome: "ok", RequestID: "r1", Prev: "p", Hash: "h"},
		"audit_report":   wire.AuditReport{Entries: 2, First: instant, Last: instant, Head: "h", Checked: []string{"every hash"}, NotChecked: []string{}, Damaged: []string{}},
		"checkup":        wire.Checkup{OK: false, Checks: []wire.Finding{{Code: "schema", Status: wire.FindingFailed, Detail: "d", Hint: "h", Kind: amber.KindTooNew}}},
		"failure":        wire.Failure{Error: wire.ErrorBody{Kind: amber.KindBusy, Message: "m", Hint: "h", Reason: "queue_full", RequestID: "r1"}},
		"server_health":  wire.ServerHealth{Status: amber.Degraded, Version: "v1", StartedAt: instant, Workers: []wire.WorkerHealth{{Name: "journal drain", Status: amber.Degraded, Runs: 3, Failures: 1, LastRun: instant, LastFailure: instant, LastError: "e", Detail: "d"}}},
		"memory_restore": wire.MemoryRestore{From: "s1", Memory: memory, Changed: []string{"content"}, Kept: []string{}, DryRun: true},
		"write_ack":      amber.WriteAck{Memory: memory, Deduplicated: true},
		"write_request":  amber.WriteRequest{Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: ids, Title: "t", Content: "c", IdempotencyKey: "k"},
		"write_request_record": amber.WriteRequest{Content: memory.Content, Recorded: amber.Recorded{
			ID: memory.ID, Origin: memory.Origin, Revision: 2, ContentDigest: memory.ContentDigest, DuplicateCount: 1,
			CreatedAt: instant, UpdatedAt: instant, DeletedAt: instant, Foreign: map[string]json.RawMessage{"a": json.RawMessage(`1`)},
		}},
		"ingestion": amber.Ingestion{
			Journal: hostEvent.EventID, Host: "claude-code", Session: "s1", After: 3, Through: 4, LastAt: instant, Process: process, Past: true,
			Steps: []amber.IngestStep{{At: instant, Start: amber.SessionStart{ID: "s1"}}},
		},
		"recall_result":  amber.RecallResult{Hits: []amber.Hit{hit}, Clamped: []amber.Clamp{{Key: "limit", Requested: 100, Effective: 64}}},
		"recall_empty":   amber.RecallResult{Hits: []amber.Hit{}},
		"page":           amber.Page[amber.Turn]{Items: []amber.Turn{{ID: "1", SessionID: "s1", Role: amber.RoleUser, Content: "hi", ProjectID: "p", CreatedAt: instant}}, Next: "abc"},
		"session":        session,
		"session_open":   amber.Session{ID: "s1", Name: "s1", Binding: "cli", StartedAt: instant, CreatedAt: instant, UpdatedAt: instant},
		"session_state":  amber.SessionState{SessionID: "s1", Document: json.RawMessage(`{"a":1}`), Version: 2, UpdatedAt: instant},
		"loop":           amber.PendingLoop{SessionID: "s1", RunID: "r1", State: json.RawMessage(`{"a":1}`), Revision: 2, Digest: "d", CreatedAt: instant, Parked: true},
		"note":           amber.Note{Name: "a/b", Content: "c", Bytes: 1, Commit: "abc", UpdatedAt: instant},
		"document":       amber.Document{Name: "extract_cursor", Revision: "r", Bytes: 7, Document: json.RawMessage(`{"a":1}`)},
		"document_bad":   amber.Document{Name: "extract_cursor", Damage: "d"},
		"note_commit":    amber.NoteCommit{Commit: "abc", At: instant, Op: "write"},
		"change":         amber.Change{Position: amber.PositionAt("i1", 4), At: instant, Op: amber.OpUpdate, Scope: amber.ChangeMemory, Key: "k", OldDigest: "o", NewDigest: "n"},
		"relation":       amber.Relation{ID: "r", From: "a", To: "b", Type: "supersedes", Strength: 0.5, Origin: memory.Origin, CreatedAt: instant, DeletedAt: instant},
		"embedding":      amber.Embedding{MemoryID: "a", Model: "m", Vector: []float32{0.5, 1}},
		"compaction":     amber.Compaction{ID: "c", SessionID: "s1", Summary: "s", Turns: 3, CreatedAt: instant},
		"stats":          amber.Stats{Memories: 1, ByKind: map[amber.MemoryKind]int64{amber.UserFact: 1}, ByScope: map[amber.Scope]int64{amber.ScopeUser: 1}, ByTrust: map[amber.Trust]int64{amber.TrustOwn: 1}},
		"erase_report":   amber.EraseReport{ID: memory.ID, Removed: []string{"1 revisions"}, Remaining: []string{}},
		"health":         amber.Health{Backend: "sqlite", Status: amber.Healthy, Detail: "d"},
		"decision":       amber.Decision{Requested: true, BlockedReason: "off"},
		"context_block":  wire.ContextBlock{Text: "t", Memories: []amber.Hit{}, Sessions: []amber.Session{}, Omitted: 1, Decision: amber.Decision{Requested: true, Effective: true}},
		"task":           task,
		"task_event":     event,
		"replay_report":  amber.NewReplayReport(task, amber.EmptyReplay("t1"), []amber.TaskEvent{event}),
		"approval":       amber.Approval{ID: "a1", TaskID: "t1", NodeID: "n1", Summary: "s", Status: amber.ApprovalApproved, Payload: json.RawMessage(`{"argv":["rm"]}`), Digest: "d", RequestedBy: "tok1", DecidedBy: "laptop", ClaimedBy: "me", Comment: "ok", CreatedAt: instant, DecidedAt: instant},
		"result":         amber.Result{TaskID: "t1", NodeID: "n1", Producer: "p", SchemaVersion: "result.v1", Status: amber.ResultOK, Payload: "x", Evidence: []amber.Evidence{{Kind: "file", Value: "a"}}, Confidence: 0.5, Fence: 7, UpdatedAt: instant},
		"claim":          amber.Claim{Envelope: envelope, Lease: lease},
		"dead_entry":     amber.DeadEntry{Envelope: envelope, Reasons: []string{"r"}, DeadAt: instant},
		"backpressure":   amber.Backpressure{Queued: 1, Leased: 2, Dead: 3, MaxInFlight: 32, Available: 30},
		"capabilities":   amber.NewStore(amber.Parts{}).Capabilities(),
		"host_event":     hostEvent,
		"activity":       amber.Activity{SessionID: "s1", Kind: amber.ActivityFile, Name: "a.go", Detail: "d", Status: "modified", Count: 3, Failed: 1, FirstAt: instant, LastAt: instant},
		"journal_cursor": amber.JournalCursor{Journal: hostEvent.EventID, Host: "claude-code", Session: "s1", Seq: 7, LastAt: instant, Process: process},
		"ingest_result":  amber.IngestResult{Applied: 2, Duplicates: 1, Memories: 1},
		"journal_status": wire.JournalStatus{Key: hostEvent.EventID, Host: "claude-code", SessionID: "s1", StartedAt: instant, Entries: 9, Bytes: 4096, Undrained: 2, Oldest: instant, LastSync: instant, Quarantined: 1, Gaps: 3, Damaged: 1, LastError: "e"},
	}
}

func TestJSONShapes(t *testing.T) {
	all := shapes()
	maps.Copy(all, snapshotShapes())
	maps.Copy(all, syncShapes())
	for name, v := range all {
		got, err := json.MarshalIndent(v, "", "  ")
		must.Do(t, err)
		got = append(got, '\n')
		file := filepath.Join("testdata", "json", name+".json")
		if *update {
			must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
			must.Do(t, os.WriteFile(file, got, 0o644))
			continue
		}
		want, err := os.ReadFile(file)
		must.Do(t, err)
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

func TestMemoryJSONRoundTrip(t *testing.T) {
	want := shapes()["memory"].(amber.Memory)
	b, err := json.Marshal(want)
	must.Do(t, err)
	var got amber.Memory
	must.Do(t, json.Unmarshal(b, &got))
	must.Equal(t, "round trip", got, want, cmp.AllowUnexported(amber.Time{}))
}

func TestKindTable(t *testing.T) {
	for _, tc := range []struct {
		kind       amber.Kind
		exit, http int
	}{
		{amber.KindInvalid, 2, 400},
		{amber.KindNotFound, 3, 404},
		{amber.KindConflict, 4, 409},
		{amber.KindBusy, 4, 409},
		{amber.KindDamaged, 5, 422},
		{amber.KindUntrusted, 5, 422},
		{amber.KindRefused, 6, 403},
		{amber.KindQuota, 6, 403},
		{amber.KindCrossTenant, 6, 403},
		{amber.KindTooNew, 6, 403},
		{amber.KindUnsupported, 6, 403},
		{amber.KindUnreachable, 7, 503},
		{amber.KindInternal, 1, 500},
		{"a kind of tomorrow", 1, 500},
	} {
		if got := tc.kind.ExitCode(); got != tc.exit {
			t.Errorf("%s: exit %d, want %d", tc.kind, got, tc.exit)
		}
		if got := tc.kind.HTTPStatus(); got != tc.http {
			t.Errorf("%s: HTTP %d, want %d", tc.kind, got, tc.http)
		}
	}
}

func TestErrorChain(t *testing.T) {
	inner := &amber.Error{Op: "read", Kind: amber.KindDamaged, Err: os.ErrInvalid, Hint: "amber doctor"}
	outer := &amber.Error{Op: "open", Kind: amber.KindDamaged, ID: "x", Err: inner}
	if got := amber.KindOf(outer); got != amber.KindDamaged {
		t.Errorf("KindOf = %s", got)
	}
	if got := amber.HintOf(outer); got != "amber doctor" {
		t.Errorf("HintOf = %q", got)
	}
	if !errors.Is(outer, os.ErrInvalid) || !errors.Is(outer, &amber.Error{Kind: amber.KindDamaged}) || errors.Is(outer, &amber.Error{Kind: amber.KindBusy}) {
		t.Error("errors.Is does not follow cause and kind")
	}
	if got, want := outer.Error(), "open x: read: invalid argument"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if amber.KindOf(nil) != "" || amber.KindOf(os.ErrInvalid) != amber.KindInternal {
		t.Error("KindOf of nil or of a foreign error")
	}
}

func TestFolderNames(t *testing.T) {
	for _, tc := range []struct {
		id string
		ok bool
	}{
		{"default", true},
		{"a", true},
		{"a-b_c9", true},
		{strings.Repeat("a", 64), true},
		{"", false},
		{strings.Repeat("a", 65), false},
		{"-a", false},
		{"a_", false},
		{"A", false},
		{"../x", false},
		{"/x", false},
		{"a/b", false},
		{"a\x00b", false},
		{"ä", false},
		{".", false},
		{"a b", false},
		{strings.Repeat("x", 10_000), false},
	} {
		_, terr := amber.ParseTenantID(tc.id)
		_, aerr := amber.ParseAgentID(tc.id)
		if (terr == nil) != tc.ok || (aerr == nil) != tc.ok {
			t.Errorf("%.20q: tenant %v, agent %v, want ok = %v", tc.id, terr, aerr, tc.ok)
		}
		if terr != nil && (amber.KindOf(terr) != amber.KindInvalid || len(terr.Error()) > 300) {
			t.Errorf("%.20q: error %.400q", tc.id, terr)
		}
	}
}

func TestNewUUID(t *testing.T) {
	id, err := amber.NewUUID(instant.Time(), &fakeRandom{})
	must.Do(t, err)
	if got, want := id, "019b7ca9-8f2e-7001-8203-040506070809"; got != want {
		t.Errorf("NewUUID = %s, want %s", got, want)
	}
	must.NoError(t, must.Err(amber.ParseMemoryID(id)))
	if _, err := amber.NewUUID(instant.Time(), strings.NewReader("")); err == nil {
		t.Error("an exhausted random source is an error")
	}
}

func TestTopicID(t *testing.T) {
	// The vector of docs/format/databases.md.
	if got, want := amber.TopicID("acme/shop", amber.ScopeProject, "acme/shop", "deploy-window", 0), amber.MemoryID("f8e2d915-eef7-8996-aed5-b6770d3689ee"); got != want {
		t.Errorf("TopicID = %s, want %s", got, want)
	}
	base := amber.TopicID("p", amber.ScopeProject, "p", "db", 0)
	must.Do(t, must.Err(amber.ParseMemoryID(string(base))))
	if again := amber.TopicID("p", amber.ScopeProject, "p", "db", 0); again != base {
		t.Errorf("the same name gives %s and %s", base, again)
	}
	others := []amber.MemoryID{
		amber.TopicID("q", amber.ScopeProject, "p", "db", 0),
		amber.TopicID("p", amber.ScopeUser, "p", "db", 0),
		amber.TopicID("p", amber.ScopeProject, "q", "db", 0),
		amber.TopicID("p", amber.ScopeProject, "p", "dc", 0),
		amber.TopicID("p", amber.ScopeProject, "p", "db", 1),
		amber.TopicID("pp", amber.ScopeProject, "", "db", 0),
	}
	seen := map[amber.MemoryID]bool{base: true}
	for i, id := range others {
		if seen[id] {
			t.Errorf("name %d has the id of another", i)
		}
		seen[id] = true
	}
}

func TestStamp(t *testing.T) {
	now := instant.Time()
	s := amber.StampAt(now)
	// The vector of docs/format/databases.md.
	if got, want := s+1, amber.Stamp(115823283121553409); got != want || got.String() != "2026-01-02T03:04:05.678Z-0001" {
		t.Errorf("stamp = %d, %s, want %d", got, got, want)
	}
	if got := s.Next(now); got != s+1 {
		t.Errorf("in the same millisecond: %s", got)
	}
	if got := s.Next(now.Add(-3600e9)); got != s+1 {
		t.Errorf("when the clock goes back: %s", got)
	}
	if got := s.Next(now.Add(1e6)); got != amber.StampAt(now.Add(1e6)) {
		t.Errorf("a millisecond later: %s", got)
	}
	for _, want := range []amber.Stamp{0, 1, 0xffff, s, s + 0xbeef} {
		got, err := amber.ParseStamp(want.String())
		if err != nil || got != want {
			t.Errorf("ParseStamp(%q) = %v, %v", want.String(), got, err)
		}
	}
	for _, bad := range []string{"x", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z-zzzz", "2026-01-02T03:04:05.678Z-00000"} {
		if _, err := amber.ParseStamp(bad); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("ParseStamp(%q) = %v", bad, err)
		}
	}
}

func TestTransitionTable(t *testing.T) {
	if n := len(amber.TaskStates()); n != 15 {
		t.Fatalf("there are %d states", n)
	}
	reachable := map[amber.TaskState]bool{amber.TaskQueued: true}
	for range amber.TaskStates() {
		for _, from := range amber.TaskStates() {
			for _, to := range amber.TaskStates() {
				if reachable[from] && from.CanBecome(to) {
					reachable[to] = true
				}
			}
		}
	}
	for _, s := range amber.TaskStates() {
		if !s.Valid() || !reachable[s] {
			t.Errorf("%s: valid %v, reachable %v", s, s.Valid(), reachable[s])
		}
		if s.CanBecome(s) {
			t.Errorf("%s has a transition to itself", s)
		}
	}
	for _, s := range []amber.TaskState{amber.TaskSucceeded, amber.TaskDeadLetter, amber.TaskCancelled} {
		if !s.Final() {
			t.Errorf("%s is not final", s)
		}
	}
	if amber.TaskState("nonsense").Valid() || amber.TaskState("nonsense").Final() {
		t.Error("an unknown state is no state")
	}
}

func TestReplayVerdicts(t *testing.T) {
	step := func(seq int64, from, to amber.TaskState) amber.TaskEvent {
		return amber.TaskEvent{TaskID: "t", Seq: seq, From: from, To: to, Kind: amber.EventStateTransition}
	}
	for _, tc := range []struct {
		name   string
		state  amber.TaskState
		events []amber.TaskEvent
		want   amber.ReplayConsistency
		can    amber.RecoveryEligibility
	}{
		{"nothing happened", amber.TaskQueued, nil, amber.ReplayConsistent, amber.RecoveryResumeReady},
		{"planned", amber.TaskPlanning, []amber.TaskEvent{step(1, "queued", "planning")}, amber.ReplayConsistent, amber.RecoveryResumeReady},
		{"no such transition", amber.TaskSucceeded, []amber.TaskEvent{step(1, "queued", "succeeded")}, amber.ReplayInvalidTransitions, amber.RecoveryBlocked},
		{"a link is missing", amber.TaskExecuting, []amber.TaskEvent{step(1, "planning", "executing")}, amber.ReplayBrokenChain, amber.RecoveryBlocked},
		{"a number is missing", amber.TaskPlanning, []amber.TaskEvent{step(2, "queued", "planning")}, amber.ReplayBrokenChain, amber.RecoveryBlocked},
		{"the task differs", amber.TaskExecuting, []amber.TaskEvent{step(1, "queued", "planning")}, amber.ReplaySnapshotMismatch, amber.RecoveryBlocked},
		{"it is done", amber.TaskSucceeded, []amber.TaskEvent{step(1, "queued", "executing"), step(2, "executing", "succeeded")}, amber.ReplayConsistent, amber.RecoveryNotRecoverable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := amber.NewReplayReport(amber.Task{ID: "t", State: tc.state}, amber.EmptyReplay("t"), tc.events)
			if r.ConsistencyStatus != tc.want || r.RecoveryEligibility != tc.can {
				t.Errorf("got %s, %s, want %s, %s", r.ConsistencyStatus, r.RecoveryEligibility, tc.want, tc.can)
			}
			// Compaction must not change the verdict.
			for cut := range len(tc.events) + 1 {
				compacted := amber.EmptyReplay("t").FoldAll(tc.events[:cut])
				again := amber.NewReplayReport(amber.Task{ID: "t", State: tc.state}, compacted, tc.events[cut:])
				if again.ConsistencyStatus != tc.want || again.EventCount != int64(len(tc.events)) {
					t.Errorf("compacted at %d: %s, %d events", cut, again.ConsistencyStatus, again.EventCount)
				}
			}
		})
	}
}
