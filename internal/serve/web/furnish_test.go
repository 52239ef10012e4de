package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// scribe writes what stands in a field of a record: what the store lets stand there, of at most
// so many bytes.
type scribe func(field string, allowed alphabet, most int) string

// alphabet is which characters a field of a record may have.
type alphabet int

const (
	ident    alphabet = iota // printable ones
	noteName                 // letters
	oneLine                  // no line breaks, no control characters
	lines                    // no control characters but line breaks
	anything                 // all but NUL
)

// place is an agent with a record of every kind: what the variables of routes are filled in
// with.
type place struct {
	tenant amber.TenantID
	agent  amber.AgentID

	memory, other amber.MemoryID // the second was changed elsewhere at the same time
	session       amber.SessionID
	turn          amber.TurnID
	note, commit  string
	before        string // the commit before that one
	snapshots     [2]amber.SnapshotID
	task, node    string
	approval      string
	dead          string // an entry of the queue
	held          string // a file in the quarantine of the journal
	key           string // of its session
	token         string
	imported      string // the id of an import
}

// furnish stores a record of every kind for an agent.
func (r *rig) furnish(tenant amber.TenantID, agent amber.AgentID, plain func(field string) string) *place {
	r.t.Helper()
	return r.furnishWith(tenant, agent, func(field string, _ alphabet, _ int) string { return plain(field) })
}

func (r *rig) furnishWith(tenant amber.TenantID, agent amber.AgentID, s scribe) *place {
	r.t.Helper()
	p := &place{tenant: tenant, agent: agent}
	f := furnisher{r: r, t: r.t, place: p, s: s, store: r.store(tenant, agent)}
	f.sessions()
	f.memories()
	f.notes()
	f.snapshot(0)
	f.conflict()
	f.quarantine()
	f.work()
	f.snapshot(1)
	f.home()
	f.imports()
	return p
}

// furnisher fills a place.
type furnisher struct {
	*place
	r     *rig
	t     testing.TB
	s     scribe
	store amber.Store
}

func (f *furnisher) id(field string) string { return f.s(field, ident, 200) }

// document is JSON with a text in it.
func (f *furnisher) document(field string) json.RawMessage {
	return must.Get(json.Marshal(map[string]string{f.s(field+".key", oneLine, 100): f.s(field, anything, 4000)}))(f.t)
}

func (f *furnisher) sessions() {
	ctx, st := f.t.Context(), f.store
	f.session = amber.SessionID(f.id("session.id"))
	must.Get(st.Sessions.StartSession(ctx, amber.SessionStart{
		ID: f.session, Name: f.s("session.name", oneLine, amber.MaxNameRunes), Project: f.id("session.project"), Directory: f.s("session.directory", oneLine, 4000),
	}))(f.t)
	for _, role := range []amber.Role{amber.RoleUser, amber.RoleAssistant, amber.RoleSystem, amber.RoleTool} {
		f.turn = must.Get(st.Turns.AppendTurn(ctx, amber.Turn{SessionID: f.session, Role: role, Content: f.s("turn."+string(role), anything, amber.MaxContentBytes), ProjectID: f.id("turn.project")}))(f.t).ID
	}
	must.Get(st.Compactions.AddCompaction(ctx, amber.Compaction{SessionID: f.session, Summary: f.s("compaction.summary", anything, amber.MaxContentBytes), Turns: 2}))(f.t)
	version := int64(0)
	if old, err := st.States.LoadState(ctx, f.session); err == nil {
		version = old.Version
	}
	must.Get(st.States.SaveState(ctx, f.session, f.document("state"), version))(f.t)
	run := amber.LoopSave{SessionID: f.session, RunID: f.id("loop.run"), State: f.document("loop")}
	if old, err := st.Loops.LoadLoop(ctx, f.session); err == nil {
		run.IfRunID, run.IfRevision = old.RunID, old.Revision
	}
	must.Get(st.Loops.SaveLoop(ctx, run))(f.t)
	f.activity()
}

func (f *furnisher) activity() {
	s := journal.Session{Host: f.id("activity.host"), ID: f.session}
	cursor := must.Get(f.store.Ingest.JournalCursor(f.t.Context(), string(s.Key())))(f.t).Seq
	must.Get(f.store.Ingest.Ingest(f.t.Context(), amber.Ingestion{
		Journal: string(s.Key()), Host: s.Host, Session: f.session, After: cursor, Through: cursor + 1,
		Steps: []amber.IngestStep{{Start: amber.SessionStart{ID: f.session}, Activity: []amber.Activity{{
			SessionID: f.session, Kind: amber.ActivityTool, Name: f.s("activity.name", oneLine, amber.MaxActivityNameBytes), Detail: f.s("activity.detail", lines, amber.MaxActivityDetailBytes), Status: "failed", Count: 1, Failed: 1,
		}}}},
	}))(f.t)
}

func (f *furnisher) memories() {
	ctx, st := f.t.Context(), f.store
	f.memory = f.write("memory")
	f.other = f.write("neighbour")
	must.Get(st.Editor.Edit(ctx, amber.EditRequest{ID: f.memory, Content: new(f.s("memory.edited", lines, amber.MaxContentBytes))}))(f.t)
	must.Get(st.Relations.Relate(ctx, amber.Relation{From: f.memory, To: f.other, Type: f.id("relation.type"), Strength: 0.5}))(f.t)
	must.Do(f.t, st.Concepts.SetConcepts(ctx, f.memory, []string{f.s("concept", oneLine, amber.MaxTagBytes)}))
	gone := f.write("forgotten")
	must.Do(f.t, st.LongTerm.Delete(ctx, gone))
}

func (f *furnisher) write(of string) amber.MemoryID {
	ack := must.Get(f.store.LongTerm.Write(f.t.Context(), amber.WriteRequest{
		Identities: amber.Identities{ProjectID: f.id(of + ".project"), SessionID: f.session}, Scope: amber.ScopeProject,
		Title: f.s(of+".title", oneLine, amber.MaxTitleBytes), Content: f.s(of+".content", lines, amber.MaxContentBytes), Summary: f.s(of+".summary", lines, amber.MaxSummaryBytes),
		Topic: f.s(of+".topic", oneLine, amber.MaxTopicBytes), Tags: f.tags(of), Metadata: f.metadata(of), SourceRefs: f.refs(of),
	}))(f.t)
	return ack.ID
}

// tags are as many as a memory may have.
func (f *furnisher) tags(of string) []string {
	var out []string
	for i := range amber.MaxTags {
		out = append(out, fmt.Sprintf("%d %s", i, f.s(of+".tag", oneLine, amber.MaxTagBytes-4)))
	}
	return out
}

func (f *furnisher) metadata(of string) map[string]string {
	out := map[string]string{}
	for i := range amber.MaxMetadata {
		out[fmt.Sprintf("%s %d", f.s(of+".key", ident, 60), i)] = f.s(of+".value", lines, amber.MaxMetadataBytes)
	}
	return out
}

func (f *furnisher) refs(of string) []amber.SourceRef {
	var out []amber.SourceRef
	for i := range amber.MaxSourceRefs {
		out = append(out, amber.SourceRef{Kind: f.s(of+".ref", ident, 60), Value: fmt.Sprint(f.s(of+".ref", oneLine, 500), i)})
	}
	return out
}

func (f *furnisher) notes() {
	ctx, st := f.t.Context(), f.store
	f.note = f.s("note.name", noteName, 100)
	must.Get(st.Notes.WriteNote(ctx, amber.NoteWrite{Name: f.note, Content: "before " + f.s("note.before", lines, amber.MaxContentBytes-10)}))(f.t)
	must.Get(st.Notes.WriteNote(ctx, amber.NoteWrite{Name: f.note, Content: f.s("note.content", lines, amber.MaxContentBytes)}))(f.t)
	log := must.Get(st.NoteLog.LogNote(ctx, f.note, 2))(f.t)
	f.commit, f.before = log[0].Commit, log[1].Commit
	must.Get(st.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "doc", Document: f.document("document")}))(f.t)
}

func (f *furnisher) snapshot(i int) {
	engine := must.Get(f.r.agent(f.tenant, f.agent).Snapshots(f.t.Context()))(f.t)
	m := must.Get(engine.Snapshot(f.t.Context(), wire.SnapshotRequest{Tenant: f.tenant, Agent: f.agent, Label: f.s(fmt.Sprint("snapshot.label", i), oneLine, wire.MaxLabelBytes)}))(f.t)
	f.snapshots[i] = m.ID
}

// syncPlace is where conflicts come from.
const syncPlace = "origin"

// conflict lets another device change a memory that was changed here.
func (f *furnisher) conflict() {
	m := must.Get(f.store.Memories.Get(f.t.Context(), f.other))(f.t)
	m.Title, m.Content = f.s("conflict.title", oneLine, amber.MaxTitleBytes), f.s("conflict.content", lines, amber.MaxContentBytes)
	m.ContentDigest, m.DuplicateCount = amber.ContentDigest(m.Content), 0
	m.Origin.Device = "00000000-0000-7000-8000-0000000000bb"
	m.Origin.Clock++
	must.Get(f.store.Sync.Apply(f.t.Context(), amber.Incoming{
		Place: syncPlace, Chunk: strings.Repeat("c", 64), Device: m.Origin.Device, CreatedBy: f.id("chunk.author"), At: m.UpdatedAt, Trust: amber.TrustImported, Records: []amber.SyncRecord{{Memory: &amber.SyncMemory{Memory: m}}},
	}))(f.t)
	must.Do(f.t, f.store.Sync.SetQuarantine(f.t.Context(), syncPlace, []amber.QuarantinedChunk{{ID: f.id("chunk.id"), Reason: f.s("chunk.reason", oneLine, 500), Kind: amber.KindDamaged}}))
}

func (f *furnisher) quarantine() {
	ctx := f.t.Context()
	j := must.Get(f.r.agent(f.tenant, f.agent).Journal())(f.t)
	s := journal.Session{Host: f.id("held.host"), ID: amber.SessionID(f.id("held.session"))}
	must.Get(j.Append(ctx, s, journal.Entry{Payload: []byte(`{"x":1}`)}))(f.t)
	must.Do(f.t, j.Quarantine(ctx, s.Key(), 1, []byte(f.s("held.payload", anything, 4000)), f.s("held.reason", oneLine, 1000)))
	f.held, f.key = must.Get(j.HeldOf(ctx, string(s.Key())))(f.t)[0].Name, string(s.Key())
}

func (f *furnisher) work() {
	ctx, st := f.t.Context(), f.store
	f.task, f.node = f.id("task.id"), f.id("task.node")
	if _, err := st.Tasks.Task(ctx, f.task); err != nil {
		must.Get(st.Tasks.SaveTask(ctx, amber.Task{ID: f.task, RequestID: f.id("task.request"), SessionID: f.session, Goal: f.s("task.goal", lines, 4000), State: amber.TaskQueued, LastResult: f.s("task.result", anything, 4000), Extra: f.document("task.extra")}, 0))(f.t)
	}
	must.Get(st.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: f.task, From: amber.TaskQueued, To: amber.TaskPlanning, Reason: f.s("event.reason", anything, amber.MaxSummaryBytes), Result: f.s("event.result", anything, 4000), NodeID: f.node}))(f.t)
	a := must.Get(st.Approvals.RequestApproval(ctx, amber.ApprovalRequest{TaskID: f.task, NodeID: f.node, Summary: f.s("approval.summary", lines, amber.MaxSummaryBytes), Payload: f.document("approval")}))(f.t)
	f.approval = a.ID
	must.Get(st.Results.SaveResult(ctx, amber.Result{
		TaskID: f.task, NodeID: f.node, Producer: f.id("result.producer"), Status: amber.ResultOK, Payload: f.s("result.payload", anything, 4000), Confidence: 1,
		Evidence: []amber.Evidence{{Kind: f.id("evidence.kind"), Value: f.s("evidence.value", anything, 4000)}},
	}))(f.t)
	f.queue()
}

// queue leaves an entry that is dead: every consumer gave it back.
func (f *furnisher) queue() {
	ctx, st := f.t.Context(), f.store
	f.dead = f.id("queue.entry")
	must.Do(f.t, st.Queue.Publish(ctx, amber.Envelope{EntryID: f.dead, TaskID: f.task, NodeID: f.id("queue.node"), Payload: f.s("queue.payload", anything, 4000)}))
	for {
		c, err := st.Queue.Claim(ctx, f.id("queue.consumer"))
		if err != nil {
			break // it is dead
		}
		must.Do(f.t, st.Queue.Nack(ctx, amber.Nack{Lease: c.Lease, Reason: f.s("queue.reason", anything, amber.MaxSummaryBytes), NotBefore: amber.Time{}.Add(1)}))
	}
}

// imports imports a file through the API.
func (f *furnisher) imports() {
	content, at := f.s("import.content", lines, 1000), amber.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	line := must.Get(json.Marshal(map[string]amber.Memory{"memory": {
		ID: amber.MemoryID(fmt.Sprintf("0198c0de-0000-7000-8000-%012d", time.Now().UnixMilli()%1e12)), Kind: amber.WorkspaceFact, Scope: amber.ScopeGlobal, Title: f.s("import.title", oneLine, 200), Content: content,
		Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}, Trust: amber.TrustOwn, Revision: 1, ContentDigest: amber.ContentDigest(content),
		Origin: amber.Origin{Device: "elsewhere", Counter: 1, Clock: amber.StampAt(at.Time())}, CreatedAt: at, UpdatedAt: at,
	}}))(f.t)
	file := append([]byte(`{"amber":"export","version":1}`+"\n"), append(line, '\n')...)
	path := fmt.Sprintf("%s/v1/tenants/%s/agents/%s/imports?name=%s", f.r.url, f.tenant, f.agent, url.QueryEscape(strings.ReplaceAll(f.s("import.name", ident, 60), "/", "-")))
	req := must.Get(http.NewRequestWithContext(f.t.Context(), http.MethodPost, path, bytes.NewReader(file)))(f.t)
	req.Header.Set("Authorization", "Bearer "+root)
	resp := must.Get(http.DefaultClient.Do(req))(f.t)
	defer func() { _ = resp.Body.Close() }()
	var report wire.ForeignImport
	answer := must.Get(io.ReadAll(resp.Body))(f.t)
	if must.Do(f.t, json.Unmarshal(answer, &report)); report.ID == "" {
		f.t.Fatalf("import: status %d: %s", resp.StatusCode, answer)
	}
	f.imported = report.ID
}

// home leaves a token and an entry of the audit log.
func (f *furnisher) home() {
	made := must.Get(f.r.ledger.CreateToken(f.t.Context(), wire.TokenRequest{Name: f.s("token.name", ident, 100), Tenant: f.tenant, Agent: f.agent, Scopes: []wire.TokenScope{wire.TokenRead}}))(f.t)
	f.token = string(made.ID)
	must.Do(f.t, f.r.ledger.Record(f.t.Context(), wire.AuditEntry{Actor: f.id("audit.actor"), Tenant: f.tenant, Agent: f.agent, Action: "memory.write", Subject: f.id("audit.target"), Outcome: "ok", RequestID: "r-1"}))
}

// fill fills the variables of a route in. A route with a variable that no record of the place can
// fill fails the test: every screen has to be walked.
func (p *place) fill(t testing.TB, pattern string) (method, path string) {
	t.Helper()
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		return "", pattern
	}
	before := ""
	var out []string
	for element := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(element, "{") && element != "{$}" {
			name := strings.Trim(element, "{}")
			v := p.value(before, strings.TrimSuffix(name, "..."))
			if v == "" {
				t.Fatalf("route %q: no record to fill in {%s} behind %q; teach place.value", pattern, name, before)
			}
			element = url.PathEscape(v)
		} else {
			before = element
		}
		out = append(out, strings.TrimSuffix(element, "{$}"))
	}
	return method, strings.Join(out, "/")
}

// value is the value of a variable of a path, by the element before it.
func (p *place) value(before, name string) string {
	switch name {
	case "tenant":
		return string(p.tenant)
	case "agent":
		return string(p.agent)
	}
	switch before + "/" + name {
	case "memories/id", "memories/memory", "graph/id", "graph/memory", "memory/id":
		return string(p.memory)
	case "conflicts/id", "conflicts/memory":
		return string(p.other)
	case "sessions/id", "sessions/session":
		return string(p.session)
	case "turns/turn", "turns/id":
		return string(p.turn)
	case "notes/name", "notes/note":
		return p.note
	case "log/commit", "commits/commit", "at/commit":
		return p.commit
	case "snapshots/id", "snapshots/snapshot", "snapshots/a", "diff/a":
		return string(p.snapshots[0])
	case "snapshots/b", "diff/b":
		return string(p.snapshots[1])
	case "tasks/id", "tasks/task":
		return p.task
	case "approvals/id", "approvals/approval":
		return p.approval
	case "dead/id", "queue/id", "queue/entry", "dead/entry":
		return p.dead
	case "quarantine/session", "quarantine/key":
		return p.key
	case "quarantine/name":
		return p.held
	case "tokens/id", "tokens/token":
		return p.token
	case "import/id", "imports/id":
		return p.imported
	case "jobs/id", "jobs/job":
		return strings.Repeat("A", 24) // jobs are known to the page alone
	}
	return ""
}

// isStream reports whether a route answers until its visitor goes.
func isStream(pattern string) bool {
	return strings.HasSuffix(pattern, "/events") || strings.HasSuffix(pattern, "/-/beat")
}

// everyPlace furnishes every agent of a rig with texts that name it.
func (r *rig) everyPlace() map[server.AgentName]*place {
	r.t.Helper()
	out := map[server.AgentName]*place{}
	for _, n := range []server.AgentName{{Tenant: "acme", Agent: "ada"}, {Tenant: "acme", Agent: "bob"}, {Tenant: "umbrella", Agent: "eve"}} {
		out[n] = r.furnish(n.Tenant, n.Agent, func(field string) string { return canary(n) + " " + field })
	}
	return out
}

// canary is a word that is in every text of an agent.
func canary(n server.AgentName) string {
	return "canary" + string(n.Tenant) + string(n.Agent)
}
