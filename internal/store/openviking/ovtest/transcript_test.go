package ovtest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

// update has the transcripts written anew, from the real server.
var update = flag.Bool("update", false, "write testdata/*.golden anew; needs a real OpenViking")

// transcripts are requests of one user, each "METHOD path body". URIs begin with ~,
// and are written out. A request with "root" in front has the root key. One with
// "quiet" is sent and not noted.
var transcripts = map[string][]string{
	"access": {
		`root GET /health`,
		`GET /health`,
		`GET /ready`,
		`GET /api/v1/system/status`,
		`root GET /api/v1/fs/ls?uri=~`,
		`POST /api/v1/admin/accounts {"account_id":"other","admin_user_id":"u1"}`,
		`root POST /api/v1/admin/accounts {"account_id":"golden-access","admin_user_id":"u1"}`,
		`root POST /api/v1/admin/accounts {}`,
		`POST /api/v1/admin/accounts/golden-access/users {"user_id":"u2","role":"user"}`,
		`POST /api/v1/admin/accounts/golden-access/users/u2/key {}`,
		`POST /api/v1/admin/accounts/golden-access/users/u9/key {}`,
	},
	"files": {
		`POST /api/v1/content/write {"uri":"~notes/a.md","content":" Gateway uses port 8443.\n","mode":"create","wait":true}`,
		`POST /api/v1/content/write {"uri":"~no tes/we ird.md","content":"x","wait":false}`,
		`quiet POST /api/v1/system/wait {"timeout":60}`,
		`POST /api/v1/content/write {"uri":"~notes/b.md","content":"x","timeout":5}`,
		`POST /api/v1/content/write {"uri":"viking://user/u9/memories/notes/b.md","content":"x"}`,
		`POST /api/v1/content/write {"uri":"~notes/b.exe","content":"x"}`,
		`POST /api/v1/content/write {"uri":"http://x/b.md","content":"x"}`,
		`GET /api/v1/content/read?uri=~notes/a.md`,
		`GET /api/v1/content/read?uri=~notes/a.md&raw=true`,
		`GET /api/v1/content/read?uri=~notes/none.md`,
		`GET /api/v1/fs/stat?uri=~notes/a.md`,
		`GET /api/v1/fs/stat?uri=~notes`,
		`GET /api/v1/fs/ls?uri=~&recursive=true&simple=true&limit=3`,
		`GET /api/v1/fs/ls?uri=~notes&recursive=true`,
		`GET /api/v1/fs/ls?uri=~none`,
		`DELETE /api/v1/fs?uri=~notes`,
		`DELETE /api/v1/fs?uri=~notes/a.md`,
		`DELETE /api/v1/fs?uri=~notes/a.md`,
	},
	"batch": {
		`POST /api/v1/content/batch-write {"root_uri":"~notes","operations":[{"uri":"~notes/a.md","content":"x"}],"wait":true}`,
		`POST /api/v1/fs/mkdir {"uri":"~notes"}`,
		`POST /api/v1/fs/mkdir {"uri":"~notes"}`,
		`quiet POST /api/v1/system/wait {"timeout":60}`,
		`POST /api/v1/content/batch-write {"root_uri":"~notes","operations":[{"uri":"~notes/b.md","content":"two","mode":"upsert"},{"uri":"~notes/a.md","content":"one","mode":"upsert"}],"wait":true}`,
		`POST /api/v1/content/batch-write {"root_uri":"~notes","operations":[{"uri":"~notes/a.md","content":"uno","mode":"upsert","expected_sha256":"0000000000000000000000000000000000000000000000000000000000000000"}],"wait":true}`,
		`POST /api/v1/content/batch-write {"root_uri":"~notes","operations":[{"uri":"~notes/c.md","content":"uno","mode":"upsert","expected_sha256":"0000000000000000000000000000000000000000000000000000000000000000"}],"wait":true}`,
		`POST /api/v1/content/batch-write {"root_uri":"~notes","operations":[{"uri":"~notes/a.md","content":"uno","zork":1}],"wait":true}`,
		`POST /api/v1/content/batch-write {"root_uri":"~notes","operations":[{"uri":"~other/a.md","content":"uno"}],"wait":true}`,
		`POST /api/v1/content/batch-write {"root_uri":"~notes","operations":[{"uri":"~notes/d.md","content":"uno"}],"wait":false,"defer_processing":true}`,
		`POST /api/v1/system/consistency {"uri":"~notes"}`,
		`POST /api/v1/content/reindex {"uri":"~notes/d.md","mode":"vectors_only","wait":true}`,
		`POST /api/v1/content/reindex {"uri":"~notes/none.md","mode":"vectors_only","wait":true}`,
		`POST /api/v1/system/consistency {"uri":"~notes"}`,
		`GET /api/v1/tasks/none`,
	},
	"find": {
		`quiet POST /api/v1/content/write {"uri":"~one/a.md","content":"Gateway uses port 8443 on the edge.","wait":true}`,
		`quiet POST /api/v1/content/write {"uri":"~one/b.md","content":"Berlin office closes at six.","wait":true}`,
		`quiet POST /api/v1/content/write {"uri":"~two/c.md","content":"Gateway uses port 8443","wait":true,"tags":["k=v"]}`,
		`POST /api/v1/search/find {"query":"gateway port","target_uri":["~one","~two"],"limit":10,"level":2,"context_type":"memory"}`,
		`POST /api/v1/search/find {"query":"gateway","target_uri":["~one"],"limit":1,"level":2,"read_content":true}`,
		`POST /api/v1/search/find {"query":"gateway","tags":["k=v"],"level":2}`,
		`POST /api/v1/search/find {"query":"gateway","target_uri":["~none"],"level":2}`,
		`POST /api/v1/search/find {"query":" "}`,
		`POST /api/v1/search/find {"query":"gateway","limit":0}`,
		`POST /api/v1/search/find {"query":"gateway","zork":1}`,
		`POST /api/v1/search/find {"query":"gateway","target_uri":["viking://user/u9/memories"]}`,
		`quiet POST /api/v1/content/reindex {"uri":"~two/c.md","mode":"vectors_only","wait":true}`,
		`POST /api/v1/search/find {"query":"gateway port","target_uri":["~two"],"level":2}`,
	},
}

// TestTranscripts compares the fake with what a real server answered.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("the transcripts are being written")
	}
	_, target := fake(t)
	compare(t, target)
}

// compare sends the requests of every transcript.
func compare(t *testing.T, target ovtest.Target) {
	for name, lines := range transcripts {
		t.Run(name, func(t *testing.T) { golden.Check(t, *update, name, record(t, target, "golden-"+name, lines)) })
	}
}

// record returns requests with their answers.
func record(t *testing.T, target ovtest.Target, account string, lines []string) string {
	var out strings.Builder
	key := target.RootKey
	send := func(key, line string) []byte {
		method, rest, _ := strings.Cut(strings.ReplaceAll(line, "~", "viking://user/u1/memories/"), " ")
		path, body, _ := strings.Cut(rest, " {")
		if body != "" {
			body = "{" + body
		}
		path, query, _ := strings.Cut(path, "?")
		if query != "" {
			path += "?" + must.Get(url.ParseQuery(query))(t).Encode()
		}
		r := must.Get(http.NewRequestWithContext(t.Context(), method, target.URL+path, strings.NewReader(body)))(t)
		r.Header.Set("X-API-Key", key)
		r.Header.Set("Content-Type", "application/json")
		resp := must.Get(http.DefaultClient.Do(r))(t)
		defer func() { _ = resp.Body.Close() }()
		raw := must.Get(io.ReadAll(resp.Body))(t)
		fmt.Fprintf(&out, "%s\n%d %s\n\n", line, resp.StatusCode, settled(t, raw))
		return raw
	}
	var made struct {
		Result struct {
			Key string `json:"user_key"`
		}
	}
	first := send(key, `POST /api/v1/admin/accounts {"account_id":"`+account+`","admin_user_id":"u1"}`)
	must.Do(t, json.Unmarshal(first, &made))
	for _, line := range lines {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "root":
			send(key, rest)
		case "quiet":
			before := out.String()
			send(made.Result.Key, rest)
			out.Reset()
			out.WriteString(before)
		default:
			send(made.Result.Key, line)
		}
	}
	return out.String()
}

// volatile are fields whose values differ from run to run.
var volatile = []string{"user_key", "task_id", "id", "modTime", "duration_ms", "created_at", "updated_at", "last_message_at", "last_commit_at"}

// settled returns a document with the volatile fields replaced, indented.
func settled(t *testing.T, raw []byte) string {
	var doc any
	must.Do(t, json.Unmarshal(raw, &doc))
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	must.Do(t, e.Encode(still(doc)))
	return strings.TrimSpace(b.String())
}

// still replaces volatile fields, and rounds scores.
func still(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = still(v[i])
		}
	case map[string]any:
		for k := range v {
			switch score, isNumber := v[k].(float64); {
			case slices.Contains(volatile, k):
				v[k] = strings.ToUpper(k)
			case k == "score" && isNumber:
				v[k] = fmt.Sprintf("%.6f", score)
			default:
				v[k] = still(v[k])
			}
		}
	}
	return v
}
