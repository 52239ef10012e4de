package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestIfMatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := string(r.remember("first").ID)
	edit := func(header, content string) reply {
		c := call{method: "PATCH", path: "memories/" + m, body: `{"content":"` + content + `"}`}
		if header != "" {
			c.header = servertest.Header("If-Match", header)
		}
		return r.ask(c)
	}
	must.Equal(t, "ETag", edit(`"1"`, "second").want(200).header.Get("ETag"), `"2"`)
	edit(`"1"`, "third").failed(amber.KindConflict)
	edit(`"abc"`, "third").failed(amber.KindConflict)
	edit(`"-1"`, "third").failed(amber.KindConflict)
	for _, bad := range []string{`1`, `""`, `"1", "2"`, `W/"2"`, `"`, `"1`} {
		edit(bad, "third").failed(amber.KindInvalid)
	}
	edit(`*`, "third").want(200)
	edit("", "fourth").want(200)
	r.ask(call{method: "PATCH", path: "memories/" + m, body: `{"title":"t","if_revision":3}`, header: servertest.Header("If-Match", `"4"`)}).failed(amber.KindInvalid)
	// A condition that the operation does not support is refused.
	r.ask(call{method: "DELETE", path: "memories/" + m, header: servertest.Header("If-Match", `"1"`)}).failed(amber.KindInvalid)
	r.ask(call{method: "PATCH", path: "memories/" + m, body: `{}`, header: servertest.Header("If-None-Match", `"1"`)}).failed(amber.KindInvalid)
	must.Equal(t, "content", r.ask(call{method: "GET", path: "memories/" + m}).text("content"), "fourth")
}

func TestIfMatchOfNotesAndStates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	write := func(content string, header ...string) reply {
		return r.ask(call{method: "PUT", path: "notes/a.md", body: `{"content":"` + content + `"}`, header: servertest.Header(header...)})
	}
	write("x", "If-Match", "*").failed(amber.KindConflict) // there is none
	tag := write("one").want(200).header.Get("ETag")
	next := write("two", "If-Match", tag).want(200).header.Get("ETag")
	write("three", "If-Match", tag).failed(amber.KindConflict)
	write("three", "If-Match", `""`).failed(amber.KindInvalid)
	r.ask(call{method: "DELETE", path: "notes/a.md", header: servertest.Header("If-Match", tag)}).failed(amber.KindConflict)
	r.ask(call{method: "DELETE", path: "notes/a.md", header: servertest.Header("If-Match", next)}).want(204)

	save := func(header ...string) reply {
		return r.ask(call{method: "PUT", path: "sessions/s/state", body: `{"document":{}}`, header: servertest.Header(header...)})
	}
	v1 := save().want(200).header.Get("ETag")
	save().failed(amber.KindConflict)
	save("If-Match", "*").failed(amber.KindInvalid) // which one would be replaced is not known
	save("If-Match", v1).want(200)
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := "memories/" + string(r.remember("first").ID)
	for header, status := range map[string]int{`"1"`: 304, `W/"1"`: 304, `*`: 304, `"7", "1"`: 304, `"2"`: 200, `1`: 200, ``: 200} {
		for _, method := range []string{"GET", "HEAD"} {
			a := r.ask(call{method: method, path: path, header: servertest.Header("If-None-Match", header)}).want(status)
			if a.header.Get("ETag") != `"1"` || status == 304 && len(a.body) > 0 {
				t.Errorf("%s with %s: %v %s", method, header, a.header, a.body)
			}
		}
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	want := map[string]bool{}
	for i := range 25 {
		want[string(r.remember(fmt.Sprintf("memory %d", i)).ID)] = true
	}
	got, cursor, pages := map[string]bool{}, "", 0
	for {
		a := r.ask(call{method: "GET", path: "memories?limit=10&cursor=" + cursor}).want(200)
		for _, item := range a.field("items").([]any) {
			got[item.(map[string]any)["id"].(string)] = true
		}
		pages++
		next := a.field("next")
		if next == nil || next == "" {
			break
		}
		cursor = next.(string)
	}
	must.Equal(t, "items", got, want)
	must.Equal(t, "pages", pages, 3)
	for _, path := range []string{"memories", "sessions", "tasks", "snapshots"} {
		r.ask(call{method: "GET", path: path + "?cursor=garbage"}).failed(amber.KindInvalid)
		r.ask(call{method: "GET", path: path + "?limit=-1"}).failed(amber.KindInvalid)
		r.ask(call{method: "GET", path: path + "?limit=0"}).failed(amber.KindInvalid)
		r.ask(call{method: "GET", path: path + "?limit=99999999999999999999"}).failed(amber.KindInvalid)
	}
	r.ask(call{method: "GET", path: "changes?after=garbage"}).failed(amber.KindInvalid)
	r.ask(call{method: "GET", path: "changes?after=other%2F3"}).failed(amber.KindConflict)
}

// reader fails behind a number of pages, or has an empty one on the way.
type reader struct {
	amber.MemoryReader
	pages int
	fail  error
}

func (m *reader) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	if m.pages--; m.pages < 0 {
		return amber.Page[amber.Memory]{}, m.fail
	}
	if q.Cursor == "" {
		return amber.Page[amber.Memory]{Next: "more"}, nil // every one of the first was filtered out
	}
	return amber.Page[amber.Memory]{Items: []amber.Memory{{Content: "one"}}, Next: "more"}, nil
}

func TestLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lines := func(path, token string, header ...string) []string {
		a := r.ask(call{method: "GET", path: path, token: token, header: servertest.Header(append(header, "Accept", "application/x-ndjson")...)}).want(200)
		must.Equal(t, path, a.header.Get("Content-Type"), "application/x-ndjson")
		text := string(a.body)
		if a.header.Get("Content-Encoding") == "gzip" {
			text = unpacked(t, a.body)
		}
		return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	must.Equal(t, "lines of nothing", lines("memories", root), []string{""})
	for i := range 120 {
		r.remember(fmt.Sprintf("memory %d", i))
	}
	for path, n := range map[string]int{"memories": 120, "memories?limit=7": 7, "memories?limit=120": 120, "changes": 120, "changes?limit=3": 3} {
		must.Equal(t, path+": lines", len(lines(path, root)), n)
		must.Equal(t, path+" as gzip: lines", len(lines(path, root, "Accept-Encoding", "gzip")), n)
	}
	accept := servertest.Header("Accept", "application/x-ndjson")
	r.ask(call{method: "GET", path: "memories?limit=-1", header: accept}).failed(amber.KindInvalid)
	r.ask(call{method: "GET", path: "memories?cursor=garbage", header: accept}).failed(amber.KindInvalid)

	// An error during a listing is its last line, and does not hold details that
	// the caller may not see.
	for token, told := range map[string]bool{root: true, ada: false} {
		for _, encoding := range []string{"identity", "gzip"} {
			r.agents["acme/ada"].Store.Memories = &reader{pages: 3, fail: amber.Errorf(amber.KindInternal, "read", "", "open /srv/secret")}
			got := lines("memories", token, "Accept-Encoding", encoding, "X-Request-Id", "r1")
			if len(got) != 3 || !strings.HasPrefix(got[2], `{"error":{"kind":"internal"`) || !strings.Contains(got[2], `"request_id":"r1"`) || strings.Contains(got[2], "secret") != told {
				t.Errorf("as %s: %q", token, got)
			}
		}
	}
	r.agents["acme/ada"].Store.Memories = &reader{fail: amber.Errorf(amber.KindDamaged, "read", "", "torn")}
	r.ask(call{method: "GET", path: "memories", header: servertest.Header("Accept", "application/x-ndjson", "Accept-Encoding", "gzip")}).failed(amber.KindDamaged)
}

func unpacked(t testing.TB, b []byte) string {
	t.Helper()
	z := must.Get(gzip.NewReader(bytes.NewReader(b)))(t)
	text := must.Get(io.ReadAll(z))(t)
	return string(text)
}

func TestAnswersAsGzip(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 20 {
		r.remember(fmt.Sprintf("memory %d", i))
	}
	plain := r.ask(call{method: "GET", path: "memories"}).want(200)
	for header, want := range map[string]bool{
		"gzip": true, "br, gzip;q=0.5": true, "GZIP": true, "gzip;q=0": false, "gzip; q=0.0": false, "br": false, "identity": false, "xgzip": false,
	} {
		a := r.ask(call{method: "GET", path: "memories", header: servertest.Header("Accept-Encoding", header)}).want(200)
		got, text := a.header.Get("Content-Encoding") == "gzip", string(a.body)
		if got {
			text = unpacked(t, a.body)
		}
		must.Equal(t, header, got, want)
		must.Equal(t, header, text, string(plain.body))
		must.Says(t, header+": Vary", strings.Join(a.header.Values("Vary"), ","), "Accept-Encoding")
	}
	must.Equal(t, "how a small answer is packed",
		r.ask(call{method: "GET", path: "/livez", header: servertest.Header("Accept-Encoding", "gzip")}).header.Get("Content-Encoding"), "")
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	seen := map[string]bool{}
	for id, kept := range map[string]bool{
		"abc-1_2.3": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a b": false, "a\tb": false, "é": false, "a\"b": false, "": false, "<script>": false,
	} {
		a := r.ask(call{method: "POST", path: "memories", body: fmt.Sprintf(`{"content":%q}`, "about "+fmt.Sprint(len(seen))), header: servertest.Header("X-Request-Id", id)}).want(201)
		got := a.header.Get("X-Request-Id")
		if (got == id) != kept || got == "" || seen[got] {
			t.Errorf("%q is %q", id, got)
		}
		seen[got] = true
		if e := r.book.Entries(0); e[len(e)-1].RequestID != got {
			t.Errorf("the audit log says %q, not %q", e[len(e)-1].RequestID, got)
		}
	}
}
