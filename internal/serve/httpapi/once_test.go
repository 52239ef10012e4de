package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/wire"
)

// remembering is a rig that keeps answers in the database of a home.
func remembering(t testing.TB) (*rig, door) {
	t.Helper()
	var d door
	return newRig(t, func(r *rig, o *httpapi.Options) {
		d = newDoor(t, r.clock.Read)
		o.Answers = d
	}), d
}

func keyed(key string) http.Header { return servertest.Header("Idempotency-Key", key) }

func (r *rig) sessions() int {
	r.t.Helper()
	page := must.Get(r.store("acme/ada").Sessions.ListSessions(context.Background(), amber.SessionQuery{}))(r.t)
	return len(page.Items)
}

// Every change of the table, asked for twice with one key, is made once and
// answered twice with the same bytes.
func TestEveryChangeIsMadeOnce(t *testing.T) {
	t.Parallel()
	r, _ := remembering(t)
	key := func(i int) []string { return []string{"Idempotency-Key", fmt.Sprintf("key-%d", i)} }
	r.walkWith(key, func(o httpapi.Operation, s step, c call, a reply) {
		if !o.Mutates {
			return
		}
		changes := len(r.book.Entries(0))
		again := r.ask(c).want(a.status)
		if o.ID == "memory.write" { // the store remembers it itself
			must.Equal(t, o.ID, again.text("id"), a.text("id"))
			return
		}
		if o.ID == "token.create" { // a secret is shown once
			a.body = bytes.Replace(a.body, []byte(a.text("secret")), nil, 1)
		}
		if diff := cmp.Diff(string(a.body), string(again.body)); diff != "" || again.header.Get("Idempotent-Replayed") != "true" || a.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: %s %v", o.ID, diff, again.header)
		}
		must.Equal(t, o.ID+": ETag", again.header.Get("ETag"), a.header.Get("ETag"))
		must.Equal(t, o.ID+": entries of the audit log", len(r.book.Entries(0)), changes)
		if o.HasBody { // the same key for something else
			c.body += " "
			r.ask(c).failed(amber.KindConflict)
		}
	})
}

func TestKeysAreOfOneAgentAndOperation(t *testing.T) {
	t.Parallel()
	r, d := remembering(t)
	start := call{method: "POST", path: "sessions", body: `{}`, header: keyed("k")}
	first := r.ask(start).want(200)
	for path, replayed := range map[string]bool{"sessions": true, "/v1/tenants/acme/agents/bob/sessions": false} {
		c := start
		c.path = path
		must.Equal(t, path+" was replayed", r.ask(c).want(200).header.Get("Idempotent-Replayed") == "true", replayed)
	}
	r.ask(call{method: "POST", path: "results", header: keyed("k"), body: `{"task_id":"t","node_id":"n","producer":"p","status":"ok"}`}).want(200)
	// A read takes no notice; a key that is not valid is an error, also two of them.
	r.ask(call{method: "GET", path: "sessions", header: keyed("k")}).want(200)
	for _, h := range []http.Header{keyed(strings.Repeat("k", 300)), servertest.Header("Idempotency-Key", "a", "Idempotency-Key", "b")} {
		r.ask(call{method: "POST", path: "sessions", body: `{}`, header: h}).failed(amber.KindInvalid)
		r.ask(call{method: "POST", path: "memories", body: `{"content":"x"}`, header: h}).failed(amber.KindInvalid)
	}
	r.ask(call{method: "POST", path: "memories", body: `{"content":"x","idempotency_key":"a"}`, header: keyed("b")}).failed(amber.KindInvalid)
	// A caller may try a request that failed again with the same key.
	fails := call{method: "POST", path: "sessions/none/select", header: keyed("s")}
	r.ask(fails).failed(amber.KindNotFound)
	r.ask(fails).failed(amber.KindNotFound)
	// An erasure takes the answers along.
	must.Do(t, d.ForgetAnswers(t.Context(), "acme", "ada"))
	r.ask(start).failed(amber.KindConflict)
	if first.text("id") == "" || r.sessions() != 1 {
		t.Errorf("%d sessions", r.sessions())
	}
}

// TestARetryDoesNotUndoAnErasure sends a write, a batch and a turn again with their
// keys after the text was erased: nothing of it comes back.
func TestARetryDoesNotUndoAnErasure(t *testing.T) {
	t.Parallel()
	r, d := remembering(t)
	write := call{method: "POST", path: "memories", body: `{"content":"the secret"}`, header: keyed("one")}
	batch := call{method: "POST", path: "memories/batch", body: `{"items":[{"content":"the other secret"}]}`, header: keyed("many")}
	turn := call{method: "POST", path: "sessions/s/turns", body: `{"id":"t1","role":"user","content":"it was: the secret"}`, header: keyed("turn")}
	one := r.ask(write).want(http.StatusCreated).text("id")
	many := r.ask(batch).want(http.StatusOK).text("items.0.id")
	r.ask(turn).want(http.StatusOK)
	for _, id := range []string{one, many} {
		r.ask(call{method: "POST", path: "memories/" + id + "/erase"}).want(http.StatusOK)
	}
	must.Do(t, d.ForgetAnswers(t.Context(), "acme", "ada"))
	for _, c := range []call{write, batch, turn} {
		must.Hides(t, c.path, string(r.ask(c).failed(amber.KindConflict).body), "secret")
	}
	must.Equal(t, "memories that a retry has brought back",
		len(r.ask(call{method: "GET", path: "memories?all=true"}).field("items").([]any)), 0)
	must.Equal(t, "turns that a retry has brought back", len(must.Get(amber.LastTurns(t.Context(), r.store("acme/ada").Turns, "s", 10))(t)), 0)
}

func TestNobodyRemembers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ask(call{method: "POST", path: "sessions", body: `{}`, header: keyed("k")}).failed(amber.KindUnsupported)
	r.ask(call{method: "POST", path: "memories", body: `{"content":"x"}`, header: keyed("k")}).want(201)
	must.Equal(t, "sessions", r.sessions(), 0)
}

// Many requests at once with one key have one effect. Each gets the answer, or the error that the answer is being
// made.
func TestOneKeyAtTheSameTime(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r, _ := remembering(t)
	var wg sync.WaitGroup
	ids := make([]string, 24)
	for i := range ids {
		wg.Go(func() {
			a := r.ask(call{method: "POST", path: "sessions", body: `{}`, header: keyed("k")})
			if a.status == http.StatusOK {
				ids[i] = a.text("id")
				return
			}
			a.failed(amber.KindBusy)
		})
	}
	wg.Wait()
	last := r.ask(call{method: "POST", path: "sessions", body: `{}`, header: keyed("k")}).want(200).text("id")
	for _, id := range ids {
		if id != "" && id != last {
			t.Errorf("%s and %s", id, last)
		}
	}
	must.Equal(t, "sessions", r.sessions(), 1)
}

// dying keeps no answer: as if the process were killed in between.
type dying struct{ door }

func (dying) FinishAnswer(context.Context, wire.AnswerKey, int, []byte) error { return nil }

// A process died between the change and its answer. The next process does a change again where that is harmless; of
// any other change it says that the outcome is not known.
func TestKeysOfAProcessThatDied(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home.db")
	open := func(c amber.Clock) door {
		db := must.Get(ledger.Open(context.Background(), path, ledger.Options{Clock: c, Random: rand.Reader}))(t)
		return door{db, t}
	}
	var before, after door
	first := newRig(t, func(r *rig, o *httpapi.Options) {
		before = open(r.clock.Read)
		o.Answers = dying{before}
	})
	once := call{method: "POST", path: "sessions", body: `{}`, header: keyed("once")}
	twice := call{method: "POST", path: "sessions", body: `{"id":"s"}`, header: keyed("twice")}
	first.ask(once).want(200)
	first.ask(twice).want(200)
	first.ask(once).failed(amber.KindConflict) // the same where only the answer could not be kept
	must.Do(t, before.Close())
	second := newRig(t, func(r *rig, o *httpapi.Options) {
		after = open(r.clock.Read)
		o.Answers = after
	})
	t.Cleanup(func() { must.NoError(t, after.Close()) })
	a := second.ask(once).failed(amber.KindConflict)
	must.Says(t, "body", string(a.body), "not known", "hint")
	second.ask(twice).want(200)
	must.Equal(t, "replayed", second.ask(twice).want(200).header.Get("Idempotent-Replayed"), "true")
}

// forgetful starts sessions, and does not know whether it did.
type forgetful struct{ amber.Sessions }

func (l forgetful) StartSession(ctx context.Context, r amber.SessionStart) (amber.Session, error) {
	if _, err := l.Sessions.StartSession(ctx, r); err != nil {
		return amber.Session{}, err
	}
	return amber.Session{}, amber.Errorf(amber.KindUnreachable, "start session", "", "the database did not answer: %w", amber.ErrUnknownOutcome)
}

// A write may have been made although the database did not answer: the same key does not make it a second time.
func TestKeysOfAWriteWithAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	r, _ := remembering(t)
	a := r.agents["acme/ada"]
	whole := a.Store.Sessions
	a.Store.Sessions = forgetful{whole}
	once := call{method: "POST", path: "sessions", body: `{}`, header: keyed("once")}
	twice := call{method: "POST", path: "sessions", body: `{"id":"s"}`, header: keyed("twice")}
	r.ask(once).failed(amber.KindUnreachable)
	r.ask(twice).failed(amber.KindUnreachable)
	a.Store.Sessions = whole
	must.Says(t, "body", string(r.ask(once).want(http.StatusConflict).body), "not known", "hint")
	r.ask(twice).want(200) // starting it twice is starting it once
	must.Equal(t, "sessions", r.sessions(), 2)
}

// A change that could not be written down is not acknowledged, and a request with the same key does not make it
// twice.
func TestKeysWhileTheAuditLogIsDeaf(t *testing.T) {
	t.Parallel()
	r, _ := remembering(t)
	start := call{method: "POST", path: "sessions", body: `{}`, header: keyed("k")}
	r.book.Break(errors.New("the disk is full"))
	r.ask(start).failed(amber.KindInternal)
	r.book.Break(nil)
	a := r.ask(start)
	if a.status != http.StatusConflict || a.header.Get("Idempotent-Replayed") != "true" || !strings.Contains(string(a.body), "audit log") {
		t.Errorf("%d %s", a.status, a.body)
	}
	must.Equal(t, "sessions", r.sessions(), 1)
}

// An answer that is not kept: the server does the request again where that changes nothing. It does not where
// others may have changed the record meanwhile: doing it again would undo their change.
func TestKeysWhoseAnswerIsNotKept(t *testing.T) {
	t.Parallel()
	r, d := remembering(t)
	large := strings.Repeat("a", 1<<20)
	turn := call{method: "POST", path: "sessions/s/turns", body: `{"id":"t1","role":"user","content":"hello"}`, header: keyed("turn")}
	note := call{method: "PUT", path: "notes/n", body: `{"content":"first"}`, header: keyed("note")}
	result := call{method: "POST", path: "results", body: `{"task_id":"t","node_id":"n","producer":"p","status":"ok","payload":"` + large + `"}`, header: keyed("result")}
	r.ask(turn).want(200)
	r.ask(note).want(200)
	r.ask(result).want(200)
	r.ask(result).failed(amber.KindConflict) // its answer was too large
	must.Do(t, d.ForgetAnswers(t.Context(), "acme", "ada"))
	r.ask(call{method: "PUT", path: "notes/n", body: `{"content":"of another"}`}).want(200)
	a := r.ask(turn).want(200)
	must.Equal(t, "id", a.text("id"), "t1")
	must.Equal(t, "content", a.text("content"), "hello")
	r.ask(note).failed(amber.KindConflict)
	must.Equal(t, "the note", r.ask(call{method: "GET", path: "notes/n"}).text("content"), "of another")
	turns := must.Get(amber.LastTurns(t.Context(), r.store("acme/ada").Turns, "s", 10))(t)
	must.Equal(t, "turns", len(turns), 1)
	must.Do(t, must.Err(r.store("acme/ada").Eraser.Erase(t.Context(), r.remember("hello").ID)))
	r.ask(turn).failed(amber.KindConflict)
	must.Equal(t, "erased turns that came back", len(must.Get(amber.LastTurns(t.Context(), r.store("acme/ada").Turns, "s", 10))(t)), 0)
	turn.body = strings.Replace(turn.body, "hello", "other", 1)
	r.ask(turn).failed(amber.KindConflict) // another request is still another one
}
