package mcpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// unsendable is why a target leaves an input out: the SDK's client writes JSON,
// which has no other bytes. FuzzStdio and FuzzHTTP send anything.
const unsendable = "a client that writes JSON cannot send it"

// FuzzStdio sends anything between two good messages: every line that comes back
// is a message, and the last one is answered.
func FuzzStdio(f *testing.F) {
	for _, bad := range badCalls {
		if len(bad.params) < 1000 {
			f.Add([]byte(message(5, bad.method, bad.params)))
		}
	}
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},3]` + "\r\n\n{"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":5,"result":{}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		answered := false
		for _, l := range newRig(t).pipe(strings.NewReader(hello + string(in) + "\n" + `{"jsonrpc":"2.0","id":"the last","method":"ping"}`)) {
			answered = parse(t, l).ID == "the last" || answered
		}
		if !answered && !strings.Contains(string(in), "the last") {
			t.Error("the last message is not answered")
		}
	})
}

// FuzzHTTP posts anything: the server never fails.
func FuzzHTTP(f *testing.F) {
	for _, bad := range badCalls {
		if len(bad.params) < 1000 {
			f.Add([]byte(message(5, bad.method, bad.params)), "2025-06-18")
		}
	}
	f.Add([]byte(`[]`), "")
	f.Add([]byte(hello), "2026-07-28")
	h := must.Get(mcpapi.NewHandler(newRig(f).options("all")))(f)
	f.Fuzz(func(t *testing.T, in []byte, version string) {
		q := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(string(in)))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Accept", "application/json, text/event-stream")
		q.Header.Set("Mcp-Protocol-Version", version)
		w := httptest.NewRecorder()
		h(w, q, everything)
		if w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// FuzzArguments calls every tool with any arguments: it works, or it says what is
// wrong with them.
func FuzzArguments(f *testing.F) {
	names := mcpapi.Names()
	for i, name := range names {
		args := must.Get(json.Marshal(plausible[name]))(f)
		f.Add(byte(i), args)
	}
	f.Add(byte(0), []byte(`{"content":null,"tags":[1]}`))
	f.Add(byte(slices.Index(names, "result_save")), []byte(`{"task_id":"t","node_id":"n","producer":"p","status":"ok","confidence":1}`))
	f.Fuzz(func(t *testing.T, tool byte, args []byte) {
		if !json.Valid(args) || !utf8.Valid(args) {
			t.Skip(unsendable)
		}
		c := newRig(t).local("all")
		name := names[int(tool)%len(names)]
		res, err := c.cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatalf("%s(%s): %v", name, args, err)
		}
		if res.IsError && strings.HasPrefix(textOf(res), string(amber.KindInternal)) {
			t.Errorf("%s(%s): %s", name, args, textOf(res))
		}
	})
}

// FuzzPath creates a file at any path: it is refused, or it is a note of that
// folder and nothing else is.
func FuzzPath(f *testing.F) {
	for _, path := range []string{
		"/memories/a.md", "/memories/a/b", "/memories/../x", "/memories/%2e%2e/x", "/memories//x", "/etc/passwd", "/memories/a\x00", "/memories/.git/config",
		`/memories/a\b`, "/memories/ä", "/memories/a.md.md", "/memories/a/", "/memories/A",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !utf8.ValidString(path) {
			t.Skip(unsendable)
		}
		r := newRig(t)
		c := r.local("files")
		res := c.try("memory", object{"command": "create", "path": path, "file_text": "x"})
		notes := must.Get(r.store().Notes.ListNotes(t.Context()))(t)
		if res.IsError {
			must.Equal(t, "notes made by the refused "+path, len(notes), 0)
			return
		}
		rest, inside := strings.CutPrefix(path, "/memories/")
		if len(notes) != 1 || !inside || !strings.HasPrefix(rest, notes[0].Name) || slices.Contains(strings.Split(rest, "/"), "..") {
			t.Fatalf("%q made %+v", path, notes)
		}
		if _, text := c.call("memory", object{"command": "view", "path": path}); !strings.HasSuffix(text, "\n     1\tx") {
			t.Errorf("%q shows %q", path, text)
		}
		c.call("memory", object{"command": "delete", "path": path})
	})
}

// FuzzResource reads any URI: what comes back is a text or an error of the
// protocol.
func FuzzResource(f *testing.F) {
	for _, uri := range []string{"amber://context", "amber://memory/" + someID, "amber://session/s%20one", "amber://note/%2e%2e/x", "amber://note/a/b", "file:///etc/passwd", "amber://note/%zz", ""} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if !utf8.ValidString(uri) {
			t.Skip(unsendable)
		}
		r := newRig(t)
		must.Do(t, must.Err(r.store().Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "a/b", Content: "x"})))
		res, err := r.local("").cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err == nil {
			if len(res.Contents) != 1 || res.Contents[0].URI != uri {
				t.Errorf("%q: %+v", uri, res)
			}
			return
		}
		if wire := wireError(t, err); int(wire.Code) == amber.KindInternal.MCPCode() {
			t.Errorf("%q: %+v", uri, wire)
		}
	})
}

// FuzzEntity stores an entity as a memory and reads it back as it was, but for what a model is not shown.
func FuzzEntity(f *testing.F) {
	f.Add("Ada", "person", "wrote\nnotes", "- likes dashes")
	f.Add("a\nb", "", "", "  indented\n- not an item\n\n")
	f.Add("x (y)", "t\n- o", " ", "\t")
	f.Add("CR", "\r\n", "a\r\nb", "\u2028")
	f.Fuzz(func(t *testing.T, name, typ, one, two string) {
		if !utf8.ValidString(name + typ + one + two) {
			t.Skip(unsendable)
		}
		c := newRig(t).local("reference")
		want := object{"name": name, "entityType": typ, "observations": []any{one, two}}
		if res := c.try("create_entities", object{"entities": []any{want}}); res.IsError {
			return // it says why
		}
		opened, _ := c.call("open_nodes", object{"names": []any{name}})
		var readable object
		must.Do(t, json.Unmarshal(shown.JSON(must.Get(json.Marshal(want))(t)), &readable))
		must.Equal[any](t, "read back", opened["entities"], []any{map[string]any(readable)})
	})
}

// FuzzLearnings looks for learnings in any text: each is in it, and says
// something.
func FuzzLearnings(f *testing.F) {
	f.Add("## Key Learnings:\n1. the cache has to be warmed first\n2) short\n## Next\n4. this is not in the list any more\n")
	f.Add("### Aprendizajes clave\r\n- una cosa que hay que saber\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip(unsendable)
		}
		r := newRig(t)
		if res := r.local("engram").try("mem_capture_passive", object{"content": text}); res.IsError {
			return // it says why
		}
		p := must.Get(r.store().Memories.List(t.Context(), amber.ListQuery{All: true}))(t)
		for _, m := range p.Items {
			if !strings.Contains(text, m.Content) || len(m.Content) < 20 {
				t.Errorf("%q is no learning of the text", m.Content)
			}
		}
	})
}
