package amber_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// eventShapes holds one full event of every kind.
func eventShapes() map[string]events.Event {
	const id amber.SnapshotID = "0193c5a8-0000-7000-8000-0000000000a1"
	shapes := snapshotShapes()
	lifecycle := func(name events.EventName, agent amber.AgentID, payload any) events.Event {
		return events.Event{
			ID: string(name) + "/acme/" + string(id), Name: name, Subject: events.LifecycleSubject("", "acme", agent, name),
			Tenant: "acme", Agent: agent, At: instant, Payload: payload,
		}
	}
	mutation := events.Mutation{
		Tenant: "acme", Agent: "ada", Op: amber.OpUpdate, Scope: amber.ChangeMemory, Key: "0193c5a8-0000-7000-8000-000000000001",
		OldDigest: amber.ContentDigest("old"), NewDigest: amber.ContentDigest("new"), At: instant,
	}
	return map[string]events.Event{
		"created":      lifecycle(events.EventCreated, "ada", shapes["snapshot_meta"]),
		"restored":     lifecycle(events.EventRestored, "ada", shapes["restore_report"]),
		"deleted":      lifecycle(events.EventDeleted, "ada", wire.SnapshotRef{Tenant: "acme", Agent: "ada", ID: id}),
		"verified":     lifecycle(events.EventVerified, "ada", shapes["verify_report"]),
		"pruned":       lifecycle(events.EventPruned, "ada", shapes["prune_report"]),
		"gc":           lifecycle(events.EventGC, "", shapes["gc_report"]),
		"gc_retention": lifecycle(events.EventGC, "", events.RetentionReport{Deleted: 1, Kept: 2, OrphansRemoved: 3, AgentsVisited: 4, Errors: []string{"acme/bob: e"}, At: instant}),
		"mutated": {
			ID: string(amber.PositionAt("i1", 4)) + "/memory/" + mutation.Key, Name: events.EventMutated, Subject: events.MutationSubject("", "acme", "ada"),
			Tenant: "acme", Agent: "ada", At: instant, Payload: mutation,
		},
		"mutated_minimal": {
			ID: "i", Name: events.EventMutated, Subject: events.MutationSubject("x", "acme", "ada"), Tenant: "acme", Agent: "ada", At: instant,
			Payload: events.Mutation{Tenant: "acme", Agent: "ada", Op: amber.OpInsert, Scope: amber.ChangeControl, Key: "task/t", At: instant},
		},
	}
}

// The JSON of events is a contract.
func TestEventShapes(t *testing.T) {
	for name, e := range eventShapes() {
		got, err := json.MarshalIndent(e, "", "  ")
		must.Do(t, err)
		got = append(got, '\n')
		file := filepath.Join("testdata", "json", "event_"+name+".json")
		if *update {
			must.Do(t, os.WriteFile(file, got, 0o644))
			continue
		}
		want, err := os.ReadFile(file)
		must.Do(t, err)
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

func TestSubjects(t *testing.T) {
	for got, want := range map[string]string{
		events.LifecycleSubject("", "acme", "ada", events.EventCreated): "amber.memory.snapshot.acme.ada.created",
		events.LifecycleSubject("", "acme", "", events.EventGC):         "amber.memory.snapshot.acme._all.gc",
		events.LifecycleSubject("x.y", "acme", "ada", events.EventGC):   "x.y.acme.ada.gc",
		events.MutationSubject("", "acme", "ada"):                       "amber.memory.mutated.acme.ada",
		events.MutationSubject("x", "acme", "ada"):                      "x.acme.ada",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// No agent is called as the place of all of them is.
	must.Kind(t, "_all", must.Err(amber.ParseAgentID("_all")), amber.KindInvalid)
}

func TestNoopPublisherTakesEverything(t *testing.T) {
	var p events.Publisher = events.NoopPublisher{}
	for name, e := range eventShapes() {
		if err := p.Publish(t.Context(), e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
