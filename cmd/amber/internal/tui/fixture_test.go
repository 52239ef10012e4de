package tui

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

// steady is a clock that a test moves.
type steady struct{ at time.Time }

func (c *steady) now() time.Time { return c.at }

// counting is a source of ids that are the same in every run.
type counting struct{ n uint64 }

func (c *counting) Read(b []byte) (int, error) {
	for i := range b {
		c.n++
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], c.n*0x9e3779b97f4a7c15)
		b[i] = word[7]
	}
	return len(b), nil
}

// frozen stands in for the engine of snapshots.
type frozen struct {
	wire.Snapshotter
	list     []wire.SnapshotMeta
	store    amber.Store
	restored []wire.RestoreRequest
	taken    []wire.SnapshotRequest
	fails    error
}

func (f *frozen) ListSnapshots(context.Context, wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	return amber.Page[wire.SnapshotMeta]{Items: f.list}, f.fails
}

func (f *frozen) ShowSnapshot(_ context.Context, ref wire.SnapshotRef) (d wire.SnapshotDetail, err error) {
	for _, s := range f.list {
		if s.ID == ref.ID {
			d.SnapshotMeta = s
		}
	}
	d.Parts = []wire.SnapshotPart{{Name: "memory", Bytes: 4096, Count: 12}, {Name: "notes", Bytes: 33, Count: 1}}
	d.Checks = []wire.Check{{Name: "integrity", Part: "memory", OK: true}}
	return d, nil
}

func (f *frozen) Snapshot(_ context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	f.taken = append(f.taken, r)
	s := wire.SnapshotMeta{ID: amber.SnapshotID(fmt.Sprintf("00000000-0000-7000-8000-%012d", len(f.list)+1)), Label: r.Label, CreatedAt: amber.UnixMilli(1_793_000_000_000)}
	f.list = append([]wire.SnapshotMeta{s}, f.list...)
	return s, nil
}

func (f *frozen) VerifySnapshot(_ context.Context, r wire.VerifyRequest) (wire.VerifyReport, error) {
	report := wire.VerifyReport{ID: r.ID, Checked: []string{"manifest"}, NotChecked: []string{"bytes of the data"}}
	if r.ReadData {
		report.Checked, report.NotChecked = append(report.Checked, "bytes of the data"), nil
	}
	return report, nil
}

func (f *frozen) DiffSnapshots(_ context.Context, r wire.DiffRequest) (wire.SnapshotDiff, error) {
	return wire.SnapshotDiff{A: r.A, B: r.B, Store: wire.StoreDiff{
		Tables: []wire.TableDiff{{Name: "memories", Added: 1}},
		Rows:   []wire.RowDiff{{Table: "memories", Key: "k", Op: amber.OpInsert, Title: "added " + string(r.A) + " to " + string(r.B)}},
	}}, nil
}

func (f *frozen) Restore(_ context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	f.restored = append(f.restored, r)
	return wire.RestoreReport{
		From: r.ID, DryRun: r.DryRun, Restored: []string{"memory"}, SafetySnapshot: "00000000-0000-7000-8000-00000000005a",
		Plan: wire.RestorePlan{Store: wire.StoreDiff{Tables: []wire.TableDiff{{Name: "memories", Removed: 2}}}},
	}, nil
}

func (f *frozen) At(context.Context, wire.SnapshotRef) (agent.View, error) { return past{f.store}, nil }

// past answers from the live store, with a sign that it was asked.
type past struct{ amber.Store }

func (p past) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	r, err := p.LongTerm.Recall(ctx, q)
	for i := range r.Hits {
		r.Hits[i].Title = "then: " + r.Hits[i].Title
	}
	return r, err
}

func (p past) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return p.Memories.Get(ctx, id)
}

func (p past) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return p.Memories.List(ctx, q)
}
func (p past) Close() error { return nil }

// setAside stands in for the quarantine of the journal.
type setAside struct{ list []wire.HeldEntry }

func (s setAside) HeldEntries(context.Context, string) ([]wire.HeldEntry, error) { return s.list, nil }

func (s setAside) ShowHeld(_ context.Context, _, name string) (wire.HeldEntry, error) {
	return wire.HeldEntry{Name: name, Payload: []byte(`{"prompt":"hello"}`)}, nil
}

// desk keeps files in a folder of the test; the editor is a function.
type desk struct {
	Files
	dir   string
	typed func(text string) string
}

func (d *desk) Keep(_, text string) (string, error) {
	path := filepath.Join(d.dir, "text.md")
	return path, os.WriteFile(path, []byte(text), 0o600)
}
func (d *desk) Editor(path string) (*exec.Cmd, error) { return exec.Command("editor", path), nil }

// world is a UI over a store in memory, driven by hand.
type world struct {
	t      *testing.T
	m      *Model
	clock  *steady
	store  amber.Store
	frozen *frozen
	desk   *desk
	ticks  []func(time.Time) tea.Msg
	said   []tea.Msg // that no model knows
	quit   bool
	sync   amber.SyncReport
	held   *setAside
	src    Source
}

var start = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

// newWorld makes an empty agent; change may change it before the UI is made.
func newWorld(t *testing.T, change ...func(w *world)) *world {
	t.Helper()
	w := &world{t: t, clock: &steady{start}, held: &setAside{}}
	s := must.Get(inmem.New(inmem.Options{Clock: w.clock.now, Random: &counting{}, Device: "laptop", Incarnation: "i"}))(t)
	w.store = s.Store()
	w.frozen = &frozen{store: w.store}
	w.desk = &desk{dir: t.TempDir()}
	w.src = Source{
		Place: "in /home/ann/amber", Tenant: "default", Agent: "default", Store: w.store, Actor: "ann",
		Snapshots: func(context.Context) (Snapshots, error) { return w.frozen, nil },
		Context: func(_ context.Context, r wire.ContextRequest) (wire.ContextBlock, error) {
			return wire.ContextBlock{Text: "what is known about " + r.Goal, Decision: amber.Decision{Effective: true}}, nil
		},
		Sync: func(context.Context) (amber.SyncReport, error) { return w.sync, nil },
		Held: w.held,
		Doctor: func(context.Context) (wire.Checkup, error) {
			return wire.Checkup{Checks: []wire.Finding{
				{Code: "home", Status: wire.FindingOK, Detail: "/home/ann/amber"},
				{Code: "disk", Status: wire.FindingFailed, Detail: "0 MiB free", Hint: "free some space", Kind: amber.KindInternal},
			}}, nil
		},
		Verbs: []Verb{
			{"recall", "Find memories", []string{"--limit", "--layer"}},
			{"remember", "Remember something", nil},
			{"snapshot", "Snapshots", nil},
			{"snapshot create", "Take one", []string{"--label"}},
			{"snapshot list", "List them", nil},
		},
		Process: func(ctx context.Context, args []string) *exec.Cmd {
			c := exec.CommandContext(ctx, os.Args[0], append([]string{"-test.run=TestHelperProcess", "--"}, args...)...)
			c.Env = append(os.Environ(), "AMBER_TUI_HELPER=1")
			return c
		},
		Desk: w.desk,
	}
	for _, fn := range change {
		fn(w)
	}
	w.open()
	return w
}

// open makes the UI and lets it load its first screen.
func (w *world) open() {
	w.m = New(w.t.Context(), w.src, window.Outside{
		Clock: w.clock.now,
		Tick: func(_ time.Duration, fn func(time.Time) tea.Msg) tea.Cmd {
			w.ticks = append(w.ticks, fn)
			return nil
		},
		Exec: func(c *exec.Cmd, fn tea.ExecCallback) tea.Cmd {
			return func() tea.Msg { return fn(w.useEditor(c.Args[len(c.Args)-1])) }
		},
	})
	w.run(w.m.Init())
}

func (w *world) useEditor(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(w.desk.typed(string(b))), 0o600)
}

// run runs a command and everything that follows from it, one after the other.
func (w *world) run(c tea.Cmd) {
	if c == nil {
		return
	}
	switch msg := c().(type) {
	case nil:
	case tea.BatchMsg:
		for _, each := range msg {
			w.run(each)
		}
	case tea.QuitMsg:
		w.quit = true
	default:
		w.said = append(w.said, msg)
		w.send(msg)
	}
}

func (w *world) send(msg tea.Msg) {
	_, c := w.m.Update(msg)
	w.run(c)
}

// tick lets a second pass.
func (w *world) tick() {
	due := w.ticks
	w.ticks = nil
	for _, fn := range due {
		w.send(fn(w.clock.now()))
	}
}

// press presses keys by their names; what is not the name of a key is typed letter by letter.
func (w *world) press(keys ...string) *world {
	for _, k := range keys {
		for _, msg := range keysOf(k) {
			w.send(msg)
		}
	}
	return w
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp},
	"space": {Code: tea.KeySpace, Text: " "}, "backspace": {Code: tea.KeyBackspace}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "delete": {Code: tea.KeyDelete}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	"ctrl+d":    {Code: 'd', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	"ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl},
}

func keysOf(k string) (list []tea.KeyPressMsg) {
	if msg, ok := named[k]; ok {
		return []tea.KeyPressMsg{msg}
	}
	for _, r := range k {
		if r == ' ' {
			list = append(list, named["space"])
			continue
		}
		list = append(list, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return list
}

// size changes the window.
func (w *world) size(columns, rows int) *world {
	w.send(tea.WindowSizeMsg{Width: columns, Height: rows})
	return w
}

// frame is what is shown, without styles.
func (w *world) frame() string {
	w.t.Helper()
	w.fits()
	lines := strings.Split(ansi.Strip(w.m.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// fits checks that a frame is no larger than the window, by both ways to count columns.
func (w *world) fits() {
	w.t.Helper()
	v := w.m.View()
	lines := strings.Split(v.Content, "\n")
	if len(lines) > max(w.m.Height, 1) {
		w.t.Fatalf("the frame has %d lines, the window %d", len(lines), w.m.Height)
	}
	for _, l := range lines {
		if n := max(ansi.StringWidth(l), ansi.StringWidthWc(l)); n > w.m.Width {
			w.t.Fatalf("a line of the frame has %d columns, the window %d: %q", n, w.m.Width, l)
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.Y < 0 || c.X >= w.m.Width || c.Y >= w.m.Height) {
		w.t.Fatalf("the cursor is at %d, %d, outside of a window of %d x %d", c.X, c.Y, w.m.Width, w.m.Height)
	}
}

// says checks that the frame has words, and hides that it has none of them.
func (w *world) says(words ...string) *world {
	w.t.Helper()
	must.Says(w.t, "frame", w.frame(), words...)
	return w
}

func (w *world) hides(words ...string) *world {
	w.t.Helper()
	must.Hides(w.t, "frame", w.frame(), words...)
	return w
}

// remember stores a memory, an hour after the one before.
func (w *world) remember(r amber.WriteRequest) amber.Memory {
	w.t.Helper()
	w.clock.at = w.clock.at.Add(time.Hour)
	return must.Get(w.store.LongTerm.Write(w.t.Context(), r))(w.t).Memory
}

// fill puts something on every screen.
func fill(w *world) {
	t, ctx := w.t, w.t.Context()
	database := w.remember(amber.WriteRequest{Title: "Database", Content: "We chose MySQL", Tags: []string{"decision"}})
	coupons := w.remember(amber.WriteRequest{Content: "Coupons round half to even, see RFC 12.\nThe table of rates is in rates.csv.", Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop"}})
	w.remember(amber.WriteRequest{Content: "The user prefers short answers", Kind: amber.UserPreference})
	text := "We chose PostgreSQL for JSONB"
	must.Get(w.store.Editor.Edit(ctx, amber.EditRequest{ID: database.ID, Content: &text}))(t)
	must.Get(w.store.Relations.Relate(ctx, amber.Relation{From: database.ID, To: coupons.ID, Type: "related", Strength: 0.5}))(t)
	session := must.Get(w.store.Sessions.StartSession(ctx, amber.SessionStart{ID: "s1", Name: "fix the build", Project: "shop"}))(t)
	for i, turn := range []amber.Turn{
		{Role: amber.RoleUser, Content: "why does the build fail"},
		{Role: amber.RoleTool, Content: "exit 1"},
		{Role: amber.RoleTool, Content: "exit 2"},
		{Role: amber.RoleAssistant, Content: "A test expects the old rounding."},
	} {
		w.clock.at = w.clock.at.Add(time.Minute)
		turn.SessionID, turn.ID = session.ID, amber.TurnID(fmt.Sprintf("t%d", i))
		must.Get(w.store.Turns.AppendTurn(ctx, turn))(t)
	}
	tested := amber.Activity{SessionID: session.ID, Kind: amber.ActivityCommand, Name: "go test ./...", Status: "failed", Count: 2, Failed: 1}
	must.Get(w.store.Ingest.Ingest(ctx, amber.Ingestion{
		Journal: "0123456789abcdef0123456789abcdef", Host: "claude-code", Session: session.ID, Through: 1,
		Steps: []amber.IngestStep{{Start: amber.SessionStart{ID: session.ID, Binding: session.Binding}, Activity: []amber.Activity{tested}}},
	}))(t)
	must.Get(w.store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "decisions/database", Content: "# Database\n\nWe use MySQL.\n"}))(t)
	must.Get(w.store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "decisions/database", Content: "# Database\n\nWe use PostgreSQL.\n"}))(t)
	must.Get(w.store.Tasks.SaveTask(ctx, amber.Task{ID: "release-1.4", Goal: "release 1.4"}, 0))(t)
	must.Get(w.store.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: "release-1.4", From: amber.TaskQueued, To: amber.TaskPlanning, Reason: "begin"}))(t)
	must.Get(w.store.Approvals.RequestApproval(ctx, amber.ApprovalRequest{ID: "a1", TaskID: "release-1.4", NodeID: "deploy", Summary: "deploy 1.4?", Payload: json.RawMessage(`{"cmd":"deploy 1.4"}`)}))(t)
	bury(w, "build-7")
	w.frozen.list = []wire.SnapshotMeta{
		{ID: "00000000-0000-7000-8000-0000000000b2", Label: "second", CreatedAt: amber.At(start.Add(2 * time.Hour)), BytesTotal: 500_000, BytesNew: 4000, Device: "laptop"},
		{ID: "00000000-0000-7000-8000-0000000000a1", Label: "first", CreatedAt: amber.At(start.Add(time.Hour)), BytesTotal: 400_000, BytesNew: 400_000, Pinned: true, Device: "laptop"},
	}
	w.sync.Conflicts = []amber.SyncConflict{{
		ID: database.ID, Kept: amber.SyncVersion{Title: "Database", Content: text, Origin: amber.Origin{Device: "laptop", Clock: amber.StampAt(start)}, UpdatedAt: amber.At(start)},
		Others: []amber.SyncVersion{{Title: "Database", Content: "We chose SQLite", Origin: amber.Origin{Device: "desktop", Clock: amber.StampAt(start)}, UpdatedAt: amber.At(start)}},
	}}
	w.sync.ConflictCount = 1
	w.held.list = []wire.HeldEntry{{Key: "k1", Host: "claude-code", SessionID: "s1", Name: "00000000000000000002.entry", Bytes: 18, Reason: "the event is of a newer version", At: amber.At(start)}}
	w.clock.at = start.Add(24 * time.Hour)
}

// bury makes a dead entry.
func bury(w *world, id string) {
	t, ctx := w.t, w.t.Context()
	must.Do(t, w.store.Queue.Publish(ctx, amber.Envelope{EntryID: id, TaskID: "release-1.4", NodeID: "build", Payload: "make"}))
	for range (amber.QueueOptions{}).WithDefaults().MaxAttempts {
		w.clock.at = w.clock.at.Add(10 * time.Minute)
		c := must.Get(w.store.Queue.Claim(ctx, "worker"))(t)
		must.Do(t, w.store.Queue.Nack(ctx, amber.Nack{Lease: c.Lease, Reason: "no space left"}))
	}
}
