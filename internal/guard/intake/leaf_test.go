package intake_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// write is a request that a store takes, and the call that gives it to the store.
type write struct {
	request any // a pointer
	call    func(ctx context.Context, s amber.Store) error
}

func one[T any](r *T, call func(ctx context.Context, s amber.Store, r T) error) write {
	return write{r, func(ctx context.Context, s amber.Store) error { return call(ctx, s, *r) }}
}

func failed[T any](_ T, err error) error { return err }

// named is what calls take beside a request.
type named struct{ Name, Text string }

// fielded is what calls take beside a document.
type fielded struct {
	Name string
	Doc  json.RawMessage
}

// lived is what an ingestion brings of a session.
type lived struct{ Said, Command, Detail, Learnt, Summary string }

func ptr[T any](v T) *T { return &v }

// writes are requests of every contract that writes, each of them new. They are about the memory with an id, about the
// session s and about the task t.
func writes(id amber.MemoryID) map[string]write {
	made := 0
	fresh := func() string {
		made++
		return fmt.Sprintf("%032x", made)
	}
	ids := amber.Identities{SessionID: "s", UserID: "u", ProjectID: "p", WorkspaceID: "w"}
	doc := json.RawMessage(`{"a":"b"}`)
	return map[string]write{
		"memory": one(&amber.WriteRequest{
			Scope: amber.ScopeProject, Identities: ids, Title: "t", Content: "c", Summary: "s", Topic: "x", Tags: []string{"a"}, IdempotencyKey: "k",
			Metadata: map[string]string{"a": "b"}, SourceRefs: []amber.SourceRef{{Kind: "k", Value: "v"}},
		}, func(ctx context.Context, s amber.Store, r amber.WriteRequest) error {
			return failed(s.LongTerm.Write(ctx, r))
		}),
		"session": one(&amber.SessionStart{ID: "s2", Name: "n", Binding: "b", Project: "p", Directory: "/d"},
			func(ctx context.Context, s amber.Store, r amber.SessionStart) error {
				return failed(s.Sessions.StartSession(ctx, r))
			}),
		"session end": one(&amber.SessionEnd{ID: "s", Summary: "x"}, func(ctx context.Context, s amber.Store, r amber.SessionEnd) error {
			return failed(s.Names.EndSession(ctx, r))
		}),
		"session name": one(&named{"s", "n"}, func(ctx context.Context, s amber.Store, r named) error {
			return failed(s.Names.RenameSession(ctx, amber.SessionID(r.Name), r.Text))
		}),
		"turn": one(&amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "c", ProjectID: "p"},
			func(ctx context.Context, s amber.Store, r amber.Turn) error {
				return failed(s.Turns.AppendTurn(ctx, r))
			}),
		"loop": one(&amber.LoopSave{SessionID: "s", RunID: "r", State: doc}, func(ctx context.Context, s amber.Store, r amber.LoopSave) error {
			return failed(s.Loops.SaveLoop(ctx, r))
		}),
		"note": one(&named{"n", "text"}, func(ctx context.Context, s amber.Store, r named) error {
			return failed(s.Notes.WriteNote(ctx, amber.NoteWrite{Name: r.Name, Content: r.Text}))
		}),
		"task": one(&amber.Task{ID: "t2", RequestID: "r", SessionID: "s", Goal: "g", State: amber.TaskQueued, CompletedNodes: []string{"n"}, LastResult: "x", Extra: doc},
			func(ctx context.Context, s amber.Store, r amber.Task) error {
				return failed(s.Tasks.SaveTask(ctx, r, 0))
			}),
		"event": one(&amber.TaskEvent{TaskID: "t", From: amber.TaskQueued, To: amber.TaskQueued, NodeID: "n", Reason: "r", Result: "x"},
			func(ctx context.Context, s amber.Store, r amber.TaskEvent) error {
				return failed(s.Events.AppendEvent(ctx, r))
			}),
		"approval": one(&amber.ApprovalRequest{TaskID: "t", NodeID: "n", Summary: "s", Payload: doc, RequestedBy: "ci"},
			func(ctx context.Context, s amber.Store, r amber.ApprovalRequest) error {
				return failed(s.Approvals.RequestApproval(ctx, r))
			}),
		"result": one(&amber.Result{TaskID: "t", NodeID: "n", Producer: "p", SchemaVersion: "v", Status: amber.ResultOK, Payload: "x", Evidence: []amber.Evidence{{Kind: "log", Value: "v"}}},
			func(ctx context.Context, s amber.Store, r amber.Result) error {
				return failed(s.Results.SaveResult(ctx, r))
			}),
		"entry": one(&amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "queued", Payload: "x"}, func(ctx context.Context, s amber.Store, r amber.Envelope) error { return s.Queue.Publish(ctx, r) }),
		"batch": one(&[]amber.WriteRequest{{Content: "plain", Scope: amber.ScopeGlobal, Title: "t"}}, func(ctx context.Context, s amber.Store, r []amber.WriteRequest) error {
			return failed(s.Batch.WriteBatch(ctx, r))
		}),
		"edit": one(&amber.EditRequest{ID: id, Title: ptr("t"), Content: ptr("c"), Summary: ptr("s"), Tags: &[]string{"a"}, Metadata: &map[string]string{"a": "b"}},
			func(ctx context.Context, s amber.Store, r amber.EditRequest) error {
				return failed(s.Editor.Edit(ctx, r))
			}),
		"concepts": one(&named{string(id), "c"}, func(ctx context.Context, s amber.Store, r named) error {
			return s.Concepts.SetConcepts(ctx, amber.MemoryID(r.Name), []string{r.Text})
		}),
		"compaction": one(&amber.Compaction{SessionID: "s", Summary: "x"}, func(ctx context.Context, s amber.Store, r amber.Compaction) error {
			return failed(s.Compactions.AddCompaction(ctx, r))
		}),
		"state": one(&fielded{"s", doc}, func(ctx context.Context, s amber.Store, r fielded) error {
			return failed(s.States.SaveState(ctx, amber.SessionID(r.Name), r.Doc, 0))
		}),
		"document": one(&fielded{"cursor", doc}, func(ctx context.Context, s amber.Store, r fielded) error {
			return failed(s.Documents.PutDocument(ctx, amber.DocumentWrite{Name: r.Name, Document: r.Doc}))
		}),
		"decision": one(&amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: "ann", ClaimedBy: "me", Comment: "c"},
			func(ctx context.Context, s amber.Store, r amber.ApprovalDecision) error {
				asked, err := s.Approvals.RequestApproval(ctx, amber.ApprovalRequest{TaskID: "t", NodeID: "n", Summary: "s", Payload: doc})
				if r.ID == "a" {
					r.ID = asked.ID
				}
				return errors.Join(err, failed(s.Approvals.DecideApproval(ctx, r)))
			}),
		"nack": one(&amber.Nack{Reason: "r"}, func(ctx context.Context, s amber.Store, r amber.Nack) error {
			err := s.Queue.Publish(ctx, amber.Envelope{EntryID: fresh(), TaskID: "t", NodeID: "queued"})
			claim, cerr := s.Queue.Claim(ctx, "c")
			r.Lease = claim.Lease
			return errors.Join(err, cerr, s.Queue.Nack(ctx, r))
		}),
		"ingestion": one(&lived{"c", "curl", "d", "ingested", "x"}, func(ctx context.Context, s amber.Store, r lived) error {
			return failed(s.Ingest.Ingest(ctx, amber.Ingestion{Journal: fresh(), Host: "h", Session: "i", Through: 1, Steps: []amber.IngestStep{{
				Start: amber.SessionStart{ID: "i"}, Turns: []amber.Turn{{SessionID: "i", Role: amber.RoleUser, Content: r.Said}},
				Activity: []amber.Activity{{SessionID: "i", Kind: amber.ActivityCommand, Name: r.Command, Detail: r.Detail, Count: 1}},
				Memories: []amber.WriteRequest{{Scope: amber.ScopeGlobal, Content: r.Learnt}}, End: &amber.SessionEnd{ID: "i", Summary: r.Summary},
			}}}))
		}),
		"claim": one(&named{"worker", ""}, func(ctx context.Context, s amber.Store, r named) error { return failed(s.Queue.Claim(ctx, r.Name)) }),
	}
}

// TestNoFieldBringsASecretToTheDisk puts a secret into one string of a request at a time, ids, keys and versions
// among them. Each request is refused or stored without the secret, and no file of the store holds it.
func TestNoFieldBringsASecretToTheDisk(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent("acme", "bob"))(t)
	opened := must.Get(sqlite.Open(ctx, agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	s := intake.CleanAll(amber.NewStore(opened.Parts()), redact.New())
	must.Do(t, failed(s.Sessions.StartSession(ctx, amber.SessionStart{ID: "s"})))
	must.Do(t, failed(s.Tasks.SaveTask(ctx, amber.Task{ID: "t", SessionID: "s", Goal: "g", State: amber.TaskQueued}, 0)))
	memory := must.Get(s.LongTerm.Write(ctx, amber.WriteRequest{Content: "to be edited"}))(t)
	fields, stored := 0, 0
	all := writes(memory.ID)
	for _, name := range slices.Sorted(maps.Keys(all)) { // what is stored depends on what was before
		w, before := all[name], stored
		for _, leaf := range leaves(reflect.ValueOf(w.request).Elem()) {
			fields++
			restore := leaf()
			if w.call(ctx, s) == nil {
				stored++
			}
			restore()
		}
		must.Hold(t, stored > before || name == "claim" || name == "note" || name == "session name", "%s: nothing was stored with a secret in it", name)
	}
	must.Do(t, opened.Close())
	if fields < 110 || stored < 40 {
		t.Errorf("%d fields were tried, %d requests stored", fields, stored)
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b := must.Get(os.ReadFile(path))(t); bytes.Contains(b, []byte(token[4:])) || bytes.Contains(b, []byte("hunter2abc")) {
			t.Errorf("%s holds the secret", filepath.Base(path))
		}
		return nil
	}))
}

// leaves are functions that put the secret into one string of a value each, and return one that takes it out again.
func leaves(v reflect.Value) (all []func() func()) {
	switch v.Kind() {
	case reflect.String:
		return []func() func(){func() func() {
			was := v.String()
			v.SetString(token)
			return func() { v.SetString(was) }
		}}
	case reflect.Pointer:
		if !v.IsNil() {
			return leaves(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[amber.Time]() {
				all = append(all, leaves(v.Field(i))...)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() && v.Len() > 0 {
			return []func() func(){func() func() {
				was := v.Bytes()
				v.SetBytes([]byte(`{"` + token + `":["` + token + `"],"\u0067hp_` + token[4:] + `":1}`))
				return func() { v.SetBytes(was) }
			}}
		}
		for i := range v.Len() {
			all = append(all, leaves(v.Index(i))...)
		}
	case reflect.Map:
		if v.Len() > 0 && v.Type().Elem().Kind() == reflect.String {
			return []func() func(){func() func() {
				was := reflect.ValueOf(v.Interface())
				v.Set(reflect.ValueOf(map[string]string{token: token, "password": "hunter2abc"}).Convert(v.Type()))
				return func() { v.Set(was) }
			}}
		}
	}
	return all
}
