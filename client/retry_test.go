package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	someID  amber.MemoryID = "019cebae-61e8-7b5a-b897-9786d680bdae"
	otherID amber.MemoryID = "019cebae-61e8-7b5a-b897-9786d680bdaf"
)

// unkept is an HTTP client that uses every connection once, so that nothing is
// sent again behind the back of a test.
func unkept() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

func TestOnlyWhatMayBeDoneTwiceIsTriedAgain(t *testing.T) {
	t.Parallel()
	text := "text"
	journal := strings.Repeat("0", 32)
	type deeds map[string]func() error
	again := func(ctx context.Context, s amber.Store) deeds {
		return deeds{
			"get memory": func() error { return must.Err(s.Memories.Get(ctx, someID)) },
			"recall":     func() error { return must.Err(s.LongTerm.Recall(ctx, amber.Query{})) },
			"load turns": func() error { return must.Err(amber.LastTurns(ctx, s.Turns, "s", 1)) },
			"forget":     func() error { return s.LongTerm.Delete(ctx, someID) },
			"write by key": func() error {
				return must.Err(s.LongTerm.Write(ctx, amber.WriteRequest{Content: "x", IdempotencyKey: "k"}))
			},
			"relate": func() error {
				return must.Err(s.Relations.Relate(ctx, amber.Relation{From: someID, To: otherID, Type: "related"}))
			},
			"unrelate":         func() error { return s.Relations.Unrelate(ctx, "r") },
			"set concepts":     func() error { return s.Concepts.SetConcepts(ctx, someID, nil) },
			"start by id":      func() error { return must.Err(s.Sessions.StartSession(ctx, amber.SessionStart{ID: "s"})) },
			"end":              func() error { return must.Err(s.Names.EndSession(ctx, amber.SessionEnd{ID: "s"})) },
			"rename":           func() error { return must.Err(s.Names.RenameSession(ctx, "s", "n")) },
			"select":           func() error { return must.Err(s.Active.SelectSession(ctx, "s")) },
			"delete session":   func() error { return s.Sessions.DeleteSession(ctx, "s") },
			"turn by id":       func() error { return must.Err(s.Turns.AppendTurn(ctx, turn("t"))) },
			"compaction by id": func() error { return must.Err(s.Compactions.AddCompaction(ctx, summary("c"))) },
			"delete state":     func() error { return s.States.DeleteState(ctx, "s") },
			"clear loop":       func() error { return s.Loops.ClearLoop(ctx, "s", "r") },
			"write note":       func() error { return must.Err(s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "x"})) },
			"delete note":      func() error { return s.Notes.DeleteNote(ctx, "n", amber.NoteBy{}) },
		}
	}
	once := func(ctx context.Context, s amber.Store) deeds {
		return deeds{
			"write":        func() error { return must.Err(s.LongTerm.Write(ctx, amber.WriteRequest{Content: "x"})) },
			"write batch":  func() error { return must.Err(s.Batch.WriteBatch(ctx, []amber.WriteRequest{{Content: "x"}})) },
			"edit":         func() error { return must.Err(s.Editor.Edit(ctx, amber.EditRequest{ID: someID, Content: &text})) },
			"start":        func() error { return must.Err(s.Sessions.StartSession(ctx, amber.SessionStart{})) },
			"turn":         func() error { return must.Err(s.Turns.AppendTurn(ctx, turn(""))) },
			"delete turns": func() error { return must.Err(s.Turns.DeleteTurns(ctx, "s")) },
			"compaction":   func() error { return must.Err(s.Compactions.AddCompaction(ctx, summary(""))) },
			"save state":   func() error { return must.Err(s.States.SaveState(ctx, "s", []byte(`1`), 0)) },
			"save loop": func() error {
				return must.Err(s.Loops.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`1`)}))
			},
			"ingest": func() error {
				return must.Err(s.Ingest.Ingest(ctx, amber.Ingestion{Journal: journal, Host: "h", Session: "s", Through: 1}))
			},
		}
	}
	for want, of := range map[int64]func(context.Context, amber.Store) deeds{1: once, 3: again} {
		for name := range of(t.Context(), amber.Store{}) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var requests atomic.Int64
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					reset(w, r)
				}))
				defer srv.Close()
				s := contracts(t, client.Options{URL: srv.URL, Attempts: 3, HTTP: unkept()})
				must.Kind(t, "", of(t.Context(), s)[name](), amber.KindUnreachable)
				must.Equal(t, "requests", requests.Load(), want)
			})
		}
	}
}

func turn(id amber.TurnID) amber.Turn {
	return amber.Turn{ID: id, SessionID: "s", Role: amber.RoleUser, Content: "x"}
}

func summary(id string) amber.Compaction {
	return amber.Compaction{ID: id, SessionID: "s", Summary: "x"}
}

func TestTryingAgainSucceedsAndWaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			reset(w, r)
		case 2:
			says(502, "text/html", "<html>bad gateway</html>")(w, r)
		case 3:
			failed(amber.KindUnreachable)(w, r)
		default:
			says(200, "application/json", `{"items":[]}`)(w, r)
		}
	}))
	defer srv.Close()
	var waits []time.Duration
	s := contracts(t, client.Options{
		URL: srv.URL, Backoff: time.Millisecond, HTTP: unkept(),
		Wait: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
	})
	must.NoError(t, calls["list"](t.Context(), s))
	must.Equal(t, "pauses", waits, []time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond})
}

func TestAnAnswerIsNeverAskedForTwice(t *testing.T) {
	t.Parallel()
	for _, k := range amber.Kinds() {
		if k == amber.KindUnreachable {
			continue
		}
		var requests atomic.Int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			failed(k)(w, r)
		}))
		s := contracts(t, client.Options{URL: srv.URL, HTTP: unkept()})
		must.Kind(t, "", calls["list"](t.Context(), s), k)
		must.Equal(t, string(k)+": requests", requests.Load(), 1)
		srv.Close()
	}
}

// A request that never left this machine was not done, so even a write without an id is tried again.
func TestWhatWasNeverSentIsTriedAgain(t *testing.T) {
	t.Parallel()
	served := serveStore(t, newStore(t))
	failures := 2
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if failures > 0 {
			failures--
			return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("nobody is there")}
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	s := contracts(t, client.Options{URL: served.url, HTTP: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}})
	must.Do(t, must.Err(s.Turns.AppendTurn(t.Context(), turn(""))))
	must.Equal(t, "turns", len(must.Get(amber.LastTurns(t.Context(), s.Turns, "s", 10))(t)), 1)
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		reset(w, r)
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s := contracts(t, client.Options{URL: srv.URL, HTTP: unkept(), Wait: func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}})
	must.Kind(t, "", calls["read"](ctx, s), amber.KindUnreachable)
	must.Equal(t, "requests", requests.Load(), 1)
}

// A change that another client made while an answer was lost stays: the server knows the repeated request by
// its key.
func TestALostAnswerUndoesNothing(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	served := serveStore(t, store)
	direct := contracts(t, client.Options{URL: served.url})
	lost := &losing{then: func() {
		must.NoError(t, must.Err(direct.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: "of another"})))
	}}
	s := contracts(t, client.Options{URL: served.url, HTTP: &http.Client{Transport: lost}})
	lost.next.Store(true)
	must.Do(t, must.Err(s.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: "mine"})))
	must.Equal(t, "the note", must.Get(store.Notes.ReadNote(t.Context(), "n"))(t).Content, "of another")
	lost.next.Store(true)
	lost.then = func() {}
	must.Kind(t, "deleting what is there", s.Notes.DeleteNote(t.Context(), "n", amber.NoteBy{}), "")
}

// losing loses the answer to the next request.
type losing struct {
	next atomic.Bool
	then func() // is done before the caller is told
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !l.next.CompareAndSwap(true, false) {
		return resp, err
	}
	_ = resp.Body.Close()
	l.then()
	return nil, errors.New("the connection was lost")
}

// A request that is still being answered when it comes again is waited for.
func TestARequestThatIsStillAnsweredIsWaitedFor(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	var keys sync.Map
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys.Store(r.Header.Get("Idempotency-Key"), true)
		switch requests.Add(1) {
		case 1:
			reset(w, r)
		case 2:
			failed(amber.KindBusy)(w, r)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer srv.Close()
	s := contracts(t, client.Options{URL: srv.URL, Backoff: time.Millisecond, HTTP: unkept()})
	must.NoError(t, s.Notes.DeleteNote(t.Context(), "n", amber.NoteBy{}))
	n := 0
	keys.Range(func(k, _ any) bool { n++; return k != "" })
	must.Equal(t, "keys", n, 1)
}
