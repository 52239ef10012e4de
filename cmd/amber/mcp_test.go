package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber/internal/test/must"
)

// host is an agent host: a process of "amber mcp", and the SDK's own client
// that talks to it.
type host struct {
	t  testing.TB
	cs *mcp.ClientSession
}

// host starts a process that speaks a version of the protocol; "" is the
// newest. It has to end by itself when its input does, without complaints.
func (u *user) host(version string, env []string, args ...string) *host {
	u.t.Helper()
	var complaints bytes.Buffer
	cmd := exec.Command("amber", append([]string{"mcp", "--project", "shop"}, args...)...)
	cmd.Env = append(append(os.Environ(), "AMBER_HOME="+u.home, "XDG_CONFIG_HOME="+filepath.Dir(u.home)), env...)
	cmd.Dir, cmd.Stderr = filepath.Dir(u.home), &complaints
	cs := must.Get(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version}))(u.t)
	u.t.Cleanup(func() {
		if err := cs.Close(); err != nil && !errors.Is(err, io.EOF) {
			u.t.Error(err)
		}
		if s := cmd.ProcessState; s == nil || s.ExitCode() != 0 {
			u.t.Errorf("it ended with %v", s)
		}
		if s := complaints.String(); s != "" && !strings.Contains(s, "made a new home") {
			u.t.Errorf("it complained: %s", s)
		}
	})
	return &host{u.t, cs}
}

func (h *host) try(tool string, args map[string]any) (*mcp.CallToolResult, string) {
	h.t.Helper()
	res, err := h.cs.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		h.t.Fatalf("%s: %v", tool, err)
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		h.t.Fatalf("%s: the content is %T", tool, res.Content[0])
	}
	return res, text.Text
}

// call calls a tool that must succeed.
func (h *host) call(tool string, args map[string]any) (data map[string]any, text string) {
	h.t.Helper()
	res, text := h.try(tool, args)
	data, ok := res.StructuredContent.(map[string]any)
	if res.IsError || !ok {
		h.t.Fatalf("%s: %s", tool, text)
	}
	return data, text
}

// TestMCPConformance has the SDK's own client talk to a process in every
// version of the protocol.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.must("", "note", "write", "plan", "water the plants")
	for _, version := range append(mcp.SupportedProtocolVersions(), "") {
		h := u.host(version, nil)
		ctx := context.Background()
		init := h.cs.InitializeResult()
		if version != "" && init.ProtocolVersion != version || init.ServerInfo.Name != "amber" || init.Instructions == "" {
			t.Errorf("%q: %+v", version, init)
		}
		if err := h.cs.Ping(ctx, nil); err != nil && version < "2026" && version != "" { // newer versions have none
			t.Errorf("%q: %v", version, err)
		}
		tools, err := h.cs.ListTools(ctx, nil)
		if err != nil || len(tools.Tools) != 10 {
			t.Fatalf("%q: %v", version, err)
		}
		saved, _ := h.call("memory_save", map[string]any{"content": "We chose PostgreSQL, said over " + version, "title": "database"})
		if _, text := h.call("memory_recall", map[string]any{"query": "which database"}); !strings.Contains(text, saved["id"].(string)) {
			t.Errorf("%q found %s", version, text)
		}
		if res, text := h.try("memory_get", map[string]any{"id": "nonsense"}); !res.IsError || !strings.HasPrefix(text, "invalid: ") {
			t.Errorf("%q: %s", version, text)
		}
		h.looks(version, "amber://memory/"+saved["id"].(string), "amber://context", "amber://note/plan")
		var wire *jsonrpc.Error
		if _, err := h.cs.CallTool(ctx, &mcp.CallToolParams{Name: "nonsense"}); !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%q: %v", version, err)
		}
	}
	// A memory that was saved over MCP is there for the command line.
	if out := u.must("", "recall", "PostgreSQL", "--project", "shop", "--json"); strings.Count(out, `"database"`) < 2 {
		t.Errorf("recall: %s", out)
	}
}

// looks reads resources and prompts.
func (h *host) looks(version string, uris ...string) {
	h.t.Helper()
	ctx := context.Background()
	rs, err := h.cs.ListResources(ctx, nil)
	if err != nil || len(rs.Resources) != 1 {
		h.t.Errorf("%q: resources %+v, %v", version, rs, err)
	}
	ts, err := h.cs.ListResourceTemplates(ctx, nil)
	if err != nil || len(ts.ResourceTemplates) != 3 {
		h.t.Errorf("%q: templates %+v, %v", version, ts, err)
	}
	for _, uri := range uris {
		res, err := h.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(res.Contents) != 1 || res.Contents[0].Text == "" {
			h.t.Errorf("%q: %s: %+v, %v", version, uri, res, err)
		}
	}
	ps, err := h.cs.ListPrompts(ctx, nil)
	if err != nil || len(ps.Prompts) != 3 {
		h.t.Fatalf("%q: prompts %+v, %v", version, ps, err)
	}
	for _, p := range ps.Prompts {
		res, err := h.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: map[string]string{"topic": "database"}})
		if err != nil || len(res.Messages) != 1 {
			h.t.Errorf("%q: %s: %+v, %v", version, p.Name, res, err)
		}
	}
}

// commits counts the commits of the notes.
func (u *user) commits() int {
	u.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(u.home, "tenants/default/agents/default/gen/*/memdir"))
	if err != nil || len(dirs) != 1 {
		u.t.Fatalf("notes are in %v, %v", dirs, err)
	}
	cmd := exec.Command("git", "-C", dirs[0], "log", "--format=%H")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out := must.Get(cmd.Output())(u.t)
	return strings.Count(string(out), "\n")
}

// TestMCPFilesAreCommits edits files through the tool: each edit is a commit,
// looking is none, and a link out of the folder leads nowhere.
func TestMCPFilesAreCommits(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	h := u.host("", nil, "--tools", "files")
	h.call("memory", map[string]any{"command": "create", "path": "/memories/first.md", "file_text": "x\n"})
	before := u.commits()
	for i, args := range []map[string]any{
		{"command": "create", "path": "/memories/a/plan.md", "file_text": "one\ntwo\n"},
		{"command": "str_replace", "path": "/memories/a/plan.md", "old_str": "two", "new_str": "2"},
		{"command": "insert", "path": "/memories/a/plan.md", "insert_line": 0, "insert_text": "zero"},
		{"command": "delete", "path": "/memories/first.md"},
	} {
		h.call("memory", args)
		must.Equal(t, "commits", u.commits()-before, i+1)
	}
	h.call("memory", map[string]any{"command": "view", "path": "/memories/a/plan.md"})
	must.Equal(t, "commits", u.commits()-before, 4)
	h.call("memory", map[string]any{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"})
	must.Equal(t, "the note", u.must("", "note", "show", "b/plan"), "zero\none\n2\n")
	if u.commits() == before+4 {
		t.Error("a rename is no commit")
	}
	u.links(h)
}

// links puts links into the folder of the notes and tries to follow them.
func (u *user) links(h *host) {
	u.t.Helper()
	dirs := must.Get(filepath.Glob(filepath.Join(u.home, "tenants/default/agents/default/gen/*/memdir")))(u.t)
	outside := filepath.Join(filepath.Dir(u.home), "outside")
	secret := put(u.t, "nobody reads this", outside, "secret.md")
	must.Do(u.t, os.Symlink(outside, filepath.Join(dirs[0], "dir")))
	must.Do(u.t, os.Symlink(secret, filepath.Join(dirs[0], "file.md")))
	for _, path := range []string{"/memories/dir/secret.md", "/memories/file.md", "/memories/dir/new.md", "/memories"} {
		for _, args := range []map[string]any{
			{"command": "view", "path": path},
			{"command": "create", "path": path, "file_text": "changed"},
			{"command": "str_replace", "path": path, "old_str": "nobody", "new_str": "somebody"},
			{"command": "insert", "path": path, "insert_line": 0, "insert_text": "changed"},
			{"command": "delete", "path": path},
			{"command": "rename", "old_path": path, "new_path": "/memories/mine.md"},
		} {
			if _, text := h.try("memory", args); strings.Contains(text, "nobody reads") {
				u.t.Errorf("%v: %s", args, text)
			}
		}
	}
	left, err := os.ReadDir(outside)
	if err != nil || len(left) != 1 {
		u.t.Errorf("outside there are %v, %v", left, err)
	}
	if b, err := os.ReadFile(filepath.Join(outside, "secret.md")); err != nil || string(b) != "nobody reads this" {
		u.t.Errorf("the file outside is %q, %v", b, err)
	}
}

// TestMCPRestores takes a snapshot, goes on, and goes back: the same process
// then serves what was restored.
func TestMCPRestores(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	h := u.host("", nil, "--project", "", "--tools", "default,snapshots", "--allow-restore")
	h.call("memory_save", map[string]any{"content": "kept for ever"})
	taken, _ := h.call("snapshot_create", map[string]any{"label": "good"})
	id := taken["id"]
	after, _ := h.call("memory_save", map[string]any{"content": "a mistake"})
	if res, text := h.try("snapshot_restore", map[string]any{"id": id, "confirm": "yes"}); !res.IsError || !strings.HasPrefix(text, "refused: ") {
		t.Errorf("without its id: %s", text)
	}
	h.call("memory_get", map[string]any{"id": after["id"]})
	done, _ := h.call("snapshot_restore", map[string]any{"id": id, "confirm": id})
	if res, text := h.try("memory_get", map[string]any{"id": after["id"]}); !res.IsError || !strings.HasPrefix(text, "not_found: ") {
		t.Errorf("after the restore: %s", text)
	}
	if _, text := h.call("memory_recall", map[string]any{"query": "kept"}); !strings.Contains(text, "for ever") {
		t.Errorf("after the restore: %s", text)
	}
	if began, _ := h.call("consolidation_begin", map[string]any{"run": "nightly"}); began["snapshot"] == "" {
		t.Errorf("a consolidation began without a snapshot: %v", began)
	}
	_, text := h.call("snapshot_list", nil)
	if safety, _ := done["safety_snapshot"].(string); safety == "" || !strings.Contains(text, safety) {
		t.Errorf("the safety snapshot is %q: %s", safety, text)
	}
}

// TestMCPFreezesBeforeATool is configured to freeze the agent before a tool
// changes something: a change has its snapshot, a look has none.
func TestMCPFreezesBeforeATool(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.must("", "remember", "something to lose")
	h := u.host("", []string{"AMBER_SNAPSHOT__AUTO__BEFORE_MUTATING_TOOL=require"}, "--tools", "default,snapshots")
	h.call("memory_recall", map[string]any{"query": "something"})
	if labels := u.labels(h); len(labels) != 0 {
		t.Errorf("a look has %v", labels)
	}
	h.call("memory_save", map[string]any{"content": "a change"})
	if labels := u.labels(h); !slices.Equal(labels, []string{"auto:pre-tool-memory_save"}) {
		t.Errorf("a change has %v", labels)
	}
}

func (u *user) labels(h *host) (labels []string) {
	u.t.Helper()
	out, _ := h.call("snapshot_list", nil)
	b, err := json.Marshal(out["snapshots"])
	var metas []struct{ Label string }
	if err == nil {
		err = json.Unmarshal(b, &metas)
	}
	must.Do(u.t, err)
	for _, m := range metas {
		labels = append(labels, m.Label)
	}
	return labels
}

// TestMCPErasesEverywhere erases a memory of which a note has a copy: the
// answer names it, as "amber forget --erase" would.
func TestMCPErasesEverywhere(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	h := u.host("", nil, "--tools", "engram,files")
	saved, _ := h.call("mem_save", map[string]any{"title": "key", "content": "the long secret of the vault"})
	h.call("memory", map[string]any{"command": "create", "path": "/memories/copy.md", "file_text": "the long secret of the vault\n"})
	out, _ := h.call("mem_delete", map[string]any{"id": saved["id"], "hard_delete": true})
	if remaining, _ := out["remaining"].([]any); len(remaining) == 0 {
		t.Errorf("erased %v", out)
	}
}
