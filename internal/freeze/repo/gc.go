package repo

import (
	"context"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire"
)

// How packs are freed, without locks, beside snapshots that are being taken and
// beside other collections:
//
//	1  the lists of condemned packs are read, then all manifests, then the
//	   index; what the manifests need is marked
//	2  what is needed and lies in a condemned pack, or in one that is mostly
//	   dead, is copied to new packs
//	3  packs in which nothing is needed (any more) are condemned, for ever: they
//	   are put on a list with the time
//	4  packs that were on a list before step 1, for longer than the grace time,
//	   and in which nothing was marked, are deleted: index objects that do not
//	   name them, away with those that do, then the packs
//	5  they stay on the list for a while, so that no writer stores them again while
//	   another collection still means to delete them
//
// A snapshot reads the lists before it publishes its manifest, and what it needs from condemned packs it stores again,
// elsewhere. It publishes within half the grace time after that. So a manifest that relies on a pack was there before
// the pack was condemned, or came within half the grace time after: a mark that begins when the grace time is over sees
// it. After that mark no snapshot comes to rely on the pack, however long its deletion takes. The other half is for
// clocks that differ and for lists that take a while to be written.

// GCOptions say how garbage is collected.
type GCOptions struct {
	Tenant   amber.TenantID
	Now      amber.Clock
	Grace    time.Duration // between condemning a pack and deleting it
	DryRun   bool          // only tell
	MaySweep bool          // false: condemn, and delete no pack and no index object
}

// GCReport says what was done, or would be.
type GCReport struct {
	Condemned      int // packs that will go when the grace time is over
	CondemnedBytes int64
	Deleted        int // packs
	Freed          int64
	Repacked       int                // packs whose live blobs were copied
	Finished       []wire.SnapshotRef // snapshots whose deletion had been interrupted
	IndexRemoved   int                // index objects that others have replaced
}

// tombstoneTime is how long, at least, a pack that was deleted stays on the
// list, and how long a collection may take at most.
const tombstoneTime = time.Hour

func (o *GCOptions) hold() time.Duration { return max(o.Grace, tombstoneTime) }

// CollectGarbage frees what no snapshot needs. A pack goes in two collections, the grace time between them. When
// CollectGarbage cannot read a manifest, or an object that says what the manifest needs, it removes nothing, and so a
// locked repository keeps everything. Whatever interrupts it, every snapshot stays whole. Errors: invalid; refused when
// the repository is locked; damaged and too_new for that manifest, which it names; conflict when it took too long;
// those of the target; those of the permit, which is asked before anything is changed, and again before anything is deleted.
func (r *Repo) CollectGarbage(ctx context.Context, p permit.Permit, o GCOptions) (GCReport, error) {
	if _, err := amber.ParseTenantID(string(o.Tenant)); err != nil {
		return GCReport{}, err
	}
	if o.Now == nil || o.Grace < 0 {
		return GCReport{}, amber.Errorf(amber.KindInvalid, "collect garbage", "", "a clock and a grace time of at least 0 are required")
	}
	g := &collection{repo: r, permit: p, o: o}
	if err := g.look(ctx); err != nil {
		return GCReport{}, err
	}
	g.decide()
	if o.DryRun {
		return g.report, nil
	}
	if err := g.act(ctx); err != nil {
		return g.report, err
	}
	return g.report, r.Reload(ctx)
}

// collection is one run of CollectGarbage.
type collection struct {
	repo   *Repo
	permit permit.Permit
	o      GCOptions
	at     amber.Time // before the manifests were listed

	condemned condemnation
	stock     *stock
	listing   listing
	uses      map[ID]*packUse

	move   []ID              // blobs to copy
	next   map[ID]amber.Time // what the lists go on saying
	fresh  []ID              // packs that get the time of now there: new ones, and the doomed
	doomed map[ID]bool       // packs to delete now
	report GCReport
}

// look reads everything that is needed to decide. The order matters: see
// above.
func (g *collection) look(ctx context.Context) (err error) {
	if g.condemned, err = readCondemned(ctx, g.repo.target); err != nil {
		return err
	}
	g.at = amber.At(g.o.Now())
	if err := g.noStrays(ctx); err != nil {
		return err
	}
	if g.stock, err = g.repo.Catalog(g.o.Tenant).stock(ctx, false); err != nil {
		return err
	}
	if err := g.repo.Reload(ctx); err != nil {
		return err
	}
	if err := g.repo.keys().closed; err != nil {
		return damaged("collect garbage", "", err)
	}
	live, err := g.repo.mark(ctx, g.stock.entries)
	if err != nil {
		return err
	}
	if g.listing, err = list(ctx, g.repo.target); err != nil {
		return err
	}
	g.uses = g.repo.census(live, func(id ID) bool { _, ok := g.condemned.packs[id]; return ok })
	return nil
}

// noStrays fails when an object among the manifests has the name of no manifest:
// it may be a manifest that was renamed.
func (g *collection) noStrays(ctx context.Context) error {
	return g.repo.target.List(ctx, manifestPrefix, func(o target.Object) error {
		if _, _, ok := placeOf(manifestPrefix, o.Name); !ok {
			return errStrayManifest(o.Name)
		}
		return nil
	})
}

// decide says which packs go.
func (g *collection) decide() {
	g.next, g.doomed = map[ID]amber.Time{}, map[ID]bool{}
	g.report.Finished = g.stock.halves
	for id, at := range g.condemned.packs {
		if _, there := g.listing.packs[id]; !there && at.Add(g.o.hold()).Before(g.at) {
			continue // it was deleted, and the gc that condemned it has given up
		}
		g.next[id] = at
	}
	for _, id := range sorted(g.listing.packs) {
		g.pack(id, g.listing.packs[id])
	}
}

// pack decides about a pack that is there.
func (g *collection) pack(id ID, size int64) {
	use := g.uses[id]
	if use == nil {
		use = &packUse{} // no index object names it
	}
	at, condemned := g.condemned.packs[id]
	switch {
	case condemned && len(use.home) == 0 && g.o.MaySweep && !g.at.Before(at.Add(g.o.Grace)):
		g.doomed[id] = true
		g.fresh = append(g.fresh, id)
		g.report.Deleted++
		g.report.Freed += size
		return
	case condemned:
	case len(use.home) == 0 || use.mostlyDead():
		g.fresh = append(g.fresh, id)
	default:
		return
	}
	g.report.Condemned++
	g.report.CondemnedBytes += size
	if len(use.home) > 0 {
		g.report.Repacked++
		g.move = append(g.move, use.home...)
	}
}

// act does what was decided.
func (g *collection) act(ctx context.Context) error {
	g.report.Deleted, g.report.Freed = 0, 0 // until it is true
	if err := g.permit.Ask(ctx); err != nil {
		return err
	}
	if err := g.finishDeletes(ctx); err != nil {
		return err
	}
	if err := g.repack(ctx); err != nil {
		return err
	}
	if err := g.condemn(ctx); err != nil {
		return err
	}
	if !g.o.MaySweep {
		return nil
	}
	if err := g.permit.Ask(ctx); err != nil {
		return err
	}
	if err := g.sweepIndex(ctx); err != nil {
		return err
	}
	return g.sweepPacks(ctx)
}

// finishDeletes removes manifests that a stub says are deleted, and their
// pins.
func (g *collection) finishDeletes(ctx context.Context) error {
	c := g.repo.Catalog(g.o.Tenant)
	for _, refs := range [][]wire.SnapshotRef{g.stock.halves, g.stock.pins} {
		for _, ref := range refs {
			if err := c.finishDelete(ctx, ref.Agent, ref.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// repack copies blobs out of packs that will go, and reads the copies back.
func (g *collection) repack(ctx context.Context) error {
	if len(g.move) == 0 {
		return nil
	}
	avoid := make(map[ID]bool, len(g.next))
	for id := range g.next {
		avoid[id] = true
	}
	for _, id := range g.fresh {
		avoid[id] = true
	}
	if _, err := g.repo.StoreAgain(ctx, g.move, avoid); err != nil {
		return fmt.Errorf("collect garbage: %w", err)
	}
	return nil
}

// condemn writes the lists. The time is that of writing, not that of looking: the grace time begins when every process
// can see the list.
func (g *collection) condemn(ctx context.Context) error {
	if err := g.inTime(); err != nil {
		return err
	}
	now := amber.At(g.o.Now())
	for _, id := range g.fresh {
		g.next[id] = now
	}
	return g.condemned.replace(ctx, g.repo.target, g.next)
}

// inTime fails when what was seen is too old to act on: other collections may
// have forgotten by now which packs they have deleted.
func (g *collection) inTime() error {
	if g.o.Now().Sub(g.at.Time()) <= g.o.hold() {
		return nil
	}
	return amber.Errorf(amber.KindConflict, "collect garbage", "", "gc took longer than the grace time, so its view of the repository is out of date").
		WithHint("amber snapshot gc")
}

// sweepPacks deletes the packs that no index object names any more.
func (g *collection) sweepPacks(ctx context.Context) error {
	for _, id := range sorted(g.listing.packs) {
		if !g.doomed[id] {
			continue
		}
		if err := g.inTime(); err != nil {
			return err
		}
		if err := g.repo.target.Delete(ctx, packName(id)); err != nil {
			return err
		}
		g.report.Deleted++
		g.report.Freed += g.listing.packs[id]
	}
	return nil
}
