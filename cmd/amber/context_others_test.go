//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// somebody is a person who works with an agent: the word that all their records hold, and the one that their
// notes hold. Notes belong to the agent, so a question finds them, but no context has them unasked. No word of
// one person is part of a word of another.
type somebody struct {
	word, noted string
	dir         string // of a repository with a remote
	amber.Identities
}

func newSomebody(t *testing.T, top, name string) somebody {
	t.Helper()
	s := somebody{word: "canary" + name, noted: "parchment" + name, dir: filepath.Join(top, name), Identities: amber.Identities{
		ProjectID: "host.invalid/acme/" + name, UserID: "user-" + name, WorkspaceID: "space-" + name, SessionID: amber.SessionID("session-" + name),
	}}
	must.Do(t, os.MkdirAll(filepath.Join(s.dir, ".git"), 0o700))
	config := "[remote \"origin\"]\n\turl = https://" + s.ProjectID + ".git\n"
	must.Do(t, os.WriteFile(filepath.Join(s.dir, ".git", "config"), []byte(config), 0o600))
	return s
}

// plant leaves the word in every kind of record that is not for everybody. The
// last memory is global and says nothing, but it is of the same session.
func (s somebody) plant(t *testing.T, store amber.Store) (shared amber.MemoryID) {
	t.Helper()
	ctx := t.Context()
	word := func(what string) string { return s.word + " in the " + what }
	ids := map[amber.Scope]amber.MemoryID{}
	for _, scope := range []amber.Scope{amber.ScopeSession, amber.ScopeUser, amber.ScopeProject, amber.ScopeWorkspace} {
		for _, kind := range amber.MemoryKinds() {
			ids[scope] = must.Get(store.LongTerm.Write(ctx, amber.WriteRequest{
				Kind: kind, Scope: scope, Identities: s.Identities, Title: word("title"), Content: word(fmt.Sprint(scope, " ", kind)),
				Summary: word("summary"), Tags: []string{s.word}, Metadata: map[string]string{"k": word("metadata")},
			}))(t).ID
		}
	}
	must.Get(store.Relations.Relate(ctx, amber.Relation{From: ids[amber.ScopeUser], To: ids[amber.ScopeProject], Type: s.word, Strength: 1}))(t)
	other := amber.SessionID("elsewhere-" + s.word)
	for id, project := range map[amber.SessionID]string{s.SessionID: s.ProjectID, other: ""} {
		must.Get(store.Sessions.StartSession(ctx, amber.SessionStart{ID: id, Name: word("name"), Binding: "b-" + s.word, Project: project, Directory: "/" + s.word}))(t)
		must.Get(store.Turns.AppendTurn(ctx, amber.Turn{SessionID: id, Role: amber.RoleUser, Content: word("turn"), ProjectID: project}))(t)
		must.Get(store.States.SaveState(ctx, id, json.RawMessage(`{"at":"`+s.word+`"}`), 0))(t)
		must.Get(store.Loops.SaveLoop(ctx, amber.LoopSave{SessionID: id, RunID: "r", State: json.RawMessage(`{"at":"` + s.word + `"}`)}))(t)
		must.Get(store.Names.EndSession(ctx, amber.SessionEnd{ID: id, Summary: word("summary of a session")}))(t)
	}
	must.Get(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: s.noted, Content: s.noted + " summary title canary"}))(t)
	must.Get(store.Tasks.SaveTask(ctx, amber.Task{ID: "task-" + s.word, RequestID: "r", SessionID: s.SessionID, Goal: word("goal"), State: amber.TaskQueued}, 0))(t)
	return must.Get(store.LongTerm.Write(ctx, amber.WriteRequest{Identities: s.Identities, Scope: amber.ScopeGlobal, Content: "for everybody, said in " + string(s.SessionID)}))(t).ID
}

// In no context, by no door, is a word of another project or another user,
// whatever kind of record holds it.
func TestNoContextHoldsWordsOfOthers(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	c := must.Get(client.New(client.Options{URL: r.url}))(t)
	agent := must.Get(c.Agent("default", "default"))(t)
	store := must.Get(agent.Store(t.Context()))(t)
	mine, yours := newSomebody(t, t.TempDir(), "ours"), newSomebody(t, t.TempDir(), "theirs")
	shared := map[string]amber.MemoryID{mine.word: mine.plant(t, store), yours.word: yours.plant(t, store)}
	for _, s := range []somebody{mine, yours} {
		u.must("", "project", "trust", s.dir, "--yes")
	}
	for _, pair := range [][2]somebody{{mine, yours}, {yours, mine}} {
		reader, other := pair[0], pair[1]
		for door, text := range u.doors(t, r, agent, reader, other, shared[other.word]) {
			// The question that the reader asked by the hook belongs to the reader.
			if strings.Contains(strings.ReplaceAll(text, other.word+" summary", ""), other.word) {
				t.Errorf("%s of %s holds a word of %s:\n%s", door, reader.word, other.word, text)
			}
			if !strings.Contains(door, "recall") && strings.Contains(text, other.noted) {
				t.Errorf("%s of %s holds a note of %s:\n%s", door, reader.word, other.word, text)
			}
			if strings.HasPrefix(door, "own ") && !strings.Contains(text, reader.word) {
				t.Errorf("%s does not hold %s:\n%s", door, reader.word, text)
			}
		}
	}
}

// doors asks for context everywhere; a door that begins with "own" has
// something to say.
func (u *user) doors(t *testing.T, r *running, agent *client.Agent, reader, other somebody, shared amber.MemoryID) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, goal := range map[string]string{"": "", " with a goal": "canary " + other.word + " summary title " + reader.word} {
		req := wire.ContextRequest{RecallInput: amber.RecallInput{Goal: goal, Identities: reader.Identities}, MaxBytes: wire.MaxContextBytes, Sessions: 50}
		out["own HTTP"+name] = must.Get(agent.Context(t.Context(), req))(t).Text
		req.Identities = amber.Identities{UserID: reader.UserID, SessionID: "new"}
		out["HTTP without a project"+name] = must.Get(agent.Context(t.Context(), req))(t).Text
		req.Identities = amber.Identities{}
		out["HTTP of nobody"+name] = must.Get(agent.Context(t.Context(), req))(t).Text
		for _, remote := range [][]string{nil, {"--remote", r.url}} {
			args := append([]string{"--json", "context", goal, "--project", reader.ProjectID, "--user", reader.UserID, "--max-bytes", "65536", "--sessions", "50"}, remote...)
			out[fmt.Sprint("own CLI", name, remote)] = u.must("", args...)
		}
		out["CLI outside of projects"+name] = u.must("", "--json", "context", goal, "--sessions", "50")
	}
	out["CLI timeline"] = u.must("", "timeline", string(shared), "--project", reader.ProjectID, "--user", reader.UserID)
	for i, env := range []string{"CLAUDECODE=1", "CODEX_SANDBOX=seatbelt", "GEMINI_CLI=1", "CURSOR_AGENT=1", "AGENT=amp"} {
		agent := *u
		agent.env = append(slices.Clone(u.env), env)
		for _, ask := range [][]string{{"ask"}, {"recall", "--all"}} {
			args := append(append([]string{"--json"}, ask...), "canary "+other.word+" summary", "--project", reader.ProjectID)
			out[fmt.Sprint("CLI of an agent, recall by ", ask, i)] = agent.must("", args...)
		}
	}
	u.hookDoors(t, reader, other, out)
	u.toolDoors(t, reader, other, shared, out)
	return out
}

// hookDoors lets hosts begin a session and a turn.
func (u *user) hookDoors(t *testing.T, reader, other somebody, out map[string]string) {
	t.Helper()
	for _, host := range []string{"claude-code", "codex", "gemini", "droid"} {
		for event, text := range map[string]string{"SessionStart": "", "UserPromptSubmit": other.word + " summary"} {
			payload := must.Get(json.Marshal(map[string]string{
				"session_id": "new-" + reader.word, "cwd": reader.dir, "hook_event_name": event, "source": "startup", "prompt": text,
			}))(t)
			out["hook "+host+" "+event] = u.must(string(payload), "hook", host, "--no-drain", "--timeout", "1m", "--context-timeout", "1m")
		}
	}
	if !strings.Contains(out["hook claude-code SessionStart"], reader.word) {
		t.Errorf("a session begins without what its project holds: %s", out["hook claude-code SessionStart"])
	}
}

// toolDoors asks by every tool that searches, by the resource and the prompts.
func (u *user) toolDoors(t *testing.T, reader, other somebody, shared amber.MemoryID, out map[string]string) {
	t.Helper()
	h := u.host("", nil, "--tools", "all", "--project", reader.ProjectID)
	query := map[string]any{"query": other.word + " summary"}
	for tool, args := range map[string]map[string]any{
		"own memory_context": {"max_bytes": 65536}, "memory_context": {"goal": other.word}, "own mem_context": {},
		"memory_recall": query, "mem_search": query, "search": query, "search_nodes": query, "read_graph": {},
		"memory_timeline": {"id": string(shared)}, "mem_timeline": {"observation_id": string(shared)},
	} {
		data, text := h.call(strings.TrimPrefix(tool, "own "), args)
		out["MCP "+tool] = text + fmt.Sprint(data)
		if strings.HasPrefix(tool, "own ") {
			out["own MCP "+tool] = text
		}
	}
	ctx := context.Background()
	res := must.Get(h.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "amber://context"}))(t)
	out["own MCP resource"] = res.Contents[0].Text
	for _, name := range []string{"recall", "handoff", "summary"} {
		p := must.Get(h.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: map[string]string{"topic": other.word}}))(t)
		out["MCP prompt "+name] = p.Messages[0].Content.(*mcp.TextContent).Text
	}
}
