package claudecode_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

const folder = "projects/-src-my-shop/memory/"

// told reads files of one folder of memories.
func told(t *testing.T, o foreign.Options, files map[string]string) *foreigntest.Recorder {
	t.Helper()
	in := map[string]string{}
	for name, content := range files {
		in[folder+name] = content
	}
	return foreigntest.ReadWith(t, claudecode.Format, foreigntest.Files(t, in), o)
}

func TestTypesAndScopes(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, typ := range []string{"user", "feedback", "project", "reference", "invented", ""} {
		files["one-"+typ+".md"] = "---\nname: a\ndescription: b\ntype: " + typ + "\n---\ntext"
		files["two-"+typ+".md"] = "---\nname: a\nmetadata:\n  type: " + typ + "\n---\ntext"
	}
	o := foreigntest.Options()
	o.User = "me"
	kinds := map[string]amber.MemoryKind{
		"user": amber.UserFact, "feedback": amber.UserPreference, "project": amber.ProjectFact, "reference": amber.WorkspaceFact,
		"invented": amber.WorkspaceFact, "": amber.WorkspaceFact,
	}
	for _, m := range told(t, o, files).Memories {
		typ := strings.TrimSuffix(m.Key[1][4:], ".md")
		must.Equal(t, m.Key[1], m.Kind, kinds[typ])
		scope, ids := amber.ScopeProject, amber.Identities{ProjectID: "shop"}
		if typ == "user" {
			scope, ids = amber.ScopeUser, amber.Identities{UserID: "me"}
		}
		must.Equal(t, m.Key[1], m.Scope, scope)
		must.Equal(t, m.Key[1], m.Identities, ids)
		if typ == "invented" {
			must.Equal[any](t, m.Key[1], m.Foreign, map[string]any{"type": "invented"})
		}
	}
	o.User, o.Project = "", "mine"
	for _, m := range told(t, o, files).Memories {
		must.Equal(t, m.Key[1], m.Identities, amber.Identities{ProjectID: "mine"})
		must.Equal(t, m.Key[1], m.Key[0], "mine")
	}
}

func TestFilesWithoutAHead(t *testing.T) {
	t.Parallel()
	r := told(t, foreigntest.Options(), map[string]string{
		"plain.md":         "\xef\xbb\xbfJust text\r\nof two lines\r\n",
		"broken.md":        "---\nname: [\n---\ntext",
		"empty.md":         "---\nname: x\n---\n\n",
		"sub/Deep File.md": "deep",
		"open.md":          "---\nname: never ends\n",
		"session.md":       "---\noriginSessionId: \"a\\nb\"\nodd: {a: [1, 2]}\nmetadata: 7\nname: 12\n---\ntext",
		"time.md":          "---\nmodified: 2200-01-01\n---\ntext",
	})
	got := map[string]string{}
	for _, m := range r.Memories {
		got[m.Key[1]] = m.Title + "|" + m.Topic + "|" + m.Content
	}
	must.Equal(t, "memories", got, map[string]string{
		"plain.md": "plain|plain|Just text\nof two lines", "broken.md": "broken|broken|---\nname: [\n---\ntext", "sub/Deep File.md": "Deep File|deep-file|deep",
		"open.md": "open|open|---\nname: never ends", "session.md": "12|session|text", "time.md": "time|time|text",
	})
	for _, m := range r.Memories {
		switch m.Key[1] {
		case "session.md":
			must.Equal(t, "session", m.SessionID, "")
			must.Equal(t, "foreign", string(foreign.Raw(m.Foreign)), `{"metadata":7,"odd":{"a":[1,2]},"originSessionId":"a\nb"}`)
		case "time.md":
			must.Equal(t, "time", m.UpdatedAt, foreigntest.Modified, foreigntest.Times)
		}
	}
	must.Equal(t, "skips", len(r.Skips), 3)
	must.Says(t, "skips", strings.Join(r.Skips, "\n"), "broken.md: front matter", "empty.md: file has no text", "time.md: modified", "2200")
}

func TestLinksBetweenMemories(t *testing.T) {
	t.Parallel()
	r := told(t, foreigntest.Options(), map[string]string{
		"a.md": "---\nname: The A\n---\n[[b]] [[B|alias]] [[the c#part]] [[d.md]] [[a]] [[missing]] [[]] `[[e]]`\n```\n[[e]]\n```\n",
		"b.md": "b", "x/c.md": "---\nname: The C\n---\nc [[The A]]", "d.md": "d", "e.md": "e",
	})
	var got []string
	for _, x := range r.Relations {
		got = append(got, x.From[1]+" "+x.Type+" "+x.To[1])
	}
	must.Equal(t, "relations", got, []string{"a.md related b.md", "a.md related x/c.md", "a.md related d.md", "x/c.md related a.md"})
}

func TestAnIndexAloneHoldsMemories(t *testing.T) {
	t.Parallel()
	r := told(t, foreigntest.Options(), map[string]string{
		"MEMORY.md": "before\n\n# Memory\n\n## Deploys ##\nMondays.\n\n```\n# no heading\n```\n\n## Tests\nReal ones.\n### Deploys\nagain\n#hash is text\n",
	})
	var got []string
	for _, m := range r.Memories {
		got = append(got, strings.Join(m.Key, "/")+" at "+m.Place.At+": "+m.Title+"|"+m.Topic+"|"+m.Content)
		must.Equal(t, "kind", m.Kind, amber.WorkspaceFact)
	}
	must.Equal(t, "memories", got, []string{
		"shop/MEMORY.md/ at line 1: MEMORY|memory|before",
		"shop/MEMORY.md/Deploys at line 5: Deploys|deploys|Mondays.\n\n```\n# no heading\n```",
		"shop/MEMORY.md/Tests at line 12: Tests|tests|Real ones.",
		"shop/MEMORY.md/Deploys (2) at line 14: Deploys|deploys|again\n#hash is text",
	})
	must.Equal(t, "notes", len(r.Notes), 0)
}

func TestProjectOfTheNewestTranscript(t *testing.T) {
	t.Parallel()
	prompt := said(1, 0, "user", "x")
	prompt["cwd"] = "/src/the-shop"
	r := foreigntest.Read(t, claudecode.Format, foreigntest.Files(t, map[string]string{
		"projects/-src-the-shop/memory/a.md":           "a",
		"projects/-src-the-shop/" + session + ".jsonl": jsonl(object{"type": "mode", "sessionId": session}, prompt),
		"projects/-src-other/memory/a.md":              "a",
		"projects/named/memory/a.md":                   "a",
	}))
	var got []string
	for _, m := range r.Memories {
		got = append(got, strings.Join(m.Key, "/"))
	}
	must.Equal(t, "keys", got, []string{"other/a.md", "the-shop/a.md", "named/a.md"})
}

func TestMemoriesOfAgents(t *testing.T) {
	t.Parallel()
	home := foreigntest.Files(t, map[string]string{
		"agent-memory/reviewer/style.md":    "style [[taste]]",
		"agent-memory/reviewer/taste.md":    "taste",
		"agent-memory/reviewer/MEMORY.md":   "- [style](style.md)",
		"projects/-src-shop/memory/a.md":    "a",
		"plugins/x/agent-memory/r/other.md": "not ours",
	})
	o := foreigntest.Options()
	o.User = "me"
	r := foreigntest.ReadWith(t, claudecode.Format, home, o)
	m := r.Memories[0]
	must.Equal(t, "key", m.Key, foreign.Key{"", "agent-memory/reviewer/style.md"})
	must.Equal(t, "scope", m.Scope, amber.ScopeUser)
	must.Equal(t, "ids", m.Identities, amber.Identities{UserID: "me"})
	must.Equal(t, "metadata", m.Metadata, map[string]string{"agent": "reviewer"})
	must.Equal(t, "memories", len(r.Memories), 3)
	must.Equal(t, "relations", len(r.Relations), 1)
	must.Equal(t, "note", r.Notes[0].Name, "claude-code/agent-memory/reviewer/MEMORY")

	work := foreigntest.Put(t, t.TempDir()+"/shop", map[string]string{".claude/agent-memory-local/reviewer/style.md": "style", ".claude/agent-memory/reviewer/style.md": "style"})
	r = foreigntest.ReadWith(t, claudecode.Format, work, o)
	var got []string
	for _, m := range r.Memories {
		got = append(got, strings.Join(m.Key, "/")+" "+string(m.Scope))
	}
	must.Equal(t, "of a project", got, []string{"shop/agent-memory-local/reviewer/style.md project", "shop/agent-memory/reviewer/style.md project"})
}

func TestTooLongAFile(t *testing.T) {
	t.Parallel()
	r := told(t, foreigntest.Options(), map[string]string{"long.md": strings.Repeat("x", 2<<20), "a.md": "a"})
	must.Equal(t, "memories", len(r.Memories), 1)
	must.Says(t, "skips", strings.Join(r.Skips, "\n"), "long.md", "the limit")
}
