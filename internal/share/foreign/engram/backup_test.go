package engram_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

const backupText = `{"version":"0.2.0","exported_at":"2026-01-03 00:00:00","sessions":[],"observations":[
{"id":1,"sync_id":"obs-1","session_id":"s","type":"decision","title":"One","content":"one","scope":"project","revision_count":1,"duplicate_count":1,"created_at":"2026-01-01 00:00:00","updated_at":"2026-01-01 00:00:00","pinned":true},
{"id":2,"sync_id":"obs-2","session_id":"s","type":"decision","title":"Two","content":"two","scope":"project","topic_key":"two","revision_count":1,"duplicate_count":1,"created_at":"2026-01-01 00:00:00","updated_at":"2026-01-01 00:00:00","pinned":false},
{"id":3,"sync_id":"obs-3","session_id":"s","type":"decision","title":"Three","content":"three","scope":"project","revision_count":1,"duplicate_count":1,"created_at":"2026-01-01 00:00:00","updated_at":"2026-01-01 00:00:00","pinned":"yes"}],
"prompts":[],"relations":[
{"sync_id":"rel-1","source_id":"obs-1","target_id":"obs-2","relation":"supersedes","reason":"newer","confidence":0.75,"judgment_status":"judged","marked_by_actor":"ada","created_at":"2026-01-02 00:00:00","updated_at":"2026-01-02 03:04:05"},
{"sync_id":"rel-2","source_id":"obs-2","target_id":"obs-1","relation":"related","judgment_status":"judged","superseded_at":"2026-01-02 05:00:00","superseded_by_relation_sync_id":"rel-1","created_at":"2026-01-02 00:00:00","updated_at":"2026-01-02 00:00:00"},
{"sync_id":"rel-3","source_id":"obs-1","target_id":"","relation":"related","judgment_status":"judged"},
{"sync_id":"rel-4","source_id":7}]}`

func TestABackupHasRelationsAndPins(t *testing.T) {
	t.Parallel()
	c := must.Get(engram.DecodeBackup([]byte(backupText)))(t)
	rows, dropped := engram.ToRecords(c, engram.ReadOptions{})
	must.Equal(t, "dropped", dropped, []string{
		`relation 4 of the list: the field "source_id" has the wrong type`,
		"mutation of relation in row 5: the relation lacks a source, a target or a type",
	})
	ids, pins := map[string]amber.MemoryID{}, map[string]string{}
	var relations []amber.Relation
	for _, r := range rows {
		switch {
		case r.Record.Memory != nil:
			ids[r.Record.Memory.Title] = r.Record.Memory.ID
			pins[r.Record.Memory.Title] = r.Record.Memory.Metadata["pinned"]
		case r.Record.Relation != nil:
			relations = append(relations, *r.Record.Relation)
		}
	}
	must.Equal(t, "pins", pins, map[string]string{"One": "true", "Two": "", "Three": ""})
	at := func(s string) amber.Time { return must.Get(amber.ParseTime(s))(t) }
	must.Equal(t, "count of relations", len(relations), 2)
	want := []amber.Relation{
		{
			ID: engram.RelationID("rel-1"), From: ids["One"], To: ids["Two"], Type: "supersedes", Strength: 0.75,
			Origin: amber.Origin{Device: "engram", Counter: 2, Clock: relations[0].Origin.Clock}, CreatedAt: at("2026-01-02T00:00:00Z"),
		},
		{
			ID: engram.RelationID("rel-2"), From: ids["Two"], To: ids["One"], Type: "related", Strength: 1,
			Origin: amber.Origin{Device: "engram", Counter: 3, Clock: relations[1].Origin.Clock}, CreatedAt: at("2026-01-02T00:00:00Z"),
			DeletedAt: at("2026-01-02T05:00:00Z"),
		},
	}
	must.Equal(t, "relations", relations, want, cmp.AllowUnexported(amber.Time{}))
}

func TestRelationsAreOfBackupsAlone(t *testing.T) {
	t.Parallel()
	_, dropped := engram.ToRecords(decode(t, `{"sessions":null,"observations":null,"prompts":null,"relations":[{"sync_id":"rel-1"}]}`), engram.ReadOptions{})
	must.Equal(t, "dropped", dropped, []string{"the chunk: unknown fields: relations"})
}
