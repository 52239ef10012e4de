package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/test/must"
)

// helpOf returns the text of the help of a command.
func helpOf(t *testing.T, words ...string) string {
	t.Helper()
	root := (&app{&cli.App{}}).rootCommand()
	return must.Get(cli.CommandOf(root, words))(t).Long
}

// lineFields returns the fields of a line of --jsonl that the help of remember
// names.
func lineFields(t *testing.T) (names []string) {
	t.Helper()
	_, list, found := strings.Cut(helpOf(t, "remember"), "The fields of a line are:\n\n")
	if !found {
		t.Fatal("the help of remember has no list of fields")
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	return names
}

// A line with every field that the help names is stored, and says what it said.
func TestHelpNamesTheFieldsOfALine(t *testing.T) {
	values := map[string]any{
		"content": "c", "title": "t", "summary": "s", "topic": "release-plan", "kind": "constraint", "scope": "project",
		"session_id": "s1", "user_id": "ada", "project_id": "acme/shop", "workspace_id": "w1",
		"tags": []any{"a", "b"}, "metadata": map[string]any{"k": "v"}, "source_refs": []any{map[string]any{"kind": "file", "value": "main.go"}},
		"trust": "imported", "idempotency_key": "key",
		"created_at": "2020-01-02T03:04:05.000Z", "updated_at": "2021-01-02T03:04:05.000Z",
	}
	line := map[string]any{}
	for _, name := range lineFields(t) {
		if _, known := values[name]; !known {
			t.Errorf("the help names %s, which this test does not know", name)
		}
		line[name] = values[name]
	}
	must.Equal(t, "number of fields", len(line), len(values))
	s := newSetting(t, false)
	out, complaint, code := s.amber(string(must.Get(json.Marshal(line))(t)), "--json", "remember", "--jsonl")
	if code != 0 {
		t.Fatal(complaint)
	}
	var page struct{ Items []map[string]any }
	must.Do(t, json.Unmarshal([]byte(out), &page))
	delete(line, "idempotency_key")
	for name, want := range line {
		must.Equal(t, name, page.Items[0][name], want)
	}
}
