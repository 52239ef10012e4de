package tui

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// hostile is text that would take over a terminal.
var hostile = []string{
	"\x1b[2J\x1b[H\x1b[31mred\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07",
	"\x1bP1;1|17/aa\x1b\\ \x9b31m \x90q \u009d0;x\u009c",
	"before \u202e txet \u2066 after \u200f\u061c",
	"NUL \x00 BEL \x07 BS \b\b\b VT \v FF \f DEL \x7f",
	"carriage\rreturn over it\r\n\ttabs\t\tand\u2028separators\u2029",
	"wide 世界世界世界世界世界世界 🏳️‍🌈👩‍👩‍👧‍👦👍🏽🇩🇪 \u1100\u1161\u11a8 ﷽",
	"zalgo e" + strings.Repeat("\u0301\u0489\u20dd", 400) + " end",
	"hidden \U000e0041\U000e0042\ufeff\u00ad\u200b\u2060",
	"broken \xff\xfe\xc3\x28 utf8",
	strings.Repeat("x", 1<<20),
	strings.Repeat("世", 300_000),
	strings.Repeat("\n", 5000),
}

// poison puts hostile text into every string of a value.
func poison(v reflect.Value, n *int) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(fmt.Sprintf("%d %s", *n, hostile[*n%len(hostile)]))
			*n++
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poison(v.Elem(), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i), n)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.CanSet() {
				v.SetBytes([]byte(hostile[*n%len(hostile)]))
				*n++
			}
			return
		}
		for i := range v.Len() {
			poison(v.Index(i), n)
		}
	case reflect.Map:
		if v.Len() > 0 && v.Type().Elem().Kind() == reflect.String && v.CanSet() {
			v.SetMapIndex(reflect.ValueOf(hostile[*n%len(hostile)]).Convert(v.Type().Key()), reflect.ValueOf(hostile[(*n+1)%len(hostile)]))
		}
	}
}

var poisoned int

// poisonous answers a question with hostile text in every field.
func poisonous[T any](v T, err error) (T, error) {
	p := reflect.New(reflect.TypeOf(&v).Elem())
	p.Elem().Set(reflect.ValueOf(&v).Elem())
	poison(p.Elem(), &poisoned)
	return p.Elem().Interface().(T), err
}

// spoilt is a store whose every answer is hostile: a server may send what a store would refuse.
type spoilt struct{ amber.Store }

func (s spoilt) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	return poisonous(s.LongTerm.Recall(ctx, amber.Query{Explain: true}))
}

func (s spoilt) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	return s.LongTerm.Write(ctx, r)
}

func (s spoilt) Delete(context.Context, amber.MemoryID) error {
	return amber.Errorf(amber.KindConflict, hostile[0], hostile[2], "%s", hostile[1]).WithHint(hostile[3])
}

func (s spoilt) Health(ctx context.Context) (amber.Health, error) {
	return poisonous(s.LongTerm.Health(ctx))
}

func (s spoilt) any(ctx context.Context) (amber.Memory, error) {
	list, err := s.Memories.List(ctx, amber.ListQuery{All: true})
	return poisonousFirst(list.Items, err)
}

func poisonousFirst(list []amber.Memory, err error) (amber.Memory, error) {
	if err != nil || len(list) == 0 {
		return amber.Memory{}, err
	}
	return poisonous(list[0], nil)
}

func (s spoilt) Get(ctx context.Context, _ amber.MemoryID) (amber.Memory, error) { return s.any(ctx) }

func (s spoilt) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	p, err := poisonous(s.Memories.List(ctx, amber.ListQuery{All: true}))
	p.Next = ""
	return p, err
}

func (s spoilt) History(ctx context.Context, _ amber.MemoryID, _ amber.Paging) (amber.Page[amber.Memory], error) {
	one, err := s.any(ctx)
	two, _ := s.any(ctx)
	return amber.Page[amber.Memory]{Items: []amber.Memory{one, two}}, err
}

func (s spoilt) Timeline(ctx context.Context, id amber.MemoryID, _, _ int) ([]amber.Memory, error) {
	return amber.All(ctx, s.History, id)
}

type spoiltSessions struct{ amber.Store }

func (s spoiltSessions) ListSessions(ctx context.Context, _ amber.SessionQuery) (amber.Page[amber.Session], error) {
	p, err := poisonous(s.Sessions.ListSessions(ctx, amber.SessionQuery{}))
	p.Next = ""
	return p, err
}

func (s spoiltSessions) StartSession(ctx context.Context, r amber.SessionStart) (amber.Session, error) {
	return s.Sessions.StartSession(ctx, r)
}

func (s spoiltSessions) Session(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return s.Sessions.Session(ctx, id)
}
func (s spoiltSessions) DeleteSession(ctx context.Context, id amber.SessionID) error { return nil }
func (s spoiltSessions) ListTurns(ctx context.Context, q amber.TurnQuery) (amber.Page[amber.ListedTurn], error) {
	q.SessionID = "s1"
	page, err := poisonous(s.Turns.ListTurns(ctx, q))
	page.Next = ""
	return page, err
}

func (s spoiltSessions) Turn(ctx context.Context, id amber.TurnID) (amber.Turn, error) {
	return poisonous(s.Turns.Turn(ctx, id))
}

func (s spoiltSessions) AppendTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	return s.Turns.AppendTurn(ctx, t)
}
func (s spoiltSessions) DeleteTurns(context.Context, amber.SessionID) (int, error) { return 0, nil }
func (s spoiltSessions) ListActivity(ctx context.Context, _ amber.SessionID, k amber.ActivityKind) ([]amber.Activity, error) {
	return poisonous(s.Activities.ListActivity(ctx, "s1", k))
}

func (s spoiltSessions) ActivityNamed(ctx context.Context, k amber.ActivityKind, n string) ([]amber.Activity, error) {
	return nil, nil
}

type spoiltNotes struct{ amber.Store }

func (s spoiltNotes) ListNotes(ctx context.Context) ([]amber.Note, error) {
	return poisonous(s.Notes.ListNotes(ctx))
}

func (s spoiltNotes) ReadNote(ctx context.Context, _ string) (amber.Note, error) {
	return poisonous(s.Notes.ReadNote(ctx, "decisions/database"))
}

func (s spoiltNotes) WriteNote(context.Context, amber.NoteWrite) (amber.Note, error) {
	return amber.Note{}, amber.Errorf(amber.KindRefused, "write", hostile[0], "%s", hostile[2])
}
func (s spoiltNotes) DeleteNote(context.Context, string, amber.NoteBy) error { return nil }
func (s spoiltNotes) LogNote(ctx context.Context, _ string, n int) ([]amber.NoteCommit, error) {
	return poisonous(s.NoteLog.LogNote(ctx, "decisions/database", n))
}

func (s spoiltNotes) NoteAt(ctx context.Context, _, _ string) (amber.Note, error) {
	return s.ReadNote(ctx, "")
}

type spoiltWork struct {
	amber.Approvals
	amber.Tasks
	amber.TaskEvents
	amber.QueueKeeper
	amber.ChangeLog
	amber.Relations
}

func (s spoiltWork) ListApprovals(ctx context.Context, t string, p amber.Paging) (amber.Page[amber.Approval], error) {
	page, err := poisonous(s.Approvals.ListApprovals(ctx, t, p))
	for i := range page.Items {
		page.Items[i].Status = amber.ApprovalPending
	}
	page.Next = ""
	return page, err
}

func (s spoiltWork) ListTasks(ctx context.Context, q amber.TaskQuery) (amber.Page[amber.Task], error) {
	p, err := poisonous(s.Tasks.ListTasks(ctx, amber.TaskQuery{}))
	p.Next = ""
	return p, err
}

func (s spoiltWork) Replay(ctx context.Context, _ string) (amber.ReplayReport, error) {
	return poisonous(s.TaskEvents.Replay(ctx, "release-1.4"))
}

func (s spoiltWork) ListEvents(ctx context.Context, _ string, p amber.Paging) (amber.Page[amber.TaskEvent], error) {
	page, err := poisonous(s.TaskEvents.ListEvents(ctx, "release-1.4", p))
	page.Next = ""
	return page, err
}

func (s spoiltWork) DeadEntries(ctx context.Context, p amber.Paging) (amber.Page[amber.DeadEntry], error) {
	page, err := poisonous(s.QueueKeeper.DeadEntries(ctx, p))
	page.Next = ""
	return page, err
}

func (s spoiltWork) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	return poisonous(s.ChangeLog.ChangesBefore(ctx, q))
}

func (s spoiltWork) Changes(ctx context.Context, p amber.Position, n int) ([]amber.Change, error) {
	return poisonous(s.ChangeLog.Changes(ctx, "", 5))
}

func (s spoiltWork) Related(ctx context.Context, _ amber.MemoryID) ([]amber.Relation, error) {
	return poisonous([]amber.Relation{{ID: "r", From: "a", To: "b", Type: "t"}}, nil)
}

// spoiltSnapshots is an engine whose every answer is hostile.
type spoiltSnapshots struct{ *frozen }

func (s spoiltSnapshots) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	p, err := poisonous(s.frozen.ListSnapshots(ctx, q))
	p.Next = ""
	return p, err
}

func (s spoiltSnapshots) ShowSnapshot(ctx context.Context, r wire.SnapshotRef) (wire.SnapshotDetail, error) {
	d := wire.SnapshotDetail{Parts: make([]wire.SnapshotPart, 3), Checks: make([]wire.Check, 3)}
	d.Skipped, d.Warnings = make([]wire.Skipped, 3), make([]string, 3)
	return poisonous(d, nil)
}

func (s spoiltSnapshots) VerifySnapshot(context.Context, wire.VerifyRequest) (wire.VerifyReport, error) {
	return poisonous(wire.VerifyReport{Checked: make([]string, 3), NotChecked: make([]string, 3), Damaged: make([]wire.Damage, 3), Checks: make([]wire.Check, 3)}, nil)
}

func (s spoiltSnapshots) DiffSnapshots(ctx context.Context, r wire.DiffRequest) (wire.SnapshotDiff, error) {
	return poisonous(s.frozen.DiffSnapshots(ctx, r))
}

func (s spoiltSnapshots) Restore(ctx context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	return poisonous(s.frozen.Restore(ctx, r))
}

// spoil makes every answer of the agent hostile.
func spoil(w *world) {
	fill(w)
	s := w.store
	parts := s.Parts
	work := spoiltWork{s.Approvals, s.Tasks, s.Events, s.QueueKeeper, s.Changes, s.Relations}
	parts.LongTerm, parts.Memories, parts.Sessions, parts.Turns, parts.Activities = spoilt{s}, spoilt{s}, spoiltSessions{s}, spoiltSessions{s}, spoiltSessions{s}
	parts.Notes, parts.NoteLog = spoiltNotes{s}, spoiltNotes{s}
	parts.Approvals, parts.Tasks, parts.Events, parts.QueueKeeper, parts.Changes, parts.Relations = work, work, work, work, work, work
	w.src.Store = amber.NewStore(parts)
	w.src.Place, w.src.Agent = hostile[0], amber.AgentID(hostile[2])
	w.src.Snapshots = func(context.Context) (Snapshots, error) { return spoiltSnapshots{w.frozen}, nil }
	w.src.Held = setAside{must2(poisonous(w.held.list, nil))}
	w.src.Sync = func(context.Context) (amber.SyncReport, error) {
		r := w.sync
		r.Quarantined = make([]amber.QuarantinedChunk, 3)
		return poisonous(r, nil)
	}
	w.src.Context = func(context.Context, wire.ContextRequest) (wire.ContextBlock, error) {
		return poisonous(wire.ContextBlock{Items: make([]wire.ContextItem, 2), Decision: amber.Decision{Effective: true}}, nil)
	}
	w.src.Doctor = func(context.Context) (wire.Checkup, error) {
		return poisonous(wire.Checkup{Checks: make([]wire.Finding, len(hostile))}, nil)
	}
	w.desk.typed = func(string) string { return hostile[0] }
}

func must2[T any](v T, _ error) T { return v }

// styles are the only escape sequences that a frame may hold.
var styles = regexp.MustCompile(`\x1b\[(0|1|2|7|38;5;214)?m`)

// harmless checks that a frame holds nothing that a terminal obeys but the styles.
func harmless(t *testing.T, v tea.View) {
	t.Helper()
	for what, text := range map[string]string{"frame": v.Content, "title": v.WindowTitle} {
		for i, r := range styles.ReplaceAllString(text, "") {
			if r != '\n' && !unicode.IsGraphic(r) {
				t.Fatalf("the %s holds U+%04X at byte %d", what, r, i)
			}
		}
	}
}

// Text of every kind of record can neither draw nor move the cursor, and no frame grows beyond its window.
func TestHostileTextIsHarmlessOnEveryPage(t *testing.T) {
	paths := [][]string{
		{"w", "w"},
		{"a", "enter"},
		{"esc", "c"},
		{"esc", "a", "j", "enter"},
		{"esc", "2"},
		{"esc", "2", "t"},
		{"esc", "2", "h"},
		{"esc", "2", "h", "d"},
		{"esc", "2", "r"},
		{"esc", "2", "x", "D"},
		{"esc", "2", "D", "enter"},
		{"esc", "2", "u"},
		{"esc", "2", "e"},
		{"esc", "2", "y"},
		{"esc", "2", "?"},
		{"esc", "2", "enter", "G"},
		{"esc", "3"},
		{"esc", "3", "enter"},
		{"esc", "3", "enter", "f"},
		{"esc", "3", "a"},
		{"esc", "4"},
		{"esc", "4", "l"},
		{"esc", "4", "d"},
		{"esc", "4", "l", "d"},
		{"esc", "4", "e"},
		{"esc", "5"},
		{"esc", "5", "v"},
		{"esc", "5", "d"},
		{"esc", "5", "R"},
		{"esc", "5", "R", "esc", "G"},
		{"esc", "6"},
		{"esc", "6", "1"},
		{"esc", "6", "G"},
		{"esc", "6", "j", "j"},
		{"esc", "6", "e"},
		{"esc", "7"},
		{"esc", "7", "y"},
		{"esc", "7", "n"},
		{"esc", "7", "j", "j"},
		{"esc", "7", "G"},
		{"esc", "8"},
		{"esc", "9"},
		{"esc", "9", "r"},
		{"esc", "9", "r", "j", "j", "enter"},
	}
	for _, keys := range paths {
		poisoned = 0
		w := newWorld(t, spoil)
		w.press(keys...)
		w.tick()
		for _, s := range [][2]int{{120, 40}, {80, 24}, {20, 5}} {
			w.size(s[0], s[1])
			for range 14 {
				w.fits()
				harmless(t, w.m.View())
				if w.m.Over == nil && w.m.Field == nil {
					w.press("j")
				}
			}
		}
	}
}
