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
			spoiltFrom[*n] = v.String()
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

// poisoned counts the texts that were spoilt; spoiltFrom has what each of them was.
var (
	poisoned   int
	spoiltFrom = map[int]string{}
)

// cure gives a question the texts that the store has instead of those that its answers had.
func cure(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		n := -1
		if _, err := fmt.Sscanf(v.String(), "%d ", &n); err == nil && v.CanSet() && v.String() == fmt.Sprintf("%d %s", n, hostile[n%len(hostile)]) {
			v.SetString(spoiltFrom[n])
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cure(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			cure(v.Field(i))
		}
	}
}

// poisonous answers a question with hostile text in every field.
func poisonous[T any](v T, err error) (T, error) {
	p := reflect.New(reflect.TypeOf(&v).Elem())
	p.Elem().Set(reflect.ValueOf(&v).Elem())
	poison(p.Elem(), &poisoned)
	return p.Elem().Interface().(T), err
}

// spoilt makes every answer of a store hostile: a server may send what a store would refuse.
func spoilt(ctx context.Context, c *amber.Call) error {
	for _, in := range c.In {
		if in != nil {
			cure(reflect.ValueOf(in))
		}
	}
	if q, ok := c.In[0].(*amber.Query); ok {
		*q = amber.Query{Explain: true}
	}
	if c.Method.Name == "delete" || c.Method.Name == "write_note" {
		return amber.Errorf(amber.KindConflict, hostile[0], hostile[2], "%s", hostile[1]).WithHint(hostile[3])
	}
	if err := c.Next(ctx); err != nil || c.Out == nil {
		return err
	}
	out := reflect.ValueOf(c.Out).Elem()
	poison(out, &poisoned)
	if out.Kind() == reflect.Struct && out.FieldByName("Next").IsValid() {
		out.FieldByName("Next").SetString("")
	}
	if page, ok := c.Out.(*amber.Page[amber.Approval]); ok {
		for i := range page.Items {
			page.Items[i].Status = amber.ApprovalPending
		}
	}
	return nil
}

// spoiltChanges is a log of changes whose every answer is hostile.
type spoiltChanges struct{ amber.ChangeLog }

func (s spoiltChanges) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	return poisonous(s.ChangeLog.ChangesBefore(ctx, q))
}

func (s spoiltChanges) Changes(ctx context.Context, _ amber.Position, _ int) ([]amber.Change, error) {
	return poisonous(s.ChangeLog.Changes(ctx, "", 5))
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
	s := amber.Around(w.store, nil, spoilt)
	s.Changes = spoiltChanges{s.Changes}
	w.src.Store = s
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
