package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	root = "viking://user/alice/memories/amber/acme.coder"
	file = root + "/global-0/userfact/0198-abc.md"

	escapedRoot = "viking%3A%2F%2Fuser%2Falice%2Fmemories%2Famber%2Facme.coder"
	escapedFile = escapedRoot + "%2Fglobal-0%2Fuserfact%2F0198-abc.md"

	healthy = `{"status":"ok","healthy":true,"version":"0.5.2","auth_mode":"api_key","account_id":"acme","user_id":"alice","role":"user"}`
	written = `{"uri":"` + file + `","root_uri":"` + root + `","context_type":"memory","mode":"create","written_bytes":5,"content_updated":true,` +
		`"semantic_status":"skipped","vector_status":"complete","queue_status":{"Embedding":{"processed":1,"error_count":0,"errors":[]}}}`
	batched = `{"created":["` + file + `"],"updated":["` + file + `2"],"unchanged":["` + file + `3"],"vector_status":"queued","task_id":"t-2"}`
	hits    = `{"memories":[{"context_type":"memory","uri":"` + file + `","level":2,"score":0.81,"abstract":"x","tags":[]},` +
		`{"context_type":"memory","uri":"` + root + `","level":0,"score":0.8},{"context_type":"memory","uri":"` + root + `","level":1,"score":0.7},` +
		`{"context_type":"resource","uri":"viking://resources/x.md","level":2,"score":0.6},` +
		`{"context_type":"memory","uri":"` + file + `\u001b[2J","level":2,"score":0.5},{"context_type":"memory","uri":"` + file + `\u202e","level":2,"score":0.5},` +
		`{"context_type":"memory","uri":"","level":2,"score":0.5},{"context_type":"memory","uri":"` + file + `2","level":2,"score":-1e-3}],` +
		`"resources":[{"context_type":"memory","uri":"` + file + `9","level":2,"score":1}],"skills":[],"total":8}`
	incomplete = `{"ok":false,"expected_count":16,"missing_record_count":4,"missing_records":[{"uri":"` + file + `","level":2},{"uri":"` + root + `","level":0},` +
		`{"uri":"` + root + `","level":1},{"uri":"` + file + `2","level":2}],"missing_records_truncated":false}`
)

// call is a call with its request and what comes of an answer.
type call struct {
	do     func(ctx context.Context, c *api.Client) (any, error)
	line   string // of the request
	body   string // of the request
	answer http.HandlerFunc
	want   any
}

func only(err error) (any, error) { return nil, err }

// files are those of a batch.
var files = []api.File{{URI: file, Content: "a"}, {URI: file + "2", Content: "b"}, {URI: file + "3", Content: "<c>\n"}}

// calls are all calls.
var calls = map[string]call{
	"health": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.Health(ctx) },
		"GET /health", "", says(200, healthy),
		api.Health{Version: "0.5.2", AuthMode: "api_key", Account: "acme", User: "alice", Role: "user"},
	},
	"user": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.User(ctx) },
		"GET /health", "", says(200, healthy), "alice",
	},
	"write": {
		func(ctx context.Context, c *api.Client) (any, error) { return only(c.Write(ctx, file, "<hello>")) },
		"POST /api/v1/content/write", `{"uri":"` + file + `","content":"<hello>","mode":"create","wait":true}`,
		result(written), nil,
	},
	"mkdir": {
		func(ctx context.Context, c *api.Client) (any, error) { return only(c.Mkdir(ctx, root)) },
		"POST /api/v1/fs/mkdir", `{"uri":"` + root + `"}`, result(`{"uri":"` + root + `/"}`), nil,
	},
	"batch": {
		func(ctx context.Context, c *api.Client) (any, error) { return only(c.WriteBatch(ctx, root, files)) },
		"POST /api/v1/content/batch-write", `{"root_uri":"` + root + `","operations":[{"uri":"` + file + `","content":"a","mode":"upsert"},` +
			`{"uri":"` + file + `2","content":"b","mode":"upsert"},{"uri":"` + file + `3","content":"<c>\n","mode":"upsert"}],"wait":false}`,
		result(batched), nil,
	},
	"find": {
		func(ctx context.Context, c *api.Client) (any, error) {
			return c.Find(ctx, api.Query{Text: "who am I?", Targets: []string{root, root + "/x"}, Limit: 32})
		},
		"POST /api/v1/search/find", `{"query":"who am I?","target_uri":["` + root + `","` + root + `/x"],"limit":32,"level":2,"context_type":"memory"}`,
		result(hits),
		[]api.Found{{URI: file, Score: 0.81}, {URI: file + "2", Score: -1e-3}},
	},
	"download": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.Download(ctx, file) },
		"GET /api/v1/content/download?uri=" + escapedFile, "", says(200, "not JSON \xff"), []byte("not JSON \xff"),
	},
	"list": {
		func(ctx context.Context, c *api.Client) (any, error) {
			var got []string
			err := c.List(ctx, root, func(uri string) error { got = append(got, uri); return nil })
			return got, err
		},
		"GET /api/v1/fs/ls?limit=1000&offset=0&recursive=true&simple=true&uri=" + escapedRoot, "",
		says(200, `{"status":"ok","result":["`+root+`/global-0","`+file+`","`+root+`/a\u0007b"],"has_more":false}`),
		[]string{root + "/global-0", file},
	},
	"delete": {
		func(ctx context.Context, c *api.Client) (any, error) { return only(c.Delete(ctx, file, false)) },
		"DELETE /api/v1/fs?uri=" + escapedFile, "", result(`{"uri":"` + file + `","estimated_deleted_count":0}`), nil,
	},
	"delete all": {
		func(ctx context.Context, c *api.Client) (any, error) { return only(c.Delete(ctx, root, true)) },
		"DELETE /api/v1/fs?recursive=true&uri=" + escapedRoot, "", says(200, `{"status":"ok"}`), nil,
	},
	"missing": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.Missing(ctx, root) },
		"POST /api/v1/system/consistency", `{"uri":"` + root + `"}`, result(incomplete),
		api.Missing{Expected: 16, Count: 4, URIs: []string{file, root, file + "2"}, Whole: true},
	},
	"reindex": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.Reindex(ctx, file) },
		"POST /api/v1/content/reindex", `{"uri":"` + file + `","mode":"vectors_only","wait":true}`,
		result(`{"status":"completed","rebuilt_records":7,"failed_records":2,"scanned":9}`),
		api.Rebuilt{Made: 7, Failed: 2},
	},
	"account": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.CreateAccount(ctx, "acme", "boss") },
		"POST /api/v1/admin/accounts", `{"account_id":"acme","admin_user_id":"boss"}`,
		result(`{"account_id":"acme","admin_user_id":"boss","user_key":"k1"}`), "k1",
	},
	"new user": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.CreateUser(ctx, "acme", "alice") },
		"POST /api/v1/admin/accounts/acme/users", `{"role":"user","user_id":"alice"}`, result(`{"user_key":"k2"}`), "k2",
	},
	"new key": {
		func(ctx context.Context, c *api.Client) (any, error) { return c.NewKey(ctx, "acme", "alice") },
		"POST /api/v1/admin/accounts/acme/users/alice/key", `{}`, result(`{"user_key":"k3"}`), "k3",
	},
}

// Every call sends exactly what the server takes, which refuses unknown fields, and understands
// what the server answers.
func TestEveryCall(t *testing.T) {
	t.Parallel()
	for name, tc := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tc.answer)
			c := s.open(t)
			got, err := tc.do(t.Context(), c)
			must.Do(t, err)
			must.Equal(t, "result", got, tc.want)
			requests := s.requests()
			must.Equal(t, "number of requests", len(requests), 1)
			r := requests[0]
			must.Equal(t, "request", r.Line, tc.line)
			must.Equal(t, "body", r.Body, tc.body)
			must.Equal(t, "key", r.Header.Get("X-API-Key"), secretKey)
			must.Equal(t, "content type", r.Header.Get("Content-Type") == "application/json", tc.body != "")
			must.Equal(t, "encoding", r.Header.Get("Accept-Encoding"), "")
			must.Equal(t, "length of the request's id", len(r.Header.Get("X-Request-ID")), 32)
		})
	}
}

// A prefix of the URL is in front of every path.
func TestPrefix(t *testing.T) {
	t.Parallel()
	s := serve(t, says(200, healthy))
	c := s.open(t, func(o *api.Options) { o.URL += "/viking/" })
	must.Do(t, must.Err(c.Health(t.Context())))
	must.Equal(t, "request", s.requests()[0].Line, "GET /viking/health")
}

// The headers say who asks: a key that is read anew each time, or an account and a user. The id of
// a request comes from the source that was given.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := serve(t, says(200, healthy))
	key := "first"
	c := s.open(t, func(o *api.Options) {
		o.Key = func() (string, error) { return " " + key + "\n", nil }
		o.Random = strings.NewReader(strings.Repeat("a", 16) + strings.Repeat("b", 16))
	})
	must.Do(t, must.Err(c.Health(t.Context())))
	key = "second"
	must.Do(t, must.Err(c.Health(t.Context())))
	must.Fail(c.Health(t.Context()))(t, "no more random bytes", amber.KindInternal)
	trusted := s.open(t, func(o *api.Options) { o.Key, o.Account, o.User = nil, "acme", "alice" })
	must.Do(t, must.Err(trusted.Health(t.Context())))
	requests := s.requests()
	must.Equal(t, "number of requests", len(requests), 3)
	for i, want := range []map[string]string{
		{"X-Api-Key": "first", "X-Request-Id": strings.Repeat("61", 16)},
		{"X-Api-Key": "second", "X-Request-Id": strings.Repeat("62", 16)},
		{"X-Openviking-Account": "acme", "X-Openviking-User": "alice"},
	} {
		got := map[string]string{}
		for name := range requests[i].Header {
			if _, ok := want[name]; ok || strings.HasPrefix(name, "X-") && name != "X-Request-Id" {
				got[name] = requests[i].Header.Get(name)
			}
		}
		must.Equal(t, "headers", got, want)
	}
}

// /health names the user of a request whose key names one; for any other request the status does.
func TestUser(t *testing.T) {
	t.Parallel()
	status := result(`{"initialized":true,"user":"default"}`)
	noUser := says(200, `{"status":"ok","healthy":true,"version":"9.9","auth_mode":"dev"}`)
	for name, tc := range map[string]struct {
		key     bool
		answers []http.HandlerFunc
		want    string
		kind    amber.Kind
	}{
		"dev":                {false, []http.HandlerFunc{status}, "default", ""},
		"key":                {true, []http.HandlerFunc{says(200, healthy)}, "alice", ""},
		"key without a user": {true, []http.HandlerFunc{noUser, status}, "default", ""},
		"key refused":        {true, []http.HandlerFunc{failure(401, "UNAUTHENTICATED", "null")}, "", amber.KindRefused},
		"path":               {false, []http.HandlerFunc{result(`{"user":"a/b"}`)}, "", amber.KindDamaged},
		"parent":             {false, []http.HandlerFunc{result(`{"user":".."}`)}, "", amber.KindDamaged},
		"nobody":             {false, []http.HandlerFunc{result(`{"initialized":true}`)}, "", amber.KindDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tc.answers...)
			c := s.open(t, func(o *api.Options) {
				if !tc.key {
					o.Key = nil
				}
			})
			got, err := c.User(t.Context())
			must.Kind(t, "", err, tc.kind)
			must.Equal(t, "user", got, tc.want)
			must.Equal(t, "requests", len(s.requests()), len(tc.answers))
		})
	}
}

// A version is any text that is fit to be shown.
func TestVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]amber.Kind{
		"0.5.0": "", "0.5.10.dev3+g1": "", "0.6.0rc1": "", "unknown": "",
		"": amber.KindDamaged, "0.5.2\u001b[2J": amber.KindDamaged, strings.Repeat("1", 500): amber.KindDamaged,
	} {
		text := string(must.Get(json.Marshal(version))(t))
		s := serve(t, says(200, `{"status":"ok","healthy":true,"version":`+text+`,"auth_mode":"dev"}`))
		h, err := s.open(t).Health(t.Context())
		must.Kind(t, version, err, want)
		if want != amber.KindDamaged {
			must.Equal(t, "health", h, api.Health{Version: version, AuthMode: "dev"})
		}
	}
}
