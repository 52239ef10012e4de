package vaultapi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestBoundsOfAVault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limits = shelf.Limits{Quota: 100, MaxFile: 40, MaxFiles: 3, Extensions: []string{".md", ".json"}}
	token := w.login(ada)
	w.put(token, "a.exe", "x").fails(400, "INVALID_INPUT")
	w.put(token, "a", "x").fails(400, "INVALID_INPUT")
	w.put(token, "a.md", strings.Repeat("x", 41)).fails(400, "QUOTA_EXCEEDED")
	w.put(token, "a.md", strings.Repeat("x", 40)).want(200)
	w.put(token, "b.md", strings.Repeat("x", 40)).want(200)
	w.put(token, "c.json", strings.Repeat("x", 21)).fails(400, "QUOTA_EXCEEDED")
	w.put(token, "c.json", strings.Repeat("x", 10)).want(200)
	w.put(token, "d.md", "").fails(400, "LIMIT_EXCEEDED")
	w.do(ask{method: "POST", path: "/vault/files/c.json/append", body: document("content", strings.Repeat("x", 11)), token: token}).fails(400, "QUOTA_EXCEEDED")
	w.do(ask{method: "POST", path: "/vault/files/c.json/copy", body: document("destination", "d.md"), token: token}).fails(400, "LIMIT_EXCEEDED")
	w.do(ask{method: "POST", path: "/vault/files/c.json/move", body: document("destination", "c.exe"), token: token}).fails(400, "INVALID_INPUT")
	r := w.do(ask{method: "GET", path: "/vault/status", token: token}).want(200)
	must.Equal(t, "status", string(r.body), `{"quota_bytes":100,"used_bytes":90,"available_bytes":10,"file_count":3}`)
}

// TestBodies: nothing that is sent is taken for something else.
func TestBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	put := func(body string, h ...string) reply {
		return w.do(ask{method: "PUT", path: "/vault/files/a.md", body: body, token: token, header: servertest.Header(h...)})
	}
	for body, where := range map[string]string{
		"": "body", "{": "body", "null": "body", "[]": "body", `"x"`: "body", "{} {}": "body", "\xff": "body", "{\"content\":\"\xff\"}": "body", `{"content":"x",}`: "body",
		"\ufeff{}": "body", strings.Repeat("[", 1<<15): "body", `{"content":` + strings.Repeat(`{"a":`, 1<<15): "body", `{"content":"` + "\x01" + `"}`: "body",
		`{}`: "body.content", `{"Content":"x"}`: "body.content", `{"content":null}`: "body.content", `{"content":7}`: "body.content", `{"content":{"a":["b"]}}`: "body.content",
		`{"content":"\ud800"}`: "body.content", `{"content":"\udc00x"}`: "body.content", `{"content":"\ud800\u0041"}`: "body.content", `{"content":"\ud800\ud800\udc00"}`: "body.content",
		document("content", strings.Repeat("x", vaultapi.DefaultMaxChars+1)): "body.content",
		document("content", strings.Repeat("x", 9<<20)):                      "body",
	} {
		if r := put(body); r.status != 422 {
			t.Errorf("%.60q: %d %s", body, r.status, r.body)
		} else {
			r.unfit(strings.Split(where, ".")...)
		}
	}
	if lines := w.audit(); len(lines) == 0 || strings.Count(strings.Join(lines, "\n"), "t-ada acme/ada vault.put a.md invalid") != len(lines) {
		t.Errorf("%q", lines)
	}
	put(document("content", "x"), "Content-Type", "text/plain").unfit("body")
	put(document("content", "x"), "Content-Type", ";;").unfit("body")
	put(document("content", "x"), "Content-Encoding", "gzip").unfit("body")
	w.do(ask{method: "GET", path: "/vault/files/a.md", token: token}).fails(404, "NOT_FOUND")
	for body, want := range map[string]string{
		`{"content":"\ud83d\ude00\\ud800 \"\u00e9"}`: "😀\\ud800 \"é", `{"content":"a","content":"b","more":{"x":[1]}}`: "b", `{"content":""}`: "",
		`{"content":"\u0000\u2028"}`: "\x00\u2028", document("content", strings.Repeat("☃", 300_000)): strings.Repeat("☃", 300_000),
	} {
		put(body, "Content-Type", "application/json; charset=utf-8").want(200)
		f := w.get(token, "a.md")
		must.Equal(t, "content", f.Content, want)
		must.Equal(t, "size", f.Size, int64(len(want)))
	}
	for _, body := range []string{`{"destination":"b.md","overwrite":1}`, `{"destination":"b.md","overwrite":null}`, `{"destination":"b.md","overwrite":"true"}`} {
		w.do(ask{method: "POST", path: "/vault/files/a.md/copy", body: body, token: token}).unfit("body", "overwrite")
	}
	w.do(ask{method: "POST", path: "/vault/files/a.md/copy", body: `{"destination":["b"]}`, token: token}).unfit("body", "destination")
}

// TestKinds: errors inside the server have different answers, by their kinds, and no answer names a place of the
// machine.
func TestKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.put(token, "a.md", "x").want(200)
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{amber.Errorf(amber.KindBusy, "wait", "", "held"), 503, "BUSY"},
		{amber.Errorf(amber.KindUnreachable, "open", "", "shutting down"), 503, "UNAVAILABLE"},
		{amber.Errorf(amber.KindDamaged, "open", "", "broken /srv/secret"), 500, "DAMAGED"},
		{amber.Errorf(amber.KindTooNew, "open", "", "newer"), 500, "TOO_NEW"},
		{amber.Errorf(amber.KindUnsupported, "open", "", "never"), 501, "UNSUPPORTED"},
		{amber.Errorf(amber.KindRefused, "open", "", "switched off"), 403, "FORBIDDEN"},
		{&os.PathError{Op: "open", Path: "/srv/secret", Err: os.ErrPermission}, 500, "INTERNAL_ERROR"},
		{fmt.Errorf("kind: %w", &amber.Error{Kind: "new kind"}), 500, "INTERNAL_ERROR"},
	} {
		w.set(func() { w.fault = func(amber.TenantID) error { return c.err } })
		for _, q := range []ask{{method: "GET", path: "/vault/files/a.md"}, {method: "PUT", path: "/vault/files/a.md", body: document("content", "y")}} {
			q.token = token
			r := w.do(q).fails(c.status, c.code)
			if strings.Contains(string(r.body), "secret") || (r.header.Get("Retry-After") != "") != (c.status == 503) {
				t.Errorf("%v %s", r.header, r.body)
			}
		}
	}
	w.set(func() { w.fault = nil })
	must.Equal(t, "content", w.get(token, "a.md").Content, "x")
}

// TestKeysThatCannotBeLookedUp are not keys that are wrong.
func TestKeysThatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	broken := false
	w := newWorld(t, func(o *vaultapi.Options) {
		grant := o.Grant
		o.Grant = func(ctx context.Context, secret string) (wire.Grant, error) {
			if broken {
				return wire.Grant{}, amber.Errorf(amber.KindUnreachable, "authenticate", "", "the database is away")
			}
			return grant(ctx, secret)
		}
	})
	token := w.login(ada)
	broken = true
	w.do(ask{method: "GET", path: "/vault/status", token: token}).fails(503, "UNAVAILABLE")
	w.do(ask{method: "POST", path: "/auth/token", body: document("api_key", ada)}).fails(503, "UNAVAILABLE")
}

// TestWhatCannotBeWrittenDown is not acknowledged, and nothing more is changed.
func TestWhatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.book.Break(errors.New("the disk of the log is full"))
	w.put(token, "a.md", "x").fails(500, "INTERNAL_ERROR")
	w.put(token, "b.md", "x").fails(500, "INTERNAL_ERROR")
	must.Equal(t, "names", w.names(token, ""), []string{"a.md"})
	w.book.Break(nil)
	w.put(token, "b.md", "x").want(200)
}

// TestDamageIsToldWithoutPlaces: the answer names the damaged file, where the server can find out which one it is,
// and not where it lies. To put the file again mends it.
func TestDamageIsToldWithoutPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.put(token, "notes/a.md", "x").want(200)
	sum := strings.Trim(tag("notes/a.md"), `"`)
	for name, damage := range map[string]func(b []byte) []byte{
		"cut off": func(b []byte) []byte { return b[:len(b)-1] },
		"garbage": func([]byte) []byte { return []byte("?") },
		"newer":   func(b []byte) []byte { return []byte(strings.Replace(string(b), "file/1", "file/2", 1)) },
	} {
		rewrite(t, w, sum, damage)
		for path, named := range map[string]bool{"/vault/files/notes/a.md": true, "/vault/files": name == "cut off", "/vault/export": name == "cut off"} {
			r := w.do(ask{method: "GET", path: path, token: token})
			must.Equal(t, name+": status", r.status, 500)
			must.Hides(t, name+": body", string(r.body), "state/", sum, w.home.Dir())
			if strings.Contains(string(r.body), "notes/a.md") != named {
				t.Errorf("%s: %s: %s, want the name: %v", name, path, r.body, named)
			}
		}
		w.do(ask{method: "DELETE", path: "/vault/files/notes/a.md", token: token}).want(204)
		w.put(token, "notes/a.md", "x").want(200)
	}
}

// rewrite changes a file of a vault, found by its name on disk.
func rewrite(t *testing.T, w *world, base string, damage func([]byte) []byte) {
	t.Helper()
	found := must.Get(filepath.Glob(filepath.Join(w.home.Dir(), "*", "*", "*", "*", "gen", "*", "state", "vault", "*", base)))(t)
	must.Equal(t, "files found", len(found), 1)
	must.Do(t, os.WriteFile(found[0], damage(must.Get(os.ReadFile(found[0]))(t)), 0o600))
}

// TestTheOuterDoorSpeaksAsTheVaultDoes: a request that the API refuses before the vault gets it is answered with a
// body that clients of a vault understand.
func TestTheOuterDoorSpeaksAsTheVaultDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, h := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		w.do(ask{method: "GET", path: "/vault/status", header: servertest.Header(h...)}).fails(403, "FORBIDDEN")
	}
	broken := newWorld(t, func(o *vaultapi.Options) {
		o.Grant = func(context.Context, string) (wire.Grant, error) { panic("a bug") }
	})
	broken.do(ask{method: "POST", path: "/auth/token", body: document("api_key", ada)}).fails(500, "INTERNAL_ERROR")
}
