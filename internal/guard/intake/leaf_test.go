package intake_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
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

// writes are requests of every contract that writes, each of them new.
func writes() map[string]write {
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
		"entry": one(&amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: "x"}, func(ctx context.Context, s amber.Store, r amber.Envelope) error { return s.Queue.Publish(ctx, r) }),
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
	fields, stored := 0, 0
	all := writes()
	for _, name := range slices.Sorted(maps.Keys(all)) { // what is stored depends on what was before
		w := all[name]
		for _, leaf := range leaves(reflect.ValueOf(w.request).Elem()) {
			fields++
			restore := leaf()
			if w.call(ctx, s) == nil {
				stored++
			}
			restore()
		}
	}
	must.Do(t, opened.Close())
	if fields < 60 || stored < 15 {
		t.Errorf("%d fields were tried, %d requests stored", fields, stored)
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b := must.Get(os.ReadFile(path))(t); bytes.Contains(b, []byte(token[4:])) {
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
				v.SetBytes([]byte(`{"` + token + `":"` + token + `"}`))
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
				v.Set(reflect.ValueOf(map[string]string{token: token}).Convert(v.Type()))
				return func() { v.Set(was) }
			}}
		}
	}
	return all
}
