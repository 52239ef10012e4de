package gitsync_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
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

// A row that was written here goes to Engram under Engram's name of the project, so that its own program lists both sides as one. Another
// Amber believes the rows whatever it calls the folder, and rows of earlier versions, which have Amber's own name.
func TestOwnRowsHaveEngramsNameOfTheProject(t *testing.T) {
	t.Parallel()
	const project = "github.com/acme/Shop"
	ours := gitsync.Options{Format: wire.SyncEngram, Project: project}
	a := cloneAt(t, t.TempDir(), ours)
	session := must.Get(a.StartSession(t.Context(), amber.SessionStart{ID: "s", Project: project}))(t)
	must.Get(a.AppendTurn(t.Context(), amber.Turn{SessionID: session.ID, Role: amber.RoleUser, Content: "which database?", ProjectID: project}))(t)
	write := func(topic string) amber.MemoryID {
		return must.Get(a.Write(t.Context(), amber.WriteRequest{
			Scope: amber.ScopeProject, Kind: amber.ProjectFact, Identities: amber.Identities{ProjectID: project}, Content: "about " + topic, Topic: topic, Tags: []string{"x"},
		}))(t).ID
	}
	one, two := write("orders"), write("stock")
	must.Get(a.Relate(t.Context(), amber.Relation{From: one, To: two, Type: "related", Strength: 0.5}))(t)
	a.export(gitsync.ExportOptions{Project: project})
	text := engramText(t, a.folder)
	must.Equal(t, "rows and relations with Amber's name", strings.Count(text, `"project":"`+project), 0)
	must.Hold(t, strings.Count(text, `"project":"shop"`) >= 5, "the rows do not have Engram's name: %s", text)

	for _, name := range []string{project, "acme/shop", ""} { // as clones may call it
		b := cloneAt(t, t.TempDir(), gitsync.Options{Format: wire.SyncEngram, Project: name})
		must.Do(t, os.CopyFS(b.folder, os.DirFS(a.folder)))
		must.Equal(t, "conflicts", b.imports().Conflicts, 0)
		got := must.Get(b.Get(t.Context(), one))(t)
		was := must.Get(a.Get(t.Context(), one))(t)
		must.Equal(t, "version", got.Origin, was.Origin)
		must.Equal(t, "project and tags", got.ProjectID+" "+strings.Join(got.Tags, ","), project+" x")
		must.Hold(t, b.export(gitsync.ExportOptions{Project: project}).IsEmpty, "%q writes the rows again", name)
	}
	must.Hold(t, a.export(gitsync.ExportOptions{Project: project}).IsEmpty, "a second export writes")

	// A folder that an earlier version wrote to: the rows are believed, and go out again as they are.
	old := cloneAt(t, t.TempDir(), gitsync.Options{Format: wire.SyncEngram})
	id := must.Get(old.Write(t.Context(), amber.WriteRequest{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: project}, Content: "old"}))(t).ID
	old.export(gitsync.ExportOptions{Project: project})
	must.Says(t, "the row of an earlier version", engramText(t, old.folder), `"project":"`+project+`"`)
	c := cloneAt(t, t.TempDir(), ours)
	must.Do(t, os.CopyFS(c.folder, os.DirFS(old.folder)))
	must.Equal(t, "conflicts", c.imports().Conflicts, 0)
	must.Hold(t, c.export(gitsync.ExportOptions{Project: project}).IsEmpty, "rows of an earlier version are written again")
	must.Equal(t, "its origin", must.Get(c.Get(t.Context(), id))(t).Origin, must.Get(old.Get(t.Context(), id))(t).Origin)
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
