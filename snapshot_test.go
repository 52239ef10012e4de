package amber_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// snapshotShapes holds one full value of every type of snapshots that is
// written as JSON.
func snapshotShapes() map[string]any {
	const id amber.SnapshotID = "0193c5a8-0000-7000-8000-0000000000a1"
	skipped := []wire.Skipped{{Part: wire.PartNotes, Path: "link.md", Reason: wire.SkipNotRegular, Detail: "a symbolic link"}}
	checks := []wire.Check{{Name: "integrity", Part: wire.PartMemory, Digest: "d1", At: instant, OK: true, Detail: "x"}}
	damaged := []wire.Damage{{Object: "packs/ab/ab.pack", Reason: "r", Snapshots: []amber.SnapshotID{id}}}
	store := wire.StoreDiff{
		Tables: []wire.TableDiff{{Name: "memories", Added: 1, Changed: 2, Removed: 3}},
		Rows:   []wire.RowDiff{{Table: "memories", Key: "m1", Op: amber.OpUpdate, Title: "t"}}, More: 1,
	}
	files := wire.FilesDiff{Added: 1, Changed: 2, Removed: 3, Files: []wire.RowDiff{{Key: "a.md", Op: amber.OpInsert}}}
	meta := wire.SnapshotMeta{
		ID: id, Agent: "default", Tenant: "default", Label: "l", CreatedAt: instant, BytesTotal: 100, BytesNew: 10, Digest: "d", GitOID: "g",
		Encrypted: true, SignedBy: "k", FenceMS: 1.5, Skipped: skipped, SkippedCount: 1, Warnings: []string{"w"}, WarningCount: 1,
		Pinned: true, Device: "dev", Counter: 2, Parent: "p", Damage: "x",
	}
	return map[string]any{
		"snapshot_meta": meta,
		"snapshot_detail": wire.SnapshotDetail{
			SnapshotMeta: meta, Parts: []wire.SnapshotPart{{Name: wire.PartMemory, Bytes: 4096, Count: 1, Digest: "d1", Schema: 2}},
			Sources: []wire.SourceReport{{Name: "tool", Fenced: true, Bytes: 1, Files: 2}}, Checks: checks,
		},
		"snapshot_diff": wire.SnapshotDiff{
			A: id, B: id, Git: wire.GitDiff{From: "a", To: "b", Commits: 1, FilesChanged: 2, Insertions: 3, Deletions: 4},
			Store: store, Notes: files, State: files, Missing: []string{"memory.db"},
		},
		"verify_report": wire.VerifyReport{ID: id, Checked: []string{"c"}, NotChecked: []string{"n"}, Damaged: damaged, Checks: checks},
		"check_report": wire.CheckReport{
			Snapshots: 1, Packs: 2, Blobs: 3, Bytes: 4, DataRead: true, Checked: []string{"c"}, NotChecked: []string{"n"}, Damaged: damaged, Unused: 5,
		},
		"restore_report": wire.RestoreReport{
			From: id, Agent: "default", SafetySnapshot: id, Generation: 2, Restored: []string{"memory"}, ParkedFrames: 3, ParkedGeneration: 1,
			Checks: checks, DryRun: true, Plan: wire.RestorePlan{Store: store, Notes: files, State: files, SpaceNeeded: 1, SpaceFree: 2},
			OldGeneration: 1, Warnings: []string{"w"},
		},
		"prune_report": wire.PruneReport{Deleted: []amber.SnapshotID{id}, Kept: []wire.Kept{{ID: id, Reason: "last 1"}}, DryRun: true},
		"gc_report": wire.GCReport{
			Condemned: 1, CondemnedBytes: 2, Deleted: 3, Freed: 4, Repacked: 5, Orphans: []string{"o"}, InUse: true, DryRun: true,
		},
	}
}

// Requests are checked before anything is touched.
func TestSnapshotRequestsAreChecked(t *testing.T) {
	for _, r := range []wire.SnapshotRequest{
		{Tenant: "", Agent: "a"},
		{Tenant: "t", Agent: ".."},
		{Tenant: "t", Agent: "a", Label: "two\nlines"},
		{Tenant: "t", Agent: "a", Label: string(make([]byte, wire.MaxLabelBytes+1))},
		{Tenant: "t", Agent: "a", Sources: []string{"../x"}},
	} {
		if _, err := r.Normalize(); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("%+v: %v, want invalid", r, err)
		}
	}
	good := wire.SnapshotRef{Tenant: "t", Agent: "a", ID: "0193c5a8-0000-7000-8000-0000000000a1"}
	for _, r := range []wire.RestoreRequest{
		{SnapshotRef: wire.SnapshotRef{Tenant: "t", Agent: "a", ID: "x"}},
		{SnapshotRef: good, To: "A"},
		{SnapshotRef: good, Only: []string{"everything"}},
	} {
		if _, err := r.Normalize(); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("%+v: %v, want invalid", r, err)
		}
	}
	if r, err := (wire.RestoreRequest{SnapshotRef: good}).Normalize(); err != nil || len(r.Only) != 3 {
		t.Errorf("a plain request is %+v, %v", r, err)
	}
}
