package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// newest is the version of the protocol in which every result says that it is
// complete.
const newest = "2026-07-28"

// modern is a message as clients of the newest version send it.
func modern(id int, method, params string) string {
	params = strings.TrimSuffix(params, "}")
	if params != "{" && params != "" {
		params += ","
	} else {
		params = "{"
	}
	return message(id, method, params+`"_meta":{"io.modelcontextprotocol/protocolVersion":"`+newest+
		`","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`)
}

// modernCalls are one request of every kind that has a result. Named are those
// whose name goes into a header.
var modernCalls = []struct{ method, params, named string }{
	{"server/discover", `{}`, ""},
	{"tools/list", `{}`, ""},
	{"tools/call", `{"name":"memory_save","arguments":{"content":"complete"}}`, "memory_save"},
	{"tools/call", `{"name":"memory_get","arguments":{"id":"` + someID + `"}}`, "memory_get"}, // it fails
	{"resources/list", `{}`, ""},
	{"resources/templates/list", `{}`, ""},
	{"resources/read", `{"uri":"amber://context"}`, "amber://context"},
	{"prompts/list", `{}`, ""},
	{"prompts/get", `{"name":"handoff"}`, "handoff"},
}

// cacheable are the methods whose results say how long they may be kept, and by
// whom.
var cacheable = map[string]bool{
	"server/discover": true, "tools/list": true, "resources/list": true, "resources/templates/list": true, "resources/read": true, "prompts/list": true,
}

// checkComplete holds a result against what the newest version requires.
func checkComplete(t *testing.T, where, method string, result json.RawMessage) {
	t.Helper()
	var got struct {
		ResultType string `json:"resultType"`
		TTL        *int   `json:"ttlMs"`
		Scope      string `json:"cacheScope"`
	}
	if err := json.Unmarshal(result, &got); err != nil {
		t.Fatalf("%s: %s: %v", where, method, err)
	}
	must.Equal(t, where+": "+method+": resultType", got.ResultType, "complete")
	if cacheable[method] && (got.TTL == nil || got.Scope != "private") {
		t.Errorf("%s: %s: ttlMs %v, cacheScope %q", where, method, got.TTL, got.Scope)
	}
}

// TestEveryResultIsComplete asks for a result of every kind in the newest version
// of the protocol, whose clients refuse what does not say that it is complete,
// and in older ones, where nothing is added.
func TestEveryResultIsComplete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	in := ""
	for i, c := range modernCalls {
		in += modern(i+1, c.method, c.params) + "\n"
		status, body := post(t, s, modern(1, c.method, c.params), "Mcp-Protocol-Version", newest, "Mcp-Method", c.method, "Mcp-Name", c.named)
		if p := parse(t, body); status != 200 || p.Error != nil {
			t.Errorf("%s: %d %s", c.method, status, body)
		} else {
			checkComplete(t, "HTTP", c.method, p.Result)
		}
		if c.method == "server/discover" {
			continue
		}
		old := posts(t, c.method, 200, s, message(1, c.method, c.params), "Mcp-Protocol-Version", "2025-11-25")
		must.Hides(t, c.method+" in an old version", old, "resultType")
	}
	answered := 0
	for _, l := range r.pipe(strings.NewReader(in)) {
		p := parse(t, l)
		id, ok := p.ID.(float64)
		if !ok || p.Error != nil {
			t.Errorf("stdio: %s", l)
			continue
		}
		checkComplete(t, "stdio", modernCalls[int(id)-1].method, p.Result)
		answered++
	}
	must.Equal(t, "answers over stdio", answered, len(modernCalls))
}

// TestASaveThatIsRetriedIsOneMemory: a client that did not take the answer sends
// the call again, with another id.
func TestASaveThatIsRetriedIsOneMemory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	call := `{"name":"memory_save","arguments":{"content":"once only","title":"a title","tags":["b","a"],"kind":"project_fact"}}`
	for i := range 3 {
		if _, body := post(t, s, modern(i, "tools/call", call), "Mcp-Protocol-Version", newest, "Mcp-Method", "tools/call", "Mcp-Name", "memory_save"); !strings.Contains(body, fmt.Sprintf(`"deduplicated":%v`, i > 0)) {
			t.Errorf("call %d: %s", i, body)
		}
	}
	r.pipe(strings.NewReader(modern(1, "tools/call", call) + "\n" + modern(2, "tools/call", call) + "\n"))
	page := must.Get(r.store().Memories.List(t.Context(), amber.ListQuery{All: true}))(t)
	projects := map[string]int{}
	for _, m := range page.Items {
		projects[m.ProjectID]++
	}
	for project, n := range projects {
		must.Equal(t, "memories of project "+project, n, 1)
	}
}
