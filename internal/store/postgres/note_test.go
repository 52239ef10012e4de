package postgres_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// hands is a clock that is moved by hand.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hands) read() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(1300 * time.Millisecond)
}

// openAgent opens an agent of a server.
func openAgent(t testing.TB, s *postgres.Server, agent amber.AgentID, clock amber.Clock) *postgres.Store {
	t.Helper()
	st := must.Get(s.Open(t.Context(), amber.DefaultTenant, agent, postgres.Options{Clock: clock}))(t)
	t.Cleanup(func() { must.NoError(t, st.Close()) })
	return st
}

// newNotes returns the notes of a new agent.
func newNotes(t testing.TB) (*postgres.Notes, string) {
	t.Helper()
	dsn := fresh(t)
	return openAgent(t, connect(t, dsn), "agent", nil).Notes(), dsn
}

// bring puts a repository into the rows of an agent, as code that carries agents does.
func bring(t testing.TB, s *postgres.Server, agent amber.AgentID, refs gitobj.Refs, objects gitobj.ObjectSource) error {
	t.Helper()
	gen, _, err := s.Live(t.Context(), amber.DefaultTenant, agent)
	must.Do(t, err)
	var list []gitobj.Object
	must.Do(t, objects(func(oid string, raw []byte) error {
		o, err := gitobj.CheckObject(oid, bytes.Clone(raw))
		list = append(list, o)
		return err
	}))
	return s.DB().Update(t.Context(), pgdb.Work{
		Setup: postgres.Enter(gen),
		Do: func(c *pgdb.Conn, _ []string) error {
			rows := postgres.NotesIn(t.Context(), c)
			if err := rows.Put(list...); err != nil {
				return err
			}
			return rows.SetRefs(refs)
		},
		Committed: func(context.Context, *pgdb.Conn) (bool, error) { return false, nil },
	})
}

// bringFolder is bring for the repository in a folder.
func bringFolder(t testing.TB, s *postgres.Server, agent amber.AgentID, dir string) {
	t.Helper()
	refs, found, err := gitobj.ReadRefs(fsx.OS(), dir)
	must.Hold(t, err == nil && found, "read refs: %v, %v", found, err)
	must.Do(t, bring(t, s, agent, refs, func(yield func(string, []byte) error) error {
		return gitobj.RawObjects(t.Context(), gitobj.Options{Dir: dir, Temp: t.TempDir()}, refs, yield)
	}))
}

// keeper is what both keepers of notes have.
type keeper interface {
	amber.Notes
	amber.NoteLog
}

// said is what an error says, "" for none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return string(amber.KindOf(err)) + ": " + err.Error()
}

// sameAnswers compares what two keepers answer about a note.
func sameAnswers(t *testing.T, name string, row, file keeper) {
	t.Helper()
	ctx := t.Context()
	timeless := func(n amber.Note) amber.Note {
		n.UpdatedAt = amber.Time{} // a file has the time it was written at, a row that of its commit
		return n
	}
	a, errA := row.ReadNote(ctx, name)
	b, errB := file.ReadNote(ctx, name)
	must.Equal(t, name+": read", said(errA), said(errB))
	must.Equal(t, name+": note", timeless(a), timeless(b))
	if path.Base(name) == "doc" {
		return // git tells the log of the folder doc.md
	}
	logA, errA := row.LogNote(ctx, name, 1000)
	logB, errB := file.LogNote(ctx, name, 1000)
	must.Equal(t, name+": log", said(errA), said(errB))
	must.Equal(t, name+": changes", logA, logB)
	for _, c := range logA {
		a, errA := row.NoteAt(ctx, name, c.Commit)
		b, errB := file.NoteAt(ctx, name, c.Commit)
		must.Equal(t, name+": at "+c.Commit, said(errA), said(errB))
		must.Equal(t, name+": note at "+c.Commit, a, b)
	}
	_, errA = row.NoteAt(ctx, name, strings.Repeat("ab", 20))
	_, errB = file.NoteAt(ctx, name, strings.Repeat("ab", 20))
	must.Equal(t, name+": at an unknown commit", said(errA), said(errB))
}

func sameList(t *testing.T, row, file keeper) {
	t.Helper()
	var got [2][]string
	for i, k := range []keeper{row, file} {
		for _, n := range must.Get(k.ListNotes(t.Context()))(t) {
			got[i] = append(got[i], fmt.Sprint(n.Name, " ", n.Bytes, " ", n.Content, n.Commit))
		}
	}
	must.Equal(t, "list", got[0], got[1])
}

// sameRepository compares two repositories to the byte: commits, trees, files, differences.
func sameRepository(t *testing.T, a, b string) {
	t.Helper()
	for _, question := range [][]string{
		{"rev-parse", "refs/heads/main"},
		{"log", "--format=raw", "--raw", "--no-abbrev", "main"},
		{"log", "-p", "--stat", "--no-renames", "main"},
		{"ls-tree", "-r", "-t", "--full-tree", "main"},
		{"rev-list", "--objects", "--no-object-names", "main"},
	} {
		must.Equal(t, "git "+strings.Join(question, " "), notestest.Git(t, a, question...), notestest.Git(t, b, question...))
	}
}

// The same changes at the same times, to rows and to files under git: the same answers, errors and ids, and the same repository.
func TestNotesAreThoseOfFiles(t *testing.T) {
	t.Parallel()
	clock := &hands{now: notestest.Start}
	dir := filepath.Join(t.TempDir(), "memdir")
	file := must.Get(notes.New(notes.Options{Guard: notes.Fixed(dir), Clock: clock.read}))(t)
	row := openAgent(t, connect(t, fresh(t)), "agent", clock.read).Notes()
	names := []string{
		"plan", "Plan", "plan/a", "plan/b/c", "PLAN/a", "plan-b", "doc", "doc.md/x", "deep/doc.md/y", "deep/doc", "caf\u00e9", "cafe\u0301", "r\u00e9/n\u00f6te", "re\u0301/no\u0308te",
		"with space, and+more@x", "z",
		"..", "../x", ".git/config", "a/.git/x", ".GIT/x", "git~1/x", "con", "a//b", "-x", "a\u202eb", "",
	}
	for _, name := range names {
		sameAnswers(t, name, row, file)
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	for i := range 70 {
		clock.tick()
		name := names[rnd.IntN(len(names))]
		if i < len(names) {
			name = names[i]
		}
		ctx, by := t.Context(), amber.NoteBy{}
		if rnd.IntN(3) == 0 {
			by = amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "h", Agent: "<Ada> \"& Ü", Session: amber.SessionID(fmt.Sprint(i))}}
		}
		if rnd.IntN(4) == 0 {
			must.Equal(t, "delete "+name, said(row.DeleteNote(ctx, name, by)), said(file.DeleteNote(ctx, name, by)))
			continue
		}
		text := fmt.Sprintf("# %s\n\nline %d\n", name, i/8) // equal to the one before now and then
		if i == 40 {
			text = "bad \xff"
		}
		a, errA := row.WriteNote(ctx, amber.NoteWrite{Name: name, Content: text, NoteBy: by})
		b, errB := file.WriteNote(ctx, amber.NoteWrite{Name: name, Content: text, NoteBy: by})
		must.Equal(t, "write "+name, said(errA), said(errB))
		a.UpdatedAt, b.UpdatedAt = amber.Time{}, amber.Time{}
		must.Equal(t, "written "+name, a, b)
	}
	for _, name := range names {
		sameAnswers(t, name, row, file)
	}
	sameList(t, row, file)
	must.Equal(t, "a limit of none", said(must.Err(row.LogNote(t.Context(), "plan", 0))), said(must.Err(file.LogNote(t.Context(), "plan", 0))))
	must.NoError(t, row.Check(t.Context()))

	out := filepath.Join(t.TempDir(), "export")
	must.Do(t, row.Export(t.Context(), out, postgres.GitOptions{}))
	must.Equal(t, "fsck", notestest.Git(t, out, "fsck", "--strict", "--full", "--no-progress"), "")
	must.Equal(t, "status", notestest.Git(t, out, "status", "--porcelain"), "")
	sameRepository(t, out, dir)

	// The exported folder is a folder of notes that goes on, with the same ids.
	clock.tick()
	again := must.Get(notes.New(notes.Options{Guard: notes.Fixed(out), Clock: clock.read}))(t)
	must.NoError(t, again.Check(t.Context()))
	must.Equal(t, "the next commit",
		must.Get(again.WriteNote(t.Context(), amber.NoteWrite{Name: "deep/er/next", Content: "text"}))(t).Commit, must.Get(row.WriteNote(t.Context(), amber.NoteWrite{Name: "deep/er/next", Content: "text"}))(t).Commit)

	// And the other way: a repository that was made by git becomes rows.
	server := connect(t, fresh(t))
	other := openAgent(t, server, "other", clock.read)
	bringFolder(t, server, "other", dir)
	bringFolder(t, server, "other", dir) // once more is no harm
	for _, name := range names {
		sameAnswers(t, name, other.Notes(), file)
	}
	sameList(t, other.Notes(), file)
	must.NoError(t, other.Notes().Check(t.Context()))
	must.Equal(t, "head of the copy", must.Get(other.NotesHead(t.Context()))(t), must.Get(file.Head(t.Context()))(t))
	must.Equal(t, "copy", must.Get(other.NoteBlobs(t.Context()))(t), must.Get(file.Blobs(t.Context(), must.Get(file.Head(t.Context()))(t)))(t))
	clock.tick()
	must.Equal(t, "the next commit after an import",
		must.Get(other.Notes().WriteNote(t.Context(), amber.NoteWrite{Name: "z", Content: "new"}))(t).Commit, must.Get(file.WriteNote(t.Context(), amber.NoteWrite{Name: "z", Content: "new"}))(t).Commit)
}

// found are the notes that a question finds.
func found(t *testing.T, s *postgres.Store, question string) (names []string) {
	t.Helper()
	r := must.Get(s.Recall(t.Context(), amber.Query{Text: question, Layers: []amber.RecallLayer{amber.LayerNote}}))(t)
	for _, h := range r.Hits {
		names = append(names, h.Owner)
	}
	return names
}

// A note is found, by every server, as soon as it is written.
func TestNotesAreFoundAtOnce(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	a, b := openAgent(t, connect(t, dsn), "agent", nil), openAgent(t, connect(t, dsn), "agent", nil)
	n := must.Get(a.Notes().WriteNote(t.Context(), amber.NoteWrite{Name: "birds", Content: "the heron stands in the reeds"}))(t)
	must.Equal(t, "found by another server", found(t, b, "heron"), []string{"birds"})
	must.Equal(t, "head of the copy", must.Get(b.NotesHead(t.Context()))(t), n.Commit)
	must.Equal(t, "waiting", must.Get(a.IndexStatus(t.Context()))(t).Waiting, 0)
	must.Get(b.Notes().WriteNote(t.Context(), amber.NoteWrite{Name: "birds", Content: "the kingfisher dives"}))(t)
	must.Equal(t, "the old text", found(t, a, "heron"), nil)
	must.Equal(t, "the new text", found(t, a, "kingfisher"), []string{"birds"})
	must.Do(t, a.Notes().DeleteNote(t.Context(), "birds", amber.NoteBy{}))
	must.Equal(t, "a deleted note", found(t, b, "kingfisher"), nil)
	must.NoError(t, a.VerifyIndex(t.Context()))
	must.NoError(t, a.Notes().Check(t.Context()))
}

// Servers that write one note at the same time stand in line: every text is a commit, none is lost. Where they write
// two spellings of a name, one is the note, and the other is refused as in a folder.
func TestNotesOfTwoServersAtOnce(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	pooled := connect(t, dsn, func(o *postgres.ServerOptions) { o.Pooled = true })
	servers := []*postgres.Notes{openAgent(t, connect(t, dsn), "agent", nil).Notes(), openAgent(t, pooled, "agent", nil).Notes()}
	const each = 12
	var wg sync.WaitGroup
	twins := make([][]error, len(servers))
	for i, n := range servers {
		wg.Go(func() {
			for k := range each {
				if _, err := n.WriteNote(t.Context(), amber.NoteWrite{Name: "shared", Content: fmt.Sprintf("server %d, text %d", i, k)}); err != nil {
					t.Error(err)
				}
				_, err := n.WriteNote(t.Context(), amber.NoteWrite{Name: fmt.Sprintf("%s-%d", []string{"Twin", "twin"}[i], k), Content: "text"})
				twins[i] = append(twins[i], err)
			}
		})
	}
	wg.Wait()
	log := must.Get(servers[0].LogNote(t.Context(), "shared", 1000))(t)
	must.Equal(t, "changes of the shared note", len(log), each*len(servers))
	texts := map[string]bool{}
	for _, c := range log {
		texts[must.Get(servers[1].NoteAt(t.Context(), "shared", c.Commit))(t).Content] = true
	}
	must.Equal(t, "texts", len(texts), each*len(servers))
	for k := range each {
		a, b := twins[0][k], twins[1][k]
		if (a == nil) == (b == nil) {
			t.Errorf("twins %d: %v and %v, want one that is refused", k, a, b)
			continue
		}
		must.Kind(t, "twin", errors.Join(a, b), amber.KindConflict, "another spelling of the name exists")
	}
	must.Equal(t, "notes", len(must.Get(servers[1].ListNotes(t.Context()))(t)), 1+each)
	must.NoError(t, servers[0].Check(t.Context()))
}

// owner is a connection that no policy binds.
func owner(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	t.Cleanup(func() { must.NoError(t, c.Close(context.Background())) })
	return c
}

func alter(t *testing.T, c *pgx.Conn, query string, args ...any) {
	t.Helper()
	tag := must.Get(c.Exec(t.Context(), query, args...))(t)
	if tag.RowsAffected() != 1 {
		t.Fatalf("%s: %d rows, want 1", query, tag.RowsAffected())
	}
}

// When another program moves the branch without standing in line, the writer fails with the error that package notes
// has for it.
func TestBranchMovedByHand(t *testing.T) {
	t.Parallel()
	n, dsn := newNotes(t)
	first := must.Get(n.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: "one"}))(t).Commit
	must.Get(n.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: "two"}))(t)
	c := owner(t, dsn)
	tx := must.Get(c.Begin(t.Context()))(t)
	must.Get(tx.Exec(t.Context(), `UPDATE amber.note_refs SET oid = $1`, first))(t)
	failed := make(chan error, 1)
	go func() {
		failed <- must.Err(n.WriteNote(context.WithoutCancel(t.Context()), amber.NoteWrite{Name: "n", Content: "three"}))
	}()
	for waiting, look := false, owner(t, dsn); !waiting && len(failed) == 0; {
		must.Do(t, look.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting))
	}
	must.Do(t, tx.Commit(t.Context()))
	must.Kind(t, "write", <-failed, amber.KindConflict, "write note n: move the branch main:", "the branch is at another commit, expected ")
	must.Equal(t, "read", must.Get(n.ReadNote(t.Context(), "n"))(t).Content, "one")
	must.Kind(t, "check", n.Check(t.Context()), amber.KindDamaged, "copy")
	must.Equal(t, "commit of a copy that is behind", must.Get(n.ReadNote(t.Context(), "n"))(t).Commit, first)
	must.Equal(t, "list of a copy that is behind", must.Get(n.ListNotes(t.Context()))(t)[0].Bytes, 3)
	// The next write mends the copy.
	must.Get(n.WriteNote(t.Context(), amber.NoteWrite{Name: "other", Content: "text"}))(t)
	must.NoError(t, n.Check(t.Context()))
	must.Equal(t, "changes", len(must.Get(n.LogNote(t.Context(), "n", 9))(t)), 1)
}

// Objects whose bytes are not those of their ids are reported and not handed out.
func TestDamagedNoteObjects(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for kind, what := range map[string]struct {
		damaged map[string]bool // what fails
	}{
		"blob":   {map[string]bool{"read": true, "at": true, "check": true, "export": true}},
		"tree":   {map[string]bool{"read": true, "at": true, "list": true, "log": true, "write": true, "delete": true, "check": true, "export": true}},
		"commit": {map[string]bool{"read": true, "at": true, "list": true, "log": true, "write": true, "delete": true, "check": true, "export": true}},
	} {
		for how, change := range map[string]string{
			"changed": `UPDATE amber.note_objects SET raw = set_byte(raw, length(raw) - 1, get_byte(raw, length(raw) - 1) # 1) WHERE type = $1`,
			"gone":    `DELETE FROM amber.note_objects WHERE type = $1`,
		} {
			t.Run(kind+" "+how, func(t *testing.T) {
				t.Parallel()
				n, dsn := newNotes(t)
				commit := must.Get(n.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "the text"}))(t).Commit
				alter(t, owner(t, dsn), change, kind)
				out := filepath.Join(t.TempDir(), "out")
				for name, err := range map[string]error{
					"read": must.Err(n.ReadNote(ctx, "n")), "at": must.Err(n.NoteAt(ctx, "n", commit)), "log": must.Err(n.LogNote(ctx, "n", 9)),
					"list": must.Err(n.ListNotes(ctx)), "check": n.Check(ctx), "export": n.Export(ctx, out, postgres.GitOptions{}),
				} {
					if !what.damaged[name] {
						must.NoError(t, err)
						continue
					}
					must.Kind(t, name, err, amber.KindDamaged)
					if name != "export" {
						must.Equal(t, name+": hint", amber.HintOf(err), "amber snapshot restore ID --only notes")
					}
				}
				must.Equal(t, "a repository was left", notestest.Exists(t, filepath.Join(out, ".git")), false)
				if kind == "blob" { // the same text again mends it
					must.Equal(t, "commit", must.Get(n.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "the text"}))(t).Commit, commit)
					must.Equal(t, "mended", must.Get(n.ReadNote(ctx, "n"))(t).Content, "the text")
					must.NoError(t, n.Check(ctx))
					return
				}
				must.Kind(t, "write", must.Err(n.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "other"})), amber.KindDamaged)
				must.Kind(t, "delete", n.DeleteNote(ctx, "n", amber.NoteBy{}), amber.KindDamaged)
			})
		}
	}
}

// long is a history of many commits, one note of which is as old as it.
func long(commits int) (gitobj.Refs, map[string][]byte) {
	all := map[string][]byte{}
	tree, head := "", ""
	get := func(oid string) ([]byte, error) { return all[oid], nil }
	for i := range commits {
		file, verb := "busy.md", "write busy"
		if i == 0 {
			file, verb = "folder/old.md", "write folder/old"
		}
		blob := gitobj.NewBlob(fmt.Appendf(nil, "text %d", i))
		root, made, _ := gitobj.PutFiles(get, tree, map[string]string{file: blob.OID})
		c := gitobj.NewCommit(root, head, verb, notestest.Start.Add(time.Duration(i)*time.Second))
		for _, o := range append(made, blob, c) {
			all[o.OID] = o.Raw
		}
		tree, head = root, c.OID
	}
	return gitobj.Refs{Head: gitobj.MainBranch, OID: head, Refs: []gitobj.Ref{{Name: gitobj.MainBranch, OID: head}, {Name: "refs/tags/kept", OID: head}}}, all
}

func source(all map[string][]byte) gitobj.ObjectSource {
	return func(yield func(string, []byte) error) error {
		for oid, raw := range all {
			if err := yield(oid, raw); err != nil {
				return err
			}
		}
		return nil
	}
}

// A long history is read in pages, to its end where that is needed, and leaves as it came.
func TestLongHistoryOfNotes(t *testing.T) {
	t.Parallel()
	n, dsn := newNotes(t)
	const commits = 2500
	refs, all := long(commits)
	must.Do(t, bring(t, connect(t, dsn), "agent", refs, source(all)))
	for limit, want := range map[int]int{1: 1, 7: 7, 200: 200, 1000: 1000, commits: amber.MaxPageSize} {
		log := must.Get(n.LogNote(t.Context(), "busy", limit))(t)
		must.Equal(t, fmt.Sprint("changes up to ", limit), len(log), want)
		for i, c := range log {
			if c.At != amber.At(notestest.Start.Add(time.Duration(commits-1-i)*time.Second)) {
				t.Fatalf("change %d is of %s", i, c.At)
			}
		}
	}
	old := must.Get(n.LogNote(t.Context(), "folder/old", 5))(t)
	must.Equal(t, "changes of the oldest note", len(old), 1)
	must.Equal(t, "the oldest note", must.Get(n.ReadNote(t.Context(), "folder/old"))(t),
		amber.Note{Name: "folder/old", Content: "text 0", Bytes: 6, Commit: old[0].Commit, UpdatedAt: amber.At(notestest.Start)})
	must.Kind(t, "log of no note", must.Err(n.LogNote(t.Context(), "none", 5)), amber.KindNotFound, "no such note")
	must.NoError(t, n.Check(t.Context()))
	usesKey(t, dsn, postgres.SelectFirstParents, "oid = l.parent", refs.OID, 128)
	usesKey(t, dsn, postgres.SelectObjects, "oid = ANY", `["`+refs.OID+`"]`)
	out := filepath.Join(t.TempDir(), "out")
	must.Do(t, n.Export(t.Context(), out, postgres.GitOptions{}))
	must.Equal(t, "commits", strings.TrimSpace(notestest.Git(t, out, "rev-list", "--count", "refs/tags/kept")), fmt.Sprint(commits))
	must.Equal(t, "fsck", notestest.Git(t, out, "fsck", "--full", "--no-progress"), "")
	must.Kind(t, "export over it", n.Export(t.Context(), out, postgres.GitOptions{}), amber.KindConflict, "not empty")
}

// usesKey checks that a statement, under the policy of its tables, finds objects by their ids.
func usesKey(t *testing.T, dsn, query, condition string, args ...any) {
	t.Helper()
	tx := must.Get(owner(t, dsn).Begin(t.Context()))(t)
	defer func() { must.NoError(t, tx.Rollback(context.Background())) }()
	for _, s := range []string{"SET LOCAL ROLE amber_app", "SET LOCAL search_path = amber", "SET LOCAL amber.gen = '1'"} {
		must.Get(tx.Exec(t.Context(), s))(t)
	}
	rows := must.Get(tx.Query(t.Context(), "EXPLAIN "+must.Get(postgres.Translate(query))(t), args...))(t)
	plan := strings.Join(must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))(t), "\n")
	for line := range strings.Lines(plan) {
		if strings.Contains(line, "Index Cond") && strings.Contains(line, condition) {
			return
		}
	}
	t.Errorf("no index is asked for %q:\n%s", condition, plan)
}

// References that notes cannot have are refused, and a history that is odd and whole is read.
func TestHostileRefsOfNotes(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	s := connect(t, dsn)
	n, ctx := openAgent(t, s, "agent", nil).Notes(), t.Context()
	blob := gitobj.NewBlob([]byte("x"))
	tree, made, err := gitobj.PutFiles(nil, "", map[string]string{"x.md": blob.OID})
	must.Do(t, err)
	// A first commit whose author has the name of an object.
	who := blob.OID + " <x@localhost> 1 +0000"
	text := fmt.Sprintf("tree %s\nauthor %s\ncommitter %s\n\nwrite x", tree, who, who)
	raw := fmt.Sprintf("commit %d\x00%s", len(text), text)
	good := map[string][]byte{blob.OID: blob.Raw, sum(raw): []byte(raw)}
	for _, o := range made {
		good[o.OID] = o.Raw
	}
	main, long := gitobj.Ref{Name: gitobj.MainBranch, OID: sum(raw)}, strings.Repeat("ab", 32)
	for _, c := range []struct {
		what string
		refs gitobj.Refs
		kind amber.Kind
		says string
	}{
		{"another branch", gitobj.Refs{Head: "refs/heads/x", OID: main.OID, Refs: []gitobj.Ref{{Name: "refs/heads/x", OID: main.OID}}}, amber.KindConflict, "not main"},
		{"a name that leaves", gitobj.Refs{Head: gitobj.MainBranch, OID: main.OID, Refs: []gitobj.Ref{{Name: "refs/heads/../../x", OID: main.OID}, main}}, amber.KindInvalid, ""},
		{"SHA-256", gitobj.Refs{Head: gitobj.MainBranch, OID: long, Refs: []gitobj.Ref{{Name: gitobj.MainBranch, OID: long}}}, amber.KindUnsupported, "SHA-1"},
		{"a commit that is not there", gitobj.Refs{Head: gitobj.MainBranch, OID: long[:40], Refs: []gitobj.Ref{{Name: gitobj.MainBranch, OID: long[:40]}}}, amber.KindDamaged, ""},
	} {
		must.Kind(t, c.what, bring(t, s, "agent", c.refs, source(good)), c.kind, c.says)
	}
	var refsLeft, notesLeft int
	must.Do(t, owner(t, dsn).QueryRow(ctx, `SELECT (SELECT count(*) FROM amber.note_refs), (SELECT count(*) FROM amber.notes)`).Scan(&refsLeft, &notesLeft))
	must.Equal(t, "refs and notes after refusals", []int{refsLeft, notesLeft}, []int{0, 0})
	must.Do(t, bring(t, s, "agent", gitobj.Refs{Head: gitobj.MainBranch, OID: main.OID, Refs: []gitobj.Ref{main}}, source(good)))
	must.Equal(t, "its log", must.Get(n.LogNote(ctx, "x", 9))(t), []amber.NoteCommit{{Commit: main.OID, At: amber.UnixMilli(1000), Op: "write"}})
	must.Equal(t, "the note", must.Get(n.ReadNote(ctx, "x"))(t).Content, "x")
}

// A repository may hold what is no note: it comes along, is in the way of notes as a file would be, and leaves again.
func TestImportOfOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notestest.Git(t, dir, "init", "-q", "--template=", "--initial-branch=main", "--object-format=sha1")
	notestest.Put(t, filepath.Join(dir, "picture.png"), "\x00\xff")
	notestest.Put(t, filepath.Join(dir, "binary.md"), "\xff\xfe")
	notestest.Put(t, filepath.Join(dir, "empty.md"), "")
	notestest.Put(t, filepath.Join(dir, "large.md"), strings.Repeat("x", amber.MaxContentBytes+1))
	notestest.Put(t, filepath.Join(dir, "doc.md/x.md"), "in a folder")
	notestest.Put(t, filepath.Join(dir, "fine.md"), "fine text")
	must.Do(t, os.Symlink("fine.md", filepath.Join(dir, "link.md")))
	notestest.Git(t, dir, "add", "-A")
	notestest.Git(t, dir, "commit", "-q", "-m", "by hand")
	server := connect(t, fresh(t))
	openAgent(t, server, "agent", nil)
	bringFolder(t, server, "agent", dir)
	s := openAgent(t, server, "agent", nil)
	n, ctx := s.Notes(), t.Context()
	file := must.Get(notes.New(notes.Options{Guard: notes.Fixed(dir), Clock: time.Now}))(t)
	for _, name := range []string{"picture.png", "picture", "binary", "empty", "large", "doc", "doc.md/x", "fine", "link", "link/x", "fine.md/x"} {
		sameAnswers(t, name, n, file)
	}
	sameList(t, n, file)
	must.NoError(t, n.Check(ctx))
	must.Equal(t, "found", found(t, s, "fine"), []string{"fine"})
	for _, name := range []string{"link", "link.md/x", "doc", "fine.md/x"} {
		must.Equal(t, "write "+name, said(must.Err(n.WriteNote(ctx, amber.NoteWrite{Name: name, Content: "x"}))), said(must.Err(file.WriteNote(ctx, amber.NoteWrite{Name: name, Content: "x"}))))
		must.Equal(t, "delete "+name, said(n.DeleteNote(ctx, name, amber.NoteBy{})), said(file.DeleteNote(ctx, name, amber.NoteBy{})))
	}
	must.Equal(t, "written over", must.Get(n.WriteNote(ctx, amber.NoteWrite{Name: "binary", Content: "text now"}))(t).Content, "text now")
	out := filepath.Join(t.TempDir(), "out")
	must.Do(t, n.Export(ctx, out, postgres.GitOptions{}))
	must.Equal(t, "the picture in the history", notestest.Git(t, out, "show", "HEAD:picture.png"), "\x00\xff")
	must.Equal(t, "a link is not followed or made", notestest.Exists(t, filepath.Join(out, "link.md")), false)
}

// Notes of another agent are not seen.
func TestNotesOfTwoAgents(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	a, b := openAgent(t, s, "a", nil).Notes(), openAgent(t, s, "b", nil).Notes()
	c := must.Get(a.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: "of a"}))(t).Commit
	must.Kind(t, "read", must.Err(b.ReadNote(t.Context(), "n")), amber.KindNotFound)
	must.Kind(t, "at", must.Err(b.NoteAt(t.Context(), "n", c)), amber.KindNotFound)
	must.Equal(t, "list", len(must.Get(b.ListNotes(t.Context()))(t)), 0)
	out := filepath.Join(t.TempDir(), "out")
	must.Do(t, b.Export(t.Context(), out, postgres.GitOptions{}))
	must.Equal(t, "refs of an empty repository", notestest.Git(t, out, "for-each-ref"), "")
	must.Get(b.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: "of b"}))(t)
	must.Equal(t, "read", must.Get(a.ReadNote(t.Context(), "n"))(t).Content, "of a")

	ended, end := context.WithCancel(t.Context())
	end()
	for what, err := range map[string]error{
		"write": must.Err(a.WriteNote(ended, amber.NoteWrite{Name: "n", Content: "x"})), "read": must.Err(a.ReadNote(ended, "n")), "list": must.Err(a.ListNotes(ended)), "delete": a.DeleteNote(ended, "n", amber.NoteBy{}),
		"log": must.Err(a.LogNote(ended, "n", 1)), "at": must.Err(a.NoteAt(ended, "n", c)), "check": a.Check(ended), "export": a.Export(ended, filepath.Join(t.TempDir(), "out"), postgres.GitOptions{}),
	} {
		must.Kind(t, what+" of a caller who is gone", err, amber.KindUnreachable)
	}
}

// sum is the id of an object.
func sum(raw string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(raw))) }
