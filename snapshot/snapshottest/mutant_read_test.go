package snapshottest_test

import (
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

type (
	listFunc = func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error)
	diffFunc = func(b *broken, ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error)
)

// listing changes a page.
func listing(f func(q amber.SnapshotQuery, page *amber.Page[amber.SnapshotMeta])) listFunc {
	return func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
		page, err := b.Snapshotter.ListSnapshots(ctx, q)
		f(q, &page)
		return page, err
	}
}

// comparing changes a diff.
func comparing(f func(d *amber.SnapshotDiff)) diffFunc {
	return func(b *broken, ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
		d, err := b.Snapshotter.DiffSnapshots(ctx, r)
		f(&d)
		return d, err
	}
}

// byID finds a snapshot whatever agent and tenant the request is of.
func (b *broken) byID(ctx context.Context, ref amber.SnapshotRef) amber.SnapshotRef {
	for _, tenant := range []amber.TenantID{"acme", "other"} {
		for _, agent := range []amber.AgentID{"scout", "pilot"} {
			there := amber.SnapshotRef{Tenant: tenant, Agent: agent, ID: ref.ID}
			if _, err := b.Snapshotter.ShowSnapshot(ctx, there); err == nil {
				return there
			}
		}
	}
	return ref
}

// hide turns an error of a kind into none.
func hide(err error, kind amber.Kind) error {
	if amber.KindOf(err) == kind {
		return nil
	}
	return err
}

func readMutants() []mutant {
	return []mutant{
		{"list is oldest first", "list/newest-first", true, broken{
			list: listing(func(_ amber.SnapshotQuery, p *amber.Page[amber.SnapshotMeta]) { slices.Reverse(p.Items) }),
		}},
		{"list hides safety snapshots", "list/newest-first", true, broken{
			list: listing(func(_ amber.SnapshotQuery, p *amber.Page[amber.SnapshotMeta]) {
				p.Items = slices.DeleteFunc(p.Items, func(m amber.SnapshotMeta) bool { return strings.HasPrefix(m.Label, amber.LabelBeforeRestore) })
			}),
		}},
		{"list ignores the limit", "list/pages", false, broken{
			list: func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
				q.Limit = max(0, q.Limit) * 10
				return b.Snapshotter.ListSnapshots(ctx, q)
			},
		}},
		{"pages overlap", "list/pages", false, broken{
			list: func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
				page, err := b.Snapshotter.ListSnapshots(ctx, q)
				if q.Limit > 1 && len(page.Items) == q.Limit && page.Next != "" {
					q.Limit--
					short, _ := b.Snapshotter.ListSnapshots(ctx, q)
					page.Next = short.Next
				}
				return page, err
			},
		}},
		{"last page has a next one", "list/pages", false, broken{
			list: listing(func(q amber.SnapshotQuery, p *amber.Page[amber.SnapshotMeta]) {
				if len(p.Items) == q.Limit && p.Next == "" {
					p.Next = q.Cursor
				}
			}),
		}},
		{"list of nothing is nil", "list/unknown-agent-is-empty", false, broken{
			list: listing(func(_ amber.SnapshotQuery, p *amber.Page[amber.SnapshotMeta]) {
				if len(p.Items) == 0 {
					p.Items = nil
				}
			}),
		}},
		{"list begins anew for a bad cursor", "list/bad-limit-and-cursor", false, broken{
			list: func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
				page, err := b.Snapshotter.ListSnapshots(ctx, q)
				if err != nil && q.Cursor != "" {
					q.Cursor = ""
					return b.Snapshotter.ListSnapshots(ctx, q)
				}
				return page, err
			},
		}},
		{"show does not look whose snapshot it is", "show/unknown-is-not-found", false, broken{
			show: func(b *broken, ctx context.Context, ref amber.SnapshotRef) (amber.SnapshotDetail, error) {
				return b.Snapshotter.ShowSnapshot(ctx, b.byID(ctx, ref))
			},
		}},
		{"verify does not look whose tenant's snapshot it is", "tenant/foreign-is-not-found", false, broken{
			verify: func(b *broken, ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
				r.SnapshotRef = b.byID(ctx, r.SnapshotRef)
				return b.Snapshotter.VerifySnapshot(ctx, r)
			},
		}},
		{"foreign tenant is told that there is one", "tenant/foreign-is-not-found", false, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error {
				err := b.Snapshotter.DeleteSnapshot(ctx, ref)
				if b.byID(ctx, ref) != ref {
					err = amber.Errorf(amber.KindCrossTenant, "delete", string(ref.ID), "it is another tenant's")
				}
				return err
			},
		}},
		{"verify finds damage everywhere", "verify/whole-snapshot", false, broken{
			verify: func(b *broken, ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
				v, err := b.Snapshotter.VerifySnapshot(ctx, r)
				v.Damaged = append(v.Damaged, amber.Damage{Object: "notes"})
				return v, err
			},
		}},
		{"verify never tells what it left out", "verify/whole-snapshot", false, broken{
			verify: func(b *broken, ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
				v, err := b.Snapshotter.VerifySnapshot(ctx, r)
				v.NotChecked = nil
				return v, err
			},
		}},
		{"verify of nothing is well", "verify/unknown-is-not-found", false, broken{
			verify: func(b *broken, ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
				v, err := b.Snapshotter.VerifySnapshot(ctx, r)
				return v, hide(err, amber.KindNotFound)
			},
		}},
		{"check says that it read everything", "check/whole-repository", false, broken{
			check: func(b *broken, ctx context.Context, r amber.CheckRequest) (amber.CheckReport, error) {
				c, err := b.Snapshotter.CheckRepository(ctx, r)
				c.DataRead = true
				return c, err
			},
		}},
		{"check takes a stub for a gap", "check/whole-repository", false, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error {
				b.notes["gap"] = true
				return b.Snapshotter.DeleteSnapshot(ctx, ref)
			},
			check: func(b *broken, ctx context.Context, r amber.CheckRequest) (amber.CheckReport, error) {
				c, err := b.Snapshotter.CheckRepository(ctx, r)
				if b.notes["gap"] != nil {
					c.Damaged = append(c.Damaged, amber.Damage{Object: "chain"})
				}
				return c, err
			},
		}},
		{"check of nothing fails", "check/nothing-is-whole", false, broken{
			check: func(b *broken, ctx context.Context, r amber.CheckRequest) (amber.CheckReport, error) {
				c, err := b.Snapshotter.CheckRepository(ctx, r)
				if err == nil && c.Blobs == 0 {
					err = amber.Errorf(amber.KindNotFound, "check", "", "there is no repository")
				}
				return c, err
			},
		}},
		{"diff does not see changed notes", "diff/counts", true, broken{
			diff: comparing(func(d *amber.SnapshotDiff) { d.Notes.Changed = 0 }),
		}},
		{"diff is the same in both directions", "diff/counts", true, broken{
			diff: func(b *broken, ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
				d, err := b.Snapshotter.DiffSnapshots(ctx, r)
				if r.A > r.B {
					d.State.Added, d.State.Removed = d.State.Removed, d.State.Added
				}
				return d, err
			},
		}},
		{"diff tells one where there are many", "diff/counts", true, broken{
			diff: comparing(func(d *amber.SnapshotDiff) {
				if len(d.Store.Tables) > 0 {
					t := &d.Store.Tables[0]
					t.Added, t.Changed, t.Removed = min(t.Added, 1), min(t.Changed, 1), min(t.Removed, 1)
				}
			}),
		}},
		{"diff counts edits as added and removed", "diff/each-part-alone", true, broken{
			diff: comparing(func(d *amber.SnapshotDiff) {
				if len(d.Store.Tables) > 0 {
					t := &d.Store.Tables[0]
					t.Added, t.Changed, t.Removed = t.Added+t.Changed, 0, t.Removed+t.Changed
				}
			}),
		}},
		{"diff of a snapshot with another is never nothing", "diff/equal-is-nothing", true, broken{
			diff: comparing(func(d *amber.SnapshotDiff) {
				if d.A != d.B {
					d.State.Changed = max(d.State.Changed, 1)
				}
			}),
		}},
		{"diff counts what a restore stamped", "diff/there-and-back-is-nothing", true, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				b.notes["stamped"] = true
				return b.Snapshotter.Restore(ctx, r)
			},
			diff: func(b *broken, ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
				d, err := b.Snapshotter.DiffSnapshots(ctx, r)
				if b.notes["stamped"] != nil && len(d.Store.Tables) > 0 {
					d.Store.Tables[0].Changed++
				}
				return d, err
			},
		}},
		{"diff names what nobody asked for", "diff/rows", false, broken{
			diff: func(b *broken, ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
				r.Rows = true
				return b.Snapshotter.DiffSnapshots(ctx, r)
			},
		}},
		{"diff names all as updates", "diff/rows", false, broken{
			diff: comparing(func(d *amber.SnapshotDiff) {
				for i := range d.Store.Rows {
					d.Store.Rows[i].Op = amber.OpUpdate
				}
			}),
		}},
		{"diff with nothing is nothing", "diff/unknown-is-not-found", false, broken{
			diff: func(b *broken, ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
				d, err := b.Snapshotter.DiffSnapshots(ctx, r)
				return d, hide(err, amber.KindNotFound)
			},
		}},
		{"bad tenants have no snapshots", "request/bad-names-are-invalid", false, broken{
			list: func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
				page, err := b.Snapshotter.ListSnapshots(ctx, q)
				return page, hide(err, amber.KindInvalid)
			},
		}},
		{"bad ids are not found", "request/bad-snapshot-ids-are-invalid", false, broken{
			show: func(b *broken, ctx context.Context, ref amber.SnapshotRef) (amber.SnapshotDetail, error) {
				d, err := b.Snapshotter.ShowSnapshot(ctx, ref)
				if err != nil {
					err = amber.Errorf(amber.KindNotFound, "show", "", "there is no such snapshot")
				}
				return d, err
			},
		}},
	}
}
