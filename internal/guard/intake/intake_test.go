package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

// cleaned are the contracts through which texts are written, and unclean those
// that are left as they are, with the reason.
var (
	cleaned = []string{
		"LongTerm", "Batch", "Editor", "Relations", "Concepts", "Compactions", "Turns", "Loops", "Sessions", "Names", "States", "Documents", "Ingest", "Notes",
		"Tasks", "Events", "Approvals", "Results", "Queue",
	}
	unclean = map[string]string{
		"Memories": "reads", "Stats": "reads", "Changes": "reads", "ControlChanges": "reads", "Activities": "reads", "NoteLog": "reads",
		"Eraser": "takes ids", "Active": "takes ids", "QueueKeeper": "takes leases",
		"Sync": "brings what was written elsewhere",
	}
)

// TestEveryContractIsDecidedAbout: a new part of a store is either cleaned or
// needs no cleaning, and its author has listed which.
func TestEveryContractIsDecidedAbout(t *testing.T) {
	t.Parallel()
	plain := plainStore(t)
	clean := intake.CleanAll(plain, redact.New())
	was, is := reflect.ValueOf(plain.Parts), reflect.ValueOf(clean.Parts)
	for i := range was.NumField() {
		name := was.Type().Field(i).Name
		if was.Field(i).Kind() != reflect.Interface { // no contract
			continue
		}
		_, left := unclean[name]
		if slices.Contains(cleaned, name) == left {
			t.Errorf("%s: say in this test whether it is cleaned, and clean it", name)
		}
		same := was.Field(i).Elem().Type() == is.Field(i).Elem().Type()
		if same == slices.Contains(cleaned, name) {
			t.Errorf("%s is wrapped: %v", name, !same)
		}
	}
	if off := intake.CleanAll(plain, nil); !reflect.DeepEqual(off.Parts, plain.Parts) {
		t.Error("without rules something is wrapped")
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
	note, err := s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "before " + token})
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
