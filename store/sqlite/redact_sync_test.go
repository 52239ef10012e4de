package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
)

// synced puts a row with a text into every table that only sync uses.
func synced(t *testing.T, s *Store, id amber.MemoryID, text string) {
	t.Helper()
	for _, q := range []string{
		`INSERT INTO sync_places VALUES (?2, '', 'i/1', ?2)`,
		`INSERT INTO sync_chunks VALUES (?2, ?2, ?2, ?2, 1, 1, 0, 0)`,
		`INSERT INTO sync_imports VALUES (?2, 1, 1)`,
		`INSERT INTO sync_quarantine VALUES (?2, 'c', ?2, 'damaged')`,
		`INSERT INTO sync_waiting VALUES (?1, ?2, 'related', '{"from":"' || ?1 || '","to":"' || ?2 || '"}', ?2, 'c')`,
		`INSERT INTO sync_links VALUES ('tool', 'c', 1, 'memory', ?1, '1.1.d', 7, ?2, '{}')`,
		`INSERT INTO sync_held VALUES ('memory', ?1, '1.1.d', ?2)`,
		`INSERT INTO sync_removed VALUES ('memory', ?1, ?2, 'd', 1, 1)`,
		`INSERT INTO sync_spared VALUES (?2, 'memory', ?1, 'c')`,
		`INSERT INTO index_cursors VALUES (?2, 'i/1', 1, CAST(?1 AS BLOB))`,
	} {
		meddle(t, s.memory, q, id, text)
	}
}

// A redacted copy knows nothing of syncs, whether it held a secret or not.
func TestRedactForgetsSync(t *testing.T) {
	t.Parallel()
	for _, secret := range []bool{false, true} {
		l, p := newLife(t), newPlanter()
		id := save(t, l.s, amber.WriteRequest{Content: "plain"})
		if secret {
			save(t, l.s, amber.WriteRequest{Content: p.text()})
		}
		synced(t, l.s, id, "/home/someone/project")
		path := filepath.Join(l.snapshot(t), "memory.db")
		before := dump(t, path)
		report := must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
		if !strings.Contains(strings.Join(report.Notes, " "), "10 rows about sync were removed") {
			t.Errorf("the report says %+v", report)
		}
		after := dump(t, path)
		for _, table := range image.RedactForgotten {
			if len(before[table]) != 1 || len(after[table]) != 0 {
				t.Errorf("%s had %d rows and has %d", table, len(before[table]), len(after[table]))
			}
			delete(before, table)
			delete(after, table)
		}
		if diff := cmp.Diff(before, after); !secret && diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
		if strings.Contains(string(must.Get(os.ReadFile(path))(t)), "/home/someone") {
			t.Error("the folder is left in the file")
		}
		examined(t, path)
	}
}

// A device whose name is taken out has the same new name in the versions.
func TestRedactRenamesDevicesInVersions(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	id := save(t, l.s, amber.WriteRequest{Content: "first"})
	m := must.Get(l.s.Edit(t.Context(), amber.EditRequest{ID: id, Content: new("second")}))(t)
	device := p.key("device")
	meddle(t, l.s.memory, `UPDATE memories SET device = ?`, device)
	meddle(t, l.s.memory, `UPDATE versions SET version = replace(version, ?1, ?2), saw = replace(saw, ?1, ?2)`, m.Origin.Device, device)
	meddle(t, l.s.memory, `UPDATE revisions SET body = json_set(body, '$.origin.device', ?)`, device)
	versionsHold(t, l.s)
	dir := l.snapshot(t)
	path := filepath.Join(dir, "memory.db")
	must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
	must.Hold(t, len(p.left(must.Get(os.ReadFile(path))(t))) == 0, "the device is left")
	l.bringBack(t, dir, func(r *image.AdoptRequest) { r.Live = "" })
	must.Equal(t, "versions", len(versionsOf(t, l.s, id)), 2)
	versionsHold(t, l.s)
}
