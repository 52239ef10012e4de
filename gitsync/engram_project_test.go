package gitsync_test

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/gitsync"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/wire"
)

// Engram calls a repository by the last element of its remote: its rows belong to the project of the folder, and go back as
// Engram has them.
func TestRowsOfEngramBelongToTheProjectOfTheFolder(t *testing.T) {
	t.Parallel()
	const project = "github.com/acme/Shop"
	c := cloneAt(t, t.TempDir(), gitsync.Options{Format: wire.SyncEngram, Project: project})
	doc := strings.ReplaceAll(engramDoc("", `,"sync_id":"obs-1"`, ""), "acme/shop", "shop")
	c.finds(doc)
	c.finds(strings.NewReplacer(`"shop"`, `"workshop"`, "obs-1", "obs-2", `"s1"`, `"s2"`).Replace(doc))
	list := must.Get(c.List(t.Context(), amber.ListQuery{Filter: amber.Filter{Identities: amber.Identities{ProjectID: project}}}))(t).Items
	must.Equal(t, "memories of the project", len(list), 1)
	must.Equal(t, "its project", list[0].ProjectID, project)
	session := must.Get(c.Session(t.Context(), "s1"))(t)
	must.Equal(t, "project of the session", session.Project, project)
	turns := must.Get(amber.LastTurns(t.Context(), c, "s1", 10))(t)
	must.Equal(t, "project of the first prompt", turns[0].ProjectID, project)

	content := "changed here"
	must.Get(c.Edit(t.Context(), amber.EditRequest{ID: list[0].ID, Content: &content}))(t)
	r := c.export(gitsync.ExportOptions{Project: project})
	must.Hold(t, !r.IsEmpty, "nothing was exported: %+v", r)
	text := engramText(t, c.folder)
	must.Says(t, "the row", text, `"content":"changed here"`, `"project":"shop"`)
	must.Hold(t, !strings.Contains(text, project+`","scope"`), "the row has another project: %s", text)
	must.Equal(t, "conflicts of reading it again", c.imports().Conflicts, 0)
}

// Both sides want the memory gone, so nothing is left to decide.
func TestARowThatBothSidesDeletedIsNoConflict(t *testing.T) {
	t.Parallel()
	c := cloneAt(t, t.TempDir(), gitsync.Options{Format: wire.SyncEngram, Project: shop})
	c.finds(engramDoc("", `,"sync_id":"obs-1"`, ""))
	list := must.Get(c.List(t.Context(), amber.ListQuery{All: true}))(t).Items
	must.Do(t, c.Delete(t.Context(), list[0].ID))
	for _, deleted := range []string{"2026-01-02 00:00:00", "2036-01-02 00:00:00"} { // before and after ours
		c.finds(engramDoc("", `,"sync_id":"obs-1","deleted_at":"`+deleted+`"`, ""))
		must.Equal(t, "conflicts with one deleted at "+deleted, len(c.status().Conflicts), 0)
	}
	must.Fail(c.Get(t.Context(), list[0].ID))(t, "the memory", amber.KindNotFound)

	// One of ours, as Engram gives it back: without what it does not know.
	id := c.save("ours")
	c.export(gitsync.ExportOptions{Project: shop})
	must.Do(t, c.Delete(t.Context(), id))
	row := `{"id":7,"sync_id":"` + string(id) + `","session_id":"amber-` + shop + `","type":"discovery","title":"ours","content":"ours","project":"` + shop + `","scope":"project",` +
		`"revision_count":1,"duplicate_count":1,"created_at":"CREATED","updated_at":"2036-01-02 00:00:00","deleted_at":"2036-01-02 00:00:00"}`
	created := regexp.MustCompile(string(id) + `.*?"created_at":"([^"]*)"`).FindStringSubmatch(engramText(t, c.folder))
	must.Equal(t, "the exported row", len(created), 2)
	row = strings.Replace(row, "CREATED", created[1], 1)
	doc := `{"sessions":[],"observations":[` + row + `],"prompts":[]}`
	sum := sha256.Sum256([]byte(doc))
	c.put("chunks/"+hex.EncodeToString(sum[:4])+".jsonl.gz", zip(t, doc))
	r := c.imports()
	must.Hold(t, r.Chunks >= 1, "the chunk was not imported: %+v", r)
	must.Equal(t, "conflicts of the import", r.Conflicts, 0)
	must.Equal(t, "conflicts with ours", len(c.status().Conflicts), 0)
}
