package markdown_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/markdown"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	firstID  = "01890a5d-ac96-774b-bcce-b302099a8057"
	secondID = "01890a5d-ac96-774b-bcce-b302099a8058"
)

// export writes contents and returns the folder.
func export(t testing.TB, c *foreigntest.Contents) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, markdown.BasicMemory.Write(context.Background(), c, foreign.WriteOptions{}, foreigntest.Folder(dir)))
	return dir
}

func memoryOf(text string) amber.Memory {
	return amber.Memory{ID: firstID, Kind: amber.ProjectFact, Scope: amber.ScopeGlobal, Title: "Rounding", Content: text}
}

func TestAnExportedMemory(t *testing.T) {
	t.Parallel()
	m := amber.Memory{
		ID: firstID, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop", UserID: "ada"},
		Title: "Checkout: \"rounding\" #1", Content: "# Rounding\n\nRound once. #billing\n\n- [x] done\n", Summary: "a \u2028 b\\", Topic: "rounding",
		Tags: []string{"a, b", "billing"}, CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"), UpdatedAt: foreigntest.At(t, "2026-01-03T03:04:05.678Z"),
	}
	other := amber.Memory{ID: secondID, Kind: amber.UserFact, Scope: amber.ScopeGlobal, Content: "Uses tabs"}
	c := &foreigntest.Contents{MemoryList: []amber.Memory{m, other}, RelationList: []amber.Relation{
		{From: firstID, To: secondID, Type: "related", Strength: 0.5},
		{From: firstID, To: secondID, Type: "see [also] \"this\"", Strength: 1},
		{From: firstID, To: "01890a5d-ac96-774b-bcce-b302099a8059", Type: "related", Strength: 1},
	}}
	dir := export(t, c)
	got := string(must.Get(os.ReadFile(filepath.Join(dir, "memories/checkout-rounding-1-b302099a8057.md")))(t))
	must.Equal(t, "file", got, `---
title: "Checkout: \"rounding\" #1"
type: "memory"
permalink: "memories/checkout-rounding-1-b302099a8057"
tags:
- "a, b"
- "billing"
created: "2026-01-02T03:04:05.678+00:00"
modified: "2026-01-03T03:04:05.678+00:00"
amber_id: "01890a5d-ac96-774b-bcce-b302099a8057"
amber_kind: "project_fact"
amber_scope: "project"
amber_project: "shop"
amber_user: "ada"
amber_topic: "rounding"
amber_summary: "a \u2028 b\\"
---

# Rounding

Round once. \#billing

- \[x] done


## Relations

- related [[memories/uses-tabs-b302099a8058]] (strength 0.5)
- "see _also_ _this_" [[memories/uses-tabs-b302099a8058]]
`)
	r := foreigntest.Read(t, markdown.BasicMemory, dir)
	file := "memories/checkout-rounding-1-b302099a8057.md"
	key := foreign.Key{"memories/checkout-rounding-1-b302099a8057"}
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: foreign.Place{File: file}, Key: key, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities,
			Title: m.Title, Content: m.Content, Summary: m.Summary, Topic: m.Topic, Tags: m.Tags,
			CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, AmberID: firstID,
		},
		{
			Place: r.Memories[1].Place, Key: foreign.Key{"memories/uses-tabs-b302099a8058"}, Kind: other.Kind, Scope: other.Scope,
			Content: other.Content, CreatedAt: r.Memories[1].CreatedAt, UpdatedAt: r.Memories[1].UpdatedAt, AmberID: secondID,
		},
	}, foreigntest.Times)
	must.Equal(t, "relations", fmt.Sprintf("%s %g, %s %g, %d", r.Relations[0].Type, r.Relations[0].Strength, r.Relations[1].Type,
		r.Relations[1].Strength, len(r.Relations)), "related 0.5, see _also_ _this_ 0, 2")
	must.Equal(t, "notes", len(r.Notes), 0)
}

func TestExportedNotesAreTheNotes(t *testing.T) {
	t.Parallel()
	texts := []string{
		"plain #text\n- [a] b\n", "---\ntitle: Own\ntags: [a]\n---\nbody\r\n", "---\n{a: b}\n---\nflow", "---\n- list\n---\n", "---\nno end", "\r\n\n x \n\n",
		"---\r\ntitle: x\r\n---\r\n", "---\namber_digest: x\n---\n", "---\n---\nempty head",
	}
	c := &foreigntest.Contents{}
	for i, text := range texts {
		c.NoteList = append(c.NoteList, amber.Note{Name: fmt.Sprintf("folder/note %d", i), Content: text, UpdatedAt: foreigntest.At(t, "2026-01-02")})
	}
	dir := export(t, c)
	r := foreigntest.Read(t, markdown.BasicMemory, dir)
	must.Equal(t, "notes", len(r.Notes), len(texts))
	for i, n := range r.Notes {
		must.Equal(t, "name", n.Name, c.NoteList[i].Name)
		must.Equal(t, "content", n.Content, texts[i])
	}
	must.Equal(t, "memories", len(r.Memories), 0)

	// A note that was edited is read as any other, under its name.
	file := filepath.Join(dir, "notes/folder/note 0.md")
	must.Do(t, os.WriteFile(file, append(must.Get(os.ReadFile(file))(t), "- [c] added\n"...), 0o600))
	r = foreigntest.Read(t, markdown.BasicMemory, dir)
	must.Equal(t, "edited note", r.Notes[0].Name+r.Notes[0].Content, "folder/note 0"+texts[0]+"- [c] added\n")
	must.Equal(t, "memories of it", contents(r), "plain #text|plain #text|b|added")
}

// Relations behind code that is never closed would be code.
func TestRelationsAreReadByOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"text":           "text\n\n## Relations\n\n- related [[memories/other-b302099a8058]]\n",
		"```\n## Text\n": "## Relations\n\n- related [[memories/other-b302099a8058]]\n\n## Text\n\n```\n## Text\n\n",
		"<!-- x":         "## Relations\n\n- related [[memories/other-b302099a8058]]\n\n## Text\n\n<!-- x\n",
	} {
		c := &foreigntest.Contents{
			MemoryList:   []amber.Memory{memoryOf(text), {ID: secondID, Kind: amber.UserFact, Scope: amber.ScopeGlobal, Title: "Other", Content: "x"}},
			RelationList: []amber.Relation{{From: firstID, To: secondID, Type: "related", Strength: 1}},
		}
		got := string(must.Get(os.ReadFile(filepath.Join(export(t, c), "memories/rounding-b302099a8057.md")))(t))
		_, body, _ := strings.Cut(got, "\n---\n\n")
		must.Equal(t, "body", body, want)
		onlyMemory(t, text)
	}
}

// The program adds title, type and permalink where a file lacks them, and writes all of the file anew.
func TestAnExportedNoteHasWhatTheProgramWouldAdd(t *testing.T) {
	t.Parallel()
	texts := []string{"plain", "---\ntags: [a]\n---\nbody", "---\ntitle: Own\npermalink: own\n---\nbody", "---\npermalink: x\ntype: y\ntitle: z\n---\n", "---\n- list\n---\n"}
	c := &foreigntest.Contents{}
	for i, text := range texts {
		c.NoteList = append(c.NoteList, amber.Note{Name: "Folder/" + strings.Repeat("ä", i+1), Content: text})
	}
	dir := export(t, c)
	links := map[string]bool{}
	for i, n := range c.NoteList {
		front, _, err := foreign.SplitFront(must.Get(os.ReadFile(filepath.Join(dir, "notes", n.Name+".md")))(t))
		must.Do(t, err)
		for _, name := range []string{"title", "type", "permalink"} {
			must.Hold(t, front.Text(name) != "", "%q has no %s", texts[i], name)
		}
		must.Hold(t, !links[front.Text("permalink")], "permalink %s is there twice", front.Text("permalink"))
		links[front.Text("permalink")] = true
	}
	must.Hold(t, links["own"] && links["x"] && links["notes/folder/note"], "permalinks are %v", links)
	r := foreigntest.Read(t, markdown.BasicMemory, dir)
	for i, n := range r.Notes { // in the order of their names, which is that of their lengths
		must.Equal(t, "content", n.Content, texts[i])
	}
	must.Equal(t, "notes and memories", [2]int{len(r.Notes), len(r.Memories)}, [2]int{len(texts), 0})
}

// onlyMemory exports a memory with a relation and checks that reading it gives the text and nothing more.
func onlyMemory(t testing.TB, text string) {
	t.Helper()
	c := &foreigntest.Contents{
		MemoryList:   []amber.Memory{memoryOf(text), {ID: secondID, Kind: amber.UserFact, Scope: amber.ScopeGlobal, Title: "Other", Content: "x"}},
		RelationList: []amber.Relation{{From: firstID, To: secondID, Type: "related", Strength: 1}},
	}
	dir := export(t, c)
	r := foreigntest.Read(t, markdown.BasicMemory, dir)
	if len(r.Memories) != 2 || len(r.Relations) != 1 || len(r.Notes) != 0 {
		t.Fatalf("%q: %d memories, %d relations, %d notes, want 2, 1, 0:\n%s", text, len(r.Memories), len(r.Relations), len(r.Notes), contents(r))
	}
	for _, m := range r.Memories {
		if m.AmberID == firstID && m.Content != text {
			t.Errorf("%q was read back as %q", text, m.Content)
		}
		if m.Foreign != nil && strings.Contains(must.Get(jsonOf(m.Foreign))(t), "relations") {
			t.Errorf("%q has relations to nothing: %v", text, m.Foreign)
		}
	}
}

// pieces are what a text could be misread for.
var pieces = []string{
	"[", "]", "[[", "]]", "[[Other]]", "#", "##", "#tag", "# Head", "## Relations", "\n## Relations\n", "\n## Text\n\n", "[x] ", "[decision] ", "[ ] ", "\\", "\\\\", "\\[", "\\#",
	"\n", "\n\n", "\r\n", "\r", "\t", " ", "    ", "> ", "- ", "1. ", "* ", "```", "~~~", "`", "``", "---\n", "===\n", "<div>", "<!--", "-->", "<script>", "(a)", "](b.md)",
	"][", "]: x.md", "[a](b.md)", "[a](https://x.y)", "[a]: memories/x.md\n", "text", "é", "\u00a0", "\u2028", "\u0085", "@2026-01-01 ", "#bm:links_to", "|", "::", "\"", "amber_id: x",
	"/", "!", "<http://a.b>", "_", "**", "a#b", "\"#", "(#", "- related [[Other]]\n",
}

// Whatever the text of a memory is, its export holds no observation and no link that the text does not have.
func TestNoTextIsMisread(t *testing.T) {
	t.Parallel()
	for _, p := range pieces {
		onlyMemory(t, p+"end")
		onlyMemory(t, "x\n"+p)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		onlyMemory(t, b.String())
	}
}

func FuzzExport(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "text")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if amber.CheckText("content", text, amber.MaxContentBytes, amber.Required) != nil {
			return // a store refuses the text, so no export ever has it
		}
		onlyMemory(t, text)
	})
}

func TestWritingFails(t *testing.T) {
	t.Parallel()
	c := &foreigntest.Contents{MemoryList: []amber.Memory{memoryOf("x")}}
	dir := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(dir, nil, 0o600))
	must.Error(t, "a folder that is a file", markdown.BasicMemory.Write(context.Background(), c, foreign.WriteOptions{}, foreigntest.Folder(dir)))
}
