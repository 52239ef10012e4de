package intake_test

import (
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

// TestEveryStringOfARequestIsTagged: the author of a new field of a request or of a memory says in its tag whether it is
// cleaned, and the author of a new method gives it a request or says here why it needs none.
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
	untagged(t, "memory", reflect.TypeFor[amber.SyncMemory]()) // it leaves, and comes from elsewhere
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

// TestAnswersSayWhatWasTaken: an answer counts what was taken out of its own request, and the request of the caller stays.
func TestAnswersSayWhatWasTaken(t *testing.T) {
	t.Parallel()
	s := intake.CleanAll(plainStore(t), redact.New())
	ctx, report := intake.WithReport(t.Context())
	r := amber.WriteRequest{Content: "before " + token, Tags: []string{token}, Title: "[" + token + "]"}
	must.Equal(t, "taken out of one", must.Get(s.LongTerm.Write(ctx, r))(t).Redacted, map[string]int{"github-token": 3})
	must.Equal(t, "the caller's request", r.Tags[0], token)
	acks := must.Get(s.Batch.WriteBatch(ctx, []amber.WriteRequest{{Content: "plain"}, {Content: "other " + token}}))(t)
	must.Equal(t, "taken out of two", []map[string]int{acks[0].Redacted, acks[1].Redacted}, []map[string]int{nil, {"github-token": 1}})
	must.Equal(t, "the report", report.Counts(), map[string]int{"github-token": 4})
	stored := must.Get(s.Memories.Get(ctx, acks[1].ID))(t)
	must.Equal(t, "stored", stored.Content, "other [REDACTED:github-token]")
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
