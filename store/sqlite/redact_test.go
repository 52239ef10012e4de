package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestRedactLeavesNoSecretInTheBytes(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	plain := save(t, l.s, amber.WriteRequest{Title: "harbour", Content: "the lighthouse stays"})
	beside := save(t, l.s, amber.WriteRequest{Content: p.text() + "\nthe walrus"})
	gone := save(t, l.s, amber.WriteRequest{Content: "erased for good"})
	ids := p.hide(t, l.s, scale(40))
	for scale(4) == 4 && p.texts < len(p.corpus) {
		save(t, l.s, amber.WriteRequest{Content: p.text()})
	}
	erase(t, l.s, gone)
	dir := l.snapshot(t)
	for _, name := range []string{"memory.db", "control.db"} {
		path := filepath.Join(dir, name)
		if n := len(p.left(must.Get(os.ReadFile(path))(t))); n < 20 {
			t.Fatalf("%s: only %d secrets can be found before", name, n)
		}
		h := must.Get(image.ReadFile(path))(t)
		report := must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
		b := must.Get(os.ReadFile(path))(t)
		if left := p.left(b); len(left) > 0 {
			t.Errorf("%s: %d secrets are left, one of them %q", name, len(left), left[0])
		}
		if left := p.left(fmt.Appendf(nil, "%+v", report)); len(left) > 0 {
			t.Errorf("%s: the report holds %q", name, left)
		}
		if got := must.Get(image.ReadFile(path))(t); got.Version != h.Version || got.PageSize != h.PageSize || got.Schema.File != h.Schema.File {
			t.Errorf("%s: it was %+v and is %+v", name, h, got)
		}
		if report.Matches == 0 || len(report.Rules) < 20 || len(report.Places) == 0 || report.Scanned == 0 {
			t.Errorf("%s: the report says %+v", name, report)
		}
		examined(t, path)
	}
	for _, term := range words(t, filepath.Join(dir, "memory.db")) {
		for _, secret := range p.hidden {
			if len(term) >= 8 && strings.ContainsAny(term, "0123456789") && slices.Contains(analyze.Terms(secret), term) {
				t.Errorf("the index holds %q", term)
			}
		}
	}
	must.Equal(t, "files", len(files(t, dir)), 2)

	l.bringBack(t, dir, func(r *image.AdoptRequest) { r.Live = "" })
	sound(t, l.s)
	must.Equal(t, "what recalls the neighbour", found(t, l.s, amber.Query{Text: "lighthouse"}), []amber.MemoryID{plain})
	must.Equal(t, "what recalls the memory beside a secret", found(t, l.s, amber.Query{Text: "walrus"}), []amber.MemoryID{beside})
	must.Kind(t, "restoring what was erased", l.s.MayRestore(t.Context(), gone), amber.KindRefused)
	p.mustRead(t, l.s, ids)
}

func TestRedactLeavesRowsWithoutSecretsAsTheyAre(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	ctx := t.Context()
	c := newCrowd()
	c.grow(t, l.s, 30)
	must.Get(l.s.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "a token and a password"}))(t)
	state := must.Get(l.s.SaveState(ctx, "s", json.RawMessage(`{"a": [1, "<b>"], "n": 1.50}`), 0))(t)
	must.Get(l.s.SaveState(ctx, "s", json.RawMessage(`{}`), state.Version))(t)
	must.Get(l.s.SaveTask(ctx, amber.Task{ID: "t", Goal: "g"}, 0))(t)
	must.Do(t, l.s.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: "p"}))
	must.Do(t, l.s.Ack(ctx, must.Get(l.s.Claim(ctx, "c"))(t).Lease))
	take(t, l.s, doing("tool", "detail"))
	dir := l.snapshot(t)
	for _, name := range []string{"memory.db", "control.db"} {
		path := filepath.Join(dir, name)
		before := dump(t, path)
		report := must.Get(image.Redact(ctx, path, redact.New(), nil))(t)
		must.Hold(t, report.Matches == 0 && len(report.Notes) == 0, "the report says %+v", report)
		must.Equal(t, name, dump(t, path), before)
		examined(t, path)
	}
}

// Beside rows that hold a secret the others stay, byte for byte.
func TestRedactLeavesOtherRowsAsTheyAre(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	newCrowd().grow(t, l.s, 20)
	dirty := save(t, l.s, amber.WriteRequest{Content: p.text()})
	dir := l.snapshot(t)
	path := filepath.Join(dir, "memory.db")
	before := dump(t, path)
	must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
	after := dump(t, path)
	for _, table := range []string{"memories", "changes", "incarnations"} {
		differ := 0
		for i, row := range before[table] {
			if row != after[table][i] {
				differ++
				if !strings.Contains(row, string(dirty)) {
					t.Errorf("%s: a row without a secret has changed: %s", table, row)
				}
			}
		}
		if want := map[string]int{"memories": 1, "changes": 1}[table]; differ != want {
			t.Errorf("%s: %d rows differ, want %d", table, differ, want)
		}
	}
}

// A secret that only its surroundings give away is removed where it stands
// alone as well, in any case, and words that it shares with others stay.
func TestRedactRemovesWhatItFoundElsewhere(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	ctx := t.Context()
	const password = "Tr0ub4dor-Lighthouse" // no user has chosen it
	save(t, l.s, amber.WriteRequest{Content: "export DB_PASSWORD=" + password + "\n"})
	alone := save(t, l.s, amber.WriteRequest{Content: "try " + password + " or " + strings.ToLower(password) + " again"})
	kept := save(t, l.s, amber.WriteRequest{Content: "the lighthouse stays, and so does Tr0ub4dor"})
	must.Get(l.s.StartSession(ctx, amber.SessionStart{ID: "with " + password}))(t)
	must.Get(l.s.SaveState(ctx, "with "+password, json.RawMessage(`{"x":"`+password+`","\u0054r0ub4dor-Lighthouse":1}`), 0))(t)
	dir := l.snapshot(t)
	path := filepath.Join(dir, "memory.db")
	report := must.Get(image.Redact(ctx, path, redact.New(), nil))(t)
	if b := bytes.ToLower(must.Get(os.ReadFile(path))(t)); bytes.Contains(b, []byte(strings.ToLower(password))) {
		t.Error("the password is left")
	}
	must.Equal(t, "matches", report.Matches, 11)
	l.bringBack(t, dir, func(r *image.AdoptRequest) { r.Live = "" })
	const marker = "[REDACTED:env-assignment]"
	for id, want := range map[amber.MemoryID]string{
		alone: "try " + marker + " or " + marker + " again",
		kept:  "the lighthouse stays, and so does Tr0ub4dor",
	} {
		must.Equal(t, "content", must.Get(l.s.Get(ctx, id))(t).Content, want)
	}
	state := must.Get(l.s.LoadState(ctx, "with "+marker))(t)
	if want := `{"x":"` + marker + `","` + marker + `":1}`; string(state.Document) != want {
		t.Errorf("the state is %s, want %s", state.Document, want)
	}
}

// Where a file held a secret, it keeps no digest of a text that is no longer in it.
func TestRedactKeepsNoDigestOfASecret(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	ctx := t.Context()
	digests := map[string]string{}
	note := func(what, text string) string {
		digests[amber.ContentDigest(text)] = what
		return text
	}
	id := save(t, l.s, amber.WriteRequest{Content: note("first content", p.text()), IdempotencyKey: "k1"})
	content := note("second content", p.text())
	must.Get(l.s.Edit(ctx, amber.EditRequest{ID: id, Content: &content}))(t)
	must.Get(l.s.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: note("turn", p.text())}))(t)
	must.Get(l.s.AppendTurn(ctx, amber.Turn{SessionID: "gone", Role: amber.RoleUser, Content: note("turn that is gone", p.text())}))(t)
	must.Get(l.s.DeleteTurns(ctx, "gone"))(t)
	state := must.Get(l.s.SaveState(ctx, "s", json.RawMessage(note("old state", string(p.json()))), 0))(t)
	must.Get(l.s.SaveState(ctx, "s", json.RawMessage(note("state", string(p.json()))), state.Version))(t)
	must.Get(l.s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: json.RawMessage(note("loop", string(p.json())))}))(t)
	must.Get(l.s.AddCompaction(ctx, amber.Compaction{SessionID: "s", Summary: note("compaction", p.text()), Turns: 1}))(t)
	must.Get(l.s.RequestApproval(ctx, amber.ApprovalRequest{TaskID: "t", NodeID: "n", Summary: "s", Payload: json.RawMessage(note("payload", string(p.json())))}))(t)
	topic := save(t, l.s, amber.WriteRequest{Topic: "about " + p.token(), Content: "a topic"})
	save(t, l.s, amber.WriteRequest{Content: "see " + string(topic)})
	digests[string(topic)] = "topic"
	request := amber.WriteRequest{Content: p.text(), Metadata: map[string]string{"a": p.text()}, IdempotencyKey: "k2"}
	save(t, l.s, request)
	digests[must.Get(request.Normalize())(t).Digest()] = "request"
	equal := amber.WriteRequest{Content: request.Content, Summary: p.text(), IdempotencyKey: "k3"}
	save(t, l.s, equal)
	digests[must.Get(equal.Normalize())(t).Digest()] = "request for what was there"
	entry := amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: p.text()}
	acked := amber.Envelope{EntryID: "a", TaskID: "t", NodeID: "n", Payload: p.text(), Priority: 1}
	for _, e := range []amber.Envelope{entry, acked} {
		must.Do(t, l.s.Publish(ctx, e))
		digests[amber.ContentDigest(must.Get(sqlrows.Marshal(e))(t))] = "entry " + e.EntryID
	}
	must.Do(t, l.s.Ack(ctx, must.Get(l.s.Claim(ctx, "c"))(t).Lease))

	dir := l.snapshot(t)
	seen := map[string]bool{}
	for _, name := range []string{"memory.db", "control.db"} {
		path := filepath.Join(dir, name)
		before := must.Get(os.ReadFile(path))(t)
		must.Get(image.Redact(ctx, path, redact.New(), nil))(t)
		after := must.Get(os.ReadFile(path))(t)
		for digest, what := range digests {
			seen[what] = seen[what] || bytes.Contains(before, []byte(digest))
			must.Hold(t, !bytes.Contains(after, []byte(digest)), "%s: the digest of %s is left", name, what)
		}
		examined(t, path)
	}
	for what, ok := range seen {
		must.Hold(t, ok, "the digest of %s was never there", what)
	}
	path := filepath.Join(dir, "memory.db")
	must.Equal(t, "answers whose requests are known", query[int](t, path, `SELECT count(*) FROM idempotency`), 2)
	l.bringBack(t, dir, func(r *image.AdoptRequest) { r.Live = "" })
	m := must.Get(l.s.Get(ctx, id))(t)
	again := save(t, l.s, amber.WriteRequest{Content: m.Content})
	must.Equal(t, "memory that says the same", again, id)
}

func TestRedactRemovesVectorsOfRewrittenMemories(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	ctx := t.Context()
	var ids []amber.MemoryID
	for _, content := range []string{"clean", p.text()} {
		id := save(t, l.s, amber.WriteRequest{Content: content})
		must.Do(t, l.s.PutEmbedding(ctx, amber.Embedding{MemoryID: id, Model: "m", Vector: []float32{1, 2, 3}}))
		ids = append(ids, id)
	}
	path := filepath.Join(l.snapshot(t), "memory.db")
	report := must.Get(image.Redact(ctx, path, redact.New(), nil))(t)
	must.Equal(t, "memories with vectors", query[string](t, path, `SELECT group_concat(memory_id) FROM embeddings`), string(ids[0]))
	if !slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, "1 vectors were removed") }) {
		t.Errorf("the notes say %q", report.Notes)
	}
}

// Redacting twice changes nothing the second time.
func TestRedactAgain(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	p.hide(t, l.s, 6)
	dir := l.snapshot(t)
	for _, name := range []string{"memory.db", "control.db"} {
		path := filepath.Join(dir, name)
		must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
		once := dump(t, path)
		report := must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
		must.Equal(t, "matches in "+name, report.Matches, 0)
		must.Equal(t, name+" redacted twice", dump(t, path), once)
	}
}

// A file of an older schema is migrated, since what that has for an index is not redacted.
func TestRedactOlderSchema(t *testing.T) {
	t.Parallel()
	a := agentWithMemory1(t)
	path := filepath.Join(t.TempDir(), "memory.db")
	old := filepath.Join(a.GenDir(must.Get(a.Current())(t)), "memory.db")
	p := newPlanter()
	outside(t, a, "memory.db", func(x *sqlconn.Pool) {
		must.Get(x.DB.Exec(`UPDATE turns SET content = ?`, p.text()))(t)
		must.Get(x.DB.Exec("VACUUM INTO ?", path))(t)
	})
	_ = old
	report := must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
	must.Hold(t, report.Matches != 0 && len(p.left(must.Get(os.ReadFile(path))(t))) == 0, "%+v", report)
	must.Equal(t, "schema", must.Get(image.Examine(t.Context(), path, true))(t).Schema, sqlfile.MemorySchema.Version())
	examined(t, path)
}
