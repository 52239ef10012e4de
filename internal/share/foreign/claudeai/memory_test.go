package claudeai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSections(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "",
		"no heading":                             "|no heading\n",
		"before\n\n**Work**\n\na\n\n**Home:**\n": "|before\nWork|a\n",
		"# Top\n## Sub ##\nx\r\n### **Bold**:\ny":      "Sub|x\nBold|y\n",
		"**Work**:\n- **bold** in a line\n*Italic*\nx": "Work|- **bold** in a line\n*Italic*\nx\n",
		"**A** and **B**\n#tag\n####### seven":         "|**A** and **B**\n#tag\n####### seven\n",
		"# A\n```\n# no heading\n```\n# B\nx":          "A|```\n# no heading\n```\nB|x\n",
		"# " + strings.Repeat("long", 100):             "|# " + strings.Repeat("long", 100) + "\n",
	} {
		var got strings.Builder
		for _, s := range sections(text) {
			fmt.Fprintf(&got, "%s|%s\n", s.heading, s.text)
		}
		must.Equal(t, text, got.String(), want)
	}
}

// keys returns the keys of memories, one per line.
func keys(r *foreigntest.Recorder) string {
	var b strings.Builder
	for _, m := range r.Memories {
		fmt.Fprintln(&b, strings.Join(m.Key, "|"))
	}
	return b.String()
}

func TestMemoriesOfSeveralAccounts(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{
		"memories.json": `[{"conversations_memory":"# A\nx\n# A\ny","account_uuid":"one"},{"conversations_memory":"# A\nx","account_uuid":"two"}]`,
		// An account in the name of the file, and one that was read before.
		"memories/three.json": `{"conversations_memory":"x","memory_files":[{"path":"/a","content":"a"},{"path":"/empty","content":" "},{"content":"no path"},{"path":"/b","content":"b","updated_at":"soon"},7]}`,
		"memories/one.json":   `{"conversations_memory":"# A\nx"}`,
	}))
	must.Equal(t, "keys", keys(r), "one|conversations|A\none|conversations|A|2\ntwo|conversations|A\nthree|conversations|\nthree|/a\n")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `memories/one.json: conversations_memory A: memory is there twice; the first is read
memories/three.json: memory file 3: memory file has no path
memories/three.json: memory file 4: time is "soon", want a date and time as in 2026-01-02T03:04:05Z
memories/three.json: memory file 5: memory file has no path`)
}

func TestProjectsOfMemories(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"memories.json": `{"project_memories":{"a":"x","b":"y","c":"z","d":7,"e":""}}`,
		"projects.json": `[{"uuid":"a","name":" My  shop","docs":[]},{"uuid":"b","name":"` + strings.Repeat("long", 100) + `","docs":[]}]`,
	}
	list := func(r *foreigntest.Recorder) (out string) {
		for _, m := range r.Memories {
			out += m.ProjectID + ": " + m.Content + "\n"
		}
		return out
	}
	r := foreigntest.Read(t, Format, foreigntest.Files(t, files))
	must.Equal(t, "projects", list(r), "My shop: x\nb: y\nc: z\n")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), "memories.json: project d: memory is not text")
	o := foreigntest.Options()
	o.Project = "mine"
	must.Equal(t, "project of the caller", list(foreigntest.ReadWith(t, Format, foreigntest.Files(t, files), o)), "mine: x\nmine: y\nmine: z\n")
}

// A file that is cut before it says whose memories it holds would give them keys that change.
func TestMemoriesWithoutAnAccount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"conversations_memory":"x","account_uuid":"a"`:    1, // the cut is after it
		`{"conversations_memory":"x","account`:              0,
		`{"conversations_memory":"x"}`:                      1, // it may be absent
		`[{"conversations_memory":"x","account_uuid":"a"},`: 1,
		`{"memory_files":[{"path":"/a","content":"a"}`:      0,
	} {
		r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"memories.json": text}))
		must.Equal(t, text, len(r.Memories), want)
		must.Hold(t, len(r.Skips) > 0 || strings.HasSuffix(text, `"x"}`), "%s: nothing is told", text)
	}
	r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"memories/a.json": `{"conversations_memory":"x","memory_files":[{"path":"/a","content":"a"},{"path`}))
	must.Equal(t, "account in the name", keys(r), "a|conversations|\na|/a\n")
}

// names returns the names of notes, one per line.
func names(r *foreigntest.Recorder) string {
	var b strings.Builder
	for _, n := range r.Notes {
		fmt.Fprintln(&b, n.Name)
	}
	return b.String()
}

func TestNamesOfNotes(t *testing.T) {
	t.Parallel()
	doc := func(uuid, file string) string {
		return `{"uuid":"` + uuid + `","filename":"` + file + `","content":"x","created_at":"2026-01-01T00:00:00Z"}`
	}
	r := foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{
		"projects.json": `[
			{"uuid":"newer-of-two","name":"Shop","created_at":"2026-01-02T00:00:00Z","docs":[` + doc("d", "a.md") + `]},
			{"uuid":"older","name":"shop","created_at":"2026-01-01T00:00:00Z","prompt_template":"x","docs":[` +
			strings.Join([]string{doc("d1", "a.md"), doc("d2", "A.md"), doc("d2", "a"), doc("d2", "a.md"), doc("d3", "../../etc/passwd"), doc("d4", ""), doc("", ""), doc("d5", "instructions.md")}, ",") + `]},
			{"uuid":"nameless","name":" . ","docs":[{"uuid":"d","filename":"empty.pdf","content":""},` + doc("d", "b") + `]},
			{"uuid":"older","name":"twice","docs":[` + doc("d", "c") + `]},{"name":"no uuid","docs":[]}]`,
	}))
	must.Equal(t, "names", names(r), `claude-ai/Shop-newer-of/a.md
claude-ai/shop/instructions
claude-ai/shop/a.md
claude-ai/shop/A-d2.md
claude-ai/shop/a-d2-3
claude-ai/shop/a-d2-4.md
claude-ai/shop/-..-etc-passwd
claude-ai/shop/d4
claude-ai/shop/instructions-d5.md
claude-ai/nameless/b
`)
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `projects.json: project 4: project "older" is there twice; the first is read
projects.json: project 5: project has no uuid
projects.json: project 2, document 7: document has neither filename nor uuid
projects.json: project 3, document 1: document "empty.pdf" has no text`)
}

// The documents of a project are read one at a time: a cut costs those after it.
func TestAProjectThatIsCut(t *testing.T) {
	t.Parallel()
	whole := sample(t, projectFile)
	at := strings.LastIndex(whole, "]")
	r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{projectFile: whole[:at]}))
	must.Equal(t, "names", names(r), "claude-ai/Shop/instructions\nclaude-ai/Shop/rules.md\n")
	must.Equal(t, "skips", len(r.Skips), 1)
	r = foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"projects/u.json": `{"docs":[{"filename":"a","content":"x"}`}))
	must.Equal(t, "a name of the file", names(r), "claude-ai/u/a\n")
	must.Equal(t, "time of the file", r.Notes[0].UpdatedAt.IsZero(), false)
	must.Equal(t, "place", r.Notes[0].Place, foreign.Place{File: "projects/u.json", At: "document 1"})
}
