package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestSnapshotCreate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.metas[0].Skipped = []wire.Skipped{{Part: "notes", Path: "big.bin", Reason: wire.SkipTooLarge, Detail: "3 GiB"}}
	b.engine.metas[0].Warnings = []string{"control.db is damaged at the source"}
	b.engine.metas[0].SkippedCount = 8
	b.env = []string{"AMBER_SOURCES__ENGRAM__GIT=/srv/engram"}
	r := b.run("--quiet", "snapshot", "create", "--label", "before", "--source", "engram", "--pin").exits(0)
	must.Equal(t, "the id alone", r.stdout, string(snapC)+"\n")
	r.warns("WARNING: control.db is damaged", "WARNING: not in the snapshot: notes big.bin: it is too large (3 GiB)", "WARNING: not in the snapshot: 7 more")
	b.wants(wire.SnapshotRequest{Tenant: "default", Agent: "default", Label: "before", Sources: []string{"engram"}, Pin: true, By: wire.Asker{Trust: amber.TrustOwn, Author: amber.Author{Host: "cli"}}})
	b.run("snapshot", "create").warns("frozen: 5.0 MiB, 1.5 KiB of it new", "3.2 ms")
}

func TestSnapshotList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.metas[0].SkippedCount, b.engine.metas[0].WarningCount = 2, 1
	b.run("snapshot", "list").prints("77ab03de", "2026-01-02 03:04", "5.0 MiB", "1.5 KiB", "newest [2 skipped] [1 warning]", "[pinned]").warns("--cursor 2")
	b.run("snapshot", "list", "--cursor", "2").prints("5f3a91c0", "DAMAGED: the digest does not match")
	var page struct {
		Items []map[string]any
		Next  string
	}
	b.json(0, &page, "snapshot", "list", "-n", "1")
	if len(page.Items) != 1 || page.Next != "1" || page.Items[0]["skipped"] == nil {
		t.Errorf("page %v, want one item, a cursor and no null", page)
	}
	must.Equal(t, "lines, one for every snapshot", strings.Count(b.run("snapshot", "list", "--jsonl").stdout, "\n"), 3)
}

func TestSnapshotShow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.detail = wire.SnapshotDetail{
		SnapshotMeta: wire.SnapshotMeta{Agent: "default", Counter: 4, Device: "d1", Skipped: []wire.Skipped{{Part: "source:x", Reason: wire.SkipMissing}}},
		Parts:        []wire.SnapshotPart{{Name: "memory", Bytes: 8192, Count: 2, Digest: strings.Repeat("ab", 32)}, {Name: "git", Count: 1}},
		Sources:      []wire.SourceReport{{Name: "x", Files: 3, Bytes: 100}},
		Checks:       []wire.Check{{Name: "integrity", Part: "memory", OK: true}, {Name: "pages", Part: "control", Detail: "page 7"}},
	}
	b.run("snapshot", "show", string(snapC)).prints("4 of device d1", "signed by: nobody", "8.0 KiB", "2 pages", "1 object", "abababababababab", "each part at an instant of its own",
		"check integrity of memory: ok", "check pages of control: FAILED: page 7", "NOT IN IT source:x: it is not there")
}

func TestSnapshotVerify(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.reports = map[amber.SnapshotID]wire.VerifyReport{
		snapC: {Checked: []string{"manifest", "objects"}, NotChecked: []string{"data"}},
		snapB: {Checked: []string{"manifest"}, Damaged: []wire.Damage{{Object: "packs/aa", Reason: "it is missing", Snapshots: []amber.SnapshotID{snapB}}}},
	}
	b.run("snapshot", "verify", "77ab03de").exits(0).prints("nothing damaged found", "checked: manifest, objects", "not checked: data", "--read-data reads every byte")
	b.run("snapshot", "verify", string(snapB), "--read-data").exits(5).prints("DAMAGED packs/aa: it is missing (needed by 5f3a91c0)")
	b.wants(
		wire.VerifyRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "default", ID: snapC}},
		wire.VerifyRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "default", ID: snapB}, ReadData: true},
	)
	var report wire.VerifyReport
	b.json(5, &report, "snapshot", "verify", string(snapB))
	if report.OK() || report.NotChecked == nil || report.Checks == nil {
		t.Errorf("report %+v, want damage and no null", report)
	}
	for _, args := range [][]string{{}, {"--all", string(snapB)}, {string(snapB), string(snapC)}} {
		b.run(append([]string{"snapshot", "verify"}, args...)...).exits(2)
	}
}

func TestSnapshotVerifyAll(t *testing.T) {
	t.Parallel()
	fine := wire.VerifyReport{Checked: []string{"objects"}}
	broken := wire.VerifyReport{Damaged: []wire.Damage{{Object: "x"}}}
	newer := amber.Errorf(amber.KindTooNew, "read manifest", "", "version 9")
	for _, c := range []struct {
		name     string
		reports  map[amber.SnapshotID]wire.VerifyReport
		failures map[amber.SnapshotID]error
		code     int
		items    int
	}{
		{"all whole", map[amber.SnapshotID]wire.VerifyReport{snapA: fine, snapB: fine, snapC: fine}, nil, 0, 3},
		{"one damaged", map[amber.SnapshotID]wire.VerifyReport{snapA: broken, snapB: fine, snapC: fine}, nil, 5, 3},
		{"one of a newer release", map[amber.SnapshotID]wire.VerifyReport{snapA: fine, snapB: fine}, map[amber.SnapshotID]error{snapC: newer}, 6, 3},
		{"damage outweighs", map[amber.SnapshotID]wire.VerifyReport{snapA: broken}, map[amber.SnapshotID]error{snapC: newer}, 5, 3},
		{"one deleted meanwhile", nil, map[amber.SnapshotID]error{snapB: amber.Errorf(amber.KindNotFound, "x", "", "gone")}, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.engine.reports, b.engine.failures = c.reports, c.failures
			var page amber.Page[wire.VerifyReport]
			b.json(c.code, &page, "snapshot", "verify", "--all")
			if len(page.Items) != c.items {
				t.Errorf("%d items, want %d", len(page.Items), c.items)
			}
			for _, r := range page.Items {
				if err := c.failures[r.ID]; err != nil && (len(r.Checked) > 0 || !strings.Contains(strings.Join(r.NotChecked, ""), "version 9")) {
					t.Errorf("%s was not checked, and the report is %+v", r.ID, r)
				}
			}
		})
	}
}

func TestSnapshotCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.check = wire.CheckReport{Snapshots: 3, Packs: 1, Blobs: 20, Bytes: 4096, Checked: []string{"packs"}, NotChecked: []string{"tail"}, Unused: 2048}
	b.run("snapshot", "check").exits(0).prints("3 snapshots, 1 pack, 20 blobs, 4.0 KiB: nothing damaged found", "not checked: tail", "2.0 KiB that no snapshot needs", "the data was not read")
	b.engine.check.Damaged = []wire.Damage{{Object: "index/x\x1b[2J", Reason: "bad digest"}}
	var report wire.CheckReport
	b.json(5, &report, "snapshot", "check", "--read-data")
	if !report.DataRead || report.Damaged[0].Snapshots == nil {
		t.Errorf("report %+v, want one with the data read and no null", report)
	}
	b.run("snapshot", "check").omits("\x1b")
}

func TestSnapshotDiff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must.Equal(t, "a diff of equals", b.run("snapshot", "diff", string(snapA), "77ab03de").line(), "nothing changed")
	b.engine.diff = wire.SnapshotDiff{
		Git: wire.GitDiff{From: "a", To: "b", Commits: 2, FilesChanged: 1, Insertions: 5, Deletions: 3},
		Store: wire.StoreDiff{
			Tables: []wire.TableDiff{{Name: "memories", Added: 2, Removed: 1}, {Name: "turns"}},
			Rows:   []wire.RowDiff{{Table: "memories", Key: "k1", Op: amber.OpDelete, Title: "Database"}}, More: 2,
		},
		Notes: wire.FilesDiff{Changed: 1, Files: []wire.RowDiff{{Table: "notes", Key: "a.md", Op: amber.OpUpdate}}},
	}
	b.engine.asked = nil
	b.run("snapshot", "diff", string(snapA), "77ab03de", "--rows").omits("turns"). // they are equal
											prints("- memories k1  Database", "~ notes a.md", "2 commits, 1 file, +5 -3 lines", "and 2 rows more")
	b.wants(wire.DiffRequest{Tenant: "default", Agent: "default", A: snapA, B: snapC, Rows: true})
	b.run("snapshot", "diff", string(snapA), string(snapC), "--stat", "--rows").exits(2)
}

// TestSnapshotVerbsAsk checks every verb that cannot be undone.
func TestSnapshotVerbsAsk(t *testing.T) {
	t.Parallel()
	verbs := map[string][]string{
		"restore": {"restore", string(snapC)},
		"fork":    {"restore", string(snapC), "--to-agent", "b"},
		"delete":  {"delete", string(snapC)},
		"prune":   {"prune"},
		"gc":      {"gc"},
	}
	for _, c := range []struct {
		name  string
		at    bool
		input string
		flags []string
		code  int
		asks  bool
		done  bool
	}{
		{name: "without a terminal", code: 6},
		{name: "without a terminal, with --yes", flags: []string{"--yes"}, done: true},
		{name: "a plan", flags: []string{"--dry-run"}},
		{name: "yes", at: true, input: "y\n", asks: true, done: true},
		{name: "no", at: true, input: "n\n", asks: true, code: 6},
		{name: "end of input", at: true, asks: true, code: 6},
		{name: "json is not asked", at: true, input: "y\n", flags: []string{"--json"}, code: 6},
	} {
		for verb, args := range verbs {
			t.Run(verb+" "+c.name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.at, b.input = c.at, c.input
				b.engine.pruned.Deleted = []amber.SnapshotID{snapA}
				r := b.run(append(append([]string{"snapshot"}, args...), c.flags...)...).exits(c.code)
				must.Equal(t, "asked", strings.Contains(r.stderr, "[y/N]"), c.asks)
				must.Equal(t, "done", b.engine.changed(), c.done)
			})
		}
	}
}

// changed reports whether the engine was asked for more than plans.
func (f *fakeEngine) changed() bool {
	for _, r := range f.asked {
		switch r := r.(type) {
		case wire.RestoreRequest:
			if !r.DryRun {
				return true
			}
		case wire.PruneRequest:
			if !r.DryRun {
				return true
			}
		case wire.GCRequest:
			if !r.DryRun {
				return true
			}
		default:
			return true
		}
	}
	return false
}

func TestSnapshotDeleteTellsWhatItRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run("snapshot", "delete", string(snapB), "--dry-run").exits(6).warns("the snapshot is pinned", "amber snapshot unpin 5f3a91c0")
	b.run("snapshot", "delete", "77ab03de", "--yes").exits(0).prints("deleted snapshot " + string(snapC) + " (newest) of 2026-01-02 03:04")
	b.engine.metas[1].Damage = "so it does not count"
	b.run("snapshot", "delete", "77ab03de", "--yes").exits(6).warns("the last snapshot")
	b.run("snapshot", "delete", string(snapA), "--yes").exits(0)
	b.engine.metas = b.engine.metas[:1]
	b.run("snapshot", "delete", string(snapA), "--yes").exits(3)
}

func TestSnapshotPruneRules(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	usual := wire.PruneRequest{
		Tenant: "default", Agent: "default", KeepLast: 30, KeepHourly: 24, KeepDaily: 7, KeepWeekly: 8, MaxAge: 90 * day,
		KeepSafety: config.KeepSafety, SafetyAge: config.SafetyAge, DryRun: true,
	}
	few := usual
	few.KeepLast, few.KeepHourly, few.MaxAge = 1, 0, 36*time.Hour
	forever := usual
	forever.MaxAge = 0
	configured := usual
	configured.KeepDaily, configured.MaxAge = 3, 10*day
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want wire.PruneRequest
	}{
		{"defaults", nil, nil, usual},
		{"flags", nil, []string{"--keep-last", "1", "--keep-hourly", "0", "--max-age", "1d12h"}, few},
		{"none is too old", nil, []string{"--max-age", "0"}, forever},
		{"configuration", []string{"AMBER_SNAPSHOT__RETENTION__KEEP_DAILY=3", "AMBER_SNAPSHOT__RETENTION__MAX_AGE=10d"}, nil, configured},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.env = c.env
			b.engine.pruned = wire.PruneReport{Deleted: []amber.SnapshotID{snapA}, Kept: []wire.Kept{{ID: snapC, Reason: "last 1"}}}
			r := b.run(append([]string{"snapshot", "prune", "--dry-run"}, c.args...)...)
			b.wants(c.want)
			r.prints("would delete "+string(snapA), "would keep "+string(snapC)+" because: last 1")
		})
	}
	b := newBench(t)
	for _, args := range [][]string{{"--keep-last", "-1"}, {"--max-age", "soon"}, {"--max-age", "-1h"}, {"--max-age", ""}, {"x"}} {
		b.run(append([]string{"snapshot", "prune", "--dry-run"}, args...)...).exits(2)
	}
}

func TestSnapshotGC(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.gc = wire.GCReport{Condemned: 2, CondemnedBytes: 2048, Deleted: 1, Freed: 1 << 20, Repacked: 1, Orphans: []string{"gen/3"}}
	b.run("snapshot", "gc", "--yes").prints("freed: 1.0 MiB in 1 pack", "packed again: 1 pack", "condemned: 2 packs with 2.0 KiB", "removed: gen/3")
	b.run("snapshot", "gc", "--dry-run").prints("would be freed: 1.0 MiB")
}

func TestSnapshotRestoreRequest(t *testing.T) {
	t.Parallel()
	ref := wire.SnapshotRef{Tenant: "default", Agent: "default", ID: snapC}
	all := []string{wire.PartMemory, wire.PartNotes, wire.PartState}
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want wire.RestoreRequest
	}{
		{"plain", nil, nil, wire.RestoreRequest{SnapshotRef: ref, Only: all}},
		{"parts by comma", nil, []string{"--only", "memory,notes"}, wire.RestoreRequest{SnapshotRef: ref, Only: all[:2]}},
		{"parts repeated", nil, []string{"--only", "memory", "--only", "state"}, wire.RestoreRequest{SnapshotRef: ref, Only: []string{"memory", "state"}}},
		{"fork", nil, []string{"--to-agent", "b", "--with-control"}, wire.RestoreRequest{SnapshotRef: ref, Only: all, To: "b", WithControl: true}},
		{
			"the rest", nil,
			[]string{"--local-only", "--no-safety-snapshot", "--discard-old"},
			wire.RestoreRequest{SnapshotRef: ref, Only: all, LocalOnly: true, NoSafetySnapshot: true, DiscardOld: true},
		},
		{
			"no safety snapshot by configuration",
			[]string{"AMBER_SNAPSHOT__AUTO__BEFORE_RESTORE=off"},
			nil,
			wire.RestoreRequest{SnapshotRef: ref, Only: all, NoSafetySnapshot: true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.env = c.env
			b.run(append([]string{"snapshot", "restore", "77ab03de", "--yes"}, c.args...)...).exits(0)
			b.wants(c.want)
		})
	}
}

func TestSnapshotRestoreRejects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, args := range [][]string{
		{"--only", "everything"},
		{"--only", ""},
		{"--to-agent", "../x"},
		{"--to-agent", ""},
		{"--source", "x"},
		{"--to", "dir"},
		{"--source", "x", "--to", ""},
		{"--source", "", "--to", "x"},
		{"--memory", ""},
		{"--memory", "xyz"},
		{"--memory", "77ab03de", "--only", "notes"},
		{"--memory", "77ab03de", "--source", "x", "--to", "y"},
		{"--source", "x", "--to", "y", "--with-control"},
	} {
		b.run(append([]string{"snapshot", "restore", string(snapC), "--yes"}, args...)...).exits(2)
	}
	b.wants()
}

func TestSnapshotRestoreReports(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.restored = wire.RestoreReport{
		Generation: 2, SafetySnapshot: snapB, Restored: []string{"memory", "notes"}, ParkedFrames: 3, ParkedGeneration: 1, OldGeneration: 1, Warnings: []string{"control.db stays"},
		Plan:   wire.RestorePlan{Store: wire.StoreDiff{Tables: []wire.TableDiff{{Name: "memories", Added: 4}}}, SpaceNeeded: 4096, SpaceFree: 1 << 30},
		Checks: []wire.Check{{Name: "integrity", Part: "memory", OK: true}},
	}
	b.run("snapshot", "restore", string(snapC), "--yes").warns("WARNING: control.db stays").prints(
		"restored memory, notes of agent default from snapshot 77ab03de", "generation 2 is live", "before: snapshot "+string(snapB),
		"generation 1 was kept", "parked with generation 1: 3 entries of the crash journal; amber journal drain --from-generation 1 takes them", "check integrity of memory: ok")
	b.run("snapshot", "restore", string(snapC), "--dry-run").prints("would restore", "memories  4", "space needed: 4.0 KiB, free: 1.0 GiB").omits("is live")
	var report wire.RestoreReport
	b.json(0, &report, "snapshot", "restore", string(snapC), "--dry-run")
	if !report.DryRun || report.From != snapC {
		t.Errorf("report %+v", report)
	}
}

// TestSnapshotRestoreTellsWhatItMakes makes agents, with and without asking.
func TestSnapshotRestoreTellsWhatItMakes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.restored = wire.RestoreReport{Restored: []string{"memory", "notes"}, Plan: wire.RestorePlan{SpaceNeeded: 4096}}
	fork := []string{"snapshot", "restore", string(snapC), "--to-agent", "fork"}
	b.run(append(fork, "--dry-run")...).prints("would make agent fork of snapshot 77ab03de: memory, notes", "space needed: 4.0 KiB").omits("nothing would change")
	b.run(append(fork, "--yes")...).prints("made agent fork of snapshot 77ab03de: memory, notes")
	b.at = true
	b.run(fork...).warns("would make agent fork", "make agent fork from snapshot 77ab03de? [y/N]")
	fresh := &bench{t: t, home: filepath.Join(t.TempDir(), "home"), engine: b.engine}
	fresh.run("snapshot", "restore", string(snapC), "--dry-run").prints("would make agent default of snapshot 77ab03de")
}

// TestSnapshotRestoreAsksAlsoWhereThePlanIsNotComplete has a live agent that
// cannot be compared with.
func TestSnapshotRestoreAsksAlsoWhereThePlanIsNotComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.at, b.input = true, "y\n"
	b.engine.restored = wire.RestoreReport{Restored: []string{"memory"}, Warnings: []string{"the live memory.db cannot be compared with"}}
	r := b.run("snapshot", "restore", string(snapC)).exits(0).omits("nothing would change")
	plan, _, asked := strings.Cut(r.stderr, "[y/N]")
	if !asked || !b.engine.changed() {
		t.Errorf("asked is %v: %s", asked, r.stderr)
	}
	says(t, "the plan", plan, "would restore memory", "WARNING: the live memory.db cannot be compared with")
	b.run("snapshot", "restore", string(snapC), "--dry-run").warns("WARNING: the live memory.db cannot be compared with")
}

// TestFullDiskIsToldWithWhatHelps runs out of space where the error has no hint.
func TestFullDiskIsToldWithWhatHelps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	full := &amber.Error{Op: "restore", Kind: amber.KindInternal, Err: &os.PathError{Op: "write", Path: "gen/2/memory.db", Err: syscall.ENOSPC}}
	b.engine.failures = map[amber.SnapshotID]error{snapC: full}
	b.run("snapshot", "restore", string(snapC), "--yes").exits(1).warns("gen/2/memory.db: "+syscall.ENOSPC.Error(), "hint: free some disk space", "amber snapshot gc")
	full.Hint = "look closer"
	b.run("snapshot", "restore", string(snapC), "--yes").warns("hint: look closer\n")
}

// TestSnapshotRestoreOfADamagedAgent restores where the live database is
// beyond reading, which is when one needs it.
func TestSnapshotRestoreOfADamagedAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gen := filepath.Join(b.home, "tenants", "default", "agents", "default", "gen", "1")
	for _, name := range []string{"memory.db-wal", "memory.db-shm"} {
		if err := os.Remove(filepath.Join(gen, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(gen, "memory.db"), bytes.Repeat([]byte("garbage"), 4096), 0o600))
	b.run("snapshot", "restore", string(snapC), "--yes").exits(0)
	must.Equal(t, "restored", b.engine.changed(), true)
	b.run("snapshot", "create").exits(0)
	b.run("recall", "database", "--at", string(snapC)).exits(0).warns("the live agent does not open, so the active session is not known")
	b.run("snapshot", "restore", string(snapC), "--memory", "00000000", "--yes").exits(5)
}

func TestByteSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1.0 MiB", 1 << 20: "1.0 MiB", 360 << 20: "360.0 MiB", 1<<63 - 1: "8.0 EiB",
	} {
		must.Equal(t, "", cli.ByteSize(n), want)
	}
}
