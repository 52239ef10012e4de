package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
)

// batchOf is a batch of n messages.
func batchOf(n int, method, params string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = message(i, method, params)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// heap is how much was allocated until now.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestABatchIsBounded sends one with far too many messages: it is refused with
// one short answer, and what that took is a few times the request, not an answer
// for each.
func TestABatchIsBounded(t *testing.T) {
	r := newRig(t) // not parallel: it looks at what is allocated
	s := r.listen(r.options("all"))
	body := batchOf(30_000, "tools/list", "")
	before := heap()
	status, answer := post(t, s, body)
	if took := heap() - before; took > 64<<20 {
		t.Errorf("%d bytes were allocated for a request of %d", took, len(body))
	}
	if status != 400 || len(answer) > 1000 || !strings.Contains(answer, "30000 messages, want at most 64") || !strings.Contains(answer, `"code":-32600`) {
		t.Errorf("%d %.300s", status, answer)
	}
	lines := r.pipeWith("all", strings.NewReader(hello+body+"\n"+message(9, "ping", "")+"\n"))
	text := strings.Join(lines, "\n")
	if len(lines) != 3 || len(text) > 10_000 || !strings.Contains(text, "30000 messages, want at most 64") || !strings.Contains(text, `"id":9,"result"`) {
		t.Errorf("stdio: %d lines, %.500s", len(lines), text)
	}
	answer = posts(t, "as many as may be", 200, s, batchOf(mcpapi.MaxBatch, "ping", ""))
	must.Equal(t, "as many as may be", len(repliesOf(t, answer)), mcpapi.MaxBatch)
}

func repliesOf(t *testing.T, text string) []reply {
	t.Helper()
	var all []reply
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return all
}

// TestTheAnswersOfABatchAreBounded has each message ask for much: once there is
// enough, the others are refused, in words that say what to do, and did nothing.
func TestTheAnswersOfABatchAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("all"))
	for i := range 40 {
		must.Get(r.store().LongTerm.Write(t.Context(), amber.WriteRequest{Scope: amber.ScopeGlobal, Content: fmt.Sprintf("%d crowd %s", i, strings.Repeat("x", 60_000))}))(t)
	}
	calls := make([]string, mcpapi.MaxBatch)
	for i := range calls {
		calls[i] = message(i, "tools/call", `{"name":"memory_context","arguments":{"goal":"crowd","max_bytes":65536}}`)
	}
	calls[len(calls)-1] = message(len(calls)-1, "tools/call", `{"name":"memory_save","arguments":{"content":"never"}}`)
	status, answer := post(t, s, "["+strings.Join(calls, ",")+"]")
	replies := repliesOf(t, answer)
	if status != 200 || len(replies) != len(calls) || len(answer) > 2<<20 {
		t.Fatalf("%d, %d answers of %d bytes", status, len(replies), len(answer))
	}
	last := replies[len(replies)-1]
	if replies[0].Error != nil || last.Error == nil || last.Error.Code != amber.KindBusy.MCPCode() || !strings.Contains(last.Error.Message, "send this message again") {
		t.Errorf("first %+v, last %+v", replies[0].Error, last.Error)
	}
	must.Equal(t, "memories", must.Get(r.store().Stats.Stats(t.Context()))(t).Memories, 40)
}

// TestTheTimeOfABatchIsBounded has a clock on which every look takes a second:
// when the time of one call is over, no more messages are taken.
func TestTheTimeOfABatchIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("default")
	o.Timeout = 5 * time.Second
	status, answer := post(t, r.listen(o), batchOf(10, "tools/list", ""))
	fine := 0
	for _, p := range repliesOf(t, answer) {
		if p.Error == nil {
			fine++
		} else if !strings.Contains(p.Error.Message, "took more than 5s") {
			t.Errorf("%+v", p.Error)
		}
	}
	must.Equal(t, "status", status, 200)
	must.Equal(t, "fine", fine, 5)
}

// TestABatchIsAnsweredInItsParts: a message with a fault gets an error of its own, and the others are done.
func TestABatchIsAnsweredInItsParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	status, answer := post(t, s, `[1,`+message(1, "ping", "")+`,`+message(2, "nonsense", "")+`,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}},`+
		message(3, "subscriptions/listen", `{"notifications":{}}`)+`,`+message(1, "ping", "")+`]`)
	got := ""
	for _, p := range repliesOf(t, answer) {
		got += fmt.Sprintf("%v refused %v, ", p.ID, p.Error != nil)
	}
	if want := "<nil> refused true, 1 refused false, 2 refused true, 3 refused true, 1 refused false, "; status != 200 || got != want {
		t.Errorf("%d %s, want %s", status, got, want)
	}
	only := `[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}]`
	must.Equal(t, "only notifications", posts(t, "only notifications", 202, s, only), "")
}

// TestWhatCannotBeAnsweredIsRefused: ids and methods are sent back, so they are
// bounded, and an id that would come back as another one is not taken.
func TestWhatCannotBeAnsweredIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	long := strings.Repeat("x", 128<<10)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, test := range map[string]struct{ body, words string }{
		"a long id":           {`{"jsonrpc":"2.0","id":"` + long + `","method":"ping"}`, "the id has 131074 bytes, want at most 256"},
		"half an id":          {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "not whole or not below 2^53"},
		"an id beyond":        {`{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, "not whole or not below 2^53"},
		"an id that rounds":   {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "not whole or not below 2^53"},
		"a long method":       {`{"jsonrpc":"2.0","id":5,"method":"` + long + `"}`, "the method has 131074 bytes, want at most 256"},
		"params that differ":  {message(5, "tools/call", `{"name":1,"arguments":{"x":"`+strings.Repeat(`\u0001`, 1000)+long+`"}}`), "unmarshaling"},
		"an unknown prompt":   {message(5, "prompts/get", `{"name":"`+long+`"}`), "unknown prompt"},
		"an unknown resource": {message(5, "resources/read", `{"uri":"amber://`+long+`"}`), "the resource does not exist"},
		"much around":         {message(5, "tools/list", `{"_meta":{"a":"`+long+`"}}`), "_meta has"},
		"very deep":           {message(5, "tools/list", `{"_meta":{"a":`+deep(5000)+`}}`), "depth"},
		"deeper than any":     {message(5, "tools/list", `{"_meta":{"a":`+deep(500_000)+`}}`), "not valid JSON"},
		"very many values":    {message(5, "tools/call", `{"name":"memory_save","arguments":{"content":"x","tags":[`+strings.Repeat(`0,`, 200_000)+`0]}}`), "values, want at most 200000"},
		"very many members":   {`{` + strings.Repeat(`"a":0,`, 200_000) + `"id":5}`, "values, want at most 200000"},
	} {
		status, answer := post(t, s, test.body)
		if status >= 500 || len(answer) > 6000 || !strings.Contains(answer, test.words) {
			t.Errorf("%s: %d, %d bytes: %.300s", name, status, len(answer), answer)
		}
		lines := r.pipe(strings.NewReader(hello + test.body + "\n" + message(9, "ping", "") + "\n"))
		text := strings.Join(lines, "\n")
		if len(text) > 10_000 || !strings.Contains(text, test.words) || !strings.Contains(text, `"id":9,"result"`) {
			t.Errorf("%s over stdio: %d bytes: %.600s", name, len(text), text)
		}
	}
	posts(t, "an id that may be", 200, s, `{"jsonrpc":"2.0","id":"`+strings.Repeat("x", 200)+`","method":"ping"}`)
}

// TestManyRequestsWaitForRoom has more requests at a time than there is room for,
// because none says how long it is: all of them are answered.
func TestManyRequestsWaitForRoom(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			if status, answer := postBody(t, s, struct{ io.Reader }{strings.NewReader(message(1, "ping", ""))}); status != 200 {
				t.Errorf("%d %.200s", status, answer)
			}
		})
	}
	wg.Wait()
}

// TestOneCallerDoesNotTakeAllTheRoom holds a request whose body does not end: it has all the room that its caller
// may have. So the next request of that caller is refused as busy, and a request of another caller is answered.
func TestOneCallerDoesNotTakeAllTheRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("default")
	o.Timeout, o.MaxBytes = 500*time.Millisecond, 64<<20
	s := r.listen(o)
	body, feed := io.Pipe()
	over := make(chan int, 1)
	go func() {
		status, _ := postBody(t, s, body)
		over <- status
	}()
	must.Do(t, must.Err(feed.Write([]byte(" "))))
	status, answer := 0, ""
	for range 500 { // until the request that is held is there
		if status, answer = post(t, s, message(1, "ping", "")); status != 200 {
			break
		}
	}
	must.Equal(t, "status", status, 503)
	must.Says(t, "the answer", answer, "too many requests", `"kind":"busy"`)
	posts(t, "somebody else", 200, s, message(1, "ping", ""), "Authorization", "Bearer acme")
	must.Do(t, must.Err(feed.Write([]byte(message(1, "ping", "")))))
	must.Do(t, feed.Close())
	must.Equal(t, "the one that was held", <-over, 200)
	posts(t, "afterwards", 200, s, message(1, "ping", ""))
}

// TestAnAnswerThatIsNotTakenIsGivenUp has a caller who asks and does not read:
// the connection is cut off when the time of a call is over.
func TestAnAnswerThatIsNotTakenIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("all")
	o.Timeout = 50 * time.Millisecond
	must.Get(r.store().LongTerm.Write(t.Context(), amber.WriteRequest{Scope: amber.ScopeGlobal, Content: strings.Repeat("crowd ", 10_000)}))(t)
	h := must.Get(mcpapi.NewHandler(o))(t)
	written := make(chan error, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h(&watched{w, written}, q, everything)
	}))
	t.Cleanup(s.Close)
	conn := must.Get(net.Dial("tcp", s.Listener.Addr().String()))(t)
	t.Cleanup(func() { _ = conn.Close() })
	body := batchOf(mcpapi.MaxBatch, "tools/list", "")
	must.Get(fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body))(t)
	must.Is(t, "writing the answer", <-written, os.ErrDeadlineExceeded)
}

// watched writes until a write fails, since buffers of the system hold more than an answer has, and sends that
// error.
type watched struct {
	http.ResponseWriter
	written chan error
}

func (w *watched) Write(b []byte) (int, error) {
	for {
		if n, err := w.ResponseWriter.Write(b); err != nil {
			w.written <- err
			return n, err
		}
	}
}

// Unwrap lets response controllers through.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
