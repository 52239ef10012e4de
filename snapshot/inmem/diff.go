package inmem

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// tableMemories is the name under which memories are counted.
const tableMemories = "memories"

// DiffSnapshots implements [amber.SnapshotReader].
func (s *Snapshotter) DiffSnapshots(ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
	diff := amber.SnapshotDiff{A: r.A, B: r.B, Store: amber.StoreDiff{Tables: []amber.TableDiff{}}}
	refs := [2]amber.SnapshotRef{{Tenant: r.Tenant, Agent: r.Agent, ID: r.A}, {Tenant: r.Tenant, Agent: r.Agent, ID: r.B}}
	for _, ref := range refs {
		if err := checkRef(ref); err != nil {
			return diff, err
		}
	}
	err := s.run(ctx, "compare snapshots", func() error {
		var c [2]Contents
		for i, ref := range refs {
			x, err := s.find(ref)
			if err == nil {
				c[i], err = s.vault(r.Tenant).contents(x)
			}
			if err != nil {
				return err
			}
		}
		plan := compare(c[0], c[1], r.Rows)
		diff.Store, diff.Notes, diff.State = plan.Store, plan.Notes, plan.State
		return nil
	})
	return diff, err
}

// compare tells what changes from a to b.
func compare(a, b Contents, rows bool) amber.RestorePlan {
	notes := compareMaps(a.Notes, b.Notes, func(x, y string) bool { return x == y })
	state := compareMaps(a.State, b.State, func(x, y string) bool { return x == y })
	return amber.RestorePlan{
		Store: storeDiff(a, b, rows), Notes: filesDiff(notes, ".md", rows), State: filesDiff(state, ".json", rows),
	}
}

// change is one key that differs.
type change struct {
	key string
	op  amber.Op
}

// changes are the keys that differ, in their order.
type changes []change

func (c changes) count(op amber.Op) (n int64) {
	for _, x := range c {
		if x.op == op {
			n++
		}
	}
	return n
}

func compareMaps[K ~string, V any](a, b map[K]V, equal func(V, V) bool) (list changes) {
	for k, v := range b {
		if was, ok := a[k]; !ok {
			list = append(list, change{string(k), amber.OpInsert})
		} else if !equal(was, v) {
			list = append(list, change{string(k), amber.OpUpdate})
		}
	}
	for k := range a {
		if _, ok := b[k]; !ok {
			list = append(list, change{string(k), amber.OpDelete})
		}
	}
	slices.SortFunc(list, func(x, y change) int { return cmp.Compare(x.key, y.key) })
	return list
}

func storeDiff(a, b Contents, rows bool) amber.StoreDiff {
	list := compareMaps(a.Memories, b.Memories, Memory.equal)
	diff := amber.StoreDiff{Tables: []amber.TableDiff{{
		Name: tableMemories, Added: list.count(amber.OpInsert), Changed: list.count(amber.OpUpdate), Removed: list.count(amber.OpDelete),
	}}}
	if !rows {
		return diff
	}
	titles := map[amber.MemoryID]Memory{}
	maps.Copy(titles, a.Memories)
	maps.Copy(titles, b.Memories)
	shown := list[:min(len(list), amber.MaxDiffRows)]
	for _, c := range shown {
		m := titles[amber.MemoryID(c.key)]
		line, _, _ := strings.Cut(cmp.Or(m.Title, m.Content), "\n")
		diff.Rows = append(diff.Rows, amber.RowDiff{Table: tableMemories, Key: c.key, Op: c.op, Title: line})
	}
	diff.More = int64(len(list) - len(shown))
	return diff
}

func filesDiff(list changes, suffix string, rows bool) amber.FilesDiff {
	diff := amber.FilesDiff{Added: list.count(amber.OpInsert), Changed: list.count(amber.OpUpdate), Removed: list.count(amber.OpDelete)}
	if rows {
		for _, c := range list[:min(len(list), amber.MaxDiffRows)] {
			diff.Files = append(diff.Files, amber.RowDiff{Key: c.key + suffix, Op: c.op})
		}
	}
	return diff
}
