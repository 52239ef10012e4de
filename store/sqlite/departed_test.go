package sqlite

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

// stamped returns the sessions of a store with their origins.
func stamped(t *testing.T, s *Store) map[amber.SessionID]amber.SyncSession {
	t.Helper()
	out := map[amber.SessionID]amber.SyncSession{}
	for _, n := range look(t, s.memory, sqlrows.ScanStampedSession, `SELECT `+sqlrows.SessionColumns+`, device, counter, clock FROM sessions`) {
		out[n.ID] = n
	}
	return out
}

// departures returns what has departed from a store, by scope and id.
func departures(t *testing.T, s *Store) map[amber.SyncRef]sqlrows.Departure {
	t.Helper()
	out := map[amber.SyncRef]sqlrows.Departure{}
	for _, d := range look(t, s.memory, sqlrows.ScanDeparture, `SELECT scope, id, session_id, project, device, counter, clock FROM departed`) {
		out[amber.SyncRef{Scope: d.Scope, ID: d.ID}] = d
	}
	return out
}

func say(t *testing.T, s *Store, session amber.SessionID, id string, role amber.Role, project string) {
	t.Helper()
	must.Get(s.AppendTurn(t.Context(), amber.Turn{ID: amber.TurnID(id), SessionID: session, Role: role, Content: "said " + id, ProjectID: project}))(t)
}

// Whatever changes a session makes a new version of it.
func TestEveryChangeOfASessionIsStamped(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	device := must.Get(s.agent.Current())(t).Device
	ingest := func(after int64, step amber.IngestStep) func() error {
		step.Start.ID = "s"
		return func() error {
			return only(s.Ingest(ctx, amber.Ingestion{Journal: journal, Host: "h", Session: "s", After: after, Through: after + 1, Steps: []amber.IngestStep{step}}))
		}
	}
	var last amber.Stamp
	for i, c := range []struct {
		name    string
		change  func() error
		counter uint64
	}{
		{"start", func() error { return only(s.StartSession(ctx, amber.SessionStart{ID: "s", Binding: "b"})) }, 1},
		{"start again", func() error { return only(s.StartSession(ctx, amber.SessionStart{ID: "s", Binding: "b"})) }, 1},
		{"rename", func() error { return only(s.RenameSession(ctx, "s", "n")) }, 2},
		{"select", func() error { return only(s.SelectSession(ctx, "s")) }, 3},
		{"end", func() error { return only(s.EndSession(ctx, amber.SessionEnd{ID: "s"})) }, 4},
		{"end again", func() error { return only(s.EndSession(ctx, amber.SessionEnd{ID: "s"})) }, 4},
		{"reopen", func() error { return only(s.StartSession(ctx, amber.SessionStart{ID: "s", Binding: "b"})) }, 5},
		{"ingest", ingest(0, amber.IngestStep{Start: amber.SessionStart{Project: "p"}}), 6},
		{"ingest an end", ingest(1, amber.IngestStep{End: &amber.SessionEnd{ID: "s", Summary: "x"}}), 8}, // it is updated, and ends
	} {
		clock.Advance(time.Second)
		must.Do(t, c.change())
		o := stamped(t, s)["s"].Origin
		if o.Counter != c.counter || o.Device != device {
			t.Errorf("%d, %s: the origin is %+v, want counter %d", i, c.name, o, c.counter)
		}
		must.Hold(t, o.Clock >= last, "%s: the clock goes back", c.name)
		last = o.Clock
	}
}

// A session of an older schema has no device as its origin until it changes.
func TestOlderSessionsAreStampedWhenTheyChange(t *testing.T) {
	t.Parallel()
	s := must.Get(openWith(t, agentWithMemory(t, 2), sqlfile.MemorySchema, false))(t)
	for id, n := range stamped(t, s) {
		must.Equal(t, "origin of "+string(id), n.Origin, amber.Origin{Counter: 1})
	}
	must.Get(s.RenameSession(t.Context(), "open", "renamed"))(t)
	device := must.Get(s.agent.Current())(t).Device
	if o := stamped(t, s)["open"].Origin; o.Device != device || o.Counter != 2 || o.Clock == 0 {
		t.Errorf("it is %+v", o)
	}
	must.Do(t, s.DeleteSession(t.Context(), "ended"))
	if d := departures(t, s)[sessionRef("ended")]; d.Device != device || d.Counter != 2 || d.Clock == 0 {
		t.Errorf("it departed as %+v", d)
	}
}

// Deleting leaves a row without text for a session and for every prompt, and
// none for what the assistant said.
func TestDeletedSessionsAndPromptsDepart(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	device := must.Get(s.agent.Current())(t).Device
	for _, id := range []amber.SessionID{"whole", "turns", "stays"} {
		must.Get(s.StartSession(ctx, amber.SessionStart{ID: id, Project: "p"}))(t)
		say(t, s, id, "prompt of "+string(id), amber.RoleUser, "")
		say(t, s, id, "elsewhere of "+string(id), amber.RoleUser, "q")
		say(t, s, id, "answer of "+string(id), amber.RoleAssistant, "")
	}
	must.Get(s.RenameSession(ctx, "whole", "n"))(t)
	must.Do(t, s.DeleteSession(ctx, "whole"))
	must.Equal(t, "deleted turns", must.Get(s.DeleteTurns(ctx, "turns"))(t), 3)
	must.Kind(t, "delete of a session that is not there", s.DeleteSession(ctx, "nobody"), amber.KindNotFound)
	got := departures(t, s)
	want := map[amber.SyncRef]sqlrows.Departure{
		sessionRef("whole"): {Scope: amber.ChangeSession, ID: "whole", Project: "p", Origin: amber.Origin{Device: device, Counter: 3}},
	}
	for _, session := range []string{"whole", "turns"} {
		for name, project := range map[string]string{"prompt of ": "p", "elsewhere of ": "q"} {
			want[turnRef(name+session)] = sqlrows.Departure{
				Scope: amber.ChangeTurn, ID: name + session, Session: session, Project: project, Origin: amber.Origin{Device: device, Counter: 2},
			}
		}
	}
	for ref, d := range got {
		must.Hold(t, d.Clock != 0, "%v has no clock", ref)
		d.Clock = 0
		got[ref] = d
	}
	must.Equal(t, "departed", got, want, cmp.AllowUnexported(sqlrows.Departure{}))

	again := must.Get(s.StartSession(ctx, amber.SessionStart{ID: "whole"}))(t)
	must.Equal(t, "counter of the session that is back", stamped(t, s)[again.ID].Origin.Counter, 4)
	say(t, s, "turns", "prompt of turns", amber.RoleUser, "")
	got = departures(t, s)
	for _, ref := range []amber.SyncRef{sessionRef("whole"), turnRef("prompt of turns")} {
		if d, ok := got[ref]; ok {
			t.Errorf("%v is here and has departed: %+v", ref, d)
		}
	}
	must.Equal(t, "departed", len(got), 3)
}

// A drained turn that was deleted comes back as it did before there were
// departures, and has not departed then.
func TestDrainedTurnsReturn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	take := func(after int64) {
		t.Helper()
		must.Get(s.Ingest(ctx, amber.Ingestion{
			Journal: journal, Host: "h", Session: "s", After: after, Through: after + 1,
			Steps: []amber.IngestStep{{Start: amber.SessionStart{ID: "s"}, Turns: []amber.Turn{{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "hello"}}}},
		}))(t)
	}
	take(0)
	must.Do(t, s.DeleteSession(ctx, "s"))
	must.Equal(t, "departed", len(departures(t, s)), 2)
	take(1)
	must.Equal(t, "departed", len(departures(t, s)), 0)
	must.Equal(t, "turns", len(must.Get(amber.LastTurns(ctx, s, "s", 9))(t)), 1)
	must.Equal(t, "counter of the session", stamped(t, s)["s"].Origin.Counter, 3)
}

// A prompt that is erased with a memory departs, and nothing that the store keeps
// for sync holds on to the memory.
func TestEraseForgetsSync(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "first words"})
	must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: new("other words")}))(t)
	kept := save(t, s, amber.WriteRequest{Content: "something else"})
	must.Get(s.Edit(ctx, amber.EditRequest{ID: kept, Content: new("something new")}))(t)
	digest := save(t, s, amber.WriteRequest{Kind: amber.SessionSummary, Trust: amber.TrustDerived, Content: "they said: other words"})
	must.Do(t, s.Delete(ctx, digest))
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "s", Project: "p"}))(t)
	for turn, role := range map[string]amber.Role{"prompt": amber.RoleUser, "answer": amber.RoleAssistant} {
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(turn), SessionID: "s", Role: role, Content: "I said: first words"}))(t)
	}
	meddle(t, s.memory, `INSERT INTO sync_waiting (from_id, to_id, type, body) VALUES (?1, 'x', 'r', '{}'), ('x', ?1, 'r', '{}'), ('x', 'y', 'r', '{}')`, id)
	meddle(t, s.memory, `INSERT INTO sync_links (tool, chunk, ordinal, scope, record, version, local_id, fingerprint, extra) VALUES
 ('t', 'c', 0, 'memory', ?1, '', 1, 'f0', ''), ('t', 'c', 1, 'memory', ?2, '', 2, 'f1', ''), ('t', 'c', 2, 'turn', 'prompt', '', 3, 'f2', ''),
 ('t', 'c', 3, 'turn', 'other', '', 4, 'f3', ''), ('t', 'd', 0, 'memory', ?1, '', 1, 'f0', ''), ('t', 'e', 0, 'memory', ?3, '', 5, 'f4', '')`, id, kept, digest)
	erase(t, s, id)
	for query, want := range map[string][]string{
		`SELECT DISTINCT memory_id FROM versions`:                                        {string(kept)},
		`SELECT from_id || to_id FROM sync_waiting`:                                      {"xy"},
		`SELECT fingerprint FROM sync_links ORDER BY 1`:                                  {"f1", "f3"},
		`SELECT scope || ' ' || id || ' ' || session_id || ' ' || project FROM departed`: {"turn prompt s p"},
	} {
		must.Equal(t, query, texts(t, s.memory, query), want)
	}
	versionsHold(t, s)
}
