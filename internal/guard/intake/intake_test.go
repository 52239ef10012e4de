package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
)

// token is a secret that its form alone gives away.
const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

var at = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func plainStore(t *testing.T) amber.Store {
	t.Helper()
	s, err := inmem.New(inmem.Options{Clock: func() time.Time { return at }, Random: rand.NewChaCha8([32]byte{1}), Incarnation: "i"})
	must.Do(t, err)
	return amber.NewStore(s.Parts())
}

// bare are the methods that change something and take no request with tags.
var bare = map[string]string{
	"delete": "takes an id", "erase": "takes an id", "unrelate": "takes an id", "delete_turns": "takes an id", "clear_loop": "takes ids",
	"delete_session": "takes an id", "select_session": "takes an id", "delete_state": "takes an id", "delete_note": "cleaned by name",
	"compact_events": "takes an id", "delete_document": "takes a name",
	"set_concepts": "cleaned by name", "rename_session": "cleaned by name", "save_state": "cleaned by name", "claim": "cleaned by name",
}

// TestEveryStringOfARequestIsTagged: the author of a new field says in its tag whether it is cleaned, and the author of
// a new method gives it a request or says here why it needs none.
func TestEveryStringOfARequestIsTagged(t *testing.T) {
	t.Parallel()
	p := plainStore(t).Parts
	p.Notes = struct{ amber.Notes }{p.Notes}
	bareLeft, requests := maps.Clone(bare), 0
	s := amber.Around(amber.NewStore(p), nil, func(_ context.Context, c *amber.Call) error {
		if c.Method.Effect != amber.Changes || c.Method.Layer == amber.LayerSync {
			return nil
		}
		if _, said := bare[c.Method.Name]; said {
			delete(bareLeft, c.Method.Name)
			return nil
		}
		requests++
		for i, in := range c.In {
			switch typ := reflect.TypeOf(in); {
			case in == nil, i > 0 && typ.Elem().Kind() == reflect.Int64:
			case i == 0 && (typ.Elem().Kind() == reflect.Struct || typ.Elem().Kind() == reflect.Slice):
				untagged(t, c.Method.Name, typ.Elem())
			default:
				t.Errorf("%s takes %s: give it a request with tags, or clean it by name", c.Method.Name, typ.Elem())
			}
		}
		return nil
	})
	parts := reflect.ValueOf(s.Parts)
	for field, v := range parts.Fields() {
		if field.Type.Kind() != reflect.Interface {
			continue
		}
		for method := range field.Type.Methods() {
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for i := 1; i < method.Type.NumIn(); i++ {
				args = append(args, reflect.Zero(method.Type.In(i)))
			}
			v.MethodByName(method.Name).Call(args)
		}
	}
	if len(bareLeft) > 0 || requests < 20 {
		t.Errorf("%d requests were looked at, no method is called %v", requests, slices.Sorted(maps.Keys(bareLeft)))
	}
	plain := plainStore(t)
	if off := intake.CleanAll(plain, nil); !reflect.DeepEqual(off.Parts, plain.Parts) {
		t.Error("without rules something is wrapped")
	}
}

// untagged reports the fields of a type that may hold a text and have no tag.
func untagged(t *testing.T, path string, typ reflect.Type) {
	for typ.Kind() == reflect.Slice && typ != reflect.TypeFor[json.RawMessage]() || typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	for f := range typ.Fields() {
		how, name, _ := strings.Cut(f.Tag.Get("redact"), ",")
		elem := f.Type
		for elem.Kind() == reflect.Slice && elem.Elem().Kind() != reflect.Uint8 || elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		switch holds := elem.Kind(); {
		case !f.IsExported(), how == "-", f.Type == reflect.TypeFor[amber.Time]():
		case how == "" && holds == reflect.Struct:
			untagged(t, path+"."+f.Name, elem)
		case how == "" && (holds == reflect.String || holds == reflect.Map || holds == reflect.Slice || holds == reflect.Interface):
			t.Errorf("%s.%s has no tag: say text, raw, id with its name, or -", path, f.Name)
		case how != "" && how != "text" && how != "raw" && how != "id", (how == "id") != (name != ""):
			t.Errorf("%s.%s has the tag %q", path, f.Name, f.Tag.Get("redact"))
		}
	}
}

// fill puts a secret into every string of a value that is not an id.
func fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		if v.String() == "" && !isID(name) {
			v.SetString("before " + token + " behind")
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[amber.Time]() {
				fill(v.Field(i), f.Name)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":["` + token + `"],"\u0067\u0068p_` + token[4:] + `":1}`))
			return
		}
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(v.Index(i), name)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]json.RawMessage]() {
			v.Set(reflect.ValueOf(map[string]json.RawMessage{token: []byte("1"), "password": []byte(`"hunter2abc"`), "x": []byte(`["` + token + `"]`)}))
			return
		}
		v.Set(reflect.ValueOf(map[string]string{token: "x", "password": "hunter2abc", "x": token}).Convert(v.Type()))
	}
}

// isID reports whether a field is an id, a word of a fixed list or set by the
// store.
func isID(name string) bool {
	return strings.HasSuffix(name, "ID") || slices.Contains([]string{
		"Kind", "Scope", "Reason", "Trust", "IdempotencyKey", "Role", "Binding", "Project", "Parent", "State", "Status", "Type", "Producer", "SchemaVersion", "Outcome",
		"Actor", "RequestedBy", "Digest", "ContentDigest", "Device", "Host", "Journal", "Session", "Boot", "Namespace", "NodeKind", "ErrorClass", "From", "To", "CompletedNodes", "Token",
	}, name)
}

func filled[T any](v T) T {
	fill(reflect.ValueOf(&v).Elem(), "")
	return v
}

// TestNothingWrittenHoldsASecret fills every text of every request with secrets
// and looks at everything the store says afterwards.
func TestNothingWrittenHoldsASecret(t *testing.T) {
	t.Parallel()
	s := intake.CleanAll(plainStore(t), redact.New())
	ctx, report := intake.WithReport(t.Context())
	long := filled(amber.WriteRequest{Scope: amber.ScopeGlobal, SourceRefs: []amber.SourceRef{{Kind: "url"}}})
	record := long
	record.Topic, record.ID, record.ContentDigest = "", "0190a000-0000-7000-8000-000000000001", amber.ContentDigest(long.Content)
	long.Recorded = amber.Recorded{}
	ack := must.Get(s.LongTerm.Write(ctx, long))(t)
	if ack.Redacted["github-token"] < 6 {
		t.Errorf("the answer says %v", ack.Redacted)
	}
	second := filled(amber.WriteRequest{Scope: amber.ScopeGlobal, Topic: "t", SourceRefs: []amber.SourceRef{{Kind: "url"}}})
	second.Recorded = amber.Recorded{}
	acks := must.Get(s.Batch.WriteBatch(ctx, []amber.WriteRequest{{Scope: amber.ScopeGlobal, Content: "plain"}, second}))(t)
	if acks[0].Redacted != nil || acks[1].Redacted == nil {
		t.Errorf("the answers say %v and %v", acks[0].Redacted, acks[1].Redacted)
	}
	edit := filled(amber.EditRequest{ID: acks[0].ID})
	edit.Kind = nil
	*edit.Content += " once more"
	must.Do(t, s.Concepts.SetConcepts(ctx, ack.ID, []string{token}))
	said := map[string]any{"memory": ack, "batch": acks, "record": must.Get(s.LongTerm.Write(ctx, record))(t)}
	said["edit"] = must.Get(s.Editor.Edit(ctx, edit))(t)
	said["concepts"] = must.Get(s.Concepts.Concepts(ctx, ack.ID))(t)
	said["session"] = must.Get(s.Sessions.StartSession(ctx, filled(amber.SessionStart{ID: "s", Name: token})))(t)
	said["rename"] = must.Get(s.Names.RenameSession(ctx, "s", token))(t)
	said["end"] = must.Get(s.Names.EndSession(ctx, filled(amber.SessionEnd{ID: "s"})))(t)
	said["turn"] = must.Get(s.Turns.AppendTurn(ctx, filled(amber.Turn{SessionID: "s", Role: amber.RoleUser})))(t)
	said["compaction"] = must.Get(s.Compactions.AddCompaction(ctx, filled(amber.Compaction{SessionID: "s"})))(t)
	said["state"] = must.Get(s.States.SaveState(ctx, "s", filled(json.RawMessage(nil)), 0))(t)
	said["document"] = must.Get(s.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "cursor", Document: filled(json.RawMessage(nil))}))(t)
	loop := filled(amber.LoopSave{SessionID: "s", RunID: "r"})
	loop.State = filled(json.RawMessage(nil))
	said["loop"] = must.Get(s.Loops.SaveLoop(ctx, loop))(t)
	by := amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Agent: token}}
	note, err := s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "before " + token, NoteBy: by})
	if err != nil && amber.KindOf(err) != amber.KindUnsupported {
		t.Fatal(err)
	}
	said["note"] = note
	task := amber.Task{ID: "t", SessionID: "s", State: amber.TaskQueued, CompletedNodes: []string{"n"}}
	said["task"] = must.Get(s.Tasks.SaveTask(ctx, filled(task), 0))(t)
	event := amber.TaskEvent{TaskID: "t", From: amber.TaskQueued, To: amber.TaskQueued, Reason: "for " + token, Result: `{"k":"` + token + `"}`}
	said["event"] = must.Get(s.Events.AppendEvent(ctx, event))(t)
	said["approval"] = must.Get(s.Approvals.RequestApproval(ctx, filled(amber.ApprovalRequest{ID: "a", TaskID: "t", NodeID: "n"})))(t)
	decision := amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: "ann", ClaimedBy: "me " + token, Comment: "use " + token}
	said["decision"] = must.Get(s.Approvals.DecideApproval(ctx, decision))(t)
	result := amber.Result{TaskID: "t", NodeID: "n", Producer: "p", Status: amber.ResultOK, Evidence: []amber.Evidence{{Kind: "log"}}}
	said["result"] = must.Get(s.Results.SaveResult(ctx, filled(result)))(t)
	must.Do(t, s.Queue.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: `{"\u0067hp_` + token[4:] + `":1}`}))
	claim := must.Get(s.Queue.Claim(ctx, "c"))(t)
	said["claim"] = claim
	must.Do(t, s.Queue.Nack(ctx, amber.Nack{Lease: claim.Lease, Reason: token}))
	must.Get(s.Ingest.Ingest(ctx, amber.Ingestion{
		Journal: strings.Repeat("a", 32), Host: "h", Session: "i", Through: 1, LastAt: amber.At(at),
		Steps: []amber.IngestStep{{
			Event: amber.EventRef{ID: strings.Repeat("b", 32)}, Start: amber.SessionStart{ID: "i"}, Turns: []amber.Turn{{SessionID: "i", Role: amber.RoleUser, Content: token}},
			Activity: []amber.Activity{{SessionID: "i", Kind: amber.ActivityCommand, Name: "curl " + token, Detail: token, Count: 1}},
			Memories: []amber.WriteRequest{{Scope: amber.ScopeGlobal, Content: "ingested " + token}}, End: &amber.SessionEnd{ID: "i", Summary: token},
		}},
	}))(t)
	said["turns"] = must.Get(amber.LastTurns(ctx, s.Turns, "i", 10))(t)
	said["activity"] = must.Get(s.Activities.ListActivity(ctx, "i", ""))(t)
	said["all"] = must.Get(s.Memories.List(ctx, amber.ListQuery{All: true}))(t)
	said["report"] = report.Counts()
	for name, v := range said {
		b := must.Get(json.Marshal(v))(t)
		if bytes.Contains(b, []byte(token[4:])) || bytes.Contains(b, []byte("hunter2abc")) {
			t.Errorf("%s holds a secret: %s", name, b)
		}
		if name != "note" && name != "report" && !bytes.Contains(b, []byte("[REDACTED:github-token]")) {
			t.Errorf("%s does not say that one was taken: %s", name, b)
		}
	}
	if report.Counts()["github-token"] < 30 {
		t.Errorf("counted %v", report.Counts())
	}
	must.Equal(t, "the caller's request", long.Tags[0], "before "+token+" behind")
}

// TestIdsThatHoldSecretsAreRefused: records are found by them, so they cannot be
// replaced. The error names the field and the rule, not the secret.
func TestIdsThatHoldSecretsAreRefused(t *testing.T) {
	t.Parallel()
	plain := plainStore(t)
	s := intake.CleanAll(plain, redact.New())
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"project id": func() error {
			_, err := s.LongTerm.Write(ctx, amber.WriteRequest{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: token}, Content: "x"})
			return err
		},
		"user id": func() error {
			_, err := s.Batch.WriteBatch(ctx, []amber.WriteRequest{{Scope: amber.ScopeUser, Identities: amber.Identities{UserID: token}, Content: "x"}})
			return err
		},
		"session id": func() error { return must.Err(s.Sessions.StartSession(ctx, amber.SessionStart{ID: token})) },
		"note name": func() error {
			return must.Err(s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "keys/" + token, Content: "x"}))
		},
		"entry id": func() error { return s.Queue.Publish(ctx, amber.Envelope{EntryID: token, TaskID: "t", NodeID: "n"}) },
	} {
		err := call()
		if amber.KindOf(err) != amber.KindInvalid || !strings.Contains(fmt.Sprint(err), "check "+name+": the value holds a secret (github-token=1)") || strings.Contains(err.Error(), token[4:]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Equal(t, "changes stored", must.Get(plain.Stats.Stats(ctx))(t).Changes, 0)
}

// A digest that never was one of the content is refused, whether or not the content
// holds a secret.
func TestADigestIsMadeAgainOnlyIfItWasRight(t *testing.T) {
	t.Parallel()
	s := intake.CleanAll(plainStore(t), redact.New())
	for _, content := range []string{"plain", "before " + token} {
		r := amber.WriteRequest{Content: content, Recorded: amber.Recorded{ID: "0190a000-0000-7000-8000-000000000001", ContentDigest: amber.ContentDigest("other")}}
		must.Kind(t, content, must.Err(s.LongTerm.Write(t.Context(), r)), amber.KindInvalid, "content_digest")
	}
	device := amber.WriteRequest{Content: "x", Recorded: amber.Recorded{
		ID: "0190a000-0000-7000-8000-000000000001", Origin: amber.Origin{Device: token, Counter: 1, Clock: 1},
	}}
	must.Kind(t, "a device that is a secret", must.Err(s.LongTerm.Write(t.Context(), device)), amber.KindInvalid, "device")
}
