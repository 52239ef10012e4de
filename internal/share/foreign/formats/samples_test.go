package formats_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// sample is a minimal document of a format, and what an edit of it changes.
type sample struct {
	format string
	from   string // below foreign/: a folder, a file, or a script that makes a database
	as     string // the name of the file, where the program wants one
	old    string // a text in it that becomes
	new    string
	edited string // what the edit is: a memory, a session or a note
}

// samples has every format that is read. The texts are in one memory each, or in a turn or a note.
var samples = []sample{
	{format: "claude-code", from: "claudecode/testdata/sample", old: "Deploy on Mondays only.", new: "Deploy on Fridays only.", edited: "memory"},
	{format: "cursor", from: "cursor/testdata/sample", old: "Use decimals.", new: "Use integers.", edited: "note"},
	{format: "claude-ai", from: "claudeai/testdata", old: "Drinks oolong.", new: "Drinks coffee.", edited: "memory"},
	{format: "chatgpt", from: "chatgpt/testdata", old: "Which tea do I like?", new: "", edited: "session"},
	{format: "mcp-memory", from: "mcpmemory/testdata", old: "Prefers tabs", new: "Prefers spaces", edited: "memory"},
	{format: "claude-mem", from: "claudemem/testdata/claude-mem.sql", as: "claude-mem.db", old: "Each coupon rounded by itself.", new: "Each coupon was rounded.", edited: "memory"},
	{format: "claude-mem", from: "claudemem/testdata/export.json", old: "Each coupon rounded by itself.", new: "Each coupon was rounded.", edited: "memory"},
	{format: "mem0", from: "mem0/testdata/get_all.json", old: "Prefers tabs", new: "Prefers spaces", edited: "memory"},
	{format: "mem0", from: "mem0/testdata/history.sql", as: "history.db", old: "'Prefers spaces','Prefers tabs','UPDATE'", new: "'Prefers spaces','Prefers both','UPDATE'", edited: "memory"},
	{format: "mem0", from: "mem0/testdata/mem0-export-shop-2026-01-02.md", old: "Prefers tabs.", new: "Prefers spaces.", edited: "memory"},
	{format: "openmemory", from: "mem0/testdata/line.json", old: "Prefers tabs", new: "Prefers spaces", edited: "memory"},
	{format: "basic-memory", from: "markdown/testdata/basic-memory", old: "Totals round half to even. #not-a-list", new: "Totals round half up. #not-a-list", edited: "note"},
	{format: "codex", from: "codex/testdata", old: "Round once, at the invoice.", new: "Round twice, at the invoice.", edited: "memory"},
	{format: "mcp-memory-service", from: "mcpservice/testdata/export.json", old: `"decision"`, new: `"learning"`, edited: "memory"},
	{format: "mcp-memory-service", from: "mcpservice/testdata/sqlite_vec.sql", as: "sqlite_vec.db", old: "'billing,decision','decision'", new: "'billing,pattern','decision'", edited: "memory"},
	{format: "gemini", from: "gemini/testdata", old: "Done.", new: "", edited: "session"},
	{format: "letta", from: "letta/testdata/agent.af", old: "Round half to even", new: "Round half up", edited: "memory"},
	{format: "letta", from: "letta/testdata/double.af", old: "Round half to even", new: "Round half up", edited: "memory"},
	{format: "cogx", from: "cogx/testdata/sample", old: "Round half to even", new: "Round half up", edited: "memory"},
	{format: "graphiti", from: "graphiti/testdata", old: `"Maintains checkout"`, new: `"Maintains billing"`, edited: "memory"},
	{format: "langgraph", from: "langgraph/testdata/store.sql", as: "store.db", old: "Prefers tabs", new: "Prefers spaces", edited: "memory"},
	{format: "openai-agents", from: "openaiagents/testdata/session.sql", as: "session.db", old: "Why twice?", new: "", edited: "session"},
	{format: "memos", from: "memos/testdata", old: "Ada prefers tabs.", new: "Ada prefers spaces.", edited: "memory"},
	{format: "memobase", from: "memobase/testdata", old: "Prefers tabs", new: "Prefers spaces", edited: "memory"},
	{format: "amber", from: "jsonl/testdata/export.jsonl", old: "Why twice?", new: "", edited: "session"},
}

// place copies a sample into a folder, with one text replaced, and returns what is imported.
func (s sample) place(t *testing.T, dir, old, new string) string {
	t.Helper()
	from := filepath.Join("..", s.from)
	if strings.HasSuffix(s.from, ".sql") {
		made := foreigntest.Database(t, s.as, strings.ReplaceAll(foreigntest.Script(t, from), old, new))
		return filepath.Join(made, s.as)
	}
	info := must.Get(os.Stat(from))(t)
	if !info.IsDir() {
		file := filepath.Join(dir, filepath.Base(from))
		must.Do(t, os.WriteFile(file, []byte(replaced(t, from, old, new)), 0o600))
		return file
	}
	must.Do(t, os.RemoveAll(dir))
	must.Do(t, os.CopyFS(dir, os.DirFS(from)))
	must.Do(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.WriteFile(path, []byte(replaced(t, path, old, new)), 0o600)
	}))
	return dir
}

func replaced(t *testing.T, file, old, new string) string {
	t.Helper()
	text := string(must.Get(os.ReadFile(file))(t))
	if old == "" {
		return text
	}
	return strings.ReplaceAll(text, old, new)
}

// desk is a store, and what imports into it.
type desk struct {
	t     *testing.T
	store amber.Store
	now   time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, now: time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)}
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: d.clock, Random: rand.Reader})
	must.Do(t, err)
	s := must.Get(sqlite.Open(t.Context(), must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t), sqlite.Options{Clock: d.clock, Random: rand.Reader}))(t)
	t.Cleanup(func() { s.Close() })
	parts := s.Parts()
	notes, _ := notestest.New(t)
	parts.Notes, parts.NoteLog = notes, notes
	d.store = amber.NewStore(parts)
	return d
}

func (d *desk) clock() time.Time { d.now = d.now.Add(time.Millisecond); return d.now }

func (d *desk) take(path, want string) wire.ForeignImport {
	d.t.Helper()
	tree := must.Get(foreign.Open(path))(d.t)
	defer tree.Close()
	f := must.Get(transfer.Detect(tree, formats.Read()))(d.t)
	must.Equal(d.t, "format of "+path, f.Name, want)
	return must.Get(transfer.Import(d.t.Context(), d.store, f, tree, transfer.Options{
		User: "ada", Clock: d.clock, NewID: func() (string, error) { return amber.NewUUID(d.clock(), rand.Reader) },
	}))(d.t)
}

// revisions returns the revision of every memory.
func (d *desk) revisions() map[amber.MemoryID]int64 {
	d.t.Helper()
	out := map[amber.MemoryID]int64{}
	for _, m := range must.Get(d.store.Memories.List(d.t.Context(), amber.ListQuery{All: true}))(d.t).Items {
		out[m.ID] = m.Revision
	}
	return out
}

func (d *desk) head() string { return fmt.Sprint(must.Get(d.store.Changes.Head(d.t.Context()))(d.t)) }

// Every sample is detected and imported; a second time nothing is written; an edit in the source is one revision, and one
// on both sides one conflict.
func TestEverySampleKeepsThePromises(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, s := range samples {
		covered[s.format] = true
		t.Run(s.format+" "+filepath.Base(s.from), func(t *testing.T) {
			t.Parallel()
			d, dir := newDesk(t), filepath.Join(t.TempDir(), "in")
			must.Do(t, os.MkdirAll(dir, 0o700))
			first := d.take(s.place(t, dir, "", ""), s.format)
			if first.New == 0 || first.New != first.Read-first.Skipped-first.Known {
				t.Errorf("first import: %+v", first)
			}
			head := d.head()
			again := d.take(s.place(t, dir, "", ""), s.format)
			must.Equal(t, "new and changed the second time", again.New+again.Changed, 0)
			must.Equal(t, "head of the change log", d.head(), head)
			must.Equal(t, "import that is to be undone", again.ID, "")
			s.edit(t, d, dir)
		})
	}
	for _, f := range formats.Read() {
		if !covered[f.Name] && !uncovered[f.Name] {
			t.Errorf("format %s has no sample", f.Name)
		}
	}
}

// uncovered are formats whose samples are in their own tests: they read the same files as others, by other rules, or have an
// importer of their own.
var uncovered = map[string]bool{
	"obsidian": true, "markdown": true, "instructions": true, "supermemory": true, "engram": true, "nexo": true, "nexus": true,
}

// The context and the sink end the reading of every sample, and the turns of sessions that are known are not given out.
func TestEverySampleEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		t.Run(s.format+" "+filepath.Base(s.from), func(t *testing.T) {
			t.Parallel()
			foreigntest.Promises(t, must.Get(formats.Find(s.format, formats.Read()))(t), s.place(t, t.TempDir(), "", ""))
		})
	}
}

func (s sample) edit(t *testing.T, d *desk, dir string) {
	t.Helper()
	if s.edited == "session" {
		return // what was said is not edited
	}
	before := d.revisions()
	changed := d.take(s.place(t, dir, s.old, s.new), s.format)
	if s.edited == "note" {
		must.Equal(t, "changed notes", changed.Notes.Changed, 1)
		return
	}
	must.Equal(t, "changed memories", changed.Memories.Changed, 1)
	must.Equal(t, "conflicts", changed.Conflicts, 0)
	id := amber.MemoryID("")
	for m, revision := range d.revisions() {
		if revision != before[m] {
			must.Equal(t, "revisions that one edit makes", revision, before[m]+1)
			id = m
		}
	}
	mine := "edited here"
	must.Get(d.store.Editor.Edit(t.Context(), amber.EditRequest{ID: id, Content: &mine}))(t)
	both := d.take(s.place(t, dir, "", ""), s.format)
	must.Equal(t, "conflicts after edits on both sides", both.Conflicts, 1)
	must.Equal(t, "text", must.Get(d.store.Memories.Get(t.Context(), id))(t).Content, mine)
}
