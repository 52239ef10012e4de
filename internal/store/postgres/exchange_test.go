package postgres_test

import (
	"crypto/rand"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
)

var exchanges = flag.Int("postgres.exchanges", 2, "how many random exchanges between PostgreSQL and SQLite to run")

// replica is what takes part in an exchange.
type replica interface {
	amber.LongTerm
	amber.MemoryReader
	amber.Editor
	amber.Eraser
	amber.Relations
	amber.Turns
	amber.Sessions
	amber.Replica
}

// TestExchangeWithSQLite has two agents on PostgreSQL and one on SQLite write, and take from each other through one
// place. They end up alike.
func TestExchangeWithSQLite(t *testing.T) {
	t.Parallel()
	server := connect(t, fresh(t))
	for n := range *exchanges {
		s := *seed + uint64(n)
		if err := exchange(t, server, s); err != nil {
			t.Fatalf("repeat with -seed %d -postgres.exchanges 1: %v", s, err)
		}
	}
}

func exchange(t *testing.T, server *postgres.Server, seed uint64) error {
	ctx := t.Context()
	rng := mathrand.New(mathrand.NewPCG(seed, 4))
	clock := storetest.NewClock(time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC))
	h, _, err := home.Open(filepath.Join(t.TempDir(), fmt.Sprint(seed)), home.Options{Clock: clock.Now, Random: rand.Reader})
	must.Do(t, err)
	lite := must.Get(sqlite.Open(ctx, must.Get(h.Agent(amber.DefaultTenant, "exchange"))(t), sqlite.Options{Clock: clock.Now, Random: rand.Reader}))(t)
	defer func() { must.NoError(t, lite.Close()) }()
	all := []replica{lite}
	for i := range 2 {
		agent := amber.AgentID(fmt.Sprintf("exchange-%d-%d", seed, i))
		s := must.Get(server.Open(ctx, amber.DefaultTenant, agent, postgres.Options{Clock: clock.Now}))(t)
		defer func() { must.NoError(t, s.Close()) }()
		all = append(all, s)
	}
	var place []amber.Incoming
	for range 6 {
		for range 25 {
			clock.Advance(time.Duration(rng.IntN(5000)) * time.Millisecond)
			if err := change(t, rng, all[rng.IntN(len(all))]); err != nil {
				return err
			}
		}
		for _, s := range all {
			place = export(t, s, place)
		}
		for _, s := range all {
			for _, i := range rng.Perm(len(place)) { // in any order, what is known again
				if _, err := s.Apply(ctx, place[i]); err != nil {
					return err
				}
			}
		}
	}
	for range 2 { // what came of the last changes
		for _, s := range all {
			place = export(t, s, place)
		}
		for _, s := range all {
			for _, c := range place {
				if _, err := s.Apply(ctx, c); err != nil {
					return err
				}
			}
		}
	}
	want := withoutErased(state(t, all[0]), place)
	must.Hold(t, len(want) > 20, "only %d facts were exchanged", len(want))
	for _, s := range all[1:] {
		must.Equal(t, fmt.Sprintf("seed %d: what PostgreSQL and SQLite know", seed), withoutErased(state(t, s), place), want)
	}
	return nil
}

// withoutErased leaves out the lines of memories that a replica has erased: a replica that had edited such a memory
// before it learned of the erasure keeps the text, and the other replicas do not.
func withoutErased(lines []string, place []amber.Incoming) []string {
	var ids []string
	for _, c := range place {
		for _, r := range c.Records {
			if r.Erased != nil {
				ids = append(ids, string(r.Erased.ID))
			}
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(line, id) })
	})
}

// change does something to a store.
func change(t *testing.T, rng *mathrand.Rand, s replica) error {
	ctx := t.Context()
	page := must.Get(s.List(ctx, amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(t)
	some := func() amber.MemoryID { return page.Items[rng.IntN(len(page.Items))].ID }
	text := fmt.Sprintf("fact %d", rng.IntN(60))
	session := amber.SessionID(fmt.Sprint("s", rng.IntN(6)))
	var err error
	switch p := rng.IntN(20); {
	case p < 6 || len(page.Items) < 3:
		_, err = s.Write(ctx, amber.WriteRequest{Content: text, Title: fmt.Sprint("t", rng.IntN(3)), Tags: []string{"tag"}})
	case p < 8:
		_, err = s.Write(ctx, amber.WriteRequest{Content: text, Topic: fmt.Sprint("topic ", rng.IntN(4))})
	case p < 11:
		_, err = s.Edit(ctx, amber.EditRequest{ID: some(), Content: new("edited " + text)})
	case p < 13:
		err = s.Delete(ctx, some())
	case p < 14:
		_, err = s.Erase(ctx, some())
	case p < 16:
		_, err = s.Relate(ctx, amber.Relation{From: some(), To: some(), Type: "related", Strength: 0.5})
	case p < 18:
		_, err = s.AppendTurn(ctx, amber.Turn{SessionID: session, Role: amber.RoleUser, Content: "said " + text})
	case p < 19:
		_, err = s.StartSession(ctx, amber.SessionStart{ID: session, Name: text, Project: "p"})
	default:
		err = s.DeleteSession(ctx, session)
	}
	switch amber.KindOf(err) {
	case amber.KindInvalid, amber.KindConflict, amber.KindNotFound: // a relation to itself, a session that is not there
		return nil
	}
	return err
}

// export adds what a store has for a place.
func export(t *testing.T, s replica, place []amber.Incoming) []amber.Incoming {
	t.Helper()
	ctx := t.Context()
	at := must.Get(s.SyncPlace(ctx, "place", ""))(t).Position
	r := amber.OutgoingRequest{Place: "place", Since: at, After: at, Entries: 7}
	var records []amber.SyncRecord
	var out amber.Outgoing
	for done := false; !done; done = out.Done {
		out = must.Get(s.Outgoing(ctx, r))(t)
		records = append(records, out.Records...)
		r.After = out.Next
	}
	note := amber.ExportNote{Place: "place", Position: out.Next}
	for _, r := range records {
		note.Marks = append(note.Marks, r.Mark())
	}
	if len(records) > 0 {
		note.Chunk = fmt.Sprint("chunk ", len(place))
		place = append(place, amber.Incoming{
			Place: "place", Chunk: note.Chunk, Device: out.Device, CreatedBy: "somebody", At: out.At, Trust: amber.TrustImported, Records: records,
		})
	}
	must.Do(t, s.Exported(ctx, note))
	return place
}

// state is what an exchange makes equal, a line for each fact.
func state(t *testing.T, s replica) (lines []string) {
	t.Helper()
	ctx := t.Context()
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	page := must.Get(s.List(ctx, amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize}))(t)
	must.Equal(t, "a second page", page.Next, "")
	for _, m := range page.Items {
		if !m.DeletedAt.IsZero() {
			add("memory %s deleted", m.ID)
			continue
		}
		add("memory %s %v: %q %q %q %q", m.ID, m.Origin, m.Title, m.Content, m.Topic, m.Tags)
		for _, r := range must.Get(s.Related(ctx, m.ID))(t) {
			add("relation %s %s %s %s", r.ID, r.From, r.Type, r.To)
		}
	}
	for _, session := range must.Get(s.ListSessions(ctx, amber.SessionQuery{Limit: amber.MaxPageSize}))(t).Items {
		add("session %s %q %q", session.ID, session.Name, session.Project)
	}
	for i := range 6 {
		for _, turn := range must.Get(amber.LastTurns(ctx, s, amber.SessionID(fmt.Sprint("s", i)), 1000))(t) {
			add("turn %s %s %q", turn.ID, turn.SessionID, turn.Content)
		}
	}
	slices.Sort(lines)
	return lines
}
