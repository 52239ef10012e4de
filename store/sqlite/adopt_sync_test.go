package sqlite

import (
	"database/sql"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

// estranged makes a snapshot one that has not grown from the live file.
func estranged(t *testing.T) func(*image.AdoptRequest) {
	return func(r *image.AdoptRequest) {
		db := must.Get(sql.Open("sqlite", "file:"+r.Path))(t)
		must.Get(db.Exec(`UPDATE incarnations SET id = 'x' || id`))(t)
		must.Do(t, db.Close())
	}
}

// kinships are the two ways in which a file is compared with the live one.
func kinships(t *testing.T) map[string]func(*image.AdoptRequest) {
	return map[string]func(*image.AdoptRequest){"grown from one": nil, "strangers": estranged(t)}
}

// A record that a restore brings back wins over both files, and a record that it
// takes away departs, so that sync carries the restore to other devices.
func TestAdoptStampsSessionsAndPrompts(t *testing.T) {
	t.Parallel()
	for name, change := range kinships(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			l := newLife(t)
			s := l.s
			for _, id := range []amber.SessionID{"same", "differs", "returns", "edited back", "turns go"} {
				must.Get(s.StartSession(ctx, amber.SessionStart{ID: id, Binding: string(id), Name: "then", Project: "p"}))(t)
				say(t, s, id, "prompt of "+string(id), amber.RoleUser, "")
			}
			for _, id := range []amber.SessionID{"gone before", "gone before and after"} {
				must.Get(s.StartSession(ctx, amber.SessionStart{ID: id, Project: "p"}))(t)
				must.Do(t, s.DeleteSession(ctx, id))
			}
			dir := l.snapshot(t)
			then := stamped(t, s)
			l.clock.Advance(time.Minute)
			must.Get(s.RenameSession(ctx, "differs", "now"))(t)
			for _, name := range []string{"now", "then"} {
				must.Get(s.RenameSession(ctx, "edited back", name))(t)
			}
			must.Do(t, s.DeleteSession(ctx, "returns"))
			must.Get(s.DeleteTurns(ctx, "turns go"))(t)
			for _, id := range []amber.SessionID{"late", "late and gone", "gone before", "gone before and after"} {
				must.Get(s.StartSession(ctx, amber.SessionStart{ID: id, Project: "p"}))(t)
				say(t, s, id, "late prompt of "+string(id), amber.RoleUser, "")
				say(t, s, id, "late answer of "+string(id), amber.RoleAssistant, "")
			}
			say(t, s, "same", "late prompt of same", amber.RoleUser, "q")
			must.Get(s.AppendTurn(ctx, amber.Turn{ID: "late prompt of an agent", SessionID: "same", Role: amber.RoleUser, Content: "x", Trust: amber.TrustAgent}))(t)
			for _, id := range []amber.SessionID{"late and gone", "gone before and after"} {
				must.Do(t, s.DeleteSession(ctx, id))
			}
			now, gone := stamped(t, s), departures(t, s)
			l.clock.Advance(time.Minute)
			report := l.bringBack(t, dir, change)

			after, departed := stamped(t, s), departures(t, s)
			for id, was := range then {
				must.Equal(t, "session "+string(id), after[id].Session, was.Session, sameTime)
			}
			must.Equal(t, "sessions", len(after), len(then))
			device := must.Get(s.agent.Current())(t).Device
			for id, want := range map[amber.SessionID]amber.Origin{
				"same":        then["same"].Origin,
				"edited back": now["edited back"].Origin,
				"differs":     {Device: device, Counter: 3},
				"returns":     {Device: device, Counter: gone[sessionRef("returns")].Counter + 1},
				"turns go":    then["turns go"].Origin,
			} {
				got := after[id].Origin
				if want.Clock == 0 {
					must.Hold(t, got.Clock > l.lastStamp(now), "session %s has an old clock", id)
					got.Clock = 0
				}
				must.Equal(t, "session "+string(id), got, want)
			}
			counters := map[amber.SyncRef]uint64{}
			for ref, d := range departed {
				counters[ref] = d.Counter
				if ref.Scope == amber.ChangeTurn && d.Session == "" || d.Project == "" {
					t.Errorf("%v departed as %+v", ref, d)
				}
			}
			want := map[amber.SyncRef]uint64{
				sessionRef("late"): 2, sessionRef("late and gone"): 2, sessionRef("gone before"): 4, sessionRef("gone before and after"): 4,
				turnRef("late prompt of late"): 2, turnRef("late prompt of late and gone"): 2, turnRef("late prompt of gone before"): 2,
				turnRef("late prompt of gone before and after"): 2, turnRef("late prompt of same"): 2,
				turnRef("late prompt of an agent"): 2,
			}
			must.Equal(t, "counters of the departed", counters, want)
			must.Equal(t, "departure that was taken over", departed[sessionRef("late and gone")], gone[sessionRef("late and gone")])
			must.Equal(t, "project that a prompt departed from", departed[turnRef("late prompt of same")].Project, "q")
			for _, turn := range []string{"prompt of turns go", "prompt of returns"} {
				must.Equal(t, "turns with "+turn, len(must.Get(amber.LastTurns(ctx, l.s, amber.SessionID(turn[len("prompt of "):]), 9))(t)), 1)
			}
			must.Hold(t, report.Stamped == 4 && report.Tombstones == 6 && report.TakenOver == 5, "report %+v", report)
			logged := map[amber.SyncRef]bool{}
			for _, c := range must.Get(s.Changes(ctx, "", 9999))(t) {
				if incarnation, _, _ := c.Position.Parse(); incarnation == must.Get(s.agent.Current())(t).Incarnation {
					logged[amber.SyncRef{Scope: c.Scope, ID: c.Key}] = true
				}
			}
			mentioned := slices.Concat(slices.Collect(maps.Keys(want)), []amber.SyncRef{
				sessionRef("differs"), sessionRef("returns"), sessionRef("edited back"), turnRef("prompt of turns go"), turnRef("prompt of returns"),
			})
			for _, ref := range mentioned {
				must.Hold(t, logged[ref], "the log does not name %v", ref)
			}
			must.Equal(t, "records in the log", len(logged), len(mentioned))
			sound(t, s)
		})
	}
}

// lastStamp returns the latest stamp of some sessions.
func (l *life) lastStamp(of map[amber.SessionID]amber.SyncSession) (last amber.Stamp) {
	for _, s := range of {
		last = max(last, s.Origin.Clock)
	}
	return last
}

// Whatever happens to sessions and prompts before and after a snapshot: those
// of the snapshot are there, and no version that others have seen wins.
func TestAdoptedSessionsAreTheSnapshots(t *testing.T) {
	t.Parallel()
	seeds := []uint64{mathrand.Uint64(), 1, 2}
	for _, seed := range seeds[:min(len(seeds), *syncHistories)] {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := mathrand.New(mathrand.NewPCG(seed, 6))
			l := newLife(t)
			l.talk(t, r, 30)
			for range 4 {
				dir := l.snapshot(t)
				then, prompts := stamped(t, l.s), l.prompts(t)
				l.talk(t, r, 40)
				now, gone, said := stamped(t, l.s), departures(t, l.s), l.prompts(t)
				l.clock.Advance(time.Minute)
				change := kinships(t)["strangers"]
				if seed%2 == 0 {
					change = nil
				}
				l.bringBack(t, dir, change)
				after, departed := stamped(t, l.s), departures(t, l.s)
				if diff := cmp.Diff(prompts, l.prompts(t)); diff != "" || len(after) != len(then) {
					t.Fatalf("%d sessions, want %d; prompts (-want +got):\n%s", len(after), len(then), diff)
				}
				for id, n := range after {
					must.Equal(t, "session "+string(id), n.Session, then[id].Session, sameTime)
					if now[id].Origin.After(n.Origin) || then[id].Origin.After(n.Origin) || gone[sessionRef(id)].After(n.Origin) {
						t.Errorf("session %s does not win", id)
					}
					if was, ok := now[id]; ok && was.Origin == n.Origin && was.Name != n.Name {
						t.Errorf("session %s says something else under the same stamp", id)
					}
				}
				for id, n := range now {
					if _, ok := after[id]; !ok && !departed[sessionRef(id)].After(n.Origin) {
						t.Errorf("session %s is gone and has not departed", id)
					}
				}
				for id := range said {
					if _, ok := departed[turnRef(id)]; !prompts[id] && !ok {
						t.Errorf("prompt %s is gone and has not departed", id)
					}
				}
				for ref, d := range departed {
					_, here := after[amber.SessionID(ref.ID)]
					if ref.Scope == amber.ChangeSession && here || ref.Scope == amber.ChangeTurn && prompts[ref.ID] {
						t.Errorf("%v is here and has departed", ref)
					}
					must.Hold(t, !gone[ref].After(d.Origin), "the departure of %v is older than it was", ref)
				}
				for ref := range gone {
					_, here := after[amber.SessionID(ref.ID)]
					if _, ok := departed[ref]; !ok && !here && !prompts[ref.ID] {
						t.Errorf("the departure of %v is forgotten", ref)
					}
				}
				sound(t, l.s)
			}
		})
	}
}

// talk lets something happen to random sessions.
func (l *life) talk(t *testing.T, r *mathrand.Rand, steps int) {
	t.Helper()
	ctx := t.Context()
	for range steps {
		l.clock.Advance(time.Duration(r.IntN(1000)) * time.Millisecond)
		id := amber.SessionID(fmt.Sprint("session ", r.IntN(6)))
		var err error
		switch r.IntN(8) {
		case 0, 1:
			_, err = l.s.StartSession(ctx, amber.SessionStart{ID: id})
		case 2:
			_, err = l.s.RenameSession(ctx, id, fmt.Sprint("name ", r.IntN(2)))
		case 3:
			err = l.s.DeleteSession(ctx, id)
		case 4:
			_, err = l.s.DeleteTurns(ctx, id)
		case 5:
			_, err = l.s.EndSession(ctx, amber.SessionEnd{ID: id})
		default:
			n := r.IntN(20)
			role := []amber.Role{amber.RoleUser, amber.RoleAssistant}[n%2]
			_, err = l.s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(fmt.Sprint("turn ", n)), SessionID: id, Role: role, Content: fmt.Sprint("said ", n)})
		}
		l.allow(t, err)
	}
}

// prompts returns the turns of the user.
func (l *life) prompts(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, id := range texts(t, l.s.memory, `SELECT id FROM turns WHERE role = 'user'`) {
		out[id] = true
	}
	return out
}

func TestAdoptLocalOnlyKeepsSessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	must.Get(l.s.StartSession(ctx, amber.SessionStart{ID: "s"}))(t)
	then := stamped(t, l.s)
	dir := l.snapshot(t)
	must.Get(l.s.RenameSession(ctx, "s", "now"))(t)
	must.Get(l.s.StartSession(ctx, amber.SessionStart{ID: "late"}))(t)
	say(t, l.s, "s", "prompt", amber.RoleUser, "")
	must.Do(t, l.s.DeleteSession(ctx, "late"))
	l.bringBack(t, dir, func(r *image.AdoptRequest) { r.LocalOnly = true })
	must.Equal(t, "sessions", stamped(t, l.s), then, sameTime)
	must.Equal(t, "departed", len(departures(t, l.s)), 0)
}

// A restored version has seen every side that the memory had in the file and
// live, and the one whose text it has; one that takes its stamp from live is known as there.
func TestAdoptNotesVersions(t *testing.T) {
	t.Parallel()
	for name, change := range kinships(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			l := newLife(t)
			s := l.s
			write := func(text string) amber.MemoryID { return save(t, s, amber.WriteRequest{Content: text}) }
			edit := func(id amber.MemoryID, text string) amber.Origin {
				l.clock.Advance(time.Second)
				return must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: &text}))(t).Origin
			}
			plain, torn, back, untouched := write("plain"), write("torn"), write("back"), write("untouched")
			l.clock.Advance(time.Second)
			plainThen := must.Get(s.Get(ctx, plain))(t).Origin
			backThen := must.Get(s.Get(ctx, back))(t).Origin
			edit(untouched, "untouched twice")
			was := versionsOf(t, s, untouched)
			others(t, s, torn, 1)
			tornThen := must.Get(s.Get(ctx, torn))(t).Origin
			dir := l.snapshot(t)
			edit(plain, "plain in between")
			plainNow := edit(plain, "plain now")
			edit(torn, "torn now")
			saw := append(others(t, s, torn, 2), must.Get(s.Get(ctx, torn))(t).Origin) // which has seen the one before
			between := edit(back, "back in between")
			backNow := edit(back, "back")
			late := write("late")
			lateThen := must.Get(s.Get(ctx, late))(t).Origin
			lateNow := edit(late, "late twice")
			l.clock.Advance(time.Second)
			l.bringBack(t, dir, change)
			versionsHold(t, s)

			m := must.Get(s.Get(ctx, plain))(t)
			rows := versionsOf(t, s, plain)
			if got := rows[sqlrows.VersionOf(m.Origin)].saw; m.Content != "plain" || got != sqlrows.JoinVersions([]amber.Origin{plainNow, plainThen}) || len(rows) != 4 {
				t.Errorf("the plain one saw %q, its versions are %v", got, rows)
			}
			if r := rows[sqlrows.VersionOf(plainThen)]; !r.stored || r.head {
				t.Errorf("the plain one of then is %+v", r)
			}
			m = must.Get(s.Get(ctx, torn))(t)
			saw = append(saw, tornThen)
			slices.SortFunc(saw, sqlrows.LatestFirst)
			must.Equal(t, "the torn one saw", must.Get(sqlrows.SplitVersions(versionsOf(t, s, torn)[sqlrows.VersionOf(m.Origin)].saw))(t), saw)
			m = must.Get(s.Get(ctx, back))(t)
			want := map[string]versionRow{
				sqlrows.VersionOf(backThen): {},
				sqlrows.VersionOf(between):  {saw: sqlrows.VersionOf(backThen)},
				sqlrows.VersionOf(backNow):  {saw: sqlrows.VersionOf(between), head: true, stored: true},
			}
			if diff := cmp.Diff(want, versionsOf(t, s, back), cmp.AllowUnexported(versionRow{})); diff != "" || m.Origin != backNow {
				t.Errorf("edited back, at %+v (-want +got):\n%s", m.Origin, diff)
			}
			must.Equal(t, "untouched", versionsOf(t, s, untouched), was, cmp.AllowUnexported(versionRow{}))
			_, dead := l.memories(t)
			want = map[string]versionRow{
				sqlrows.VersionOf(lateThen):          {stored: true},
				sqlrows.VersionOf(lateNow):           {saw: sqlrows.VersionOf(lateThen), stored: true},
				sqlrows.VersionOf(dead[late].Origin): {saw: sqlrows.VersionOf(lateNow), head: true, stored: true},
			}
			must.Equal(t, "late", versionsOf(t, s, late), want, cmp.AllowUnexported(versionRow{}))
		})
	}
}

// A conflict that came in since the snapshot is as new as it was, when it comes
// in again.
func TestAdoptForgetsConflictsItDoesNotHave(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	id := save(t, l.s, amber.WriteRequest{Content: "first"})
	dir := l.snapshot(t)
	l.clock.Advance(time.Second)
	for _, text := range []string{"second", "first"} {
		must.Get(l.s.Edit(t.Context(), amber.EditRequest{ID: id, Content: &text}))(t)
	}
	came := others(t, l.s, id, 1)
	l.bringBack(t, dir, nil)
	versionsHold(t, l.s)
	rows := versionsOf(t, l.s, id)
	if r, ok := rows[sqlrows.VersionOf(came[0])]; ok {
		t.Errorf("the other side is known as %+v", r)
	}
	others(t, l.s, id, 1)
	if r := versionsOf(t, l.s, id)[sqlrows.VersionOf(came[0])]; !r.head {
		t.Errorf("the other side is %+v when it comes in again", r)
	}
}

// Where an export went on is known only as long as it is the same agent that
// goes on.
func TestAdoptForgetsPlacesOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*testing.T) func(*image.AdoptRequest)
		want   int64
	}{
		{"the agent's past", func(*testing.T) func(*image.AdoptRequest) { return nil }, 1},
		{"local only", func(*testing.T) func(*image.AdoptRequest) { return func(r *image.AdoptRequest) { r.LocalOnly = true } }, 1},
		{"another agent", estranged, 0},
		{"a new agent", func(*testing.T) func(*image.AdoptRequest) { return func(r *image.AdoptRequest) { r.Live = "" } }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			id := save(t, l.s, amber.WriteRequest{Content: "text"})
			synced(t, l.s, id, "/a/folder")
			dir := l.snapshot(t)
			meddle(t, l.s.memory, `UPDATE sync_places SET position = 'later'`)
			meddle(t, l.s.memory, `DELETE FROM sync_chunks`)
			l.bringBack(t, dir, c.change(t))
			for _, table := range image.RedactForgotten {
				want := int64(1)
				if table == "index_cursors" { // of every file: what is behind the position is another history
					want = 0
				}
				if slices.Contains([]string{"sync_places", "sync_held", "sync_spared"}, table) {
					want = c.want
				}
				must.Equal(t, "rows of "+table, count(t, l.s.memory, "SELECT count(*) FROM "+table), want)
			}
			if c.want == 1 {
				must.Equal(t, "positions", texts(t, l.s.memory, `SELECT position FROM sync_places`), []string{"i/1"})
			}
		})
	}
}

// A restore does not make this agent export to Engram again what it has exported
// since. Chunks of other devices are as new as they were, and so are the agent's
// own chunks in Amber's format.
func TestAdoptKnowsItsExports(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{false, true} {
		l := newLife(t)
		device := must.Get(l.s.agent.Current())(t).Device
		id := save(t, l.s, amber.WriteRequest{Content: "kept"})
		gone := save(t, l.s, amber.WriteRequest{Content: "erased since"})
		dir := l.snapshot(t)
		erase(t, l.s, gone)
		for chunk, by := range map[string]string{"engram:00000001:a": device, "engram:00000002:b": "another device", "00000003": device} {
			meddle(t, l.s.memory, `INSERT INTO sync_chunks (chunk, place, device, created_by, created_at, applied_at, drift, again) VALUES (?, '/p', ?, '', 1, 1, 0, 0)`, chunk, by)
			short := strings.Split(chunk+":"+chunk, ":")[1]
			for i, record := range []amber.MemoryID{id, gone} {
				meddle(t, l.s.memory, `INSERT INTO sync_links (tool, chunk, ordinal, scope, record, version, local_id, fingerprint, extra)
VALUES ('engram', ?, ?, 'memory', ?, '', 1, 'f', '')`, short, i, record)
			}
		}
		l.bringBack(t, dir, func(r *image.AdoptRequest) { r.LocalOnly = local })
		chunks, links := []string{"engram:00000001:a"}, []string{"00000001 " + string(id)}
		if local {
			chunks, links = []string{}, []string{}
		}
		must.Equal(t, fmt.Sprintf("local only: %t: chunks", local), texts(t, l.s.memory, `SELECT chunk FROM sync_chunks`), chunks)
		must.Equal(t, fmt.Sprintf("local only: %t: links", local), texts(t, l.s.memory, `SELECT chunk || ' ' || record FROM sync_links`), links)
	}
}

// A relation does not wait for a memory that was erased.
func TestAdoptErasesWhatWaits(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	dir := l.snapshot(t)
	id := save(t, l.s, amber.WriteRequest{Content: "made and erased since"})
	erase(t, l.s, id)
	l.bringBack(t, dir, func(r *image.AdoptRequest) {
		db := must.Get(sql.Open("sqlite", "file:"+r.Path))(t)
		defer db.Close()
		if _, err := db.Exec(`INSERT INTO sync_waiting (from_id, to_id, type, body) VALUES ('x', ?, 'r', '{}')`, id); err != nil {
			t.Log(err) // control.db
		}
	})
	wantNone(t, "waiting", texts(t, l.s.memory, `SELECT to_id FROM sync_waiting`))
}

// A memory that was made and erased since the snapshot is exported as erased after
// the restore: another device may have got the memory.
func TestAdoptTellsOfErasures(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	dir := l.snapshot(t)
	f := &folder{name: "place"}
	erase(t, l.s, save(t, l.s, amber.WriteRequest{Content: "made and erased since"}))
	l.bringBack(t, dir, nil)
	must.Equal(t, "exported", names(f.export(t, l.s, 0)), []string{"erased"})
}
