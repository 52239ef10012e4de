package engram_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	obsID = "ad28ba07-36b4-864c-a330-6c2cd9751ade" // of obs-1
	later = "2026-01-02 04:00:00"
)

func mutation(seq int64, entity, op, key, payload string) engram.Mutation {
	return engram.Mutation{Seq: seq, Entity: entity, Op: op, EntityKey: key, Payload: payload, Project: "shop", OccurredAt: later}
}

// describe says in a line what a record is.
func describe(r amber.SyncRecord) string {
	ref := r.Ref()
	s := string(ref.Scope) + " " + ref.ID
	switch {
	case r.Memory != nil && !r.Memory.DeletedAt.IsZero():
		return s + " deleted"
	case r.Memory != nil:
		return s + " " + r.Memory.Content
	case r.Gone != nil:
		return s + " gone"
	case r.Prompt != nil:
		return "turn " + r.Prompt.Content
	case r.Session != nil:
		return s + " " + r.Session.Summary
	case r.Relation != nil:
		return fmt.Sprintf("relation %s %s %s %v %v", r.Relation.From, r.Relation.Type, r.Relation.To, r.Relation.Strength, !r.Relation.DeletedAt.IsZero())
	}
	return s
}

func TestMutationsAreApplied(t *testing.T) {
	t.Parallel()
	const upsert = `{"sync_id":"obs-1","session_id":"s","type":"decision","title":"T","content":"changed","project":"shop","scope":"project"}`
	row := note(func(o *engram.Observation) { o.SyncID = text("obs-1") })
	for name, c := range map[string]struct {
		chunk   engram.Chunk
		want    []string
		dropped int
	}{
		"an observation": {
			engram.Chunk{Mutations: []engram.Mutation{mutation(1, "observation", "upsert", "obs-1", upsert)}},
			[]string{"memory " + obsID + " changed"},
			0,
		},
		"encoded twice": {
			engram.Chunk{Mutations: []engram.Mutation{mutation(1, "observation", "upsert", "obs-1", strconv.Quote(upsert))}},
			[]string{"memory " + obsID + " changed"},
			0,
		},
		"the row and a change of it": {
			engram.Chunk{Observations: []engram.Observation{row}, Mutations: []engram.Mutation{mutation(1, "observation", "upsert", "obs-1", upsert)}},
			[]string{"memory " + obsID + " Content", "memory " + obsID + " changed"},
			0,
		},
		"the row and the same": {
			engram.Chunk{Observations: []engram.Observation{row}, Mutations: []engram.Mutation{mutation(1, "observation", "upsert", "obs-1", `{"sync_id":"obs-1"}`)}},
			[]string{"memory " + obsID + " Content"},
			0,
		},
		"the row and its deletion": {
			engram.Chunk{Observations: []engram.Observation{row}, Mutations: []engram.Mutation{mutation(1, "observation", "delete", "obs-1", `{"sync_id":"obs-1","deleted":true,"hard_delete":true}`)}},
			[]string{"memory " + obsID + " Content", "memory " + obsID + " deleted"},
			0,
		},
		"a deletion alone": {
			engram.Chunk{Mutations: []engram.Mutation{mutation(1, "observation", "delete", "obs-1", `{"sync_id":"obs-1","project":"shop"}`)}},
			[]string{"memory " + obsID + " deleted"},
			0,
		},
		"the highest seq counts": {
			engram.Chunk{Mutations: []engram.Mutation{
				mutation(9, "observation", "delete", "obs-1", `{}`),
				mutation(3, "observation", "upsert", "obs-1", upsert),
			}},
			[]string{"memory " + obsID + " deleted"},
			0,
		},
		"an upsert that says deleted": {
			engram.Chunk{Mutations: []engram.Mutation{mutation(1, "observation", "upsert", "obs-1", strings.Replace(upsert, "{", `{"deleted":true,`, 1))}},
			[]string{"memory " + obsID + " changed", "memory " + obsID + " deleted"},
			0,
		},
		"sessions and prompts": {
			engram.Chunk{Mutations: []engram.Mutation{
				mutation(1, "session", "delete", "old", `{"id":"old","deleted":true}`),
				mutation(2, "prompt", "delete", "prompt-2", `{}`),
				mutation(3, "prompt", "upsert", "prompt-1", `{"sync_id":"prompt-1","session_id":"s","content":"why?"}`),
				mutation(4, "session", "upsert", "s", `{"id":"s","project":"shop","directory":"/d","summary":"done"}`),
			}},
			[]string{"session s done", "turn why?", "turn engram-bf42e282aa72a85fd8917a4805984bc5 gone", "session old gone"},
			0,
		},
		"a session and a change of it": {
			engram.Chunk{
				Sessions:  []engram.Session{{ID: "s", StartedAt: at, Summary: text("first")}},
				Mutations: []engram.Mutation{mutation(4, "session", "upsert", "s", `{"id":"s","summary":"second"}`)},
			},
			[]string{"session s first", "session s second"},
			0,
		},
		"relations": {
			engram.Chunk{Mutations: []engram.Mutation{
				mutation(1, "relation", "upsert", "rel-1", `{"source_id":"obs-1","target_id":"obs-2","relation":"supersedes","confidence":0.5,"judgment_status":"judged","created_at":"`+at+`"}`),
				mutation(2, "relation", "upsert", "rel-2", `{"source_id":"obs-1","target_id":"obs-2","relation":"pending","judgment_status":"pending"}`),
				mutation(3, "relation", "upsert", "rel-3", `{"source_id":"obs-1","target_id":"obs-1","relation":"related","judgment_status":"judged"}`),
				mutation(4, "relation", "delete", "rel-4", `{"source_id":"obs-1","target_id":"obs-2","relation":"related"}`),
				mutation(5, "relation", "delete", "rel-5", `{}`),
			}},
			[]string{
				"relation " + obsID + " supersedes fcab0a47-71d7-822f-855f-b982b04cd524 0.5 false",
				"relation " + obsID + " pending fcab0a47-71d7-822f-855f-b982b04cd524 0 false",
				"relation " + obsID + " related fcab0a47-71d7-822f-855f-b982b04cd524 1 true",
			},
			2,
		},
		"what cannot be mapped": {
			engram.Chunk{Mutations: []engram.Mutation{
				mutation(1, "pin", "upsert", "x", `{}`),
				mutation(2, "observation", "merge", "x", `{}`),
				mutation(3, "observation", "upsert", "z", `not json`),
				mutation(4, "observation", "upsert", "y", upsert),
				mutation(5, "observation", "delete", " ", `{}`),
				mutation(6, "session", "delete", "", `{}`),
				mutation(7, "session", "upsert", "a", `{"id":"b"}`),
				mutation(8, "prompt", "upsert", "a", `{"sync_id":null}`),
				mutation(9, "prompt", "delete", "b", ``),
			}}, nil, 9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, dropped := engram.ToRecords(c.chunk, engram.ReadOptions{})
			var got []string
			versions := map[amber.SyncRef]amber.Origin{}
			for _, r := range rows {
				must.Do(t, r.Record.Check())
				if last, there := versions[r.Record.Ref()]; there && !r.Record.Origin().After(last) {
					t.Errorf("%s does not come after what was before", describe(r.Record))
				}
				versions[r.Record.Ref()] = r.Record.Origin()
				got = append(got, describe(r.Record))
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(dropped) != c.dropped {
				t.Errorf("records differ, dropped %q (-want +got):\n%s", dropped, diff)
			}
		})
	}
}

// A payload is read over the row of the chunk; the row must not change by that.
func TestMutationsLeaveTheChunkAsItIs(t *testing.T) {
	t.Parallel()
	c := engram.Chunk{
		Observations: []engram.Observation{note(func(o *engram.Observation) { o.SyncID, o.ToolName = text("obs-1"), text("Bash") })},
		Mutations:    []engram.Mutation{mutation(1, "observation", "upsert", "obs-1", `{"tool_name":"Read","project":"other"}`)},
	}
	before, _, _ := engram.EncodeChunk(c)
	engram.ToRecords(c, engram.ReadOptions{})
	if after, text, _ := engram.EncodeChunk(c); after != before {
		t.Errorf("the chunk became %s", text)
	}
}

// A deletion must win over whatever revision the row had, or the row comes back.
func TestDeletionWinsOverEveryRevision(t *testing.T) {
	t.Parallel()
	live := one(t, note(func(o *engram.Observation) {
		o.SyncID, o.RevisionCount, o.UpdatedAt = text("obs-1"), 1<<40, "2030-01-01 00:00:00"
	}))
	gone, _ := records(t, engram.Chunk{Mutations: []engram.Mutation{mutation(1, "observation", "delete", "obs-1", `{}`)}})
	if live.ID != gone[0].ID || !gone[0].Origin.After(live.Origin) {
		t.Errorf("%+v does not win over %+v", gone[0].Origin, live.Origin)
	}
	if gone[0].Origin.Counter > amber.MaxCounterJump {
		t.Errorf("a store refuses the counter %d", gone[0].Origin.Counter)
	}
}
