package vaultapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// file is one as it is answered.
type file struct {
	Name    string `json:"filename"`
	Size    int64  `json:"content_size"`
	Created string `json:"created_at"`
	Updated string `json:"updated_at"`
	Content string `json:"content"`
	Tag     string `json:"etag"`
}

func tag(content string) string {
	sum := sha256.Sum256([]byte(content))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func (w *world) get(token, name string) file {
	w.t.Helper()
	var f file
	w.do(ask{method: "GET", path: "/vault/files/" + name, token: token}).want(200).read(&f)
	return f
}

func TestLifeOfAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	r := w.put(token, "notes/a.md", "one").want(200)
	var f file
	r.read(&f)
	must.Equal(t, "", f, file{Name: "notes/a.md", Size: 3, Created: "2026-08-21T01:02:03.000Z", Updated: "2026-08-21T01:02:03.000Z"})
	if r.header.Get("ETag") != tag("one") || r.header.Get("Content-Type") != "application/json" || !json.Valid(r.body) {
		t.Errorf("%v", r.header)
	}
	w.clock.Forward(2e9)
	r = w.do(ask{method: "POST", path: "/vault/files/notes/a.md/append", body: document("content", " two ☃"), token: token}).want(200)
	must.Equal(t, "ETag", r.header.Get("ETag"), tag("one two ☃"))
	want := file{"notes/a.md", 11, "2026-08-21T01:02:03.000Z", "2026-08-21T01:02:05.000Z", "one two ☃", tag("one two ☃")}
	must.Equal(t, "", w.get(token, "notes/a.md"), want)
	w.do(ask{method: "POST", path: "/vault/files/notes/a.md/copy", body: document("destination", "b.md"), token: token}).want(200)
	w.do(ask{method: "POST", path: "/vault/files/notes/a.md/copy", body: document("destination", "b.md"), token: token}).fails(409, "CONFLICT")
	w.do(ask{method: "POST", path: "/vault/files/notes/a.md/move", body: document("destination", "b.md"), token: token}).fails(409, "CONFLICT")
	w.do(ask{method: "POST", path: "/vault/files/notes/a.md/move", body: `{"destination":"b.md","overwrite":true}`, token: token}).want(200)
	w.do(ask{method: "GET", path: "/vault/files/notes/a.md", token: token}).fails(404, "NOT_FOUND")
	must.Equal(t, "content", w.get(token, "b.md").Content, "one two ☃")
	r = w.do(ask{method: "DELETE", path: "/vault/files/b.md", token: token}).want(204)
	must.Equal(t, "bytes of the answer", len(r.body), 0)
	w.do(ask{method: "DELETE", path: "/vault/files/b.md", token: token}).fails(404, "NOT_FOUND")
	checkTrail(t, w)
}

// checkTrail looks whether every change is in the audit log, each with what it
// changed.
func checkTrail(t *testing.T, w *world) {
	t.Helper()
	want := []string{
		"vault.put notes/a.md ok", "vault.append notes/a.md ok", "vault.copy b.md ok", "vault.copy notes/a.md conflict", "vault.move notes/a.md conflict",
		"vault.move notes/a.md ok", "vault.move b.md ok", "vault.delete b.md ok", "vault.delete b.md not_found",
	}
	got := w.audit()
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "t-ada acme/ada ")
	}
	must.Equal(t, "", got, want)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	put := func(content string, h ...string) reply {
		return w.do(ask{method: "PUT", path: "/vault/files/a.md", body: document("content", content), token: token, header: servertest.Header(h...)})
	}
	put("zero", "If-Match", tag("zero")).fails(412, "PRECONDITION_FAILED")
	put("one", "If-None-Match", "*").want(200)
	put("two", "If-None-Match", "*").fails(412, "PRECONDITION_FAILED")
	put("two", "If-Match", tag("other")).fails(412, "PRECONDITION_FAILED")
	put("two", "If-Match", tag("one")).want(200)
	put("three", "If-Match", "*").want(200)
	put("two", "If-Match", " * ").want(200)
	none := ask{method: "PUT", path: "/vault/files/none.md", body: document("content", "x"), token: token, header: servertest.Header("If-Match", "*")}
	w.do(none).fails(412, "PRECONDITION_FAILED")
	w.do(ask{method: "GET", path: "/vault/files/none.md", token: token}).fails(404, "NOT_FOUND")
	for _, bad := range [][]string{
		{"If-None-Match", tag("two")},
		{"If-Match", "W/" + tag("two")},
		{"If-Match", tag("two") + ", " + tag("one")},
		{"If-Match", `""`},
		{"If-Match", "two"},
		{"If-Match", tag("two"), "If-None-Match", "*"},
		{"If-Match", tag("two"), "If-Match", tag("two")},
	} {
		put("three", bad...).fails(400, "INVALID_INPUT")
	}
	for _, q := range []ask{
		{method: "DELETE", path: "/vault/files/a.md"},
		{method: "POST", path: "/vault/files/a.md/append", body: document("content", "y")},
		{method: "POST", path: "/vault/files/a.md/move", body: document("destination", "b.md")},
	} {
		q.token, q.header = token, servertest.Header("If-Match", tag("two"))
		w.do(q).fails(400, "INVALID_INPUT")
	}
	must.Equal(t, "content", w.get(token, "a.md").Content, "two")
	r := w.do(ask{method: "GET", path: "/vault/files/a.md", token: token, header: servertest.Header("If-None-Match", `"x", `+tag("two"))}).want(304)
	must.Equal(t, "ETag", r.header.Get("ETag"), tag("two"))
	must.Equal(t, "bytes of the answer", len(r.body), 0)
	w.do(ask{method: "GET", path: "/vault/files/a.md", token: token, header: servertest.Header("If-None-Match", tag("one"))}).want(200)
}

// TestOnlyOneIsFirst: of those who put a file at once where none is, one does.
func TestOnlyOneIsFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			content := strings.Repeat("x", i+1)
			r, err := w.try(ask{method: "PUT", path: "/vault/files/a.md", body: document("content", content), token: token, header: servertest.Header("If-None-Match", "*")})
			switch {
			case err != nil:
				t.Error(err)
			case r.status == http.StatusOK:
				won.Add(1)
			case r.status == http.StatusPreconditionFailed:
				lost.Add(1)
			default:
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	wg.Wait()
	must.Equal(t, "writers that won", won.Load(), 1)
	must.Equal(t, "writers that lost", lost.Load(), 7)
}

func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	long := strings.Repeat("n", 252) + ".md"
	snow := strings.Repeat("☃", 252) + ".md"
	for sent, name := range map[string]string{
		"plain.md": "plain.md", "a%20b%25.md": "a b%.md", "x/append": "x/append", "move": "move", "deep/er/copy": "deep/er/copy", "b%2Fc.md": "b/c.md",
		"%E6%97%A5/%E6%9C%AC.md": "日/本.md", "q%3Fx%23y.md": "q?x#y.md", "~.-_!$&'()*+,;=:@.md": "~.-_!$&'()*+,;=:@.md", "...md": "...md",
		long: long, url.PathEscape(snow): snow,
	} {
		w.put(token, sent, "at "+name).want(200)
		if f := w.get(token, sent); f.Name != name || f.Content != "at "+name {
			t.Errorf("%q is %+v", sent, f)
		}
	}
	must.Equal(t, "name", w.get(token, "b/c.md").Name, "b/c.md")
	w.do(ask{method: "POST", path: "/vault/files/x/append/append", body: document("content", "!"), token: token}).want(200)
	must.Equal(t, "content", w.get(token, "x/append").Content, "at x/append!")
	for _, sent := range []string{
		"..", "%2E%2E", "a/../b.md", "../a.md", "./a.md", "a//b.md", "/a.md", "a.md/", "%2F", "%00.md", "a%0Ab.md", "a%5Cb.md", "%ff.md", long + "x", url.PathEscape(snow) + "x",
	} {
		w.put(token, sent, "x").fails(400, "INVALID_INPUT")
		w.do(ask{method: "GET", path: "/vault/files/" + sent, token: token}).fails(400, "INVALID_INPUT")
		w.do(ask{method: "DELETE", path: "/vault/files/" + sent, token: token}).fails(400, "INVALID_INPUT")
	}
	for _, to := range []string{"../x.md", "a//b", "\x00"} {
		w.do(ask{method: "POST", path: "/vault/files/plain.md/move", body: document("destination", to), token: token}).fails(400, "INVALID_INPUT")
	}
	w.do(ask{method: "POST", path: "/vault/files/plain.md/move", body: document("destination", long+"x"), token: token}).unfit("body", "destination")
	w.do(ask{method: "POST", path: "/vault/files/plain.md/copy", body: document("destination", ""), token: token}).unfit("body", "destination")
	must.Says(t, "the audit log", strings.Join(w.audit(), "\n"), "vault.put sha256:"+strings.Trim(tag(long), `"`)+" ok")
}

// backend is a client of the server.
func (w *world) backend(t testing.TB, key string) *api.Client {
	t.Helper()
	c := must.Get(api.New(api.Options{
		URL: w.url + base, Key: func(context.Context) (string, error) { return key, nil }, Clock: w.clock.Read, HTTP: w.client,
	}))(t)
	return c
}

// TestSuite holds what is served, as the client sees it, to what every vault
// promises.
func TestSuite(t *testing.T) {
	t.Parallel()
	colonytest.Run(t, func(t *testing.T) colony.Backend { return newWorld(t).backend(t, ada) })
}

// TestTheClientKnowsBefore: a client that may not write learns it before the first
// write.
func TestTheClientKnowsBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.NoError(t, w.backend(t, ada).MayWrite(t.Context()))
	must.Kind(t, "", w.backend(t, adaRead).MayWrite(t.Context()), amber.KindRefused)
	must.Kind(t, "", w.backend(t, wide).MayWrite(t.Context()), amber.KindRefused)
}
