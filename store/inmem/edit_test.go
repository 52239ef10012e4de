package inmem_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		edit         amber.EditRequest
		wantKind     amber.Kind
		wantRevision int64
	}{
		{"content", amber.EditRequest{Content: new("new")}, "", 2},
		{"at its revision", amber.EditRequest{IfRevision: 1, Summary: new("s")}, "", 2},
		{"at another revision", amber.EditRequest{IfRevision: 2, Summary: new("s")}, amber.KindConflict, 1},
		{"nothing", amber.EditRequest{}, "", 1},
		{"to the same", amber.EditRequest{Content: new("mine"), Tags: &[]string{" b", "a", "b"}}, "", 1},
		{"to a memory that exists", amber.EditRequest{Content: new("taken")}, amber.KindConflict, 1},
		{"to a topic that exists", amber.EditRequest{Content: new("topical")}, amber.KindConflict, 1},
		{"invalid", amber.EditRequest{Content: new(" ")}, amber.KindInvalid, 1},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			taken := w.fact(t, "taken")
			topical := w.write(t, amber.WriteRequest{Topic: "t", Content: "topical"}).ID
			tc.edit.ID = w.write(t, amber.WriteRequest{Content: "mine", Tags: []string{"a", "b"}}).ID
			head := w.head(t)
			w.tick()
			_, err := w.Edit(t.Context(), tc.edit)
			wantKind(t, err, tc.wantKind)
			if tc.wantKind == amber.KindConflict && tc.edit.Content != nil &&
				!strings.Contains(err.Error(), string(taken)) && !strings.Contains(err.Error(), string(topical)) {
				t.Errorf("conflict %q does not name the other memory", err)
			}
			m := ok[amber.Memory](t)(w.Get(t.Context(), tc.edit.ID))
			if m.Revision != tc.wantRevision || m.Origin.Counter != uint64(tc.wantRevision) {
				t.Errorf("revision %d, counter %d, want %d", m.Revision, m.Origin.Counter, tc.wantRevision)
			}
			if n := len(w.entries(t, w, head)); n != int(tc.wantRevision-1) {
				t.Errorf("%d entries in the log, want %d", n, tc.wantRevision-1)
			}
		})
	}
}

func TestDeleteLeavesATombstone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.write(t, amber.WriteRequest{Content: "short lived"}).Memory
	w.tick()
	head := w.head(t)
	deleteIt(t, w, first.ID)
	deleteIt(t, w, first.ID)
	wantEqual(t, "entries", w.entries(t, w, head), []string{"delete memory " + string(first.ID)})
	history := ok[[]amber.Memory](t)(w.History(t.Context(), first.ID))
	tomb := first
	tomb.Revision, tomb.DeletedAt, tomb.UpdatedAt = 2, w.now(), w.now()
	tomb.Origin = amber.Origin{Device: "here", Counter: 2, Clock: history[len(history)-1].Origin.Clock}
	wantEqual(t, "history", history, []amber.Memory{first, tomb})
	_, err := w.Get(t.Context(), first.ID)
	wantKind(t, err, amber.KindNotFound)
}

func TestErase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	id := w.write(t, amber.WriteRequest{Content: "secret", IdempotencyKey: "k"}).ID
	other := w.fact(t, "other")
	ok[amber.Memory](t)(w.Edit(ctx, amber.EditRequest{ID: id, Summary: new("s")}))
	for _, r := range []amber.Relation{{From: id, To: other, Type: "related"}, {From: other, To: id, Type: "related"}} {
		ok[amber.Relation](t)(w.Relate(ctx, r))
	}
	for _, err := range []error{
		w.SetConcepts(ctx, id, []string{"a", "b"}),
		w.Delete(ctx, id),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	report := ok[amber.EraseReport](t)(w.Erase(ctx, id))
	wantEqual(t, "report", report, amber.EraseReport{ID: id, Remaining: []string{}, Removed: []string{
		"3 revisions", "2 concepts", "2 relations", "1 idempotency answers",
	}})
	again := ok[amber.EraseReport](t)(w.Erase(ctx, id))
	wantEqual(t, "second report", again, amber.EraseReport{ID: id, Removed: []string{}, Remaining: []string{}})

	changes := ok[[]amber.Change](t)(w.Changes(ctx, "", 100))
	for _, c := range changes {
		if c.Key == string(id) && c.OldDigest+c.NewDigest != "" {
			t.Errorf("entry %+v still has a digest", c)
		}
	}
	if last := changes[len(changes)-1]; last.Op != amber.OpDelete || last.Key != string(id) {
		t.Errorf("last entry %+v, want the erase", last)
	}
	wantGone(t, w, id)
	wantEqual(t, "relations of the other memory", ok[[]amber.Relation](t)(w.Related(ctx, other)), []amber.Relation{})
	_, err := w.Write(ctx, amber.WriteRequest{Content: "secret", IdempotencyKey: "k"})
	wantKind(t, err, amber.KindConflict)
	if fresh := w.write(t, amber.WriteRequest{Content: "secret", IdempotencyKey: "another"}); fresh.ID == id || fresh.Deduplicated {
		t.Errorf("an erased memory came back: %+v", fresh)
	}
}

// wantGone checks that no call finds a memory.
func wantGone(t *testing.T, w world, id amber.MemoryID) {
	t.Helper()
	ctx := t.Context()
	_, getErr := w.Get(ctx, id)
	_, historyErr := w.History(ctx, id)
	_, editErr := w.Edit(ctx, amber.EditRequest{ID: id, Content: new("x")})
	_, timelineErr := w.Timeline(ctx, id, 1, 1)
	_, relatedErr := w.Related(ctx, id)
	for _, err := range []error{getErr, historyErr, editErr, timelineErr, relatedErr, w.Delete(ctx, id)} {
		wantKind(t, err, amber.KindNotFound)
	}
}
