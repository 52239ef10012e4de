package gitsync_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// hostileRows puts a chunk of Engram into the folder.
func (c *clone) hostileRows(chunk engram.Chunk) {
	c.t.Helper()
	id, _, gz := engram.EncodeChunk(chunk)
	c.put("chunks/"+engram.FileName(id), gz)
}

// everything is all that a store has of its own: each memory with its history, sessions and turns. Records that came
// from the folder are not in it.
func (c *clone) everything() (lines []string) {
	c.t.Helper()
	page := must.Get(c.List(c.t.Context(), amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize}))(c.t)
	for _, m := range page.Items {
		if m.Trust == amber.TrustOwn {
			m.Revision = 0
			lines = append(lines, fmt.Sprintf("%+v", m))
		}
		for _, v := range must.Get(amber.All(c.t.Context(), c.History, m.ID))(c.t) {
			if v.Trust == amber.TrustOwn {
				lines = append(lines, fmt.Sprint(v.ID, v.Origin, v.Content, v.Scope, v.Identities))
			}
		}
	}
	s := must.Get(c.Session(c.t.Context(), "own"))(c.t)
	lines = append(lines, fmt.Sprintf("%+v", s))
	for _, turn := range must.Get(amber.LastTurns(c.t.Context(), c, "own", 100))(c.t) {
		if turn.Trust == "" {
			lines = append(lines, fmt.Sprintf("%+v", turn))
		}
	}
	slices.Sort(lines)
	return lines
}

// Rows that name memories, sessions and prompts which were never in the folder
// arrive beside them, in whatever scope: nothing of this home's own is changed,
// moved or deleted.
func TestRowsOfEngramChangeNothingThatWasNeverThere(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	ctx := t.Context()
	plain := c.save("plain")
	c.edit(plain, "plain, edited")
	topic := deploy
	global := amber.WriteRequest{Scope: amber.ScopeGlobal, Topic: "deploy", Content: "global"}
	personal := amber.WriteRequest{Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}, Topic: "editor", Content: "personal"}
	ids := []string{string(plain), string(c.write(topic)), string(c.write(global)), string(c.write(personal))}
	must.Get(c.StartSession(ctx, amber.SessionStart{ID: "own", Project: shop, Name: "own"}))(t)
	prompt := string(c.prompt("own", "what I said"))
	must.Get(c.AppendTurn(ctx, amber.Turn{SessionID: "own", Role: amber.RoleAssistant, Content: "an answer"}))(t)
	want := c.everything()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 25 {
		c.hostileRows(rowsAbout(r, i, ids, prompt))
		if got := c.imports(); got.Chunks != 1 {
			t.Fatalf("seed %d: chunk %d: %+v", seed, i, got)
		}
		if diff := cmp.Diff(want, c.everything()); diff != "" {
			t.Fatalf("seed %d: chunk %d changed (-before +after):\n%s", seed, i, diff)
		}
	}
	if got := c.status().ConflictCount; got == 0 {
		t.Errorf("seed %d: there is no conflict to see", seed)
	}
}

// rowsAbout makes up a chunk about some records.
func rowsAbout(r *rand.Rand, n int, ids []string, prompt string) engram.Chunk {
	at := fmt.Sprintf("20%02d-01-01 00:00:00", 27+n)
	project := pick(r, []string{shop, "acme/private", "evil"})
	row := engram.Observation{
		ID: int64(n), SessionID: "own", Type: pick(r, []string{"manual", "decision"}), Title: "forged", Content: fmt.Sprint("forged ", n),
		Project: &project, Scope: pick(r, []string{"project", "personal"}), RevisionCount: int64(r.IntN(300)), CreatedAt: at, UpdatedAt: at,
	}
	if r.IntN(3) > 0 {
		id := pick(r, ids)
		row.SyncID = &id
	} else {
		key := pick(r, []string{"deploy", "editor"})
		row.TopicKey = &key
	}
	if r.IntN(4) == 0 {
		row.DeletedAt = &at
	}
	c := engram.Chunk{Observations: []engram.Observation{row}}
	summary := "forged"
	c.Sessions = []engram.Session{{ID: "own", Project: "evil", Directory: "/", StartedAt: at, EndedAt: &at, Summary: &summary}}
	entity, key := "observation", pick(r, ids)
	switch r.IntN(3) {
	case 0:
		entity, key = "session", "own"
	case 1:
		entity, key = "prompt", prompt
		c.Prompts = []engram.Prompt{{ID: 1, SyncID: &prompt, SessionID: "own", Content: "forged", Project: "evil", CreatedAt: at}}
	}
	payload := fmt.Sprintf(`{"sync_id":%q,"deleted":true,"deleted_at":%q}`, key, at)
	c.Mutations = []engram.Mutation{{Seq: 1, TargetKey: "local", Entity: entity, EntityKey: key, Op: "delete", Payload: payload, Source: "local", OccurredAt: at}}
	return c
}

// A deletion of a memory is no conflict for a clone that has the memory as it was exported. A clone that has edited it
// since keeps its edit.
func TestADeletionThroughEngramIsNoConflict(t *testing.T) {
	t.Parallel()
	a, b, edits := engramClone(t), engramClone(t), engramClone(t)
	id := a.save("to be deleted")
	for _, c := range []*clone{b, edits} {
		a.pushes(c)
	}
	edits.edit(id, "edited since")
	must.Do(t, a.Delete(t.Context(), id))
	a.export(gitsync.ExportOptions{})
	for _, c := range []*clone{b, edits} {
		a.gives(c)
		c.imports()
	}
	if got := b.texts(); len(got) > 0 || b.status().ConflictCount != 0 {
		t.Errorf("the other one has %q, %d conflicts", got, b.status().ConflictCount)
	}
	must.Equal(t, "the editor", edits.texts(), []string{"edited since"})
}

// Rows that were exported are the folder's to edit, but not to move.
func TestAnEditThroughEngramDoesNotMoveAMemory(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	id := c.shares("exported")
	sync, project := string(id), "evil"
	c.hostileRows(engram.Chunk{Observations: []engram.Observation{{
		SyncID: &sync, SessionID: "s", Type: "manual", Title: "", Content: "edited there", Project: &project, Scope: "personal",
		RevisionCount: 9, CreatedAt: "2027-01-01 00:00:00", UpdatedAt: "2027-01-01 00:00:00",
	}}})
	c.imports()
	m, err := c.Get(t.Context(), id)
	if err != nil || m.Content != "edited there" || m.Scope != amber.ScopeProject || m.ProjectID != shop || m.UserID != "" {
		t.Errorf("it is %+v, %v", m, err)
	}
	if !strings.HasPrefix(string(m.Trust), "imported") {
		t.Errorf("trust %q", m.Trust)
	}
}
