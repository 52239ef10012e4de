package agent

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/move"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/wire"
)

var _ amber.Eraser = (*Agent)(nil)

// Erase removes the text of a memory from every part of the agent where it can, and
// names the copies that remain: what the crash journal holds is brought into the
// store first, and the answers that a server keeps are removed. Notes, documents,
// snapshots and what restores have put aside are searched or named. Errors: those of
// the store's eraser; nothing is removed then. Where memory lies on a server the server does
// that, but for the crash journal of this machine.
func (a *Agent) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	e := erasure{a}
	if a.remote != nil {
		return e.served(ctx, id)
	}
	// The text is needed to find its copies, and gone afterwards. A memory that
	// is erased already has none.
	revisions, err := amber.All(ctx, a.plain.Memories.History, id)
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return amber.EraseReport{}, err
	}
	spooled := a.Settle(ctx)
	report, err := a.plain.Eraser.Erase(ctx, id)
	if err != nil {
		return report, err
	}
	for _, places := range [][]string{
		e.forgetCopy(ctx), spooled, a.ForgetAnswers(ctx), e.leftBehind(ctx), e.formerIndexes(ctx), copiesInNotes(ctx, a.plain.Notes, revisions),
		copiesInState(ctx, a.plain.Documents, revisions), e.copiesInSnapshots(ctx, revisions),
	} {
		report.Remaining = append(report.Remaining, places...)
	}
	return report, nil
}

// erasure looks for copies of what is erased from an agent.
type erasure struct{ a *Agent }

// forgetCopy removes the copy that snapshots of an agent in a database have made on this machine, and names it where that fails, and
// those of other machines.
func (e erasure) forgetCopy(ctx context.Context) []string {
	if !e.a.config.OnPostgres() {
		return nil
	}
	places := []string{"copies for snapshots in the caches of other machines, until their next snapshot"}
	if err := e.a.removeCopy(ctx); err != nil {
		places = append(places, "the copy for snapshots in the cache of this machine, which could not be removed: "+err.Error())
	}
	return places
}

// copiesElsewhere names the copies for snapshots that only their machines can remove.
const copiesElsewhere = "copies for snapshots of the agent in cache/postgres of other machines that took some"

// removeCopy removes the copy that snapshots of an agent in a database have made on this machine.
func (a *Agent) removeCopy(ctx context.Context) error {
	p, err := a.databasePlace(a.home)
	if err != nil {
		return err
	}
	return p.Forget(ctx, a.Tenant(), a.ID())
}

// ForgetAnswers removes the answers that a server gave about the agent, which may
// hold what was erased, and names them where that fails.
func (a *Agent) ForgetAnswers(ctx context.Context) []string {
	db, err := a.LookAtLedger(ctx)
	if err == nil && db != nil {
		defer db.Close()
		err = db.ForgetAnswers(ctx, string(a.Tenant()), string(a.ID()))
	}
	if err != nil {
		return []string{"answers that a server has kept, which could not be removed: " + err.Error()}
	}
	return nil
}

// keptByDatabase names what restores and moves have left of the agent in a database, and moves in other homes.
func (e erasure) keptByDatabase(ctx context.Context) (places []string) {
	if !e.a.config.OnPostgres() && e.a.config.DSNFileOf(string(e.a.Tenant())) == "" {
		return nil // there is none
	}
	server, done, err := e.a.Database(ctx)
	if err == nil {
		if places, err = e.keptBy(ctx, server); err == nil {
			err = done()
		} else {
			_ = done()
		}
	}
	if err != nil {
		places = append(places, "rows of earlier generations in the database, which were not looked for: "+err.Error())
	}
	return places
}

func (e erasure) keptBy(ctx context.Context, server *postgres.Server) (places []string, err error) {
	if !e.a.config.OnPostgres() {
		st, err := server.Standing(ctx, e.a.Tenant(), e.a.ID())
		if err == nil && st.Moved() {
			places = append(places, "the rows that a move has kept in the database, which were not searched; amber move --forget")
		}
		return places, err
	}
	list, err := mirror.Generations(ctx, mirror.Agent{Server: server, Tenant: e.a.Tenant(), ID: e.a.ID()})
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		if g.State != mirror.Live {
			places = append(places, fmt.Sprintf("generation %d of the agent in the database, which is not live and was not searched; amber snapshot gc --old-generations", g.Number))
		}
	}
	elsewhere, err := server.KeptElsewhere(ctx, e.a.Tenant(), e.a.ID(), move.HomePlace(e.a.home))
	return append(places, elsewhere...), err
}

// leftBehind names what restores and moves have put aside: parked journal entries, and
// generations that were kept. Neither is searched, and both may hold any text.
func (e erasure) leftBehind(ctx context.Context) []string {
	places := e.keptByDatabase(ctx)
	states, err := parking(e).states(ctx, nil)
	if err != nil {
		places = append(places, "parked entries of the crash journal, which were not looked for: "+err.Error())
	}
	for _, st := range states {
		if st.Bytes > 0 || st.Quarantined > 0 || st.Error != "" {
			places = append(places, fmt.Sprintf("entries parked with generation %d, which were not searched; amber journal drain --from-generation %[1]d", st.Generation))
		}
	}
	live, err := e.a.folder.Current()
	if err != nil {
		return append(places, "old generations, which were not looked for: "+err.Error())
	}
	generations, err := e.a.folder.Generations()
	if err != nil {
		return append(places, "old generations, which were not looked for: "+err.Error())
	}
	for _, n := range generations {
		if n >= live.Generation {
			continue
		}
		if byMove, _ := e.a.folder.Keeps(n); byMove {
			places = append(places, fmt.Sprintf("generation %d, which was kept by a move and was not searched: gen/%[1]d of the agent's folder; amber move --forget", n))
		} else {
			places = append(places, fmt.Sprintf("generation %d, which was kept by a restore and was not searched: gen/%[1]d of the agent's folder", n))
		}
	}
	return places
}

// copiesInSnapshots names the snapshots that were taken since the memory was made,
// and counts the older ones: these hold no revision of it, but may hold the turn or
// the note that it came from. None is searched.
func (e erasure) copiesInSnapshots(ctx context.Context, revisions []amber.Memory) []string {
	if len(revisions) == 0 {
		return nil
	}
	engine, err := e.a.Snapshots(ctx)
	if err != nil {
		return []string{"snapshots, which were not looked for: " + err.Error()}
	}
	var places []string
	older := 0
	err = EachSnapshot(ctx, engine, wire.SnapshotQuery{Tenant: e.a.Tenant(), Agent: e.a.ID()}, func(m wire.SnapshotMeta) error {
		if m.Damage == "" && m.CreatedAt.Before(revisions[0].CreatedAt) {
			older++
		} else {
			places = append(places, fmt.Sprintf("snapshot %s, which was not searched", m.ID))
		}
		return nil
	})
	if older > 0 {
		places = append(places, words.Count(older, "snapshot", "snapshots")+" from before it was made, which may hold the turn or note it came from")
	}
	if err != nil {
		places = append(places, "snapshots, which were not looked for: "+err.Error())
	}
	return places
}

// EachSnapshot calls fn for every snapshot that a query finds, newest first.
func EachSnapshot(ctx context.Context, e wire.SnapshotReader, q wire.SnapshotQuery, fn func(wire.SnapshotMeta) error) error {
	q.Limit = amber.MaxPageSize
	for {
		page, err := e.ListSnapshots(ctx, q)
		if err != nil {
			return err
		}
		for _, m := range page.Items {
			if err := fn(m); err != nil {
				return err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// short is the end of an id by which people name a snapshot.
func short(id amber.SnapshotID) string {
	if len(id) == 36 {
		return string(id[28:])
	}
	return string(id)
}
