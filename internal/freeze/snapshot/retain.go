package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// DeleteSnapshot implements [wire.SnapshotKeeper].
func (e *Engine) DeleteSnapshot(ctx context.Context, ref wire.SnapshotRef) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	err := e.keeping(ctx, ref.Tenant, ref.Agent, func(ctx context.Context, p permit.Permit, rep *repository) error {
		entries, err := rep.catalog.List(ctx, ref.Agent)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(entries, func(x repo.Entry) bool { return x.Manifest.ID == ref.ID })
		switch {
		case at < 0:
			return noSnapshot(ref)
		case entries[at].Pinned:
			return amber.Errorf(amber.KindRefused, "delete snapshot", string(ref.ID), "the snapshot is pinned").WithHint("amber snapshot unpin " + string(ref.ID))
		case entries[at].Usable() == nil && usable(entries) == 1:
			return amber.Errorf(amber.KindRefused, "delete snapshot", string(ref.ID), "the last snapshot of agent %s cannot be deleted", string(ref.Agent))
		}
		return rep.catalog.Delete(ctx, p, ref.Agent, ref.ID, "deleted", e.now())
	})
	if err == nil {
		e.emit(ctx, events.EventDeleted, ref.Tenant, ref.Agent, string(ref.ID), ref)
	}
	return err
}

// usable counts the snapshots whose manifest can be read and whose signature is neither bad nor
// removed.
func usable(entries []repo.Entry) int {
	n := 0
	for _, e := range entries {
		if e.Usable() == nil {
			n++
		}
	}
	return n
}

// keeping runs fn while no other process takes, restores or deletes snapshots of an agent. No process can take snapshots of an agent
// that is gone: then the lock of the repository is enough.
func (e *Engine) keeping(ctx context.Context, tenant amber.TenantID, id amber.AgentID, fn func(context.Context, permit.Permit, *repository) error) error {
	agent, err := e.place.Folder(tenant, id)
	if err != nil {
		return err
	}
	if _, err := e.place.Current(ctx, agent); amber.KindOf(err) == amber.KindNotFound {
		return e.with(ctx, tenant, func(rep *repository) error { return fn(ctx, rep.permit, rep) })
	}
	return e.operate(ctx, agent, func(ctx context.Context, o operation) error {
		return e.with(ctx, tenant, func(rep *repository) error { return fn(ctx, o.Permit, rep) })
	})
}

// PinSnapshot implements [wire.SnapshotKeeper].
func (e *Engine) PinSnapshot(ctx context.Context, ref wire.SnapshotRef, pinned bool) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	return e.keeping(ctx, ref.Tenant, ref.Agent, func(ctx context.Context, p permit.Permit, rep *repository) error {
		if _, err := rep.catalog.Get(ctx, ref.Agent, ref.ID); err != nil {
			return err
		}
		return rep.catalog.SetPin(ctx, p, ref.Agent, ref.ID, pinned, e.now())
	})
}

// PruneSnapshots implements [wire.SnapshotKeeper].
func (e *Engine) PruneSnapshots(ctx context.Context, r wire.PruneRequest) (wire.PruneReport, error) {
	report := wire.PruneReport{Deleted: []amber.SnapshotID{}, Kept: []wire.Kept{}, DryRun: r.DryRun}
	if err := checkRules(r); err != nil {
		return report, err
	}
	err := e.keeping(ctx, r.Tenant, r.Agent, func(ctx context.Context, p permit.Permit, rep *repository) error {
		entries, err := rep.catalog.List(ctx, r.Agent)
		if err != nil {
			return err
		}
		kept := retain(entries, r, e.now())
		for _, entry := range entries {
			id := entry.Manifest.ID
			if why, ok := kept[id]; ok {
				report.Kept = append(report.Kept, wire.Kept{ID: id, Reason: why})
				continue
			}
			if !r.DryRun {
				if err := rep.catalog.Delete(ctx, p, r.Agent, id, "pruned", e.now()); err != nil {
					return err
				}
			}
			report.Deleted = append(report.Deleted, id)
		}
		return nil
	})
	if noRepository(err) {
		err = nil
	}
	e.tellPruned(ctx, r, report)
	return report, err
}

func checkRules(r wire.PruneRequest) error {
	least, most := r.KeepSafety, 0
	var names []string
	for _, rule := range r.Rules() {
		least, most = min(least, *rule.Count), max(most, *rule.Count)
		names = append(names, rule.Name)
	}
	switch {
	case least < 0:
		return amber.Errorf(amber.KindInvalid, "prune snapshots", "", "a rule has a negative number")
	case most == 0:
		return amber.Errorf(amber.KindInvalid, "prune snapshots", "", "no rule keeps any snapshot: give at least one of %s", strings.Join(names, ", "))
	}
	return nil
}

// tellPruned publishes what a prune has deleted.
func (e *Engine) tellPruned(ctx context.Context, r wire.PruneRequest, report wire.PruneReport) {
	if r.DryRun || len(report.Deleted) == 0 {
		return
	}
	for _, id := range report.Deleted {
		e.emit(ctx, events.EventDeleted, r.Tenant, r.Agent, string(id), wire.SnapshotRef{Tenant: r.Tenant, Agent: r.Agent, ID: id})
	}
	e.emit(ctx, events.EventPruned, r.Tenant, r.Agent, string(r.Agent)+"/"+e.instantKey(), report)
}

// retain decides which snapshots stay, and why. Entries are newest first. An entry that cannot be
// used stays, because its content is unknown. It satisfies no rule, because a restore cannot count
// on it.
func retain(entries []repo.Entry, r wire.PruneRequest, now amber.Time) map[amber.SnapshotID]string {
	kept := map[amber.SnapshotID]string{}
	keep := func(e repo.Entry, why string) {
		if _, ok := kept[e.Manifest.ID]; !ok {
			kept[e.Manifest.ID] = why
		}
	}
	// The rules hold for each device apart: what others put into the repository
	// takes no place of what was taken here.
	devices := map[string][]repo.Entry{}
	for _, e := range entries {
		if e.Usable() != nil {
			keep(e, "cannot be used: "+e.Usable().Error())
			continue
		}
		devices[e.Manifest.Device] = append(devices[e.Manifest.Device], e)
	}
	for _, own := range devices {
		retainDevice(own, r, now, keep)
	}
	return kept
}

// retainDevice applies the rules to the snapshots of one device.
func retainDevice(entries []repo.Entry, r wire.PruneRequest, now amber.Time, keep func(repo.Entry, string)) {
	var plain, safety []repo.Entry
	for _, e := range entries {
		if e.Pinned {
			keep(e, "pinned")
		}
		if r.AutomaticOnly && !strings.HasPrefix(e.Manifest.Label, wire.LabelAutomatic) {
			keep(e, "not taken automatically")
			continue
		}
		if strings.HasPrefix(e.Manifest.Label, wire.LabelBeforeRestore) {
			safety = append(safety, e)
		} else {
			plain = append(plain, e)
		}
	}
	oldest := amber.Time{}
	if r.MaxAge > 0 {
		oldest = now.Add(-r.MaxAge)
	}
	young := slices.DeleteFunc(slices.Clone(plain), func(e repo.Entry) bool { return e.Manifest.CreatedAt.Before(oldest) })
	for i, e := range young[:min(r.KeepLast, len(young))] {
		keep(e, fmt.Sprintf("last %d", i+1))
	}
	for _, rule := range r.Rules() {
		slotOf := slots[rule.Unit]
		if slotOf == nil { // the last ones
			continue
		}
		taken := map[string]bool{}
		for _, e := range young { // newest first: the last one of each slot stays
			slot := slotOf(e.Manifest.CreatedAt.Time())
			if taken[slot] || len(taken) == *rule.Count {
				continue
			}
			taken[slot] = true
			keep(e, rule.Name+" "+slot)
		}
	}
	for i, e := range safety {
		if i < r.KeepSafety || r.SafetyAge > 0 && !e.Manifest.CreatedAt.Before(now.Add(-r.SafetyAge)) {
			keep(e, "taken before a restore")
		}
	}
	keepNewest(entries, plain, keep)
}

// keepNewest keeps the newest snapshot whatever its age, and the newest that
// was not taken before a restore.
func keepNewest(entries, plain []repo.Entry, keep func(repo.Entry, string)) {
	if len(entries) > 0 {
		keep(entries[0], "the last one")
	}
	if len(plain) > 0 {
		keep(plain[0], "the last one")
	}
}

// slots name the unit of time of a rule that a snapshot was taken in.
var slots = map[string]func(time.Time) string{
	"hour": func(t time.Time) string { return t.Format("2006-01-02 15h") },
	"day":  func(t time.Time) string { return t.Format("2006-01-02") },
	"week": week,
}

func week(t time.Time) string {
	year, n := t.ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, n)
}

// wholeChains refuses to free anything while snapshots are missing that this
// home has written: what they need looks like garbage, and is all there is of
// them.
func (rep *repository) wholeChains(ctx context.Context) error {
	for _, chain := range rep.e.chains(rep.tenant) {
		known := func(device string) (repo.Link, bool) { return rep.e.book.heads(rep.tenant)(chain.Agent, device) }
		r, err := rep.catalog.CheckChain(ctx, chain.Agent, known, chain.Device)
		if err != nil {
			return err
		}
		if len(r.Damaged) > 0 {
			return amber.Errorf(amber.KindDamaged, "collect garbage", string(chain.Agent), "the chain of snapshots is not whole, so nothing is removed: %s", r.Damaged[0]).
				WithHint("amber snapshot check; if you removed snapshots yourself, remove " + rep.e.book.headPath(rep.tenant, chain.Agent, chain.Device))
		}
	}
	return nil
}

// CollectGarbage implements [wire.SnapshotKeeper].
func (e *Engine) CollectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error) {
	report, err := e.collectGarbage(ctx, r)
	if err == nil && !r.DryRun {
		e.emit(ctx, events.EventGC, r.Tenant, "", e.instantKey(), report)
	}
	return report, err
}

// Worker returns the engine that [Retention] works with: its own report tells about the
// garbage it has collected.
func (e *Engine) Worker() wire.Snapshotter { return quietKeeper{e} }

type quietKeeper struct{ *Engine }

func (k quietKeeper) CollectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error) {
	return k.collectGarbage(ctx, r)
}

func (e *Engine) collectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error) {
	report := wire.GCReport{Orphans: []string{}, DryRun: r.DryRun}
	if _, err := amber.ParseTenantID(string(r.Tenant)); err != nil {
		return report, err
	}
	// Killed operations leave plain text in the scratch folder. Remove that first, even if an error
	// prevents the rest of the collection.
	var swept error
	if report.Orphans, swept = e.sweepScratch(r.DryRun); swept != nil {
		return report, swept
	}
	rep, err := e.open(ctx, r.Tenant, fsx.Exclusive, atOnce)
	if amber.KindOf(err) == amber.KindBusy {
		report.InUse = true
		rep, err = e.open(ctx, r.Tenant, fsx.Shared, waiting)
	}
	if noRepository(err) {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	defer rep.close()
	if err := rep.wholeChains(ctx); err != nil {
		return report, err
	}
	collect := func() (repo.GCReport, error) {
		return rep.CollectGarbage(ctx, rep.permit, repo.GCOptions{Tenant: r.Tenant, Now: e.o.Clock, Grace: e.o.Grace, DryRun: r.DryRun, MaySweep: !report.InUse})
	}
	got, err := collect()
	if amber.KindOf(err) == amber.KindDamaged && !r.DryRun {
		// An index object may be lost. The packs themselves say what they contain, so the index can
		// be rebuilt.
		if rerr := rep.Rebuild(ctx); rerr != nil {
			return report, errors.Join(err, rerr)
		}
		got, err = collect()
	}
	report.Condemned, report.CondemnedBytes = got.Condemned, got.CondemnedBytes
	report.Deleted, report.Freed, report.Repacked = got.Deleted, got.Freed, got.Repacked
	if err != nil {
		return report, err
	}
	orphans, err := rep.sweep(ctx, r)
	report.Orphans = append(report.Orphans, orphans...)
	if r.DryRun {
		return report, err
	}
	temporary, terr := rep.sweepTemporary(ctx)
	report.Orphans = append(report.Orphans, temporary...)
	return report, errors.Join(err, terr)
}
