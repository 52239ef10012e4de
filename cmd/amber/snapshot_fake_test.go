package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/fsx"
)

// fakeEngine stands in for the engine: it answers what it was told to and
// remembers what it was asked.
type fakeEngine struct {
	metas    []amber.SnapshotMeta // newest first
	detail   amber.SnapshotDetail
	reports  map[amber.SnapshotID]amber.VerifyReport
	failures map[amber.SnapshotID]error
	check    amber.CheckReport
	diff     amber.SnapshotDiff
	restored amber.RestoreReport
	pruned   amber.PruneReport
	gc       amber.GCReport
	view     *fakeView
	bundle   amber.BundleReport
	exported amber.ExportReport
	imported amber.ImportReport
	readers  []string
	policy   error // what Acceptable says

	asked []any // every request that changes something, and dry runs
}

var _ snapshotEngine = (*fakeEngine)(nil)

func (f *fakeEngine) Snapshot(_ context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
	f.asked = append(f.asked, r)
	return f.metas[0], nil
}

// ListSnapshots returns two at a time, whatever the limit, so that a caller that
// forgets the next page is noticed.
func (f *fakeEngine) ListSnapshots(_ context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
	at := 0
	if q.Cursor != "" {
		if _, err := fmt.Sscan(string(q.Cursor), &at); err != nil {
			return amber.Page[amber.SnapshotMeta]{}, amber.Errorf(amber.KindInvalid, "list snapshots", "", "bad cursor")
		}
	}
	end := min(at+min(q.Limit, 2), len(f.metas))
	page := amber.Page[amber.SnapshotMeta]{Items: append([]amber.SnapshotMeta{}, f.metas[at:end]...)}
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

func (f *fakeEngine) ShowSnapshot(_ context.Context, ref amber.SnapshotRef) (amber.SnapshotDetail, error) {
	d := f.detail
	d.ID = ref.ID
	return d, f.has(ref.ID)
}

func (f *fakeEngine) DiffSnapshots(_ context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
	f.asked = append(f.asked, r)
	return f.diff, nil
}

func (f *fakeEngine) VerifySnapshot(_ context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
	f.asked = append(f.asked, r)
	report := f.reports[r.ID]
	report.ID = r.ID
	return report, f.has(r.ID)
}

func (f *fakeEngine) DeleteSnapshot(_ context.Context, ref amber.SnapshotRef) error {
	f.asked = append(f.asked, ref)
	return f.has(ref.ID)
}

func (f *fakeEngine) PinSnapshot(_ context.Context, ref amber.SnapshotRef, pinned bool) error {
	f.asked = append(f.asked, ref, pinned)
	return f.has(ref.ID)
}

func (f *fakeEngine) PruneSnapshots(_ context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
	f.asked = append(f.asked, r)
	report := f.pruned
	report.DryRun = r.DryRun
	return report, nil
}

func (f *fakeEngine) CollectGarbage(_ context.Context, r amber.GCRequest) (amber.GCReport, error) {
	f.asked = append(f.asked, r)
	report := f.gc
	report.DryRun = r.DryRun
	return report, nil
}

func (f *fakeEngine) Restore(_ context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
	f.asked = append(f.asked, r)
	report := f.restored
	report.From, report.Agent, report.DryRun = r.ID, target(r), r.DryRun
	return report, f.has(r.ID)
}

func (f *fakeEngine) CheckRepository(_ context.Context, r amber.CheckRequest) (amber.CheckReport, error) {
	f.asked = append(f.asked, r)
	report := f.check
	report.DataRead = r.ReadData
	return report, nil
}

func (f *fakeEngine) At(_ context.Context, ref amber.SnapshotRef) (agent.View, error) {
	return f.view, f.has(ref.ID)
}

func (f *fakeEngine) ExtractSource(_ context.Context, ref amber.SnapshotRef, name, dir string) (agent.Extraction, error) {
	f.asked = append(f.asked, ref, name, dir)
	return agent.Extraction{From: ref.ID, Source: name, To: dir, Files: 3, Bytes: 2048}, f.has(ref.ID)
}

func (f *fakeEngine) Export(_ context.Context, r amber.ExportRequest) (amber.ExportReport, error) {
	f.asked = append(f.asked, r)
	return f.exported, f.has(r.ID)
}

func (f *fakeEngine) Import(_ context.Context, r amber.ImportRequest) (amber.ImportReport, error) {
	f.asked = append(f.asked, r)
	return f.imported, nil
}

func (f *fakeEngine) VerifyBundle(_ context.Context, r amber.BundleRequest) (amber.BundleReport, error) {
	f.asked = append(f.asked, r)
	report := f.bundle
	report.File = r.File
	return report, nil
}

func (f *fakeEngine) RestoreBundle(_ context.Context, file string, r amber.RestoreRequest) (amber.RestoreReport, error) {
	f.asked = append(f.asked, file, r)
	report := f.restored
	report.From, report.Agent, report.DryRun = snapC, target(r), r.DryRun
	return report, nil
}

func (f *fakeEngine) Acceptable(string, amber.SignatureReport) error { return f.policy }

func (f *fakeEngine) Recipients(context.Context, amber.TenantID) ([]string, error) {
	return f.readers, nil
}

func (f *fakeEngine) ChangeRecipients(_ context.Context, _ amber.TenantID, add, remove []string, rotate bool) ([]string, error) {
	f.asked = append(f.asked, add, remove, rotate)
	return f.readers, nil
}

func (f *fakeEngine) CopyTo(context.Context, amber.TenantID, amber.Target, bool) (amber.CopyReport, error) {
	return amber.CopyReport{}, nil
}

func (f *fakeEngine) CopyFrom(context.Context, amber.TenantID, amber.Target) (amber.CopyReport, error) {
	return amber.CopyReport{}, nil
}

// fakeView is the memory of a snapshot.
type fakeView struct {
	memories []amber.Memory
	query    amber.Query
	listed   amber.ListQuery
	closed   int
}

func (v *fakeView) Recall(_ context.Context, q amber.Query) (amber.RecallResult, error) {
	v.query = q
	hits := []amber.Hit{}
	for _, m := range v.memories {
		hits = append(hits, amber.Hit{ID: m.ID, Title: m.Title, Content: m.Content, Snippet: m.Content, Score: 1})
	}
	return amber.RecallResult{Hits: hits}, nil
}

func (v *fakeView) Get(_ context.Context, id amber.MemoryID) (amber.Memory, error) {
	for _, m := range v.memories {
		if m.ID == id {
			return m, nil
		}
	}
	return amber.Memory{}, amber.Errorf(amber.KindNotFound, "get memory", string(id), "there is none")
}

func (v *fakeView) List(_ context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	v.listed = q
	return amber.Page[amber.Memory]{Items: v.memories}, nil
}

func (v *fakeView) Stats() agent.ViewStats {
	return agent.ViewStats{PagesRead: 12, PagesTotal: 480, BytesRead: 3 << 20}
}

func (v *fakeView) Close() error { v.closed++; return nil }

// Snapshots of the fake; the ends of the first two ids are alike.
const (
	snapA = amber.SnapshotID("01900000-0000-7000-8000-00015f3a91c0")
	snapB = amber.SnapshotID("01900000-0000-7000-8000-00025f3a91c0")
	snapC = amber.SnapshotID("01900000-0000-7000-8000-000377ab03de")
)

func newFakeEngine() *fakeEngine {
	at := amber.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return &fakeEngine{
		metas: []amber.SnapshotMeta{
			{ID: snapC, Agent: "default", Tenant: "default", Label: "newest", CreatedAt: at, BytesTotal: 5 << 20, BytesNew: 1536, FenceMS: 3.25},
			{ID: snapB, Agent: "default", Tenant: "default", CreatedAt: at, Pinned: true},
			{ID: snapA, Agent: "default", Tenant: "default", Damage: "the digest does not match"},
		},
		view: &fakeView{},
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
	if code, _, stderr := b.run("remember", "we chose PostgreSQL", "--title", "Database"); code != 0 {
		t.Fatalf("remember: exit code %d: %s", code, stderr)
	}
	return b
}

func (b *bench) run(args ...string) (code int, stdout, stderr string) {
	b.t.Helper()
	var out, errs bytes.Buffer
	dir := b.t.TempDir()
	code = run(b.t.Context(), args, world{
		stdin: strings.NewReader(b.input), stdout: &out, stderr: &errs,
		environ:   append([]string{"AMBER_HOME=" + b.home, "HOME=" + dir}, b.env...),
		directory: func() (string, error) { return dir, nil },
		clock:     time.Now, random: rand.Reader, fsInfo: fsx.Info,
		terminal:  func() bool { return b.at },
		snapshots: func(context.Context) (snapshotEngine, error) { return b.engine, nil },
	})
	return code, out.String(), errs.String()
}

// json runs a command with --json and decodes its one document.
func (b *bench) json(wantCode int, into any, args ...string) {
	b.t.Helper()
	code, stdout, stderr := b.run(append([]string{"--json"}, args...)...)
	if code != wantCode {
		b.t.Fatalf("%q exits %d, want %d: %s", args, code, wantCode, stderr)
	}
	d := json.NewDecoder(strings.NewReader(stdout))
	if err := d.Decode(into); err != nil {
		b.t.Fatalf("%q prints %q: %v", args, stdout, err)
	}
	if _, err := d.Token(); err != io.EOF {
		b.t.Errorf("%q prints more than one document", args)
	}
}
