package claudecode_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func match(t *testing.T, name string) foreign.Match {
	t.Helper()
	tree := must.Get(foreign.Open(name))(t)
	defer tree.Close()
	return claudecode.Format.Detect(tree)
}

// Whatever part of a home is given, the same is found in it under the same keys.
func TestPartsOfAHome(t *testing.T) {
	t.Parallel()
	home := filepath.Join(copied(t))
	slug := filepath.Join(home, "projects", "-src-shop")
	for what, c := range map[string]struct {
		name                      string
		memories, sessions, notes int
	}{
		"home":            {home, 2, 1, 1},
		"projects":        {filepath.Join(home, "projects"), 2, 1, 1},
		"one project":     {slug, 2, 1, 1},
		"memories":        {filepath.Join(slug, "memory"), 2, 0, 1},
		"a memory":        {filepath.Join(slug, "memory", "deploy-window.md"), 1, 0, 0},
		"a transcript":    {filepath.Join(slug, session+".jsonl"), 0, 1, 0},
		"zip of the home": {foreigntest.Zipped(t, "home.zip", home), 2, 1, 1},
		"zip of all":      {foreigntest.Zipped(t, "projects.zip", filepath.Join(home, "projects")), 2, 1, 1},
		"zip of one":      {foreigntest.Zipped(t, "-src-shop.zip", slug), 2, 1, 1},
	} {
		must.Equal(t, what, match(t, c.name), foreign.Sure)
		r := foreigntest.Read(t, claudecode.Format, c.name)
		must.Equal(t, what, []int{len(r.Memories), len(r.Sessions), len(r.Notes)}, []int{c.memories, c.sessions, c.notes})
		for _, m := range r.Memories {
			must.Equal(t, what, m.Key[0], "shop")
		}
	}
}

func TestOthersAreNotDetected(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		files map[string]string
		want  foreign.Match
	}{
		"Codex": {map[string]string{
			"sessions/2026/01/02/rollout-1.jsonl": `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x"}}`, "memories/MEMORY.md": "x", "AGENTS.md": "x",
		}, foreign.No},
		"Gemini CLI": {map[string]string{
			"tmp/shop/chats/session-1.jsonl": `{"sessionId":"s","projectHash":"h"}` + "\n" + `{"id":"1","type":"user","content":"x"}`, "GEMINI.md": "x",
		}, foreign.No},
		"Cursor": {map[string]string{
			"projects/src-shop/agent-transcripts/7c0f/7c0f.jsonl": `{"role":"user","message":{"content":"x"}}`, "rules/money.mdc": "x",
		}, foreign.No},
		"MCP memory":       {map[string]string{"memory.jsonl": `{"type":"entity","name":"x","entityType":"y","observations":[]}`}, foreign.No},
		"Markdown":         {map[string]string{"a.md": "---\ntitle: x\ntype: note\n---\ntext", "docs/b.md": "x"}, foreign.No},
		"Obsidian":         {map[string]string{".obsidian/app.json": "{}", "CLAUDE.md": "x", "a.md": "x"}, foreign.No},
		"a skill":          {map[string]string{"SKILL.md": "---\nname: a\ndescription: b\n---\nx"}, foreign.No},
		"only AGENTS.md":   {map[string]string{"AGENTS.md": "x", "main.go": "x"}, foreign.No},
		"nested CLAUDE.md": {map[string]string{"third_party/x/CLAUDE.md": "x", "a.md": "y"}, foreign.No},
		"a folder memory":  {map[string]string{"memory/notes.md": "x", "main.go": "x"}, foreign.No},
		"nothing":          {map[string]string{}, foreign.No},
		"an index":         {map[string]string{"memory/MEMORY.md": "x"}, foreign.Fallback},
		"CLAUDE.md":        {map[string]string{"CLAUDE.md": "x", "main.go": "x"}, foreign.Partly},
		"rules":            {map[string]string{".claude/rules/a.md": "x"}, foreign.Partly},
		"a moved folder":   {map[string]string{"a.md": "---\nname: a\nmetadata:\n  node_type: memory\n---\nx"}, foreign.Sure},
		"a snapshot first": {map[string]string{"x.jsonl": `{"type":"file-history-snapshot","messageId":"x","snapshot":{}}`}, foreign.Sure},
	} {
		must.Equal(t, what, match(t, foreigntest.Files(t, c.files)), c.want)
	}
}

func TestAProjectWithPlainMemories(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Put(t, filepath.Join(t.TempDir(), "-src-shop"), map[string]string{"memory/a.md": "a"})
	must.Equal(t, "match", match(t, dir), foreign.Sure)
	must.Equal(t, "key", foreigntest.Read(t, claudecode.Format, dir).Memories[0].Key, foreign.Key{"shop", "a.md"})
}

func TestALongFirstLine(t *testing.T) {
	t.Parallel()
	line := `{"parentUuid":null,"isSidechain":false,"sessionId":"` + session + `","type":"user","message":{"content":"` + strings.Repeat("x", 200_000) + `"},"uuid":"1"}` + "\n"
	must.Equal(t, "match", match(t, foreigntest.Files(t, map[string]string{session + ".jsonl": line})), foreign.Sure)
}

func TestHomes(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	must.Equal(t, "default", claudecode.Format.Homes(none, "/home/me"), []string{filepath.Join("/home/me", ".claude")})
	set := func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": "/x"}[name] }
	must.Equal(t, "moved", claudecode.Format.Homes(set, "/home/me"), []string{"/x"})
}
