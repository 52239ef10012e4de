package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/freeze"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// fakeEngine stands in for the engine: it answers what it was told to and
// remembers what it was asked.
type fakeEngine struct {
	cli.SnapshotEngine // nil: what no test asks for

	metas    []wire.SnapshotMeta // newest first
	detail   wire.SnapshotDetail
	reports  map[amber.SnapshotID]wire.VerifyReport
	failures map[amber.SnapshotID]error
	check    wire.CheckReport
	diff     wire.SnapshotDiff
	restored wire.RestoreReport
	pruned   wire.PruneReport
	gc       wire.GCReport
	bundle   wire.BundleReport
	exported wire.ExportReport
	policy   error // what Acceptable says

	asked []any // every request that changes something, and dry runs
}

func (f *fakeEngine) Snapshot(_ context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	f.asked = append(f.asked, r)
	return f.metas[0], nil
}

// ListSnapshots returns two at a time, whatever the limit, so that a caller that
// forgets the next page is noticed.
func (f *fakeEngine) ListSnapshots(_ context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	at := 0
	if q.Cursor != "" {
		if _, err := fmt.Sscan(string(q.Cursor), &at); err != nil {
			return amber.Page[wire.SnapshotMeta]{}, amber.Errorf(amber.KindInvalid, "list snapshots", "", "bad cursor")
		}
	}
	end := min(at+min(q.Limit, 2), len(f.metas))
	page := amber.Page[wire.SnapshotMeta]{Items: append([]wire.SnapshotMeta{}, f.metas[at:end]...)}
	if end < len(f.metas) {
		page.Next = amber.Cursor(fmt.Sprint(end))
	}
	return page, nil
}

func (f *fakeEngine) has(id amber.SnapshotID) error {
	for _, m := range f.metas {
		if m.ID == id {
			return f.failures[id]
		}
	}
	return amber.Errorf(amber.KindNotFound, "find snapshot", string(id), "there is none")
}

func (f *fakeEngine) ShowSnapshot(_ context.Context, ref wire.SnapshotRef) (wire.SnapshotDetail, error) {
	d := f.detail
	d.ID = ref.ID
	return d, f.has(ref.ID)
}

func (f *fakeEngine) DiffSnapshots(_ context.Context, r wire.DiffRequest) (wire.SnapshotDiff, error) {
	f.asked = append(f.asked, r)
	return f.diff, nil
}

func (f *fakeEngine) VerifySnapshot(_ context.Context, r wire.VerifyRequest) (wire.VerifyReport, error) {
	f.asked = append(f.asked, r)
	report := f.reports[r.ID]
	report.ID = r.ID
	return report, f.has(r.ID)
}

func (f *fakeEngine) DeleteSnapshot(_ context.Context, ref wire.SnapshotRef) error {
	f.asked = append(f.asked, ref)
	return f.has(ref.ID)
}

func (f *fakeEngine) PruneSnapshots(_ context.Context, r wire.PruneRequest) (wire.PruneReport, error) {
	f.asked = append(f.asked, r)
	report := f.pruned
	report.DryRun = r.DryRun
	return report, nil
}

func (f *fakeEngine) CollectGarbage(_ context.Context, r wire.GCRequest) (wire.GCReport, error) {
	f.asked = append(f.asked, r)
	report := f.gc
	report.DryRun = r.DryRun
	return report, nil
}

func (f *fakeEngine) Restore(_ context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	f.asked = append(f.asked, r)
	report := f.restored
	report.From, report.Agent, report.DryRun = r.ID, freeze.Restored(r), r.DryRun
	return report, f.has(r.ID)
}

func (f *fakeEngine) CheckRepository(_ context.Context, r wire.CheckRequest) (wire.CheckReport, error) {
	f.asked = append(f.asked, r)
	report := f.check
	report.DataRead = r.ReadData
	return report, nil
}

func (f *fakeEngine) At(_ context.Context, ref wire.SnapshotRef) (agent.View, error) {
	return emptyView{}, f.has(ref.ID)
}

func (f *fakeEngine) Export(_ context.Context, r wire.ExportRequest) (wire.ExportReport, error) {
	f.asked = append(f.asked, r)
	return f.exported, f.has(r.ID)
}

func (f *fakeEngine) VerifyBundle(_ context.Context, r wire.BundleRequest) (wire.BundleReport, error) {
	f.asked = append(f.asked, r)
	report := f.bundle
	report.File = r.File
	return report, nil
}

func (f *fakeEngine) RestoreBundle(_ context.Context, file string, r wire.RestoreRequest) (wire.RestoreReport, error) {
	f.asked = append(f.asked, file, r)
	report := f.restored
	report.From, report.Agent, report.DryRun = snapC, freeze.Restored(r), r.DryRun
	return report, nil
}

func (f *fakeEngine) Acceptable(string, sign.SignatureReport) error { return f.policy }

// emptyView is a snapshot that holds no memory.
type emptyView struct{ agent.View }

func (emptyView) Recall(context.Context, amber.Query) (amber.RecallResult, error) {
	return amber.RecallResult{}, nil
}

func (emptyView) Close() error { return nil }

// Snapshots of the fake; the ends of the first two ids are alike.
const (
	snapA = amber.SnapshotID("01900000-0000-7000-8000-00015f3a91c0")
	snapB = amber.SnapshotID("01900000-0000-7000-8000-00025f3a91c0")
	snapC = amber.SnapshotID("01900000-0000-7000-8000-000377ab03de")
)

func newFakeEngine() *fakeEngine {
	at := amber.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return &fakeEngine{
		metas: []wire.SnapshotMeta{
			{ID: snapC, Agent: "default", Tenant: "default", Label: "newest", CreatedAt: at, BytesTotal: 5 << 20, BytesNew: 1536, FenceMS: 3.25},
			{ID: snapB, Agent: "default", Tenant: "default", CreatedAt: at, Pinned: true},
			{ID: snapA, Agent: "default", Tenant: "default", Damage: "the digest does not match"},
		},
	}
}

// bench is a user with a home and a fake engine.
type bench struct {
	t      *testing.T
	home   string
	engine *fakeEngine
	env    []string
	at     bool // at a terminal
	input  string
}

// newBench has an agent with one memory in it.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, home: t.TempDir() + "/home", engine: newFakeEngine()}
	b.run("remember", "we chose PostgreSQL", "--title", "Database").line()
	return b
}

func (b *bench) run(args ...string) ran {
	dir := b.t.TempDir()
	w := testWorld(dir, append([]string{"AMBER_HOME=" + b.home, "HOME=" + dir}, b.env...)...)
	w.Stdin, w.Terminal = strings.NewReader(b.input), func() bool { return b.at }
	w.Snapshots = func(context.Context) (cli.SnapshotEngine, error) { return b.engine, nil }
	return runIn(b.t.Context(), b.t, w, args...)
}

// wants checks what the engine was asked, and forgets it.
func (b *bench) wants(requests ...any) {
	b.t.Helper()
	must.Equal(b.t, "requests", b.engine.asked, requests)
	b.engine.asked = nil
}

// json runs a command with --json and decodes its one document.
func (b *bench) json(wantCode int, into any, args ...string) {
	b.t.Helper()
	stdout := b.run(append([]string{"--json"}, args...)...).exits(wantCode).stdout
	d := json.NewDecoder(strings.NewReader(stdout))
	if err := d.Decode(into); err != nil {
		b.t.Fatalf("%q prints %q: %v", args, stdout, err)
	}
	if _, err := d.Token(); err != io.EOF {
		b.t.Errorf("%q prints more than one document", args)
	}
}
