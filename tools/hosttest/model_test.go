package main

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// ask sends a request to the model and returns its answer.
func ask(t *testing.T, m *model, path, body string) string {
	t.Helper()
	answer := must.Get(http.Post(m.url+path, "application/json", strings.NewReader(body)))(t)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", path, answer.StatusCode, err)
	}
	return string(text)
}

// TestTheModelUsesAToolAndAnswers in every protocol that hosts speak.
func TestTheModelUsesAToolAndAnswers(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"command":{"type":"string"},"why":{"type":"string"}},"required":["command","why"]}`
	for path, c := range map[string]struct{ first, second string }{
		"/v1/messages": {
			`{"stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Read"},{"name":"Bash","input_schema":` + schema + `}]}`,
			`{"messages":[{"role":"user","content":[{"type":"tool_result"}]}],"tools":[{"name":"Bash","input_schema":` + schema + `}]}`,
		},
		"/v1beta/models/x:streamGenerateContent": {
			`{"contents":[{"parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":` + schema + `}]}]}`,
			`{"contents":[{"parts":[{"functionResponse":{}}]}],"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}`,
		},
		"/v1/responses": {
			`{"stream":true,"input":"hi","tools":[{"type":"web_search"},{"type":"function","name":"shell","parameters":` + schema + `}]}`,
			`{"stream":true,"input":[{"type":"function_call_output"}],"tools":[{"type":"function","name":"shell","parameters":` + schema + `}]}`,
		},
		"/v1/chat/completions": {
			`{"stream":true,"messages":[{"role":"user"}],"tools":[{"type":"function","function":{"name":"bash","parameters":` + schema + `}}]}`,
			`{"messages":[{"role":"tool"}],"tools":[{"type":"function","function":{"name":"bash","parameters":` + schema + `}}]}`,
		},
	} {
		m, err := startModel(filepath.Join(t.TempDir(), "log"), line{"", "It was so."}, line{"tools", "It is so."}, line{"nobody says this", "It is not so."})
		must.Do(t, err)
		defer m.close()
		first, second := ask(t, m, path, c.first), ask(t, m, path, c.second)
		if !strings.Contains(first, "echo "+toolOutput) || strings.Contains(first, "It is so.") || !strings.Contains(second, "It is so.") {
			t.Errorf("%s: %s, then %s", path, first, second)
		}
		if requests, calls := m.asked(); requests != 2 || calls != 1 {
			t.Errorf("%s: %d requests, %d tools", path, requests, calls)
		}
		if title := ask(t, m, path, `{}`); strings.Contains(title, "It is so.") {
			t.Errorf("%s without tools: %s", path, title)
		}
		if !m.heard("tools", "hi") && !m.heard("tools", "user") || m.heard("tools", "nobody said this") {
			t.Errorf("%s: requests are not found", path)
		}
	}
}

// TestAFailureIsSaidAndCounts: the table tells which check failed, and so does
// the answer.
func TestAFailureIsSaidAndCounts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	rows := []row{{"a", "1.0", "ran", nil, ""}, {"a", "1.0", "turns", errors.New("two\nlines"), ""}}
	if show(&b, rows) || !strings.Contains(b.String(), "FAIL: two lines\n") || !strings.Contains(b.String(), "1 of 2 checks failed") {
		t.Errorf("%s", b.String())
	}
	if !show(io.Discard, rows[:1]) || show(io.Discard, nil) {
		t.Error("a table of one success is no success, or an empty one is")
	}
}
