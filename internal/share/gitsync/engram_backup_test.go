package gitsync_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestRelationsAndPinsOfABackupComeIn(t *testing.T) {
	t.Parallel()
	row := func(id, title, pinned string) string {
		return `{"id":1,"sync_id":"` + id + `","session_id":"s","type":"decision","title":"` + title + `","content":"` + title +
			`","scope":"project","revision_count":1,"duplicate_count":1,"created_at":"2026-01-01 00:00:00","updated_at":"2026-01-01 00:00:00","pinned":` + pinned + `}`
	}
	file := filepath.Join(t.TempDir(), "export.json")
	must.Do(t, os.WriteFile(file, []byte(`{"version":"0.2.0","exported_at":"x","sessions":[],"observations":[`+row("obs-1", "One", "true")+`,`+row("obs-2", "Two", "false")+
		`],"prompts":[],"relations":[{"sync_id":"rel-1","source_id":"obs-1","target_id":"obs-2","relation":"supersedes","judgment_status":"judged","created_at":"2026-01-02 00:00:00","updated_at":"2026-01-02 00:00:00"}]}`), 0o600))
	c := engramClone(t)
	c.sync = must.Get(gitsync.Options{Format: wire.SyncEngram}.Open(c.Store, file))(t)
	report := c.imports()
	must.Equal(t, "relations of the report", report.Relations, 1)
	one, two := c.byTitle("One"), c.byTitle("Two")
	relations := c.relations(one)
	must.Equal(t, "relations", len(relations), 1)
	must.Equal(t, "relation", string(relations[0].From)+" "+relations[0].Type+" "+string(relations[0].To), string(one)+" supersedes "+string(two))
	must.Equal(t, "metadata", must.Get(c.Get(t.Context(), one))(t).Metadata, map[string]string{"pinned": "true"})
	must.Equal(t, "metadata of the other", len(must.Get(c.Get(t.Context(), two))(t).Metadata), 0)
	c.imports()
	must.Equal(t, "relations after a second import", len(c.relations(one)), 1)
	must.Equal(t, "revision after a second import", must.Get(c.Get(t.Context(), one))(t).Revision, int64(1))
}
