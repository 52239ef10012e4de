package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// dial opens a connection that is closed with the test.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(r.url, "http://")))(r.t)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// half sends the head of a request to write a memory, and a part of its body.
func (r *rig) half(declared int, part string) net.Conn {
	r.t.Helper()
	c := r.dial()
	must.Get(fmt.Fprintf(c, "POST %s/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\nContent-Length: %d\r\n\r\n%s", adaPath, declared, part))(r.t)
	return c
}

func (r *rig) answerOf(c net.Conn) reply {
	r.t.Helper()
	resp := must.Get(http.ReadResponse(bufio.NewReader(c), nil))(r.t)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(r.t)
	return reply{r.t, resp.StatusCode, resp.Header, b}
}

// The server does not wait for a body that does not arrive, and does not take one that ends before its length for
// the whole.
func TestBodiesThatDoNotCome(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Timeout = 200 * time.Millisecond })
	slow := r.half(100, `{"content":"half`)
	short := r.half(100, `{"content":"whole"}`)
	must.Do(t, short.(*net.TCPConn).CloseWrite())
	r.answerOf(short).failed(amber.KindInvalid)
	r.answerOf(slow).failed(amber.KindInvalid)
	if _, err := slow.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 0)
}

// Thousands of idle connections do not keep other callers out.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	r.remember("still here")
	for i := range 2000 {
		r.dial()
		if i%500 == 0 {
			r.ask(call{method: "GET", path: "memories"}).want(200)
		}
	}
	must.Equal(t, "content", r.ask(call{method: "GET", path: "memories"}).want(200).text("items.0.content"), "still here")
	if peak := r.conns.peak.Load(); peak > int64(r.most)+1 { // one waits at the door
		t.Errorf("%d connections at one time, want at most %d", peak, r.most)
	}
}

// gate is a long-term memory that lets a test in between.
type gate struct {
	amber.LongTerm
	entered chan struct{}
	write   func(ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error)
}

func (g gate) Write(ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error) {
	g.entered <- struct{}{}
	return g.write(ctx, w)
}

// gated puts a gate before ada's memory.
func (r *rig) gated(write func(own amber.LongTerm, ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error)) gate {
	own := r.agents["acme/ada"].Store.LongTerm
	g := gate{own, make(chan struct{}, 64), func(ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error) { return write(own, ctx, w) }}
	r.agents["acme/ada"].Store.LongTerm = g
	return g
}

// Where no connection is idle, a new caller waits for a place and gets it.
func TestBusyConnectionsAreWaitedFor(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t, func(r *rig, _ *httpapi.Options) { r.most = 2 })
	goOn := make(chan struct{})
	g := r.gated(func(own amber.LongTerm, ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error) {
		<-goOn
		return own.Write(ctx, w)
	})
	results := make(chan int, 2)
	for i := range 2 {
		go func() {
			resp, err := r.do.Do(r.request(context.Background(), call{method: "POST", path: "memories", body: fmt.Sprintf(`{"content":"%d"}`, i)}))
			if err != nil {
				t.Error(err)
				results <- 0
				return
			}
			_ = resp.Body.Close()
			results <- resp.StatusCode
		}()
		<-g.entered // a place is taken
	}
	body := `{"content":"third"}`
	third := r.half(len(body), body)
	close(goOn)
	for range 2 {
		must.Equal(t, "status", <-results, http.StatusCreated)
	}
	r.answerOf(third).want(201)
	if peak := r.conns.peak.Load(); peak > 3 {
		t.Errorf("%d connections at one time", peak)
	}
}

// A caller goes while a write is made: it is whole or it is not there, and the
// audit log says which.
func TestCallersWhoGoHalfWay(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	for name, c := range map[string]struct {
		write   func(own amber.LongTerm, ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error)
		outcome string
		stored  int
	}{
		"before it is stored": {func(own amber.LongTerm, ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error) {
			<-ctx.Done()
			return own.Write(ctx, w)
		}, "unreachable", 0},
		"when it cannot be undone": {func(own amber.LongTerm, ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error) {
			<-ctx.Done()
			return own.Write(context.WithoutCancel(ctx), w)
		}, "ok", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.book.Told = make(chan wire.AuditEntry, 1)
			g := r.gated(c.write)
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan error, 1)
			go func() {
				resp, err := r.do.Do(r.request(ctx, call{method: "POST", path: "memories", body: `{"content":"half"}`}))
				if err == nil {
					_ = resp.Body.Close()
				}
				over <- err
			}()
			<-g.entered
			cancel()
			if err := <-over; err == nil {
				t.Error("there was an answer")
			}
			e := <-r.book.Told
			must.Equal(t, "outcome", e.Outcome, c.outcome)
			must.Equal(t, "action", e.Action, "memory.write")
			page := must.Get(r.store("acme/ada").Memories.List(t.Context(), amber.ListQuery{All: true}))(t)
			must.Equal(t, "memories", len(page.Items), c.stored)
		})
	}
}

// A caller that goes while the body is sent has asked for nothing.
func TestCallersWhoGoWhileTheySpeak(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	over := make(chan int, 1)
	r := newRig(t, func(_ *rig, o *httpapi.Options) {
		o.Observe = func(_, _ string, status int, _ time.Duration, _, _ int64) { over <- status }
	})
	must.Do(t, r.half(100, `{"content":"x"}`).Close())
	if status := <-over; status < 400 {
		t.Errorf("status %d", status)
	}
	must.Equal(t, "agents opened", r.openings(), 0)
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 0)
}

// The server gives up a request that takes too long, and the caller gets an error.
func TestWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Timeout = 100 * time.Millisecond })
	r.gated(func(own amber.LongTerm, ctx context.Context, w amber.WriteRequest) (amber.WriteAck, error) {
		<-ctx.Done()
		return own.Write(ctx, w)
	})
	r.ask(call{method: "POST", path: "memories", body: `{"content":"x"}`}).failed(amber.KindUnreachable)
	if e := r.book.Entries(0); len(e) != 1 || e[0].Outcome != "unreachable" {
		t.Errorf("the audit log says %+v", e)
	}
}

// A bug in one request is that one's failure, and the next is served.
func TestABugIsOneRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.gated(func(amber.LongTerm, context.Context, amber.WriteRequest) (amber.WriteAck, error) { panic("a bug") })
	a := r.ask(call{method: "POST", path: "memories", body: `{"content":"x"}`}).failed(amber.KindInternal)
	must.Hides(t, "body", string(a.body), "a bug\"", "goroutine")
	r.ask(call{method: "GET", path: "memories"}).want(200)
}

// A caller that does not read the answer of a route about no agent is cut off as soon as on any other route.
func TestOpenRoutesDoNotWaitForCallersWhoDoNotRead(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	over := make(chan error, 1)
	r := newRig(t, func(_ *rig, o *httpapi.Options) {
		o.Timeout = 50 * time.Millisecond
		o.Metrics = func(w http.ResponseWriter, _ *http.Request, _ op.Caller) {
			part := make([]byte, 1<<20)
			for {
				if _, err := w.Write(part); err != nil {
					over <- err
					return
				}
			}
		}
	})
	must.Do(t, must.Err(fmt.Fprint(r.dial(), "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\n\r\n")))
	must.Is(t, "", <-over, os.ErrDeadlineExceeded)
}

// A listing without pages has a bound, and lines have none.
func TestTheLastTurnsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const n = amber.MaxPageSize + 5
	for i := range n {
		must.Get(r.store("acme/ada").Turns.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: fmt.Sprint("turn ", i)}))(t)
	}
	lines := servertest.Header("Accept", "application/x-ndjson")
	for _, c := range []struct {
		query  string
		header http.Header
		want   int
	}{
		{"", nil, amber.DefaultPageSize},
		{"?limit=0", nil, 0},
		{"?limit=7", nil, 7},
		{"?limit=2147483647", nil, amber.MaxPageSize},
		{"", lines, n},
		{"?limit=3", lines, 3},
		{"?limit=2147483647", lines, n},
	} {
		a := r.ask(call{method: "GET", path: "sessions/s/turns" + c.query, header: c.header}).want(200)
		got := strings.Count(string(a.body), `"content"`)
		if got != c.want || c.want > 0 && !strings.Contains(string(a.body), fmt.Sprintf(`"turn %d"`, n-1)) {
			t.Errorf("%q with %v: %d turns, want the last %d", c.query, c.header, got, c.want)
		}
		if want := fmt.Sprintf(`"turn %d"`, n-c.want); c.want > 0 && strings.Index(string(a.body), want) != strings.Index(string(a.body), `"turn `) {
			t.Errorf("%q with %v: the first is not %s", c.query, c.header, want)
		}
	}
	r.ask(call{method: "GET", path: "sessions/s/turns?limit=-1"}).failed(amber.KindInvalid)
	r.ask(call{method: "GET", path: "sessions/s/turns?limit=-1", header: lines}).failed(amber.KindInvalid)
}

// lastNote is a history of notes that sends the limits it was asked with.
type lastNote struct {
	amber.NoteLog
	asked chan int
}

func (l lastNote) LogNote(_ context.Context, _ string, limit int) ([]amber.NoteCommit, error) {
	l.asked <- limit
	return nil, nil
}

func TestTheHistoryOfANoteIsBounded(t *testing.T) {
	t.Parallel()
	l := lastNote{asked: make(chan int, 1)}
	r := newRig(t, func(r *rig, _ *httpapi.Options) { r.agents["acme/ada"].Store.NoteLog = l })
	for query, want := range map[string]int{"": amber.DefaultPageSize, "?limit=9": 9, "?limit=999999999": amber.MaxPageSize} {
		r.ask(call{method: "GET", path: "notes/n/log" + query}).want(200)
		must.Equal(t, query, <-l.asked, want)
	}
}

// Change logs are read on by cursor as any listing, or behind a position.
func TestChangesTakeACursor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 5 {
		r.remember(fmt.Sprint("memory ", i))
	}
	first := r.ask(call{method: "GET", path: "changes?limit=2"}).want(200).text("next")
	byCursor := r.ask(call{method: "GET", path: "changes?limit=2&cursor=" + first}).want(200)
	after := r.ask(call{method: "GET", path: "changes?limit=2&after=" + first}).want(200)
	both := r.ask(call{method: "GET", path: "changes?limit=2&after=" + first + "&cursor=" + first}).want(200)
	if string(byCursor.body) != string(after.body) || string(both.body) != string(after.body) || after.text("items.0.position") == "" || after.text("next") == first {
		t.Errorf("%s and %s and %s", byCursor.body, after.body, both.body)
	}
	r.ask(call{method: "GET", path: "changes?cursor=" + first + "&after=" + after.text("next")}).failed(amber.KindInvalid)
	r.ask(call{method: "GET", path: "changes?cursor=x"}).failed(amber.KindInvalid)
	lines := r.ask(call{method: "GET", path: "changes?cursor=" + first, header: servertest.Header("Accept", "application/x-ndjson")}).want(200)
	must.Equal(t, "lines behind the second of five", strings.Count(string(lines.body), "\n"), 3)
}
