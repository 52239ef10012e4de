package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// tricks are elements of paths that some program, such as a shell or a file system, reads as something else.
var tricks = []string{
	"..", ".", "%2e%2e", "%2e", ".%2e", "..%2f..%2fetc%2fpasswd", "..%5c..%5cboot.ini", "%2F", "%2f%2f", "%00", "a%00b", "%ff%fe", "%0d%0aX-Evil:%201", "%20", "%7Bid%7D",
	"%E2%80%AE", "con", "~root", "$(id)", "'%20OR%201=1--", strings.Repeat("a", 300), strings.Repeat("%C3%A4", 300), strings.Repeat("..%2f", 60),
}

// Every variable of every path, with every trick: the answer is an error or a
// plain one, never a redirect or a bug, and no other agent is touched.
func TestTricksInPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for row, o := range r.api.Operations() {
		if o.ID == "event.stream" {
			continue // the same two variables as others
		}
		for _, variable := range pathVariable.FindAllString(o.Path, -1) {
			owner := variable == "{tenant}" || variable == "{agent}"
			for i, trick := range tricks {
				if owner && (row+i)%5 != 0 {
					continue // every row checks them in the same place; each has its share
				}
				path := strings.Replace(o.Path, variable, trick, 1)
				path = strings.NewReplacer("{tenant}", "acme", "{agent}", "ada").Replace(path)
				path = pathVariable.ReplaceAllString(path, "00000000-0000-7000-8000-000000000001")
				a := r.ask(call{method: o.Method, path: path, body: map[bool]string{true: `{}`}[o.HasBody]})
				if a.status >= 500 || a.status >= 300 && a.status < 400 || a.header.Get("X-Evil") != "" {
					t.Errorf("%s %s: %d %s", o.Method, path, a.status, a.body)
				}
				if a.status >= 400 {
					var f wire.Failure
					if err := httpapi.Decode(a.body, &f); err != nil {
						t.Errorf("%s %s: %v: %s", o.Method, path, err, a.body)
					}
				}
				if owner && a.status < 400 && trick != "con" {
					t.Errorf("%s %s: %d", o.Method, path, a.status)
				}
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.opened {
		switch name {
		case "acme/ada", "acme/", "acme/con", "con/ada", "con/":
		default:
			t.Errorf("%q was opened", name)
		}
	}
}

// Paths that lead elsewhere lead nowhere.
func TestPathsAreNotCleaned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{
		adaPath + "/../bob/memories", adaPath + "/./memories", adaPath + "//memories", "//" + adaPath[1:] + "/memories", adaPath + "/memories/",
		"/v1/tenants//agents/ada/memories", adaPath + "/memories/../../bob/memories", "/docs/../metrics", "/docs/", "/v2/tenants", "/", "/..",
	} {
		a := r.ask(call{method: "GET", path: path}).failed(amber.KindNotFound)
		must.Equal(t, path+" leads to", a.header.Get("Location"), "")
	}
	must.Equal(t, "agents opened", r.openings(), 0)
}

// An id may be a slash, or hold one.
func TestIDsWithSlashes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct{ path, id string }{{"%2F", "/"}, {"a%2Fb", "a/b"}, {"%2f", "/"}} {
		a := r.ask(call{method: "PUT", path: "sessions/" + c.path + "/state", body: `{"document":{}}`, header: servertest.Header("If-Match", "")})
		if a.status != http.StatusOK && a.status != http.StatusConflict {
			t.Fatalf("%d %s", a.status, a.body)
		}
		must.Equal(t, c.path, r.ask(call{method: "GET", path: "sessions/" + c.path + "/state"}).want(200).text("session_id"), c.id)
		if e := r.book.Entries(0); e[len(e)-1].Subject != c.id {
			t.Errorf("the audit log says %+v", e[len(e)-1])
		}
	}
}

// packed is text as gzip.
func packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	must.Do(t, must.Err(io.WriteString(z, text)))
	must.Do(t, z.Close())
	return b.String()
}

func TestBodiesAsGzip(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.MaxBody = most })
	write := func(body string) reply {
		return r.ask(call{method: "POST", path: "memories", body: body, header: servertest.Header("Content-Encoding", "gzip", "Content-Type", "application/json; charset=utf-8")})
	}
	good := packed(t, `{"content":"packed"}`)
	must.Equal(t, "content", write(good).want(201).text("content"), "packed")
	bomb := packed(t, `{"content":"`+strings.Repeat("a", 8<<20)+`"}`)
	if len(bomb) > most {
		t.Fatalf("the bomb is %d bytes", len(bomb))
	}
	for name, body := range map[string]string{
		"a bomb": bomb, "half": good[:len(good)/2], "torn": good[:len(good)-1], "trailing": good + "x", "two documents": good + good, "nothing": packed(t, ""), "no gzip": `{}`,
		"wrong checksum": good[:len(good)-8] + "\x00\x00\x00\x00" + good[len(good)-4:],
	} {
		a := write(body).failed(amber.KindInvalid)
		if name == "a bomb" && !strings.Contains(string(a.body), fmt.Sprint(most)) {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 1)
}

func TestBodiesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	const most = 4 << 10
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.MaxBody = most })
	fits := `{"content":"` + strings.Repeat("a", most-14) + `"}`
	r.ask(call{method: "POST", path: "memories", body: fits}).want(201)
	for name, body := range map[string]string{"by one": fits + " ", "by much": `{"content":"` + strings.Repeat("a", 1<<20) + `"}`} {
		for _, chunked := range []bool{false, true} {
			q := r.request(t.Context(), call{method: "POST", path: "memories", body: body})
			if chunked {
				q.ContentLength, q.Body = -1, io.NopCloser(strings.NewReader(body))
			}
			resp, err := r.do.Do(q)
			if err != nil {
				t.Fatalf("%s, chunked %v: %v", name, chunked, err)
			}
			b, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			must.Do(t, err)
			reply{t, resp.StatusCode, resp.Header, b}.failed(amber.KindInvalid)
			must.Says(t, name, string(b), "larger than 4096 bytes")
		}
	}
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 1)
}

// Names that are there twice, whatever their case, are refused; those of maps
// and of what is stored as it is are the caller's.
func TestNamesThatAreThereTwice(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{
		`{"content":"a"}`:                                            true,
		`{"content":"a","content":"b"}`:                              false,
		`{"content":"a","Content":"b"}`:                              false,
		`{"content":"a","cont\u0065nt":"b"}`:                         false,
		`{"scope":"agent","ſcope":"session"}`:                        false, // a long s is an s to the reader of fields
		`{"scope":"agent","\u017fCOPE":"session"}`:                   false,
		`{"Kind":"fact","kind":"decision"}`:                          false, // the sign of kelvin
		`{"metadata":{"s":"1","ſ":"2"}}`:                             true,
		`{"metadata":{"a":"1","A":"2"}}`:                             true,
		`{"metadata":{"a":"1","a":"2"}}`:                             false,
		`{"metadata":{"content":"1"},"content":"2"}`:                 true,
		`{"source_refs":[{"kind":"a"},{"kind":"b"}]}`:                true,
		`{"source_refs":[{"kind":"a","kind":"b"}]}`:                  false,
		`{"content":"\"content\":,{}[]","tags":["content","title"]}`: true,
	} {
		var w amber.WriteRequest
		if err := httpapi.Decode([]byte(body), &w); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
	var task amber.Task
	if err := httpapi.Decode([]byte(`{"goal":"g","Key":"h"}`), &task); err == nil {
		t.Error("a field that nobody knows: no error")
	}
	must.NoError(t, httpapi.Decode([]byte(`{"extra":{"a":1,"a":[{"b":1,"b":2}]},"goal":"g"}`), &task))
	must.Equal(t, "goal", task.Goal, "g")
	must.Kind(t, "behind what is stored as it is", httpapi.Decode([]byte(`{"extra":{"a":1},"goal":"g","goal":"h"}`), &task), amber.KindInvalid)
}

// A list in JSON is never null, and nothing of the store is touched for that.
func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	type inner struct {
		List []string          `json:"list"`
		Map  map[string]string `json:"map"`
	}
	type outer struct {
		inner                    // not exported: left alone
		Lists  []inner           `json:"lists"`
		ByName map[string]inner  `json:"by_name"`
		One    *inner            `json:"one"`
		None   *inner            `json:"none"`
		Any    any               `json:"any"`
		Time   amber.Time        `json:"time"`
		Left   []string          `json:"left,omitempty"`
		Zero   amber.HostProcess `json:"zero,omitzero"`
	}
	shared := []inner{{}}
	v := outer{Lists: shared, ByName: map[string]inner{"a": {}}, One: &inner{}, Any: inner{}}
	got, ok := httpapi.Solid(v).(outer)
	if !ok || got.Lists[0].List == nil || got.ByName["a"].Map == nil || got.One.List == nil || got.None != nil || got.Any.(inner).List == nil {
		t.Errorf("got %+v", got)
	}
	if shared[0].List != nil || v.One.List != nil || v.ByName["a"].List != nil {
		t.Error("what was given is not as it was")
	}
	if httpapi.Solid(nil) != nil {
		t.Error("nothing is something")
	}
}

// A value of another type is named in words of JSON: who sends it may know no Go.
func TestAValueOfAnotherTypeIsNamedInWordsOfJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct{ path, body, words string }{
		{"recall", `{"text":5}`, "text is a number where a string is wanted"},
		{"recall", `{"text":"x","kinds":"fact"}`, "kinds is a string where a list is wanted"},
		{"recall", `{"text":"x","limit":"3"}`, "limit is a string where a whole number is wanted"},
		{"recall", `{"text":"x","min_score":[]}`, "min_score is a list where a number is wanted"},
		{"memories", `{"content":"x","tags":{}}`, "tags is an object where a list is wanted"},
		{"memories", `{"content":"x","metadata":[]}`, "metadata is a list where an object is wanted"},
		{"context", `{"goal":true}`, "goal is true or false where a string is wanted"},
		{"memories", `[]`, "the value is a list where an object is wanted"},
	} {
		a := r.ask(call{method: "POST", path: c.path, body: c.body}).failed(amber.KindInvalid)
		must.Says(t, c.body, string(a.body), c.words)
	}
}
