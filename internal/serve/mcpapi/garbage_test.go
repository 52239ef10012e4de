package mcpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// badCalls are messages that are well formed and wrong, with the answer each
// gets: a code of the protocol, or words of a tool that failed.
var badCalls = []struct {
	name, method, params string
	code                 int
	words                string
}{
	{"an unknown method", "memories/burn", `{}`, -32601, ""},
	{"a method of another house", "sampling/createMessage", `{}`, -32601, ""},
	{"an unknown tool", "tools/call", `{"name":"burn"}`, -32602, `unknown tool \"burn\"`},
	{"a tool without a name", "tools/call", `{}`, -32602, "unknown tool"},
	{"a name that is a number", "tools/call", `{"name":7}`, -32602, ""},
	{"a long name", "tools/call", `{"name":"` + strings.Repeat("x", 128<<10) + `"}`, -32602, "unknown tool"},
	{"no parameters", "tools/call", ``, -32600, ""},
	{"parameters in a list", "tools/call", `["memory_save"]`, -32602, ""},
	{"arguments of null", "tools/call", `{"name":"memory_save","arguments":null}`, 0, "content is missing"},
	{"arguments in a list", "tools/call", `{"name":"memory_save","arguments":["x"]}`, 0, "is a list where an object is wanted"},
	{"arguments in a string", "tools/call", `{"name":"memory_save","arguments":"content"}`, 0, "is a string where an object is wanted"},
	{"a list of a list", "tools/call", `{"name":"memory_save","arguments":{"content":"x","tags":[["a"]]}}`, 0, "where a string is wanted"},
	{"a huge number", "tools/call", `{"name":"memory_recall","arguments":{"query":"x","limit":1e400}}`, 0, "where a whole number is wanted"},
	{"a huge argument", "tools/call", `{"name":"memory_save","arguments":{"content":"` + strings.Repeat("x", amber.MaxContentBytes+1) + `"}}`, 0, "the limit is"},
	{"many arguments", "tools/call", `{"name":"memory_save","arguments":{` + manyArguments(20_000) + `}}`, 0, "there is no"},
	{"a deep argument", "tools/call", `{"name":"memory_save","arguments":{"content":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}}`, 0, "content is a list where a string is wanted"},
	{"an unknown resource", "resources/read", `{"uri":"amber://elsewhere/x"}`, -32002, "the resource does not exist"},
	{"a resource that is a path", "resources/read", `{"uri":"file:///etc/passwd"}`, -32002, "the resource does not exist"},
	{"a resource without a name", "resources/read", `{}`, -32002, ""},
	{"an unknown prompt", "prompts/get", `{"name":"burn"}`, -32602, ""},
	{"a cursor of nobody", "resources/list", `{"cursor":"????"}`, -32602, ""},
}

func manyArguments(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d":%d,`, i, i)
	}
	return b.String() + `"z":1`
}

// message is a call as it goes over the wire.
func message(id int, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, id, method, params)
}

// holds an answer against what is wanted: short and precise.
func checkRefusal(t *testing.T, where, line string, code int, words string) {
	t.Helper()
	p := parse(t, line)
	if code != 0 && (p.Error == nil || p.Error.Code != code) || code == 0 && (p.Error != nil || !strings.Contains(string(p.Result), `"isError":true`)) {
		t.Errorf("%s: %.300s", where, line)
	}
	if !strings.Contains(line, words) || len(line) > 8000 {
		t.Errorf("%s: %d bytes, %.300s", where, len(line), line)
	}
}

// TestWrongCallsAreToldPrecisely sends each over stdio and over HTTP. The server
// goes on, and nothing was stored.
func TestWrongCallsAreToldPrecisely(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	for _, bad := range badCalls {
		lines := r.pipe(strings.NewReader(hello + message(5, bad.method, bad.params) + "\n" + message(9, "ping", "") + "\n"))
		found := map[any]bool{}
		for _, l := range lines {
			p := parse(t, l)
			found[p.ID] = true
			if p.ID == 5.0 {
				checkRefusal(t, bad.name+" over stdio", l, bad.code, bad.words)
			}
		}
		must.Equal(t, bad.name, found, map[any]bool{0.0: true, 5.0: true, 9.0: true})
		status, body := post(t, s, message(5, bad.method, bad.params), "Mcp-Protocol-Version", "2025-06-18")
		if status >= 500 {
			t.Errorf("%s over HTTP: %d", bad.name, status)
		}
		if status == http.StatusOK {
			checkRefusal(t, bad.name+" over HTTP", strings.TrimSpace(body), bad.code, bad.words)
		}
	}
	must.Equal(t, "changes", must.Get(r.store().Stats.Stats(t.Context()))(t).Changes, 0)
	if e := r.audit.Cut(0); len(e) != 0 && e[0].Outcome != string(amber.KindInvalid) {
		t.Errorf("written down %+v", e)
	}
}

// TestMessagesAreBoundedOverHTTP sends one that is longer than any may be.
func TestMessagesAreBoundedOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	posts(t, "the answer", http.StatusRequestEntityTooLarge, s, strings.Repeat(" ", mcpapi.MaxMessageBytes)+message(1, "ping", ""))
	posts(t, "the answer", http.StatusOK, s, message(1, "ping", ""))
}
