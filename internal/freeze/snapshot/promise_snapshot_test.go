package snapshot_test

import (
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func snapshotChecks() []check {
	return []check{
		{"snapshot/unknown-agent-is-not-found", unknownAgent},
		{"snapshot/tells-what-it-is", tellsWhatItIs},
		{"snapshot/leaves-the-agent-alone", leavesAlone},
		{"snapshot/labels", labels},
		{"snapshot/chain", chain},
		{"snapshot/chain-goes-on-after-deletion", chainAfterDeletion},
		{"snapshot/is-there-after-opening-again", lasts},
		{"snapshot/unknown-source-is-not-found", unknownSource},
		{"snapshot/of-many-agents-at-once", snapshotsApart},
		{"context/ended-before", contextEnded},
	}
}

// unknownAgent mistypes a name: elsewhere that made an empty snapshot, which then
// counted for retention.
func unknownAgent(w *site) {
	typo := w.agent(tenant, "scuot")
	_, err := w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: tenant, Agent: typo.id})
	refused(err, amber.KindNotFound, "snapshot of an agent that does not exist, in an empty world")
	typo.isAbsent("after a snapshot of it was refused")

	scout := w.lived(tenant, "scout")
	first := scout.snapshot("first")
	_, err = w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: tenant, Agent: typo.id})
	refused(err, amber.KindNotFound, "snapshot of an agent that does not exist")
	_, err = w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: typo.ref(unknown)})
	refused(err, amber.KindNotFound, "restore of an agent that does not exist")
	typo.isAbsent("after it was refused")
	typo.lists()
	scout.lists(first.ID)
}

func tellsWhatItIs(w *site) {
	a := w.lived(tenant, "scout")
	w.tick()
	m := get(w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: tenant, Agent: a.id, Label: "before the move", Pin: true}))
	_, err := amber.ParseSnapshotID(string(m.ID))
	do(err)
	same(m.Tenant, tenant, "tenant")
	same(m.Agent, a.id, "agent")
	same(m.Label, "before the move", "label")
	same(m.CreatedAt, w.now(), "the instant it holds")
	hold(m.Pinned, "a snapshot that was to be pinned is not")
	hold(m.Digest != "" && m.Device != "", "digest %q, device %q", m.Digest, m.Device)
	hold(m.BytesTotal > 0 && m.BytesNew >= 0, "%d bytes in all, %d new", m.BytesTotal, m.BytesNew)
	same(len(m.Skipped), 0, "things that were skipped")
	same(m.Damage, "", "damage")
	listed := a.list()
	same(len(listed), 1, "snapshots")
	sameMeta(listed[0], m, "what the listing tells")
	d := get(w.engine.ShowSnapshot(w.ctx, a.ref(m.ID)))
	sameMeta(d.SnapshotMeta, m, "what show tells")
	for _, p := range parts() {
		hold(slices.ContainsFunc(d.Parts, func(x wire.SnapshotPart) bool { return x.Name == p && x.Digest != "" }), "show tells nothing of part %s: %+v", p, d.Parts)
	}
	other := a.snapshot("another")
	hold(other.ID != m.ID && other.Digest != m.Digest && !other.Pinned, "the second snapshot is not one of its own")
}

// sameMeta compares what never changes about a snapshot, and its pin.
func sameMeta(got, want wire.SnapshotMeta, what string) {
	key := func(m wire.SnapshotMeta) [10]any {
		return [10]any{m.ID, m.Tenant, m.Agent, m.Label, m.CreatedAt, m.Digest, m.Device, m.Counter, m.Parent, m.Pinned}
	}
	same(key(got), key(want), "%s", what)
}

func leavesAlone(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	a.snapshot("")
	a.is(a.model, "after its snapshot")
	b.is(b.model, "after the snapshot of another agent")
	b.lists()
	a.remember()
	a.is(a.model, "after a write behind the snapshot")
}

func labels(w *site) {
	a := w.lived(tenant, "scout")
	for _, label := range []string{"two\nlines", "a\ttab", "a \x00 byte", "bad \xff UTF-8", strings.Repeat("x", wire.MaxLabelBytes+1)} {
		_, err := w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: tenant, Agent: a.id, Label: label})
		refused(err, amber.KindInvalid, "label %.20q", label)
	}
	a.lists()
	for _, label := range []string{"", "naïve — ünïcode", strings.Repeat("x", wire.MaxLabelBytes)} {
		s := a.snapshot(label)
		same(s.Label, label, "label in the answer")
		same(a.list()[0].Label, label, "label in the listing")
	}
}

func chain(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	last := a.snapshot("0")
	same(last.Parent, "", "parent of the first snapshot")
	for range 3 {
		a.remember()
		other := b.snapshot("between")
		hold(other.Device != last.Device || other.Parent != last.Digest, "the chain of one agent goes on in that of another")
		next := a.snapshot("next")
		follows(next, last)
		last = next
	}
	next := a.snapshot("nothing new")
	follows(next, last)
}

func follows(next, last taken) {
	same(next.Device, last.Device, "device")
	same(next.Counter, last.Counter+1, "counter")
	same(next.Parent, last.Digest, "parent")
}

func chainAfterDeletion(w *site) {
	a := w.lived(tenant, "scout")
	a.snapshot("stays")
	middle, last := a.snapshot("middle"), a.snapshot("last")
	do(w.engine.DeleteSnapshot(w.ctx, a.ref(middle.ID)))
	do(w.engine.DeleteSnapshot(w.ctx, a.ref(last.ID)))
	next := a.snapshot("next")
	follows(next, last)
	r := get(w.engine.VerifySnapshot(w.ctx, wire.VerifyRequest{SnapshotRef: a.ref(next.ID)}))
	hold(r.OK(), "the chain is damaged by deletions: %+v", r.Damaged)
}

func lasts(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	w.reopen()
	a.is(a.model, "after opening again")
	a.lists(s.ID)
	safety := a.returns(s)
	w.reopen()
	a.is(a.model, "restored and opened again")
	a.lists(safety.ID, s.ID)
}

func unknownSource(w *site) {
	a := w.lived(tenant, "scout")
	_, err := w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: tenant, Agent: a.id, Sources: []string{"no-such-source"}})
	refused(err, amber.KindNotFound, "snapshot with a source that is not there")
	a.lists()
}

func contextEnded(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	_, err := w.engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: tenant, Agent: a.id})
	refused(err, amber.KindUnreachable, "snapshot after the end of the context")
	_, err = w.engine.Restore(ctx, wire.RestoreRequest{SnapshotRef: a.ref(s.ID)})
	refused(err, amber.KindUnreachable, "restore after the end of the context")
	a.is(a.model, "after a restore that never began")
	a.lists(s.ID)
	a.returns(s)
}

func snapshotsApart(w *site) {
	agents := []*resident{w.lived(tenant, "scout"), w.lived(tenant, "pilot"), w.lived(foreign, "scout")}
	w.tick()
	all := make([]taken, len(agents))
	together(len(agents), func(i int) {
		a := agents[i]
		m := get(w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: a.tenant, Agent: a.id}))
		all[i] = taken{m, a.model.clone()}
	})
	for i, a := range agents {
		a.lists(all[i].ID)
		a.live()
		a.returns(all[i])
	}
}
