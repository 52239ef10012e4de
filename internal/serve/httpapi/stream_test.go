package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/wire"
)

// heard is an event of a stream.
type heard struct{ name, id, data string }

// ear listens to an event stream.
type ear struct {
	t     testing.TB
	resp  *http.Response
	lines *bufio.Scanner
}

// listen opens a stream; it is closed with the test.
func (r *rig) listen(c call) *ear {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	c.method, c.path = "GET", "events"+c.path
	resp := must.Get(r.do.Do(r.request(ctx, c)))(r.t)
	r.t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		r.t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	e := &ear{r.t, resp, bufio.NewScanner(resp.Body)}
	e.lines.Buffer(nil, 4<<20)
	return e
}

// next is the next event; false at the end.
func (e *ear) next() (h heard, ok bool) {
	for e.lines.Scan() {
		switch name, value, _ := strings.Cut(e.lines.Text(), ": "); name {
		case "event":
			h.name = value
		case "id":
			h.id = value
		case "data":
			h.data = value
		case "":
			if h.name != "" {
				return h, true
			}
		}
	}
	return h, false
}

func (e *ear) must() heard {
	e.t.Helper()
	h, ok := e.next()
	if !ok {
		e.t.Fatalf("the stream is over: %v", e.lines.Err())
	}
	return h
}

// over reads until the stream ends.
func (e *ear) over() (n int) {
	e.t.Helper()
	for {
		if _, ok := e.next(); !ok {
			return n
		}
		n++
	}
}

// changed are the events that the change logs of ada ask for, by log.
func (r *rig) changed() (memory, control []string) {
	r.t.Helper()
	s := r.store("acme/ada")
	for _, log := range []struct {
		from amber.ChangeLog
		to   *[]string
	}{{s.Changes, &memory}, {s.ControlChanges, &control}} {
		changes := must.Get(log.from.Changes(context.Background(), "", 1000))(r.t)
		for _, c := range changes {
			*log.to = append(*log.to, events.MutationEvent("", "acme", "ada", c).ID)
		}
	}
	return memory, control
}

// told collects n events of the stream.
func (e *ear) told(n int) (all []events.Event) {
	e.t.Helper()
	for range n {
		h := e.must()
		var ev events.Event
		must.Do(e.t, json.Unmarshal([]byte(h.data), &ev))
		if h.name != string(events.EventMutated) || ev.Name != events.EventMutated || ev.Tenant != "acme" || ev.Agent != "ada" {
			e.t.Errorf("got %+v", h)
		}
		all = append(all, ev)
	}
	return all
}

// The stream has an event for every change that any operation makes, in the order of its log, and never the text.
func TestEveryMutationIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := r.listen(call{})
	r.walk(func(httpapi.Operation, step, reply) {})
	memory, control := r.changed()
	if len(memory) < 20 || len(control) < 8 {
		t.Fatalf("only %d and %d changes", len(memory), len(control))
	}
	left := map[string]int{} // where an event stands in its log
	for _, log := range [][]string{memory, control} {
		for i, id := range log {
			left[id] = i
		}
	}
	var gotMemory, gotControl []string
	for _, ev := range e.told(len(memory) + len(control)) {
		if i := left[ev.ID]; i < len(memory) && memory[i] == ev.ID {
			gotMemory = append(gotMemory, ev.ID)
		} else {
			gotControl = append(gotControl, ev.ID)
		}
		b, _ := json.Marshal(ev)
		must.Hides(t, "the event", string(b), "PostgreSQL")
	}
	must.Equal(t, "", gotMemory, memory)
	must.Equal(t, "", gotControl, control)
}

// A listener who goes after any number of events and comes back misses nothing
// and hears nothing twice.
func TestListenersWhoComeBack(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	const n = 12
	for i := range n {
		r.remember(fmt.Sprintf("memory %d", i))
	}
	want, _ := r.changed()
	for cut := 1; cut < n; cut++ {
		var got []string
		last := "first/0,first/0"
		for len(got) < n {
			c := call{header: servertest.Header("Last-Event-ID", last)}
			if cut%2 == 0 {
				c = call{path: "?after=" + last}
			}
			e := r.listen(c)
			for range min(cut, n-len(got)) {
				h := e.must()
				var ev events.Event
				must.Do(t, json.Unmarshal([]byte(h.data), &ev))
				got, last = append(got, ev.ID), h.id
			}
			_ = e.resp.Body.Close()
		}
		must.Equal(t, fmt.Sprint("cut after ", cut), got, want)
	}
	for _, bad := range []string{"x", "first/0", "first/0,first/x", ",,", "first/-1,first/0", "first/99999999999999999999,first/0"} {
		r.ask(call{method: "GET", path: "events", header: servertest.Header("Last-Event-ID", bad)}).failed(amber.KindInvalid)
	}
	r.ask(call{method: "GET", path: "events?after=a%0Ab/1,b/1"}).failed(amber.KindInvalid)
}

// A restore has replaced the history that the listener was in: the listener gets one event about that, and then the
// events that follow.
func TestListenersAfterARestore(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	r.remember("before")
	e := r.listen(call{header: servertest.Header("Last-Event-ID", "gone/7,first/0")})
	if h := e.must(); h.name != "restored" || h.data != "{}" || !strings.HasPrefix(h.id, "first/1,") {
		t.Errorf("got %+v", h)
	}
	id := r.remember("after").ID
	must.Says(t, "the event", e.must().data, string(id))
}

// line is a listener that tests speak into.
type line chan events.Event

func (l line) Listen(ctx context.Context, _ amber.TenantID, _ amber.AgentID, fn func(events.Event)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-l:
			fn(e)
		}
	}
}

func snapshotted(payload any) events.Event {
	return events.Event{ID: "e", Name: events.EventCreated, Tenant: "acme", Agent: "ada", Payload: payload}
}

// Listeners hear of snapshots, too; with mutations off they hear of nothing else.
func TestMutationsCanBeOff(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		w := make(line, 1)
		r := newRig(t, func(_ *rig, o *httpapi.Options) {
			o.Listener = w
			o.MutationsOff = func() bool { return off }
		})
		r.remember("x")
		e := r.listen(call{path: "?after=first/0,first/0"})
		w <- snapshotted(nil)
		first := e.must()
		if got := first.name == string(events.EventMutated); got == off {
			t.Errorf("off is %v, the first event is %+v", off, first)
		}
		if !off && e.must().name != string(events.EventCreated) {
			t.Error("what happens to snapshots is not told")
		}
	}
}

// ended sends to over for every event stream that has ended.
func ended(over chan struct{}) func(*rig, *httpapi.Options) {
	return func(_ *rig, o *httpapi.Options) {
		o.Observe = func(route, _ string, _ int, _ time.Duration, _, _ int64) {
			if strings.HasSuffix(route, "/events") {
				over <- struct{}{}
			}
		}
	}
}

// A listener that does not read is cut off.
func TestListenersWhoDoNotRead(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	w, over := make(line), make(chan struct{}, 1)
	r := newRig(t, ended(over), func(_ *rig, o *httpapi.Options) { o.Listener = w })
	c := r.dial()
	must.Do(t, must.Err(fmt.Fprintf(c, "GET %s/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\n\r\n", adaPath)))
	large := snapshotted(strings.Repeat("a", 1<<20))
	for { // a sender does not wait for the listener
		select {
		case w <- large:
		case <-over:
			return
		}
	}
}

// held is a change log that waits.
type held struct {
	amber.ChangeLog
	goOn chan struct{}
}

func (h held) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	<-h.goOn
	return h.ChangeLog.Changes(ctx, after, limit)
}

// Only so many events wait for a listener: beyond that it is cut off and comes
// back.
func TestEventsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	w, goOn := make(line), make(chan struct{})
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Listener = w })
	store := &r.agents["acme/ada"].Store
	r.remember("before the feed of the listeners begins")
	store.Changes = held{store.Changes, goOn}
	e := r.listen(call{path: "?after=first/0,first/0"}) // further back than the feed, so the stream reads the log
	for range httpapi.StreamQueue + 10 {
		w <- snapshotted(nil)
	}
	close(goOn)
	e.told(1)
	if n := e.over(); n > httpapi.StreamQueue {
		t.Errorf("%d events waited", n)
	}
}

// A token that is revoked hears no more.
func TestListenersWhoseTokenIsRevoked(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	e := r.listen(call{token: adaRead})
	r.keys.revoke(adaRead)
	e.over()
	must.NoError(t, e.lines.Err())
}

// TestListenersWhoseTokenRunsOut hear no more either, nor do those of a token in
// the database that is revoked.
func TestListenersWhoseTokenRunsOut(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r, d := doored(t)
	r.api.SetPace(5*time.Millisecond, time.Hour)
	short, _ := d.token(r.clock.Read(), "acme", "ada", time.Hour, wire.TokenRead)
	long, id := d.token(r.clock.Read(), "acme", "ada", 0, wire.TokenRead)
	first, second := r.listen(call{token: short}), r.listen(call{token: long})
	r.clock.Forward(2 * time.Hour)
	first.over()
	must.Do(t, must.Err(d.RevokeToken(t.Context(), id)))
	second.over()
}

// TestARevokedTokenEndsWhatIsBeingRead does not wait for a sign of life, nor for a
// reader who takes nothing: the answer ends, and the rest is not sent.
func TestARevokedTokenEndsWhatIsBeingRead(t *testing.T) {
	t.Parallel()
	const memories = 24
	over := make(chan string, 2)
	r := newRig(t, func(_ *rig, o *httpapi.Options) {
		o.Observe = func(route, _ string, _ int, _ time.Duration, _, _ int64) { over <- route }
	})
	r.api.SetPace(5*time.Millisecond, time.Hour)
	for i := range memories { // more than a connection holds
		r.remember(fmt.Sprint(i) + strings.Repeat(" many words", 90<<10))
	}
	e := r.listen(call{token: adaRead})
	q := r.request(t.Context(), call{method: "GET", path: "memories", token: adaRead, header: servertest.Header("Accept", "application/x-ndjson")})
	resp := must.Get(r.do.Do(q))(t)
	defer resp.Body.Close()
	r.keys.revoke(adaRead)
	<-over
	<-over // both streams have ended while the test read neither
	e.over()
	b, err := io.ReadAll(resp.Body)
	if lines := bytes.Count(b, []byte("\n")); lines >= memories {
		t.Errorf("all of %d lines came, %v", lines, err)
	}
}

func TestStreamsAreBoundedAndEndWithTheServer(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	over := make(chan struct{}, 3)
	r := newRig(t, ended(over), func(_ *rig, o *httpapi.Options) { o.MaxStreams = 1 })
	e := r.listen(call{})
	r.ask(call{method: "GET", path: "events"}).failed(amber.KindBusy)
	<-over
	_ = e.resp.Body.Close()
	<-over
	must.Equal(t, "type of the stream",
		r.ask(call{method: "HEAD", path: "events"}).want(200).header.Get("Content-Type"), "text/event-stream")
	<-over
	last := r.listen(call{})
	r.api.Close()
	last.over()
	<-over
}
