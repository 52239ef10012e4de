//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
)

// identityDoor is a way to memory that names one identity and no scope. Recall returns the texts it finds.
type identityDoor struct {
	remember func(text, kind, id string)
	recall   func(kind, id string) []string
}

// oneIdentity is an identity of a kind.
func oneIdentity(kind, id string) (ids amber.Identities) {
	switch kind {
	case "session":
		ids.SessionID = amber.SessionID(id)
	case "user":
		ids.UserID = id
	case "project":
		ids.ProjectID = id
	case "workspace":
		ids.WorkspaceID = id
	}
	return ids
}

// identityDoors are the doors of one home. The packages for other languages have the same test.
func (u *user) identityDoors(r *running) map[string]identityDoor {
	u.t.Helper()
	t, ctx := u.t, u.t.Context()
	store := must.Get(must.Get(must.Get(client.New(client.Options{URL: r.url}))(t).Agent("default", "default"))(t).Store(ctx))(t)
	hits := func(found amber.RecallResult) (texts []string) {
		for _, h := range found.Hits {
			texts = append(texts, h.Content)
		}
		return texts
	}
	h := u.host("", nil, "--project", "")
	return map[string]identityDoor{
		"CLI": {
			func(text, kind, id string) { u.must("", "remember", text, "--"+kind, id) },
			func(kind, id string) []string {
				var found amber.RecallResult
				must.Do(t, json.Unmarshal([]byte(u.must("", "--json", "recall", "heron", "--"+kind, id)), &found))
				return hits(found)
			},
		},
		"HTTP": {
			func(text, kind, id string) {
				r.answer("POST", agentURL+"/memories", fmt.Sprintf(`{"content":%q,"%s_id":%q}`, text, kind, id), nil)
			},
			func(kind, id string) []string {
				var found amber.RecallResult
				r.answer("POST", agentURL+"/recall", fmt.Sprintf(`{"text":"heron","%s_id":%q}`, kind, id), &found)
				return hits(found)
			},
		},
		"Go": {
			func(text, kind, id string) {
				must.Get(store.LongTerm.Write(ctx, amber.WriteRequest{Content: text, Identities: oneIdentity(kind, id)}))(t)
			},
			func(kind, id string) []string {
				return hits(must.Get(store.LongTerm.Recall(ctx, amber.Query{Text: "heron", Filter: amber.Filter{Identities: oneIdentity(kind, id)}}))(t))
			},
		},
		"MCP": {
			func(text, kind, id string) { h.call("memory_save", map[string]any{"content": text, kind: id}) },
			func(kind, id string) (texts []string) {
				data, _ := h.call("memory_recall", map[string]any{"query": "heron", kind: id})
				for _, hit := range data["hits"].([]any) {
					texts = append(texts, hit.(map[string]any)["snippet"].(string))
				}
				return texts
			},
		},
	}
}

// A memory that was written under an identity, by any door, is found under it by every door, and under another
// identity by none.
func TestAnIdentityNeverSeesAnotherByAnyDoor(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	doors := u.identityDoors(u.serve())
	names := slices.Sorted(maps.Keys(doors))
	for _, kind := range []string{"session", "user", "project", "workspace"} {
		for _, name := range names {
			doors[name].remember(fmt.Sprintf("a heron, by %s for a %s", name, kind), kind, "one")
		}
	}
	for _, kind := range []string{"session", "user", "project", "workspace"} {
		for _, name := range names {
			must.Equal(t, name+": what another "+kind+" finds", len(doors[name].recall(kind, "two")), 0)
			found := doors[name].recall(kind, "one")
			must.Equal(t, name+": what the "+kind+" finds", len(found), len(names))
			for _, text := range found {
				must.Hold(t, strings.HasSuffix(text, " for a "+kind), "%s finds %q for a %s", name, text, kind)
			}
		}
	}
	must.Equal(t, "what nobody finds", len(doors["HTTP"].recall("user", "")), 0)
	bound := u.host("", nil, "--project", "", "--user", "one")
	data, _ := bound.call("memory_recall", map[string]any{"query": "heron"})
	must.Equal(t, "what a connection of the user finds", len(data["hits"].([]any)), len(names))
	data, _ = bound.call("memory_save", map[string]any{"content": "said on it"})
	must.Equal(t, "scope of what is said on it", data["scope"], any("user"))
}
