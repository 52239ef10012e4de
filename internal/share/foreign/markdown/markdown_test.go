package markdown_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/markdown"
	"github.com/amber-memory/amber/internal/test/must"
)

const sample = "testdata/basic-memory"

func TestTheSampleOfBasicMemory(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, markdown.BasicMemory, sample)
	file := "shop/checkout-rounding.md"
	created, updated := foreigntest.At(t, "2026-01-02T03:04:05.678Z"), foreigntest.At(t, "2026-01-03T03:04:05.678Z")
	text := must.Get(os.ReadFile(filepath.Join(sample, file)))(t)
	must.Equal(t, "notes", r.Notes, []foreign.Note{{
		Place: foreign.Place{File: file}, Name: "shop/checkout-rounding", Content: string(text), UpdatedAt: updated,
	}}, foreigntest.Times)
	refs := []amber.SourceRef{{Kind: "note", Value: "shop/checkout-rounding"}}
	observation := func(line int, kind amber.MemoryKind, category, text, context, qualifier string, tags ...string) foreign.Memory {
		m := foreign.Memory{
			Place: foreign.Place{File: file, At: fmt.Sprintf("line %d", line)},
			Key:   foreign.Key{"shop/checkout-rounding", category, foreign.Hex(foreign.Digest(text))},
			Kind:  kind, Content: text, Summary: context, Tags: tags, SourceRefs: refs, CreatedAt: created, UpdatedAt: updated,
		}
		if category != "" {
			m.Metadata = map[string]string{"category": category}
		}
		if qualifier != "" {
			m.Metadata["qualifier"] = qualifier
		}
		return m
	}
	anchor := r.Memories[0]
	left := must.Get(jsonOf(anchor.Foreign))(t)
	anchor.Foreign = nil
	must.Equal(t, "anchor", anchor, foreign.Memory{
		Place: foreign.Place{File: file}, Key: foreign.Key{"shop/checkout-rounding"}, Kind: amber.WorkspaceFact,
		Title: "Checkout rounding", Content: "Totals round half to even. #not-a-list", Topic: "shop/checkout-rounding",
		Tags: []string{"billing", "decision"}, SourceRefs: refs, CreatedAt: created, UpdatedAt: updated,
		AmberID: "01890a5d-ac96-774b-bcce-b302099a8057",
	}, foreigntest.Times)
	must.Equal(t, "kept", left, `{"front":{"modified":"2026-01-03T03:04:05.678+00:00"},"relations":[`+
		`{"type":"depends_on","target":"Price Engine","context":"hard"},{"type":"was replaced by","target":"New Rounding"},`+
		`{"type":"links_to","target":"Other Note"},{"type":"links_to","target":"Bare Target"}]}`)
	must.Equal(t, "observations", r.Memories[1:], []foreign.Memory{
		observation(15, amber.WorkspaceFact, "", "Totals round half to even. #not-a-list", "", "", "not-a-list"),
		observation(19, amber.ProjectFact, "decision", "Round once, at the invoice #billing", "agreed in review", "", "billing"),
		observation(20, amber.WorkflowInsight, "tip", "Use decimals, never floats", "", ""),
		observation(24, amber.ProjectFact, "decision", "Cache is Redis", "", "@effective[2026-06-10,2026-07-27)"),
	}, foreigntest.Times)
	must.Equal(t, "relations", len(r.Relations), 4)
	for i, rel := range r.Relations {
		must.Equal(t, "relation", rel, foreign.Relation{
			Place: r.Memories[i+1].Place, From: r.Memories[i+1].Key, To: r.Memories[0].Key, Type: "part_of", CreatedAt: created,
		}, foreigntest.Times)
	}
	must.Equal(t, "skips", r.Skips, nil)
}

func TestFoldersAreTold(t *testing.T) {
	t.Parallel()
	note := "---\ntitle: A\npermalink: a\n---\ntext\n"
	all := []foreign.Format{markdown.BasicMemory, markdown.Obsidian, markdown.Folder, markdown.Instructions}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // of basic-memory, Obsidian, a folder, instructions
	}{
		{"basic-memory", map[string]string{"x/a.md": note}, "3010"},
		{"vault", map[string]string{".obsidian/app.json": "{}", "a.md": "text"}, "0310"},
		{"both", map[string]string{".obsidian/app.json": "{}", "a.md": note}, "3310"},
		{"folder", map[string]string{"a.md": "text", "b/c.markdown": "text"}, "0010"},
		{"web site", map[string]string{"a.md": "---\ntitle: A\npermalink: /a/\n---\n", "b.md": "---\nlayout: x\npermalink: b\ntitle: B\n---\n"}, "0010"},
		{"nothing", map[string]string{"a.txt": "text"}, "0000"},
		{"hidden", map[string]string{".trash/a.md": note}, "0000"},
		{"project", map[string]string{"AGENTS.md": "x", "src/a.go": "package a"}, "0013"},
		{"cursor project", map[string]string{".cursor/rules/money.mdc": "x", "main.go": ""}, "0003"},
		{"claude project", map[string]string{"CLAUDE.md": "x", ".claude/settings.json": "{}"}, "0010"},
		{"codex home", map[string]string{"AGENTS.md": "x", "sessions/2026/01/02/rollout-a.jsonl": "{}"}, "0010"},
		{"gemini home", map[string]string{"GEMINI.md": "x", "tmp/a/chats/session-a.jsonl": "{}"}, "0010"},
		{"gemini home without chats", map[string]string{"GEMINI.md": "## Gemini Added Memories\n- a"}, "0010"},
		{"vault with orders", map[string]string{".obsidian/app.json": "{}", "AGENTS.md": "x"}, "0310"},
		{"orders below", map[string]string{"pkg/a/AGENTS.md": "x", "main.go": ""}, "0010"},
	} {
		dir := foreigntest.Files(t, c.files)
		for _, name := range []string{dir, zipped(t, dir, ""), zipped(t, dir, "top/")} {
			tree := must.Get(foreign.Open(name))(t)
			got := ""
			for _, f := range all {
				got += fmt.Sprint(int(f.Detect(tree)))
			}
			must.Equal(t, c.name+" "+filepath.Base(name), got, c.want)
			must.Do(t, tree.Close())
		}
	}
}

// zipped makes an archive of a folder.
func zipped(t *testing.T, dir, below string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.zip")
	f := must.Get(os.Create(name))(t)
	z := zip.NewWriter(f)
	must.Do(t, filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel := must.Get(filepath.Rel(dir, file))(t)
		w := must.Get(z.Create(below + filepath.ToSlash(rel)))(t)
		_, err = w.Write(must.Get(os.ReadFile(file))(t))
		return err
	}))
	must.Do(t, z.Close())
	must.Do(t, f.Close())
	return name
}

func TestAFileAloneIsTold(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]foreign.Match{ // of a folder, instructions
		"a.md": {foreign.Fallback, foreign.No}, "AGENTS.md": {foreign.Fallback, foreign.Sure}, "CLAUDE.md": {foreign.Fallback, foreign.Sure},
		"AGENTS.override.md": {foreign.Fallback, foreign.Sure}, ".cursorrules": {foreign.No, foreign.Sure}, "GEMINI.md": {foreign.Fallback, foreign.Sure},
		"a.json": {foreign.No, foreign.No},
	} {
		tree := must.Get(foreign.Open(filepath.Join(foreigntest.Files(t, map[string]string{name: "text"}), name)))(t)
		must.Equal(t, name+" as a folder", markdown.Folder.Detect(tree), want[0])
		must.Equal(t, name+" as instructions", markdown.Instructions.Detect(tree), want[1])
		must.Do(t, tree.Close())
	}
}

func TestAVaultIsNotesUnlessMoreIsAskedFor(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{
		".obsidian/app.json": "{}", ".trash/old.md": "x", "pictures/a.png": "x",
		"a.md": "- [decision] Round once\n- see [[b]]\n", "sub/b.md": "text",
	})
	r := foreigntest.Read(t, markdown.Obsidian, dir)
	must.Equal(t, "notes", names(r), "a sub/b")
	must.Equal(t, "memories", len(r.Memories)+len(r.Relations), 0)
	must.Equal(t, "warnings", r.Warnings, []string{"1 files are not Markdown and are not imported"})
	o := foreigntest.Options()
	o.Observations = true
	r = foreigntest.ReadWith(t, markdown.Obsidian, dir, o)
	must.Equal(t, "contents", contents(r), "a|Round once|text")
	must.Equal(t, "relations", relations(r), "a/decision part_of a|a see sub/b")
}

func names(r *foreigntest.Recorder) string {
	var out []string
	for _, n := range r.Notes {
		out = append(out, n.Name)
	}
	return strings.Join(out, " ")
}

func contents(r *foreigntest.Recorder) string {
	var out []string
	for _, m := range r.Memories {
		out = append(out, m.Content)
	}
	return strings.Join(out, "|")
}

func relations(r *foreigntest.Recorder) string {
	var out []string
	short := func(k foreign.Key) string {
		if len(k) > 2 {
			k = k[:len(k)-1]
		}
		return strings.Join(k, "/")
	}
	for _, rel := range r.Relations {
		out = append(out, short(rel.From)+" "+rel.Type+" "+short(rel.To))
	}
	return strings.Join(out, "|")
}

func TestTimes(t *testing.T) {
	t.Parallel()
	local := func(y int, m time.Month, d, h int) amber.Time {
		return amber.At(time.Date(y, m, d, h, 0, 0, 0, time.Local))
	}
	file := foreigntest.Modified
	for head, want := range map[string][2]amber.Time{
		"created: 2026-01-02T03:00:00":                           {local(2026, 1, 2, 3), file},
		"created: 2026-01-02":                                    {local(2026, 1, 2, 0), file},
		"created: 2026-01-02T03:00:00Z\nmodified: 2026-01-05":    {foreigntest.At(t, "2026-01-02T03:00:00Z"), local(2026, 1, 5, 0)},
		"created: '{{date}}'\nmodified: yesterday":               {file, file},
		"created: 1970-01-01\nmodified: [2026-01-01]":            {file, file},
		"created: 2026-01-02T03:00:00.123456+02:00\nmodified: 3": {foreigntest.At(t, "2026-01-02T01:00:00.123Z"), file},
	} {
		r := foreigntest.Read(t, markdown.BasicMemory, foreigntest.Files(t, map[string]string{"a.md": "---\ntitle: A\npermalink: a\n" + head + "\n---\ntext\n"}))
		must.Equal(t, head, [2]amber.Time{r.Memories[0].CreatedAt, r.Memories[0].UpdatedAt}, want, foreigntest.Times)
	}
}

func TestHeads(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{
		"a.md":      "---\ntitle: A\npermalink: one\ntags: \"x, #y\"\ntype: decision\nstatus: open\nodd: .nan\n---\ntext\n",
		"broken.md": "---\ntitle: [\n---\nbody\n",
		"c.md":      "---\ntitle:\n- two\n- words\npermalink: one\n---\n",
		"one.md":    "plain",
	})
	r := foreigntest.Read(t, markdown.BasicMemory, dir)
	var got []string
	for _, m := range r.Memories {
		got = append(got, fmt.Sprintf("%s %s %q %q %v %v", m.Key, m.Title, m.Content, m.Topic, m.Tags, m.Metadata))
	}
	must.Equal(t, "anchors", strings.Join(got, "\n"), strings.Join([]string{
		`[one] A "text" "one" [x y] map[type:decision]`,
		`[broken] broken "body" "broken" [] map[]`,
		`[c] two, words "two, words" "one" [] map[]`,
		`[file one.md] one "plain" "one" [] map[]`,
	}, "\n"))
	must.Equal(t, "kept", must.Get(jsonOf(r.Memories[0].Foreign))(t), `{"front":{"odd":"NaN","status":"open"}}`)
	must.Equal(t, "warnings", len(r.Warnings), 1)
}

func TestATextMayBeLeftAlone(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, markdown.BasicMemory, foreigntest.Files(t, map[string]string{
		"a.md": "---\ntitle: A\npermalink: a\nbm_parse_semantics: false\n---\n[x y] text #tag [[b]]\n", "b.md": "b",
	}))
	must.Equal(t, "memories and relations", contents(r)+relations(r), "[x y] text #tag [[b]]|b")
}

// Two spellings of one letter are one name; capitals are another.
func TestInstructionsAreNotes(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{
		"AGENTS.md": "a", "pkg/AGENTS.override.md": "b", "CLAUDE.md": "c", ".cursorrules": "d", ".cursor/rules/x/money.mdc": "e",
		"GEMINI.md": "# Mine\n\n## Gemini Added Memories\n- I prefer tabs\n\n## Other\n- mine\n", "README.md": "no", "sub/GEMINI.md": "## Gemini Added Memories\n- x\n",
	})
	o := foreigntest.Options()
	o.Project = "shop"
	r := foreigntest.ReadWith(t, markdown.Instructions, dir, o)
	got := map[string]string{}
	for _, n := range r.Notes {
		got[n.Name] = n.Content
	}
	must.Equal(t, "notes", got, map[string]string{
		"instructions/shop/AGENTS": "a", "instructions/shop/pkg/AGENTS.override": "b", "instructions/shop/CLAUDE": "c",
		"instructions/shop/cursorrules": "d", "instructions/shop/cursor/rules/x/money.mdc": "e", "instructions/shop/GEMINI": "# Mine\n\n## Other\n- mine\n",
	})
	must.Equal(t, "memories", len(r.Memories), 0)
	alone := foreigntest.Read(t, markdown.Instructions, filepath.Join(dir, "AGENTS.md"))
	must.Equal(t, "a file alone", names(alone), "instructions/"+filepath.Base(dir)+"/AGENTS")
	top := foreigntest.Read(t, markdown.Instructions, zipped(t, dir, "till-main/"))
	must.Says(t, "an archive", names(top), "instructions/till-main/AGENTS")
}

func TestHomes(t *testing.T) {
	t.Parallel()
	env := func(string) string { return "" }
	must.Equal(t, "home", markdown.BasicMemory.Homes(env, "/home/ada"), []string{filepath.Join("/home/ada", "basic-memory")})
	set := func(name string) string { return map[string]string{"BASIC_MEMORY_HOME": "/notes"}[name] }
	must.Equal(t, "home", markdown.BasicMemory.Homes(set, "/home/ada"), []string{"/notes"})
	home := foreigntest.Files(t, map[string]string{".basic-memory/config.json": `{"projects":{"main":"` + "~/basic-memory" + `","work":{"path":"/srv/notes"},"odd":3,"old":"/old"}}`})
	must.Equal(t, "homes of projects", markdown.BasicMemory.Homes(env, home), []string{filepath.Join(home, "basic-memory"), "/old", "/srv/notes"})
}

func TestDamage(t *testing.T) {
	t.Parallel()
	foreigntest.Damage(t, markdown.BasicMemory, sample, "shop/checkout-rounding.md", -1)
}

func FuzzBasicMemory(f *testing.F) {
	foreigntest.Fuzz(f, markdown.BasicMemory, "a.md", must.Get(os.ReadFile(filepath.Join(sample, "shop/checkout-rounding.md")))(f),
		[]byte("- a [[b]] (c)\n> q\n\n```\n[x] y\n```\n[a](b.md) [c]\n\n[c]: d.md\n<!-- \n -->\n1. x\n   - y #t\n"))
}
