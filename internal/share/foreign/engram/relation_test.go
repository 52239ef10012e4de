package engram_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

const otherID = "fcab0a47-71d7-822f-855f-b982b04cd524" // of obs-2

// related reads the one relation of a chunk.
func related(t *testing.T, c engram.Chunk, o engram.ReadOptions) (amber.Relation, bool) {
	t.Helper()
	rows, dropped := engram.ToRecords(c, o)
	if len(dropped) > 0 || len(rows) == 0 || rows[len(rows)-1].Record.Relation == nil {
		t.Fatalf("rows %+v, dropped %q, want a relation", rows, dropped)
	}
	last := rows[len(rows)-1]
	return *last.Record.Relation, last.Exact
}

func mutations(m ...engram.Mutation) engram.Chunk { return engram.Chunk{Mutations: m} }

func TestVerdictsFollowEachOther(t *testing.T) {
	t.Parallel()
	verdict := func(status, relation, at string) amber.Relation {
		r, _ := related(t, mutations(mutation(0, "relation", "upsert", "rel-1",
			`{"source_id":"obs-1","target_id":"obs-2","relation":"`+relation+`","judgment_status":"`+status+`","created_at":"2026-01-01 00:00:00","updated_at":"`+at+`"}`,
		)), engram.ReadOptions{})
		return r
	}
	const second = "2026-01-02 03:04:05"
	steps := []amber.Relation{
		verdict("pending", "pending", second),
		verdict("judged", "supersedes", second), // within the second in which it was found
		verdict("judged", "compatible", "2026-01-02 04:04:05"),
		verdict("orphaned", "compatible", "2026-01-02 04:04:06"),
	}
	for i, r := range steps {
		if r.ID != steps[0].ID || r.From != obsID || r.To != otherID {
			t.Errorf("%d: it is %+v, want one relation", i, r)
		}
		if i > 0 && !r.Origin.After(steps[i-1].Origin) {
			t.Errorf("%d: %+v does not come after %+v", i, r.Origin, steps[i-1].Origin)
		}
		must.Equal(t, fmt.Sprintf("%d: gone", i), !r.DeletedAt.IsZero(), i == 3)
	}
}

// A row with a topic is not known by its sync_id: the chunk that has the row says which memory it is.
func TestARelationFindsItsMemoriesInOtherChunks(t *testing.T) {
	t.Parallel()
	rows := engram.Chunk{Observations: []engram.Observation{
		note(func(o *engram.Observation) { o.SyncID, o.TopicKey = text("obs-1"), text("a/topic") }),
		note(func(o *engram.Observation) { o.SyncID, o.Title = text("obs-2"), "another" }),
	}}
	names := engram.Names(rows, engram.ReadOptions{})
	if names["obs-1"].ID == obsID || names["obs-2"].ID != otherID {
		t.Fatalf("names are %+v", names)
	}
	options := engram.ReadOptions{Named: func(sync string) (amber.Memory, bool) { m, ok := names[sync]; return m, ok }}
	r, _ := related(t, mutations(mutation(0, "relation", "upsert", "rel-1",
		`{"source_id":"obs-1","target_id":"obs-2","relation":"related","judgment_status":"judged"}`)), options)
	must.Equal(t, "from", r.From, names["obs-1"].ID)
	must.Equal(t, "to", r.To, otherID)
	gone, dropped := engram.ToRecords(mutations(mutation(0, "observation", "delete", "obs-1", `{}`)), options)
	if len(dropped) > 0 || len(gone) != 1 || gone[0].Record.Memory.ID != names["obs-1"].ID || gone[0].Record.Memory.DeletedAt.IsZero() {
		t.Errorf("a deletion is %+v, %q", gone, dropped)
	}
}

var tested = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// ownRelation is one that Amber made.
var ownRelation = amber.Relation{
	ID: "01890a5d-ac96-774b-bcce-b302099a8057", From: obsID, To: otherID, Type: "blocks", Strength: 0.25,
	Origin:    amber.Origin{Device: "laptop", Counter: 3, Clock: amber.StampAt(tested)},
	CreatedAt: amber.UnixMilli(tested.UnixMilli() - 999),
}

func TestARelationOfAmberComesBackAsItWas(t *testing.T) {
	t.Parallel()
	undone := ownRelation
	undone.DeletedAt = amber.UnixMilli(tested.UnixMilli())
	pending := ownRelation
	pending.Type, pending.Strength = "pending", 0
	known := ownRelation
	known.Type = "supersedes"
	for want, r := range map[string]amber.Relation{
		`"relation":"related"`:           ownRelation, // Engram knows no such verdict
		`"judgment_status":"orphaned"`:   undone,
		`"judgment_status":"pending"`:    pending,
		`"relation":"supersedes","conf`:  known,
		`"created_at":"2026-01-02 03:0`:  known,
		`"updated_at":"2026-01-02 03:04`: known,
	} {
		m := engram.Relation(r, engram.RelationEnds{Source: "obs-1", Target: "obs-2", Project: "shop"})
		if !strings.Contains(m.Payload, want) || m.Op != "upsert" || m.EntityKey != r.ID {
			t.Errorf("the mutation is %+v, want %s in it", m, want)
		}
		got, exact := related(t, mutations(m), engram.ReadOptions{})
		if diff := cmp.Diff(r, got, cmp.AllowUnexported(amber.Time{})); diff != "" || !exact {
			t.Errorf("exact %t, differs (-want +got):\n%s", exact, diff)
		}
	}
}

func TestAMemberOfARelationThatSomebodyChangedIsNotBelieved(t *testing.T) {
	t.Parallel()
	m := engram.Relation(ownRelation, engram.RelationEnds{Source: "obs-1", Target: "obs-2", Project: "shop"})
	for _, change := range [][2]string{
		{`"relation":"related"`, `"relation":"supersedes"`},
		{`"counter":3`, `"counter":2000000`},
		{`"judgment_status":"judged"`, `"judgment_status":"orphaned"`},
		{`"strength":0.25`, `"strength":7`},
	} {
		changed := m
		if changed.Payload = strings.Replace(m.Payload, change[0], change[1], 1); changed.Payload == m.Payload {
			t.Fatalf("%s is not in %s", change[0], m.Payload)
		}
		if r, exact := related(t, mutations(changed), engram.ReadOptions{}); exact || r.Origin.Device != "engram" {
			t.Errorf("%s is believed: %+v", change[1], r)
		}
	}
}

// The verdict of another writer keeps its reason as long as the verdict is the same.
func TestTheReasonOfAVerdictStays(t *testing.T) {
	t.Parallel()
	before, ok := engram.ReadFolderRelation(mutation(0, "relation", "upsert", "rel-1",
		`{"source_id":"obs-1","target_id":"obs-2","relation":"supersedes","reason":"R","evidence":"E","judgment_status":"judged"}`))
	if !ok || before.Key != "rel-1" {
		t.Fatalf("it is %+v", before)
	}
	for verdict, stays := range map[string]bool{"supersedes": true, "compatible": false} {
		r := ownRelation
		r.Type = verdict
		m := engram.Relation(r, engram.RelationEnds{Key: before.Key, Source: "obs-1", Target: "obs-2", Before: &before})
		if strings.Contains(m.Payload, `"reason":"R","evidence":"E"`) != stays || m.EntityKey != "rel-1" {
			t.Errorf("%s: %s, want the reason: %t", verdict, m.Payload, stays)
		}
		if _, exact := related(t, mutations(m), engram.ReadOptions{}); !exact {
			t.Errorf("%s is not believed", verdict)
		}
	}
}

// The chunks of the real program 1.20.0 are read with every row.
func TestRelationsOfTheVectorAreRead(t *testing.T) {
	t.Parallel()
	var relations, pending, memories int
	for _, c := range chunksOf(t, "relations") {
		rows, dropped := engram.ToRecords(c, engram.ReadOptions{})
		must.Equal(t, "dropped", len(dropped), 0)
		for _, r := range rows {
			switch {
			case r.Record.Relation != nil && r.Record.Relation.Type == "pending":
				pending++
			case r.Record.Relation != nil:
				relations++
			case r.Record.Memory != nil:
				memories++
			}
		}
	}
	if relations != 2 || pending != 3 || memories != 5 {
		t.Errorf("%d verdicts, %d pending, %d memories; want 2, 3 and 5", relations, pending, memories)
	}
}
